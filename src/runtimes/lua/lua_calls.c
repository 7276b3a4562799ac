/* lua_calls.c: see lua_calls.h. Each call into Lua from C and each allocation of an object makes a
 * note, so a note takes a few instructions and no lock. */
#include "runtimes/lua/lua_calls.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "base/hot.h"
#include "platform/cfi.h"
#include "platform/displace.h"
#include "platform/loader.h"
#include "platform/module.h"
#include "platform/pages.h"
#include "platform/patch.h"
#include "platform/syscall.h"
#include "record/recorder.h"
#include "record/text.h"
#include "runtimes/lua/lua_phases.h"
#include "runtimes/lua/lua_stubs.h"
#include "runtimes/lua/luajit_heap.h"

#define HIDDEN __attribute__((visibility("hidden")))

/* lua_stubs.S also reads it. */
#define own lua_calls_thread
extern __thread struct lua_calls *own __attribute__((tls_model("initial-exec"))) HIDDEN;
__thread struct lua_calls *own;

static struct {
    pthread_key_t key; /* its value is the thread's calls, which are freed when the thread ends */
    bool has_key;
} threads;

volatile unsigned lua_calls_noted;

static const lua_runtime *jit;          /* if it is LuaJIT, whose native frames tell of all calls */
static const struct lua_layout *layout; /* if it is Lua */

struct lua_calls *lua_calls_own(void) {
    return own;
}

/* ---- notes --------------------------------------------------------------------------------- */

static void on_thread_exit(void *calls) {
    own = NULL;
    pages_free(calls, sizeof(struct lua_calls));
}

static __attribute__((noinline)) struct lua_calls *calls_make(void) {
    const int error = errno;
    struct lua_calls *calls = threads.has_key ? pages_alloc(sizeof *calls) : NULL;
    if (calls) {
        calls->noted = lua_calls_noted;
        calls->global = (uintptr_t)lua_phases_none;
        own = calls;
        loader_key_set(threads.key, calls);
    }
    errno = error;
    return calls;
}

struct lua_calls *lua_calls_make_own(void) {
    struct lua_calls *const c = own ? own : calls_make();
    const unsigned noted = lua_calls_noted;
    if (__builtin_expect(c && c->noted != noted, 0)) {
        if (c->noted) /* else a recording is just beginning, which has checked it */
            c->allocates = 0;
        c->noted = noted;
        c->is_whole = false;
        c->n = c->tries = 0;
    }
    return c;
}

/* Notes a call that begins. Calls with frames further in have ended. */
HIDDEN void lua_on_call(uintptr_t state, uintptr_t sp);
HOT_CODE void lua_on_call(uintptr_t state, uintptr_t sp) {
    struct lua_calls *const c = lua_calls_make_own();
    if (!c)
        return;
    if (jit) {
        luajit_heap_enter(jit, state);
        return;
    }
    lua_phases_enter(c, layout, state);
    size_t n = c->n;
    const uintptr_t after = sp + sizeof(uintptr_t);
    while (n > 0 && c->calls[n - 1].sp <= after)
        n--;
    if (n < LUA_CALLS_MAX)
        c->calls[n++] = (struct lua_call){after, *(const uintptr_t *)sp, state};
    c->n = n;
}

/* ---- allocators ---------------------------------------------------------------------------- */

/* Each allocator of the program gets a wrapper of its own: nothing else can tell the allocators
 * apart, as the context argument is the program's. */
#define DECLARE_ALLOCATOR(n) HIDDEN lua_allocator lua_allocator_##n;
LUA_ALLOCATORS(DECLARE_ALLOCATOR)
static lua_allocator *const in_front[] = {
#define IN_FRONT(n) lua_allocator_##n,
    LUA_ALLOCATORS(IN_FRONT)};
enum { N_ALLOCATORS = sizeof in_front / sizeof *in_front };

extern lua_allocator *lua_allocators[N_ALLOCATORS] HIDDEN;
lua_allocator *lua_allocators[N_ALLOCATORS]; /* the wrapped allocators */

_Static_assert(offsetof(struct lua_calls, note) == 0, "as lua_stubs.S has it");
_Static_assert(offsetof(struct lua_alloc_note, sp) == LUA_NOTE_SP, "as lua_stubs.S has it");
_Static_assert(offsetof(struct lua_alloc_note, return_address) == LUA_NOTE_AT,
               "as lua_stubs.S has it");
_Static_assert(offsetof(struct lua_alloc_note, type) == LUA_NOTE_TYPE, "as lua_stubs.S has it");
_Static_assert(offsetof(struct lua_alloc_note, kept) == LUA_NOTE_KEPT, "as lua_stubs.S has it");
_Static_assert(offsetof(struct lua_calls, global) == LUA_CALLS_GLOBAL, "as lua_stubs.S has it");
_Static_assert(offsetof(struct lua_calls, phase) == LUA_CALLS_PHASE, "as lua_stubs.S has it");

