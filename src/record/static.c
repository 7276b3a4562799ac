/* static.c: the recorder in a statically linked program.
 * Problem. Such a program has no dynamic loader: nothing is preloaded, and functions of the C
 * library cannot be looked up. The C library in it was linked for this program alone, with
 * thread-local storage of just the size that the program needs.
 * Approach. `allotrace run` starts the program under ptrace. Before the program's first
 * instruction, it maps this library, liballotrace-static.so, which depends on nothing
 * (platform/alone.h), and relocates it. It makes the program's C library give each thread room for
 * our thread-local variables in addition to its own, by a table of program headers with a larger
 * segment for thread-local storage (attach/enter.h). Then it calls allotrace_static_begin, which
 * finds the allocator by the program's symbols and redirects it, as it does for allocators linked
 * into dynamic programs (linked.h). Then ptrace releases the program for good.
 * Elsewhere handlers report exit, fork and the end of threads. Here, the C library's functions for
 * these are intercepted if the program has them. Without them, `run` completes the trace, a fork is
 * recognized by a page that the kernel wipes, and a thread's domain stays in use.
 * Alternatives. A loader and a C library of our own in the program would need another thread
 * pointer than the program's. Switching it takes two system calls for each call of malloc where the
 * kernel does not allow the instruction. Breakpoints handled by `run` take microseconds each, and
 * `run` would have to stay the program's debugger. */
#include <fcntl.h>

#include "contract/entered.h"
#include "platform/alone.h"
#include "platform/cfi.h"
#include "platform/module.h"
#include "platform/syscall.h"
#include "record/handover.h"
#include "record/imports.h"
#include "record/late.h"
#include "record/linked.h"
#include "record/next.h"
#include "record/recorder.h"
#include "record/runtime.h"
#include "record/text.h"

/* ---- functions of the preloaded recorder that have no meaning here ------------------------- */

/* The allocator may be glibc's or another one, so blocks may be of any size. */
bool next_is_glibc(void) {
    return false;
}

bool next_is_preempted(struct module *module) {
    (void)module;
    return false;
}

bool next_is_library(struct module *module) {
    (void)module;
    return false;
}

void next_resolve(void) {}
void next_know_libc(void) {}
void next_wake_library(void) {}
void next_be_late(void) {}
void imports_look(bool late) {
    (void)late;
}

bool late_is(void) {
    return false;
}
bool late_enter(void) {
    return false;
}
void late_enter_imports(void) {}
void late_look_again(void) {}
void late_leave(void) {}

/* Heaps of language runtimes are not recorded in static programs, but malloc is. */
static enum runtime_kind absent_find(const char **why) {
    (void)why;
    return RUNTIME_ABSENT;
}
static const struct runtime absent = {.find = absent_find};
const struct runtime *const runtimes[N_RUNTIMES] = {[0 ... N_RUNTIMES - 1] = &absent};

/* ---- hooks for other functions of the C library -------------------------------------------- */

#define HOOK(name)                                                                                 \
    static CPU_ALIGN_STACK uintptr_t static_##name(uintptr_t a, uintptr_t b, uintptr_t c,          \
                                                   uintptr_t d, const struct allocator_call *e)

static uint64_t process; /* id of the process that was entered */

/* A program that allocates nothing gets a trace, too. */
HOOK(end) {
    if (process == (uint64_t)syscall4(SYS_getpid, 0, 0, 0, 0))
        recorder_settle();
    recorder_finish();
    return linked_go_on(a, b, c, d, e);
}

HOOK(abort) {
    recorder_before_abort();
    return linked_go_on(a, b, c, d, e);
}

/* exec returns only on failure. */
HOOK(exec) {
    recorder_before_exec();
    const uintptr_t failed = linked_go_on(a, b, c, d, e);
    recorder_after_exec();
    return failed;
}

HOOK(execve) {
    recorder_before_exec();
    const int handed = handover_begin(AT_FDCWD, (const char *)a, 0, (char *const *)c, false);
    const uintptr_t failed = linked_go_on(a, b, c, d, e);
    handover_failed(handed);
    recorder_after_exec();
    return failed;
}

HOOK(fork) {
    alone_before_fork();
    const uintptr_t child = linked_go_on(a, b, c, d, e);
    alone_after_fork(child == 0);
    return child;
}

/* Ends with a jump, so that no frame of ours stays: a destructor of the thread may unwind its whole
 * stack. */
static uintptr_t static_thread_ends(uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d,
                                    const struct allocator_call *e) {
    alone_thread_ends();
    return linked_go_on(a, b, c, d, e);
}

/* The program's unwinder calls this to find the .eh_frame entry of an address. Exceptions cross our
 * hooks of operator new, so addresses in the recorder are answered here, all others by the
 * program. */
struct unwinder_bases {
    uintptr_t text, data, function;
};
HOOK(find_fde) {
    struct module module;
    struct cfi_function found;
    struct unwinder_bases *bases = (struct unwinder_bases *)b;
    if (!alone_is_own(a))
        return linked_go_on(a, b, c, d, e);
    if (!module_find(a, &module) || !cfi_find(&module, a, &found))
        return 0;
    *bases = (struct unwinder_bases){.function = found.start};
    return (uintptr_t)found.entry;
}

/* Names in glibc and musl. The last ones are the outermost functions of musl, which has no unwind
 * tables. */
static const struct linked_also also[] = {
    {"_exit", static_end, NULL, false},
    {"_Exit", static_end, NULL, false},
    {"abort", static_abort, NULL, false},
    {"execve", static_execve, NULL, false},
    {"execveat", static_exec, NULL, false},
    {"fexecve", static_exec, NULL, false},
    {"fork", static_fork, NULL, false},
    {"__libc_thread_freeres", static_thread_ends, NULL, false},
    {"__nptl_deallocate_tsd", static_thread_ends, NULL, false},
    {"__pthread_exit", static_thread_ends, NULL, false},
    {"_Unwind_Find_FDE", static_find_fde, NULL, true},
    {"libc_start_main_stage2", NULL, module_add_start, false},
    {"start", NULL, module_add_start, false},
};

/* ---- the start ------------------------------------------------------------------------------- */

static void say_why_not(entered *e) {
    text t = text_in(e->text, sizeof e->text);
    text_add(&t, linked_found() ? linked_found() : "no symbol names its malloc and free");
}

/* `run` makes this call, on the program's stack, with a thread pointer that is valid only during
 * the call. So no thread-local state of the recorder is kept: the recording begins with the first
 * block. */
__attribute__((visibility("default"))) void allotrace_static_begin(entered *e);
void allotrace_static_begin(entered *e) {
    const ElfW(Ehdr) *own = (const ElfW(Ehdr) *)e->own;
    if (e->version != ENTERED_VERSION)
        return;
    const struct alone_module modules[2] = {
        {e->bias, (const ElfW(Phdr) *)e->headers, e->n_headers},
        {e->own, (const ElfW(Phdr) *)(e->own + own->e_phoff), own->e_phnum}};
    process = (uint64_t)syscall4(SYS_getpid, 0, 0, 0, 0);
    alone_begin((const uintptr_t *)e->stack, modules);
    e->is_recorded = linked_begin_static(also, sizeof also / sizeof *also);
    say_why_not(e);
}
