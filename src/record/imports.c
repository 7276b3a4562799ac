/* imports.c: see imports.h. Owns the functions that were found, and those that stand in their place
 * (imports_stubs.S), which stay what they are for ever: a thread may be in one, or keep a pointer.
 *
 * No memory but the kernel's, and no question to the loader, which would allocate its answers: what
 * a library exports stands in its tables. */
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
    unsigned prefix, name; /* indices */
};

enum { MOST_FOUND = 512 };

static struct {
    bool is_late, was_asked;
    uint32_t of_program;  /* bits of prefixes: of an allocator that the executable has itself */
    struct import *found; /* MOST_FOUND; NULL: never was any */
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

/* By malloc's own names, a program calls the recorder already; but not by jemalloc's for flags, nor
 * if it is late by the operators. */
static bool is_wanted(unsigned prefix, unsigned name) {
    const struct allocator_name *n = &allocator_names[name];
    if (allocator_prefixes[prefix].flag != PLAIN)
        return n->prefixes & allocator_prefixes[prefix].flag;
    return (n->prefixes & ONLY_JE_NAMES) == ONLY_JE_NAMES
               ? (n->prefixes & ~IMPORTED) == ONLY_JE_NAMES
               : imports.is_late && n->text[0] == '_';
}

/* One mimalloc may not be asked for another's heaps. */
static void add_heaps(const struct entries *entries) {
    const uintptr_t visit = entries_export(entries, "mi_heap_visit_blocks");
    if (visit)
        allocator_know_heaps(imports.n_heaps++ == 0 ? (allocator_heap_visit *)visit : NULL);
}

/* What throws is made of functions that linked.c has turned aside, and counted in these. */
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

/* The C library has nothing of that kind. */
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

/* ---- what stands in an entry ---------------------------------------------------------------- */

/* What was found by one name. */
struct choice {
    const struct import *import; /* the last of them */
    const char *name;
    uintptr_t value; /* the entry's */
    size_t n;        /* of modules that export it */
    bool is_certain; /* the entry leads to it */
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

/* Of several, the loader takes the first that all modules see, if there is one. To ask it in vain
 * would allocate a message, which a program that begins may not be ready for. */
static bool is_first(struct choice *c) {
    const uintptr_t first = imports.is_late ? (uintptr_t)next_definition(c->name) : 0;
    for (const struct import *i = imports.found; first && i < imports.found + imports.n; i++)
        if (i->function == first && i->name == c->import->name) {
            c->import = i;
            return true;
        }
    return false;
}

/* An entry that was not filled in yet leads into its own module, and another one that stands for
 * the function into the executable: if only one library can be meant, it is. */
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
        /* The library may call malloc for itself, or for the block. */
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
