/* linked.c: implements linked.h. Owns the code between the program and its allocator. */
#include "record/linked.h"

#include <string.h>
#include <sys/mman.h>

#include "base/hot.h"
#include "platform/displace.h"
#include "platform/module.h"
#include "platform/pages.h"
#include "platform/patch.h"
#include "platform/symbols.h"
#include "platform/syscall.h"
#include "record/allocator.h"
#include "record/recorder.h"
#include "record/text.h"

struct entry {
    struct allocator_call call; /* `original` is the copy of the function's first instructions */
    size_t size;                /* size of its code, bytes */
    size_t padding;             /* bytes from its end to the earliest start of another */
    unsigned prefix;            /* index in allocator_prefixes */
    uintptr_t patched;          /* address of the jump; 0: none */
    uint8_t before[DISPLACE_JUMP];
    bool lets_throw; /* see struct linked_also */
    bool wraps;      /* it only calls another redirected function */
};

/* ---- the search --------------------------------------------------------------------------- */

enum { MOST_ENTRIES = CONTROL_LINKED_CODES, MOST_ALSO = 16 };
#define FUNCTION_UNIT ((uintptr_t)16) /* bytes: compilers align functions to a multiple of it */

static struct linked {
    struct module module;
    bool is_recorded;
    bool is_library; /* linked_begin_library was called */
    bool is_late;    /* linked_begin_late was called */
    size_t n;
    struct entry *entries; /* MOST_ENTRIES entries; NULL: none was found yet */
    char found[256];       /* message about the allocator */
    /* For a static program: further functions to redirect (`also`), and those of them that exist
     * and can be moved (`others`). */
    const struct linked_also *also;
    size_t n_also, n_others;
    bool lets_throw; /* exceptions can cross frames of the recorder */
    struct entry others[MOST_ALSO];
} linked;

/* Returns the place for a function. If a function has several names, the one that is first in the
 * lists counts. */
static struct entry *place_for(uintptr_t function, unsigned prefix, unsigned name) {
    if (!linked.entries)
        linked.entries = pages_alloc(MOST_ENTRIES * sizeof *linked.entries);
    for (size_t i = 0; i < linked.n; i++) {
        struct entry *e = &linked.entries[i];
        if (e->call.function == function)
            return prefix < e->prefix || (prefix == e->prefix && name < e->call.name) ? e : NULL;
        if (e->prefix == prefix && e->call.name == name)
            return NULL;
    }
    return linked.entries && linked.n < MOST_ENTRIES ? &linked.entries[linked.n++] : NULL;
}

/* Finds the function of a symbol. Returns false if it is not in the module's code. */
static bool find_code(const struct symbol *s, struct entry *e) {
    const uintptr_t function = s->value + linked.module.bias;
    uintptr_t low, high;
    if (s->size == 0 || !module_segment(&linked.module, function, &low, &high) ||
        s->size > high - function)
        return false;
    const uintptr_t end = function + s->size, next = (end + FUNCTION_UNIT - 1) & -FUNCTION_UNIT;
    *e = (struct entry){
        .call.function = function, .size = s->size, .padding = (next < high ? next : high) - end};
    return true;
}

static void add_entry(const struct symbol *s, unsigned prefix, unsigned name) {
    struct entry found;
    struct entry *e = find_code(s, &found) ? place_for(found.call.function, prefix, name) : NULL;
    if (!e)
        return;
    *e = found;
    e->prefix = prefix;
    allocator_name_call(&e->call, name);
}

/* A function that has several names is added once. */
static void add_other(const struct symbol *s, const struct linked_also *also) {
    struct entry *e = &linked.others[linked.n_others];
    if (linked.n_others == MOST_ALSO || !find_code(s, e))
        return;
    if (!also->hook) {
        also->found(e->call.function, e->size);
        return;
    }
    for (const struct entry *o = linked.others; o < e; o++)
        if (o->call.function == e->call.function)
            return;
    e->call.hook = (uintptr_t)also->hook;
    e->lets_throw = also->lets_throw;
    linked.n_others++;
}

static bool is_sought(unsigned prefix, unsigned name) {
    const uint8_t whose = allocator_names[name].prefixes;
    return linked.is_library ? allocator_prefixes[prefix].flag == PLAIN && whose == ONLY_JE_NAMES
                             : !(whose & IMPORTED);
}

static void add_if_sought(unsigned prefix, unsigned name, void *context) {
    if (is_sought(prefix, name))
        add_entry(context, prefix, name);
}

