/* late.c: replaces and notes each entry (platform/entries.h) whose symbol is in CALLS, or for which
 * imports.h has a replacement. To undo that, restores all entries that still hold a replacement. */
#include "record/late.h"

#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/hot.h"
#include "platform/entries.h"
#include "platform/loader.h"
#include "platform/module.h"
#include "platform/pages.h"
#include "platform/syscall.h"
#include "record/calls.h"
#include "record/imports.h"
#include "record/linked.h"
#include "record/next.h"
#include "record/pool_calls.h"
#include "record/recorder.h"
#include "record/sandbox.h"

/* ---- was the recorder loaded late? --------------------------------------------------------- */

struct search {
    uintptr_t own, libc; /* an address in either module */
    bool libc_seen, late;
};

static bool module_has(const struct module *m, uintptr_t address) {
    return address - m->low < m->high - m->low;
}

/* Modules are visited in the order in which they were loaded. */
HOT_CODE static void note_order(const struct module *m, void *context) {
    struct search *s = context;
    if (module_has(m, s->libc))
        s->libc_seen = true;
    if (module_has(m, s->own))
        s->late = s->libc_seen;
}

HOT_CODE bool late_is(void) {
    void *libc = loader_symbol(RTLD_DEFAULT, "gnu_get_libc_version");
    struct search s = {.own = (uintptr_t)late_is, .libc = (uintptr_t)libc};
    if (libc)
        module_each(note_order, &s);
    return s.late;
}

/* ---- which functions, and which entries ------------------------------------------------------ */

#define DECLARE(result, name, parameters, ...) result name parameters;
int execl(const char *path, const char *first, ...);
int execlp(const char *file, const char *first, ...);
int execle(const char *path, const char *first, ...);
#define DECLARE_BLOCK(name, type, parameters, ...) void *name parameters;
#define DECLARE_VOID(name, parameters, ...)        void name parameters;
CALLS_C(DECLARE_BLOCK, DECLARE_VOID, DECLARE)
CALLS_EXEC(DECLARE)
CALLS_EXIT(DECLARE_VOID)
CALLS_UNLOADING(DECLARE)
CALLS_MAPPING(DECLARE)
CALLS_BREAK(DECLARE)
void *mremap(void *old, size_t old_size, size_t size, int flags, ...);
CALLS_OFFERED(DECLARE)
CALLS_OFFERED_AS_HEAPTRACK(DECLARE)

#define REPLACEMENTS(REPLACE, REPLACE_OTHER)                                                       \
    CALLS_C(REPLACE, REPLACE, REPLACE_OTHER)                                                       \
    CALLS_EXEC(REPLACE_OTHER)                                                                      \
    CALLS_EXIT(REPLACE)                                                                            \
    CALLS_UNLOADING(REPLACE_OTHER)                                                                 \
    CALLS_MAPPING(REPLACE_OTHER)                                                                   \
    CALLS_BREAK(REPLACE_OTHER)                                                                     \
    REPLACE(mremap) REPLACE(execl) REPLACE(execlp) REPLACE(execle)

/* The names contain no pointers, which the loader would have to relocate in every program. */
static const char names[][24] = {
#define NAME(name, ...)               #name,
#define NAME_OTHER(result, name, ...) #name,
    REPLACEMENTS(NAME, NAME_OTHER) "syscall", "prctl"};

static void *const functions[] = {
#define FUNCTION(name, ...)               (void *)(uintptr_t)name,
#define FUNCTION_OTHER(result, name, ...) (void *)(uintptr_t)name,
    REPLACEMENTS(FUNCTION, FUNCTION_OTHER)(void *)(uintptr_t)sandbox_syscall,
    (void *)(uintptr_t)sandbox_prctl};

/* The first of these are malloc and the like. */
enum {
#define COUNT(...) +1
    N_OF_MALLOC = 0 CALLS_C(COUNT, COUNT, COUNT)
#undef COUNT
};

static void *replacement_for(const char *name, bool leaves_malloc) {
    for (size_t i = leaves_malloc ? N_OF_MALLOC : 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i], name) == 0)
            return functions[i];
    return NULL;
}

static bool is_replacement(const void *function) {
    if (imports_is_replacement(function))
        return true;
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        if (functions[i] == function)
            return true;
    return false;
}