lua_allocator *lua_calls_wrap(lua_allocator *allocator) {
    for (int i = 0; i < N_ALLOCATORS && allocator; i++) {
        lua_allocator *none = NULL;
        if (allocator == in_front[i])
            break;
        if (__atomic_compare_exchange_n(&lua_allocators[i], &none, allocator, false,
                                        __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST) ||
            none == allocator)
            return in_front[i];
    }
    return allocator;
}

/* LuaJIT's own allocator is passed as a number that stands for it, so it is not wrapped here. */
HIDDEN lua_allocator *lua_on_newstate(lua_allocator *allocator);
lua_allocator *lua_on_newstate(lua_allocator *allocator) {
    return jit ? allocator : lua_calls_wrap(allocator);
}

HIDDEN void lua_on_close(uintptr_t state, uintptr_t sp);
void lua_on_close(uintptr_t state, uintptr_t sp) {
    if (jit) {
        luajit_heap_close(state);
        return;
    }
    lua_on_call(state, sp);
    if (own)
        lua_phases_close(own);
}

/* ---- turning aside ------------------------------------------------------------------------- */

#define DECLARE(name)                                                                              \
    HIDDEN void lua_stub_##name(void);                                                             \
    extern uintptr_t lua_go_on_##name HIDDEN;                                                      \
    uintptr_t lua_go_on_##name; /* copy of the function's first instructions */
DECLARE(newstate)
DECLARE(close)
LUA_CALLS(DECLARE)

/* Each version has only some of these functions. */
static const struct entry {
    const char *name;
    void (*stub)(void);
    uintptr_t *go_on;
} entries[] = {
#define ENTRY(name) {"lua_" #name, lua_stub_##name, &lua_go_on_##name},
    ENTRY(newstate) ENTRY(close) LUA_CALLS(ENTRY)};
enum { N_ENTRIES = sizeof entries / sizeof *entries, SLOT = DISPLACE_ROOM + DISPLACE_ENTRY };

/* Start and end of each function in `entries`; 0: not in this version. */
static uintptr_t functions[N_ENTRIES], ends[N_ENTRIES];

/* In a running program: the code to be changed, which stays the same as long as the program
 * runs. */
static struct {
    control_code codes[N_ENTRIES];
    size_t n;
    uintptr_t newstate; /* lua_newstate of the Lua that `codes` belong to */
    unsigned recording; /* number of the current recording */
} late;

/* Looks up all functions before anything is recorded, because the loader allocates when a symbol is
 * missing. */
static void find_functions(void) {
    for (size_t i = 0; i < N_ENTRIES; i++)
        functions[i] = (uintptr_t)loader_symbol(RTLD_DEFAULT, entries[i].name);
    (void)loader_symbol(RTLD_DEFAULT, "malloc"); /* forgets it: see ocaml_runtime_find */
}

/* Writes the moved code of a function and a jump to its stub into `slot`, and the jump to these
 * into `jump`. Returns NULL or the reason why the function cannot be patched. */
static const char *prepare(const struct lua_runtime *r, uintptr_t function, uintptr_t stub,
                           uint8_t *slot, uintptr_t slot_at, struct displaced *moved,
                           uint8_t jump[DISPLACE_JUMP]) {
    struct module module;
    struct cfi_function code;
    if (!lua_range_has(&r->module, function) || !module_find(function, &module) ||
        !cfi_find(&module, function, &code) || code.start != function)
        return "is not where Lua is";
    const size_t size = code.end - code.start;
    for (size_t i = 0; i < N_ENTRIES; i++)
        if (functions[i] == function)
            ends[i] = code.end;
    const char *why =
        displace_copy((const uint8_t *)function, size, size, function, slot, slot_at, moved);
    if (why)
        return why;
    cpu_jump(slot + DISPLACE_ROOM, stub);
    return displace_jump(jump, function + moved->entry, slot_at + DISPLACE_ROOM)
               ? NULL
               : "is too far from free memory";
}

const char *lua_calls_why_not(const lua_runtime *r) {
    static char message[160];
    uint8_t slot[SLOT], jump[DISPLACE_JUMP];
    find_functions();
    if (late.n > 0)
        return functions[0] == late.newstate
                   ? NULL
                   : "its Lua is another one than was recorded before: only malloc is recorded, "
                     "without Lua's frames";
    for (size_t i = 0; i < N_ENTRIES; i++) {
        struct displaced moved;
        const uintptr_t function = functions[i];
        const char *why = function ? prepare(r, function, (uintptr_t)entries[i].stub, slot,
                                             r->module.low - SLOT, &moved, jump)
                                   : NULL;
        if (!why)
            continue;
        text t = text_in(message, sizeof message);
        text_add(&t, "its ");
        text_add(&t, entries[i].name);
        text_add(&t, " ");
        text_add(&t, why);
        text_add(&t, ": only malloc is recorded, without Lua's frames");
        return message;
    }
    return recorder_is_late() || patch_can(functions[0])
               ? NULL
               : "the kernel does not let its Lua's code be changed: only malloc is recorded, "
                 "without Lua's frames";
}

