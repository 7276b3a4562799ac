/* imports.c: implements imports.h. Owns the list of functions that were found, and the stubs that
 * replace them (imports_stubs.S). A stub never changes its meaning, because a thread may be in it
 * or keep a pointer to it. Allocates only from the kernel. The loader is not asked, because it
 * would allocate for its answers: a library's own tables say what it exports. */
#include "record/imports.h"

#include <string.h>

#include "base/hot.h"
#include "platform/module.h"
#include "platform/pages.h"
#include "record/allocator.h"
#include "record/imports_stubs.h"
#include "record/linked.h"
#include "record/next.h"

_Static_assert(sizeof(struct allocator_call) == IMPORTS_CALL_SIZE &&
                   offsetof(struct allocator_call, hook) == IMPORTS_CALL_HOOK,
               "imports_stubs.S knows both");

struct allocator_call imports_calls[IMPORTS_STUBS];
extern const char imports_stubs[IMPORTS_STUBS][IMPORTS_STUB_SIZE]
    __attribute__((visibility("hidden")));

/* A function that a library exports. */
struct import {
    uintptr_t function;
    unsigned prefix, name; /* indices in allocator_prefixes and allocator_names */
};

enum { MOST_FOUND = 512 };

static struct {
    bool is_late, was_asked;
    uint32_t of_program;  /* bit mask of prefixes: the executable has that allocator itself */
    struct import *found; /* MOST_FOUND entries; NULL: none was ever found */
    size_t n, n_calls, n_heaps;
} imports;

/* ---- the search --------------------------------------------------------------------------- */

enum { LONGEST = sizeof allocator_prefixes->text + sizeof allocator_names->text };

static uintptr_t export_of(const struct entries *entries, unsigned prefix, const char *name) {
    char text[LONGEST];
    const size_t size = strlen(allocator_prefixes[prefix].text);
    memcpy(text, allocator_prefixes[prefix].text, size);
    memcpy(text + size, name, strlen(name) + 1);
    return entries_export(entries, text);
}

/* Returns whether this name is looked for. A program's calls of malloc's own names reach the
 * recorder already. They do not for jemalloc's functions with flags, nor for operators of C++ if
 * the recorder was loaded late. */
static bool is_wanted(unsigned prefix, unsigned name) {
    const struct allocator_name *n = &allocator_names[name];
    if (allocator_prefixes[prefix].flag != PLAIN)
        return n->prefixes & allocator_prefixes[prefix].flag;
    return (n->prefixes & ONLY_JE_NAMES) == ONLY_JE_NAMES
               ? (n->prefixes & ~IMPORTED) == ONLY_JE_NAMES
               : imports.is_late && n->text[0] == '_';
}

/* If there are several mimallocs, none is used: one may not be asked for another's heaps. */
static void add_heaps(const struct entries *entries) {
    const uintptr_t visit = entries_export(entries, "mi_heap_visit_blocks");
    if (visit)
        allocator_know_heaps(imports.n_heaps++ == 0 ? (allocator_heap_visit *)visit : NULL);
}

/* Adds the functions that a module exports. Functions that throw call others of the same module. If
 * linked.c has redirected those, the calls are already counted there. */
static void add_exports(const struct module *m, const struct entries *entries, unsigned prefix) {
    const bool is_linked = linked_is(m);
    if (allocator_prefixes[prefix].flag == MI)
        add_heaps(entries);
    if (!imports.found)
        imports.found = pages_alloc(MOST_FOUND * sizeof *imports.found);
    for (unsigned name = 0; name < N_ALLOCATOR_NAMES && imports.found; name++) {
        const uintptr_t function =
            is_wanted(prefix, name) && !(is_linked && allocator_may_throw(name))
                ? export_of(entries, prefix, allocator_names[name].text)
                : 0;
        if (function && imports.n < MOST_FOUND && !linked_has(function))
            imports.found[imports.n++] = (struct import){function, prefix, name};
    }
}

static bool is_own(const struct module *m) {
    return (uintptr_t)imports_look - m->low < m->high - m->low;
}