/* Returns the function that the recorder offers to programs that refer to it weakly. */
static void *offered_as(const char *name) {
#define OFFER(result, offered, ...)                                                                \
    if (strcmp(name, #offered) == 0)                                                               \
        return (void *)(uintptr_t)offered;
    CALLS_OFFERED(OFFER)
    if (!pool_calls_are_taken()) {
        CALLS_OFFERED_AS_HEAPTRACK(OFFER)
    }
    return NULL;
}

/* An entry that was replaced. */
struct entry {
    void **slot;
    void *before;
};

/* A module and its entries: [first, end) in late.entries. */
struct changed_module {
    struct module_identity identity;
    struct entries_sealed sealed;
    size_t first, end;
};

/* A list that grows by doubling, in pages. */
#define LIST_OF(type)                                                                              \
    struct {                                                                                       \
        type *items;                                                                               \
        size_t count, room;                                                                        \
    }
#define LIST_ADD(list, item)                                                                       \
    (list_has_room((void **)&(list).items, (list).count, &(list).room, sizeof *(list).items) &&    \
     ((list).items[(list).count++] = (item), true))

static struct {
    LIST_OF(struct entry) entries;
    LIST_OF(struct changed_module) modules;
    enum { NOWHERE, BEFORE_IMPORTS, BEFORE_ALL } where; /* which calls are intercepted */
    bool begins;                                        /* no code of the program is running yet */
    bool leaves_malloc; /* malloc is the program's own and was redirected by linked.c */
    bool failed;        /* there was not enough memory */
    bool unready;       /* some entry of the last module was not bound yet */
} late;

static bool list_has_room(void **items, size_t count, size_t *room, size_t size) {
    enum { FIRST_ROOM = 256 };
    if (count < *room)
        return true;
    size_t more = *room ? 2 * *room : FIRST_ROOM;
    void *grown = pages_realloc(*items, *room * size, more * size);
    if (!grown)
        return false;
    *items = grown;
    *room = more;
    return true;
}

/* ---- modules -----------------------------------------------------------------------------------
 */

/* The module that is being changed. */
struct change {
    const struct module *module;
    struct entries entries;
};

static void change_entry(const char *name, void **slot, void *context) {
    const struct change *change = context;
    void *function = late.where == BEFORE_ALL ? replacement_for(name, late.leaves_malloc) : NULL;
    struct entry entry = {.slot = slot};
    struct module target;
    if (!function)
        function = imports_replacement(change->module, &change->entries, name, slot);
    if (!function || *slot == function)
        return;
    /* While another thread is loading a module, the module's entries point nowhere yet: the loader
     * is about to add the load address to them. */
    if (!module_find((uintptr_t)*slot, &target)) {
        late.unready = true;
        return;
    }
    entry.before = *slot;
    if (!LIST_ADD(late.entries, entry))
        late.failed = true;
    else if (!entries_write(&change->entries.sealed, slot, function))
        late.entries.count--;
}

/* In a program without a recorder, a function of allotrace/mark.h or pool.h is NULL. From now on it
 * is the recorder's, for good: a thread may be between the test of one entry and a call through the
 * other. For the same reason, the entry for calls is written first. */
static void offer(const char *name, void **slot, void *context) {
    const struct change *change = context;
    void *function = offered_as(name);
    if (function && *slot != function)
        entries_write(&change->entries.sealed, slot, function);
}

/* The recorder's own calls are intended as they are. The loader's entries, if any, are not for
 * clients of malloc. */
static bool is_left_alone(const struct module *m) {
    return module_has(m, (uintptr_t)late_is) || strstr(m->name, "/ld-linux") ||
           strstr(m->name, "linux-vdso");
}

static bool is_changed(const struct module_identity *identity) {
    for (size_t i = 0; i < late.modules.count; i++)
        if (memcmp(&late.modules.items[i].identity, identity, sizeof *identity) == 0)
            return true;
    return false;
}

static void change_module(const struct module *m, void *context) {
    (void)context;
    struct changed_module changed = {.first = late.entries.count, .identity = module_identify(m)};
    if (late.failed || is_left_alone(m) || is_changed(&changed.identity))
        return;
    struct change change = {.module = m};
    if (!entries_read(m, &change.entries))
        return;
    if (!late.begins && !entries_are_sealed(&change.entries.sealed))
        return; /* it will be looked at again */
    changed.sealed = change.entries.sealed;
    if (!LIST_ADD(late.modules, changed)) {
        late.failed = true;
        return;
    }
    late.unready = false;
    if (late.begins) /* otherwise the program could be changing these variables */
        entries_each_pointer(&change.entries, change_entry, &change);
    if (late.where == BEFORE_ALL)
        entries_each(&change.entries, true, offer, &change);
    entries_each(&change.entries, false, change_entry, &change);
    late.modules.items[late.modules.count - 1].end = late.entries.count;
    if (late.unready && late.entries.count == changed.first)
        late.modules.count--; /* it will be looked at again */
}

bool late_enter(void) {
    late.failed = false;
    late.where = BEFORE_ALL;
    late.leaves_malloc = linked_has((uintptr_t)next_definition("malloc"));
    module_each(change_module, NULL);
    if (late.failed)
        late_leave();
    return !late.failed;
}

void late_enter_imports(void) {
    imports_look(false);
    if (!imports_any())
        return;
    late.where = BEFORE_IMPORTS;
    late.begins = true;
    module_each(change_module, NULL);
    late.begins = false;
}

void late_look_again(void) {
    if (late.where == NOWHERE)
        return;
    imports_look(late.where == BEFORE_ALL);
    module_each(change_module, NULL);
}

/* An entry that somebody else has replaced since is left alone. */
static void restore_module(const struct changed_module *m) {
    for (size_t i = m->first; i < m->end; i++) {
        struct entry *e = &late.entries.items[i];
        if (is_replacement(*e->slot))
            entries_write(&m->sealed, e->slot, e->before);
    }
}

static void restore_if_changed(const struct module *m, void *context) {
    struct module_identity identity = module_identify(m);
    (void)context;
    for (size_t i = 0; i < late.modules.count; i++)
        if (memcmp(&late.modules.items[i].identity, &identity, sizeof identity) == 0)
            restore_module(&late.modules.items[i]);
}

/* module_each holds the loader's lock, so no module is unloaded meanwhile by another thread. */
void late_leave(void) {
    module_each(restore_if_changed, NULL);
    late.where = NOWHERE;
    late.modules.count = late.entries.count = 0;
}