HOT_CODE static void look_at_symbol(const struct symbol *s, void *context) {
    (void)context;
    const bool takes_local = context != NULL; /* set in the second pass */
    for (size_t i = 0; i < linked.n_also && !takes_local; i++)
        if (strcmp(s->name, linked.also[i].text) == 0)
            add_other(s, &linked.also[i]);
    if (!s->is_local || takes_local)
        allocator_each_name(s->name, add_if_sought, (void *)s);
}

static struct entry *entry_of(unsigned prefix, unsigned name) {
    for (size_t i = 0; i < linked.n; i++)
        if (linked.entries[i].prefix == prefix && linked.entries[i].call.name == name)
            return &linked.entries[i];
    return NULL;
}

static void forget(bool is_wanted(const struct entry *)) {
    size_t kept = 0;
    for (size_t i = 0; i < linked.n; i++)
        if (is_wanted(&linked.entries[i]))
            linked.entries[kept++] = linked.entries[i];
    linked.n = kept;
}

/* Returns whether the function has at most `most` bytes of code and calls another redirected
 * function. */
static bool is_wrapper(const struct entry *e, size_t most) {
    uintptr_t others[MOST_ENTRIES];
    size_t n = 0;
    for (size_t i = 0; i < linked.n; i++)
        if (&linked.entries[i] != e && linked.entries[i].prefix == e->prefix &&
            allocator_names[linked.entries[i].call.name].kind != KIND_free)
            others[n++] = linked.entries[i].call.function;
    return e->size <= most &&
           displace_calls((const uint8_t *)e->call.function, e->size, e->call.function, others, n);
}

/* A short function that only calls malloc or another redirected function can stay unchanged. */
enum { WRAPPER = 64 }; /* bytes */
static bool is_no_wrapper(const struct entry *e) {
    return allocator_names[e->call.name].kind == KIND_free || e->call.name == ALLOCATOR_MALLOC ||
           !is_wrapper(e, WRAPPER);
}

/* An operator of C++ that only calls another redirected function can stay unchanged, too. It may be
 * longer, since it also asks for a new-handler. Operators call each other, so all are marked before
 * any is dropped. */
static void mark_wrapping_operators(void) {
    enum { OPERATOR = 256 };
    for (size_t i = 0; i < linked.n; i++) {
        struct entry *e = &linked.entries[i];
        e->wraps = allocator_may_throw(e->call.name) &&
                   allocator_names[e->call.name].kind != KIND_free && is_wrapper(e, OPERATOR);
    }
}

static bool does_not_wrap(const struct entry *e) {
    return !e->wraps;
}

static uint32_t whole; /* bit mask of prefixes with functions both to allocate and to free */

static bool is_of_whole(const struct entry *e) {
    return whole >> e->prefix & 1;
}

static bool has_plain(void) {
    return entry_of(0, ALLOCATOR_MALLOC) && entry_of(0, ALLOCATOR_FREE);
}

/* Returns whether a prefix has functions both to allocate and to free. Linkers leave out functions
 * that a program does not call, so no fixed set is required. */
static bool is_whole(unsigned prefix) {
    bool gives = false, takes = false;
    for (size_t i = 0; i < linked.n; i++)
        if (linked.entries[i].prefix == prefix) {
            const bool is_free = allocator_names[linked.entries[i].call.name].kind == KIND_free;
            gives |= !is_free;
            takes |= is_free;
        }
    return gives && takes &&
           (allocator_prefixes[prefix].flag != PLAIN || linked.is_library || has_plain());
}

/* Finds the program's file. It may have been replaced since the program started. */
static void find_file(char path[PATH_MAX]) {
    static const char ending[] = " (deleted)", itself[] = "/proc/self/exe";
    const size_t size = module_path(&linked.module, path, PATH_MAX);
    if (linked.is_late && size >= sizeof ending &&
        strcmp(path + size - (sizeof ending - 1), ending) == 0)
        memcpy(path, itself, sizeof itself);
}

static void find_entries(void) {
    char path[PATH_MAX];
    find_file(path);
    symbols_each(path, linked.module.build_id, linked.module.build_id_size, look_at_symbol, NULL);
    if (linked.also) /* linkers make names local that no other module can refer to */
        symbols_each(path, linked.module.build_id, linked.module.build_id_size, look_at_symbol,
                     &linked);
    whole = 0;
    for (unsigned p = 0; p < N_ALLOCATOR_PREFIXES && linked.n > 0; p++)
        if (is_whole(p))
            whole |= 1u << p;
    forget(is_of_whole);
    mark_wrapping_operators();
    forget(does_not_wrap);
    if (!linked.also) /* otherwise wrappers stay: the functions that they call may lack tables,
                       * without which no stack leads through them */
        forget(is_no_wrapper);
}