/* The C library has no such functions and is skipped. */
HOT_CODE static void look_at_module(const struct module *m, void *context) {
    (void)context;
    struct entries entries;
    if (is_own(m) || !entries_read(m, &entries))
        return;
    for (unsigned p = 0; p < N_ALLOCATOR_PREFIXES; p++) {
        if (!export_of(&entries, p, allocator_names[ALLOCATOR_MALLOC].text))
            continue;
        if (!*m->name)
            imports.of_program |= 1u << p;
        else if (allocator_prefixes[p].flag != PLAIN && !(imports.of_program >> p & 1))
            add_exports(m, &entries, p);
        else if (allocator_prefixes[p].flag == PLAIN &&
                 !entries_export(&entries, "gnu_get_libc_version"))
            add_exports(m, &entries, p);
    }
}

HOT_CODE void imports_look(bool late) {
    if (imports.was_asked && imports.n == 0)
        return;
    imports.was_asked = true;
    imports.is_late = late;
    imports.n = imports.n_heaps = 0;
    imports.of_program = 0;
    module_each(look_at_module, NULL);
}

bool imports_any(void) {
    return imports.n > 0;
}

/* ---- replacing an entry -------------------------------------------------------------------- */

/* The functions that were found under one name. */
struct choice {
    const struct import *import; /* the last one found, or the certain one */
    const char *name;
    uintptr_t value; /* value of the entry */
    size_t n;        /* number of modules that export the name */
    bool is_certain; /* the entry points to `import` */
};

static void choose(unsigned prefix, unsigned name, void *context) {
    struct choice *c = context;
    for (const struct import *i = imports.found; i < imports.found + imports.n; i++)
        if (i->prefix == prefix && i->name == name && !c->is_certain) {
            c->import = i;
            c->is_certain = i->function == c->value;
        }
}

static void count_exporting(const struct module *m, void *context) {
    struct choice *c = context;
    struct entries entries;
    if (!is_own(m) && entries_read(m, &entries) && entries_export(&entries, c->name))
        c->n++;
}

/* If several libraries have the name, the loader uses the first global definition, if there is one.
 * The loader is asked only if the recorder was loaded late: on failure it allocates a message, for
 * which a starting program may not be ready. */
static bool is_first(struct choice *c) {
    const uintptr_t first = imports.is_late ? (uintptr_t)next_definition(c->name) : 0;
    for (const struct import *i = imports.found; first && i < imports.found + imports.n; i++)
        if (i->function == first && i->name == c->import->name) {
            c->import = i;
            return true;
        }
    return false;
}

/* Returns whether the entry is for this function, though it does not point to it. An entry that is
 * not bound yet points into its own module. An entry may also point to a PLT stub in the
 * executable. If only one library exports the name, it must be that one. */
static bool is_meant(struct choice *c, const struct module *m) {
    struct module target;
    struct entries entries;
    if (!module_find(c->value, &target))
        return false;
    const bool leads_on = target.low == m->low || !*target.name;
    if (!leads_on || !entries_read(&target, &entries) || entries_export(&entries, c->name))
        return false;
    module_each(count_exporting, c);
    return c->n == 1 || is_first(c);
}

static void *stub_for(const struct import *i) {
    size_t at = 0;
    while (at < imports.n_calls &&
           (imports_calls[at].function != i->function || imports_calls[at].name != i->name))
        at++;
    if (at == IMPORTS_STUBS)
        return NULL;
    if (at == imports.n_calls) {
        struct allocator_call *call = &imports_calls[imports.n_calls++];
        allocator_name_call(call, i->name);
        /* The library may call malloc, either for itself or to make the block. */
        call->is_closed = call->inside == LINKED_COUNTS;
        call->inside = LINKED_THROWS;
        call->function = i->function;
        call->original = (allocator_function *)i->function;
    }
    return (void *)(uintptr_t)imports_stubs[at];
}

void *imports_replacement(const struct module *m, const struct entries *entries, const char *name,
                          void *const *slot) {
    struct choice c = {.name = name, .value = (uintptr_t)*slot};
    if (imports.n == 0 || !c.value || imports_is_replacement(*slot))
        return NULL;
    allocator_each_name(name, choose, &c);
    if (!c.import || entries_export(entries, allocator_names[ALLOCATOR_MALLOC].text))
        return NULL;
    return c.is_certain || is_meant(&c, m) ? stub_for(c.import) : NULL;
}

bool imports_is_replacement(const void *function) {
    return (uintptr_t)function - (uintptr_t)imports_stubs < sizeof imports_stubs;
}