static void take_back(const uintptr_t *patched, uint8_t (*before)[DISPLACE_JUMP], size_t n) {
    for (size_t i = 0; i < n; i++)
        if (patched[i])
            patch_write(patched[i], before[i], DISPLACE_JUMP);
}

/* Writes all jumps, or none. */
static bool put_jumps(const uintptr_t *patched, uint8_t (*jumps)[DISPLACE_JUMP]) {
    uint8_t before[N_ENTRIES][DISPLACE_JUMP];
    for (size_t i = 0; i < N_ENTRIES; i++) {
        if (patched[i])
            memcpy(before[i], (const void *)patched[i], DISPLACE_JUMP);
        if (patched[i] && !patch_write(patched[i], jumps[i], DISPLACE_JUMP)) {
            take_back(patched, before, i);
            return false;
        }
    }
    return true;
}

static void keep_jumps(const uintptr_t *patched, uint8_t (*jumps)[DISPLACE_JUMP]) {
    _Static_assert((int)N_ENTRIES < (int)CONTROL_RUNTIME_CODES,
                   "the jumps and lua_calls_noted fit");
    _Static_assert((int)DISPLACE_JUMP <= (int)CONTROL_CODE, "a control_code holds a jump");
    for (size_t i = 0; i < N_ENTRIES; i++) {
        control_code *const c = &late.codes[late.n];
        if (!patched[i])
            continue;
        c->at = patched[i];
        c->size = DISPLACE_JUMP;
        memcpy(c->before, (const void *)patched[i], DISPLACE_JUMP);
        memcpy(c->after, jumps[i], DISPLACE_JUMP);
        late.n++;
    }
    late.newstate = functions[0];
}

static bool turn_aside(const lua_runtime *r, uint8_t *room, size_t size) {
    uint8_t jumps[N_ENTRIES][DISPLACE_JUMP];
    uintptr_t patched[N_ENTRIES] = {0};
    for (size_t i = 0; i < N_ENTRIES; i++) {
        struct displaced moved;
        const uintptr_t function = functions[i];
        uint8_t *const slot = room + i * SLOT;
        if (!function)
            continue;
        if (prepare(r, function, (uintptr_t)entries[i].stub, slot, (uintptr_t)slot, &moved,
                    jumps[i]))
            return false;
        patched[i] = function + moved.entry;
        *entries[i].go_on = (uintptr_t)slot;
    }
    if (syscall_failed(syscall4(SYS_mprotect, (long)room, (long)size, PROT_READ | PROT_EXEC, 0)))
        return false;
    __builtin___clear_cache((char *)room, (char *)room + size);
    if (recorder_is_late())
        keep_jumps(patched, jumps);
    else if (put_jumps(patched, jumps))
        lua_calls_noted = 1;
    else
        return false;
    return true;
}

bool lua_calls_are_alone(void) {
    struct stat tasks; /* the directory has a link for each thread, and two more */
    const long got = syscall4(SYS_newfstatat, AT_FDCWD, (long)"/proc/self/task", (long)&tasks, 0);
    return !syscall_failed(got) && tasks.st_nlink == 3;
}

bool lua_calls_begin(const lua_runtime *r) {
    late.recording++;
    jit = r->is_jit ? r : NULL;
    layout = r->layout;
    if (late.n > 0)
        return true;
    const size_t unit = pages_unit(), size = (N_ENTRIES * SLOT + unit - 1) & ~(unit - 1);
    uint8_t *const room = patch_room(r->module.low, size);
    threads.has_key = threads.has_key || loader_key_create(&threads.key, on_thread_exit);
    if (room && threads.has_key && turn_aside(r, room, size))
        return true;
    pages_free(room, size);
    return false;
}

size_t lua_calls_codes(control_code codes[CONTROL_RUNTIME_CODES]) {
    if (late.n == 0)
        return 0;
    control_code noted = {.at = (uintptr_t)&lua_calls_noted, .size = sizeof lua_calls_noted};
    _Static_assert(sizeof lua_calls_noted <= CONTROL_CODE, "a control_code holds the number");
    memcpy(noted.after, &late.recording, sizeof late.recording);
    memcpy(codes, late.codes, late.n * sizeof *codes);
    codes[late.n] = noted;
    return late.n + 1;
}

bool lua_calls_have(uintptr_t pc, bool *is_resume) {
    for (size_t i = 0; i < N_ENTRIES; i++)
        if (functions[i] && pc > functions[i] && pc <= ends[i]) {
            *is_resume = entries[i].go_on == &lua_go_on_resume;
            return true;
        }
    return false;
}