/* ---- the code between program and allocator ------------------------------------------------ */

enum { SLOT = DISPLACE_ROOM + DISPLACE_ENTRY };

/* Returns why a function of a running program must not be moved; NULL: it may be. Its code may
 * differ from the file: another tool may have put a probe there, which must not be moved, or the
 * file may have been replaced. Also, a thread may be about to return to the instruction after a
 * call. */
static const char *why_not_late(const struct entry *e, const struct displaced *moved) {
    char path[PATH_MAX];
    find_file(path);
    if (!symbols_have_code(path, e->call.function - linked.module.bias,
                           (const uint8_t *)e->call.function, e->size))
        return "is not as in the program's file: a debugger, or another tool, has changed it";
    return moved->returns ? "begins with a call" : NULL;
}

/* Prepares the jump of an entry. Returns NULL on success, or why it is not possible. */
static const char *prepare(struct entry *e, uint8_t *slot, uint8_t jump[DISPLACE_JUMP]) {
    struct displaced moved;
    const char *why =
        displace_copy((const uint8_t *)e->call.function, e->size, e->size + e->padding,
                      e->call.function, slot, (uintptr_t)slot, &moved);
    if (!why && linked.is_late)
        why = why_not_late(e, &moved);
    if (why)
        return why;
    uint8_t *const way = slot + DISPLACE_ROOM;
    displace_entry(way, (uintptr_t)&e->call, e->call.hook);
    e->call.original = (allocator_function *)(uintptr_t)slot;
    e->patched = e->call.function + moved.entry;
    memcpy(e->before, (const void *)e->patched, sizeof e->before);
    return displace_jump(jump, e->patched, (uintptr_t)way) ? NULL : "is too far from free memory";
}

static void take_back(size_t n) {
    for (size_t i = 0; i < n; i++)
        if (linked.entries[i].patched)
            patch_write(linked.entries[i].patched, linked.entries[i].before,
                        sizeof linked.entries[i].before);
}

static void add_name(text *t, const struct entry *e) {
    text_add(t, allocator_prefixes[e->prefix].text);
    text_add(t, allocator_names[e->call.name].text);
}

static bool put_jumps(uint8_t (*jumps)[DISPLACE_JUMP], text *found) {
    for (size_t i = 0; i < linked.n; i++)
        if (linked.entries[i].patched &&
            !patch_write(linked.entries[i].patched, jumps[i], DISPLACE_JUMP)) {
            take_back(i);
            text_add(found, "the kernel does not let its code be changed");
            return false;
        }
    return true;
}

/* Functions that cannot be moved stay unchanged. */
static void prepare_others(uint8_t *code, uint8_t (*jumps)[DISPLACE_JUMP]) {
    size_t kept = 0;
    for (size_t i = 0; i < linked.n_others; i++) {
        struct entry *e = &linked.others[kept];
        *e = linked.others[i];
        const bool done = !prepare(e, code + kept * SLOT, jumps[kept]);
        linked.lets_throw |= done && e->lets_throw;
        kept += done;
    }
    linked.n_others = kept;
}

static void put_other_jumps(uint8_t (*jumps)[DISPLACE_JUMP]) {
    for (size_t i = 0; i < linked.n_others; i++)
        patch_write(linked.others[i].patched, jumps[i], DISPLACE_JUMP);
}

static bool does_not_throw(const struct entry *e) {
    return e->call.inside != LINKED_THROWS;
}

/* Redirects all of the functions, or none. */
static bool turn_aside(uint8_t *code, size_t size, text *found) {
    uint8_t jumps[MOST_ENTRIES][DISPLACE_JUMP], other_jumps[MOST_ALSO][DISPLACE_JUMP];
    prepare_others(code + linked.n * SLOT, other_jumps);
    if (linked.also && !linked.lets_throw)
        forget(does_not_throw); /* they mostly call malloc, which is redirected */
    for (size_t i = 0; i < linked.n; i++) {
        const char *why = prepare(&linked.entries[i], code + i * SLOT, jumps[i]);
        if (why && linked.also && !is_no_wrapper(&linked.entries[i])) {
            linked.entries[i].patched = 0;
            continue;
        }
        if (why) {
            add_name(found, &linked.entries[i]);
            text_add(found, " ");
            text_add(found, why);
            return false;
        }
    }
    if (syscall_failed(syscall4(SYS_mprotect, (long)code, (long)size, PROT_READ | PROT_EXEC, 0))) {
        text_add(found, "the kernel allows no new code");
        return false;
    }
    __builtin___clear_cache((char *)code, (char *)code + size);
    if (linked.is_late)
        return true;
    if (!put_jumps(jumps, found))
        return false;
    put_other_jumps(other_jumps);
    return true;
}

/* Returns the entry with the most common name. */
static const struct entry *first_entry(void) {
    const struct entry *first = &linked.entries[0];
    for (size_t i = 1; i < linked.n; i++)
        if (linked.entries[i].call.name < first->call.name)
            first = &linked.entries[i];
    return first;
}

static void say_recorded(text *t) {
    text_add(t, linked.also ? "is statically linked; recorded are "
                            : "has an allocator of its own, which is recorded: ");
    add_name(t, first_entry());
    text_add(t, " and ");
    text_add_number(t, linked.n - 1, 10);
    text_add(t, linked.n == 2 ? " more function" : " more functions");
}

static bool record_entries(void) {
    const size_t unit = pages_unit();
    const size_t slots = (linked.n + linked.n_others) * SLOT,
                 size = (slots + unit - 1) & ~(unit - 1);
    uint8_t *code = patch_room(linked.module.low, size);
    text t = text_in(linked.found, sizeof linked.found);
    if (!linked.also)
        text_add(&t, "has an allocator of its own, which is not recorded: ");
    if (!code)
        text_add(&t, "there is no free memory near its code");
    else if (turn_aside(code, size, &t)) {
        t = text_in(linked.found, sizeof linked.found);
        say_recorded(&t);
        return true;
    }
    pages_free(code, size);
    return false;
}

static void visit_first(const struct module *m, void *context) {
    struct module *first = context;
    if (!first->headers)
        *first = *m;
}

uintptr_t linked_go_on(uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d,
                       const struct allocator_call *call) {
    return call->original(a, b, c, d);
}

bool linked_begin_static(const struct linked_also *also, size_t n) {
    linked.also = also;
    linked.n_also = n;
    return linked_begin(NULL) && linked.is_recorded;
}

HOT_CODE bool linked_begin(const struct module *preempting) {
    if (linked.is_recorded)
        return true;
    struct module program = {.headers = NULL};
    module_each(visit_first, &program);
    if (!program.headers)
        return !preempting;
    /* An executable may also hide its malloc from the libraries, so it is searched if no module
     * preempts. */
    linked.module = preempting ? *preempting : program;
    find_entries();
    linked.is_recorded = linked.n > 0 && record_entries();
    return !preempting || (linked.is_recorded && has_plain());
}

/* It is not surprising that such a library has an allocator, so nothing is said about it unless it
 * cannot be recorded. */
HOT_CODE void linked_begin_library(const struct module *library) {
    if (linked.n > 0)
        return;
    linked.is_library = true;
    linked.module = *library;
    find_entries();
    linked.is_recorded = linked.n > 0 && record_entries();
    if (linked.is_recorded)
        *linked.found = 0;
}

HOT_CODE void linked_begin_late(void) {
    struct module program = {.headers = NULL};
    if (linked.is_recorded)
        return;
    module_each(visit_first, &program);
    linked.is_late = true;
    linked.module = program;
    linked.n = 0;
    *linked.found = 0;
    if (!program.headers)
        return;
    find_entries();
    linked.is_recorded = linked.n > 0 && record_entries();
}

size_t linked_codes(control_code codes[CONTROL_LINKED_CODES]) {
    const size_t n = linked.is_late && linked.is_recorded ? linked.n : 0;
    _Static_assert((int)DISPLACE_JUMP <= (int)CONTROL_CODE, "a control_code holds a jump");
    for (size_t i = 0; i < n; i++) {
        const struct entry *e = &linked.entries[i];
        codes[i] = (control_code){.at = e->patched, .size = DISPLACE_JUMP};
        memcpy(codes[i].before, e->before, DISPLACE_JUMP);
        displace_jump(codes[i].after, e->patched, (uintptr_t)e->call.original + DISPLACE_ROOM);
    }
    return n;
}

bool linked_has(uintptr_t function) {
    for (size_t i = 0; linked.is_recorded && i < linked.n; i++)
        if (linked.entries[i].call.function == function)
            return true;
    return false;
}

bool linked_is(const struct module *module) {
    return linked.is_recorded && !linked.is_library && linked.module.low == module->low;
}

bool linked_is_recorded(void) {
    return linked.is_recorded;
}

const char *linked_found(void) {
    return *linked.found ? linked.found : NULL;
}
