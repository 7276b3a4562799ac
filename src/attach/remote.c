/* remote.c: calls a function in a thread of another process, and leaves the thread as it was.
 * PTRACE_SEIZE and PTRACE_INTERRUPT stop the thread. Unlike SIGSTOP, they leave no trace in the
 * process. A call is made by setting the thread's registers. The function returns to a `syscall`
 * instruction in the C library (the gate), and the stop at the entry of that system call tells us
 * that the function has returned. So no signal is needed, whose handler might be the program's. The
 * system call itself is skipped. All signals are blocked meanwhile; they stay pending, and none is
 * lost.
 * A thread that was waiting in a system call is put back into it by the kernel, as after a signal
 * without a handler, because its registers are restored at a stop of that kind. */
#include "attach/remote.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "attach/cpu.h"
#include "attach/filters.h"
#include "attach/follow.h"
#include "attach/handlers.h"
#include "attach/process.h"
#include "attach/step.h"
#include "attach/stop.h"
#include "base/file.h"
#include "base/path.h"
#include "base/proc.h"
#include "platform/clock.h"

enum {
    STACK_SIZE = 256 * 1024, /* bytes of stack lent to the thread, below the room */
    LENT_SIZE = STACK_SIZE + REMOTE_ROOM,
    MAX_THREADS = 1024,
    MAX_CHECKED = 32 * 1024, /* most threads whose filters are checked */
    XSTATE_SIZE = 16 * 1024, /* most bytes of vector registers */
    SAFE_TRIES = 300,        /* tries, 10 ms apart, each with all threads */
    LOOK_TRIES = 10,         /* tries after each of which we look whether the program stayed */
    PLAIN_TRIES = 3,         /* first tries, without single-stepping */
    SAFE_MS = 10000,
    CALL_MS = 20000,
};

/* A thread whose filters were found harmless. */
struct checked {
    pid_t tid;
    long filters; /* number of filters then; always 0 before Linux 5.10 */
};

struct remote {
    pid_t pid, tid;
    int memory; /* /proc/PID/mem */
    process_module libc;
    uint64_t gate; /* address of a `syscall` instruction */
    uint64_t lent; /* address of the memory mapped for us; 0: none yet */
    cpu_registers registers;
    char xstate[XSTATE_SIZE];
    size_t xstate_size;
    uint64_t blocked;     /* mask of blocked signals */
    uint64_t asked_about; /* start of the module that exports_malloc is about; 0: none */
    bool exports_malloc;
    uint64_t unsafe_low, unsafe_high; /* module in which a thread was seen last while stepping */
    bool is_to_stop;                  /* SIGSTOP, which can't be blocked, arrived during a call */
    bool in_handler; /* in the last round, a handler had interrupted code that may hold a lock */
    filters filters; /* filters of the stopped thread */
    struct checked *checked;
    size_t n_checked;
    bool restart_forbidden; /* a filter of some thread may forbid restart_syscall */
    bool may_not_ask;       /* a filter of some thread forbids what seccomp_harms_asking checks */
};

bool remote_refuse(remote_reason *why, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(why->text, sizeof why->text, format, arguments);
    va_end(arguments);
    return false;
}

static void pause_ms(long ms) {
    nanosleep(&(struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000}, NULL);
}

/* ---- stopping a thread ----------------------------------------------------------------------- */

enum stop { STOPPED, STOPPED_JOB, RUNNING, GONE };

/* Waits until the thread stops at our request. Signals that arrive before are delivered to it. Any
 * other stop cancels our request, so the request is repeated. */
static enum stop await_stop(pid_t tid) {
    int status;
    for (;;) {
        if (TEMP_FAILURE_RETRY(waitpid(tid, &status, __WALL)) < 0 || !WIFSTOPPED(status))
            return GONE;
        if (stop_event(status) == PTRACE_EVENT_STOP)
            return WSTOPSIG(status) == SIGTRAP ? STOPPED : STOPPED_JOB;
        ptrace(PTRACE_INTERRUPT, tid, 0, 0);
        bool ours = stop_event(status) || WSTOPSIG(status) == STOP_SYSCALL;
        ptrace(PTRACE_CONT, tid, 0, ours ? 0 : WSTOPSIG(status));
    }
}

static bool is_cut_short(const cpu_registers *at) {
    return cpu_result(at) == -EINTR &&
           cpu_is_among(cpu_number(at), cpu_cut_short, sizeof cpu_cut_short / sizeof(int));
}

/* Returns whether the thread was interrupted in a sleep that it can't continue: the kernel
 * continues it by the system call restart_syscall, and a filter may forbid that. */
static bool needs_restart(const remote *r, const cpu_registers *at) {
    enum { ERESTART_RESTARTBLOCK = 516 };
    return r->restart_forbidden && cpu_number(at) >= 0 && cpu_result(at) == -ERESTART_RESTARTBLOCK;
}

/* Makes the thread repeat the system call that it was waiting in, in the cases where the kernel
 * would not do so by itself. The call is not repeated if a handler of the program runs first. */
static void restart_call(const remote *r, pid_t tid) {
    enum { ERESTARTNOHAND = 514 };
    cpu_registers at;
    if (cpu_get(tid, &at) && (is_cut_short(&at) || needs_restart(r, &at))) {
        cpu_set_result(&at, -ERESTARTNOHAND);
        cpu_set(tid, &at);
    }
}

static void let_go(const remote *r, pid_t tid) {
    restart_call(r, tid);
    ptrace(PTRACE_DETACH, tid, 0, 0);
}

static bool may_hold_locks(uint64_t number) {
    return cpu_is_among((int64_t)number, cpu_locking, sizeof cpu_locking / sizeof(int));
}

static bool reads_syscall(const remote *r, uint64_t address) {
    unsigned char code[CPU_ENTER_SIZE];
    return pread(r->memory, code, sizeof code, (off_t)address) == sizeof code && cpu_enters(code);
}

/* Returns whether the module is a library with `part` in its name. The name of a program does not
 * count, because it may be anything. */
static bool is_library(const process_module *m, const char *part) {
    const char *name = path_base(m->path), *at = strstr(name, part);
    return at && strstr(at, ".so");
}

/* The vDSO counts as part of the recorder, which calls it for the time. */
static bool is_recorder(const process_module *m) {
    return is_library(m, "liballotrace-") || strcmp(m->path, "[vdso]") == 0;
}

static bool is_loader(const process_module *m) {
    return strncmp(path_base(m->path), "ld-linux", 8) == 0;
}

static bool is_system_library(const process_module *m) {
    return strncmp(path_base(m->path), "libc.so", 7) == 0 || is_loader(m) ||
           is_library(m, "malloc") || is_recorder(m);
}

/* Returns whether the module exports malloc, whatever its name; it may be the program itself. */
static bool has_allocator(remote *r, const process_module *m) {
    if (r->asked_about != m->low) {
        r->asked_about = m->low;
        r->exports_malloc = process_symbol(r->pid, m, "malloc") != 0;
    }
    return r->exports_malloc;
}

/* Returns whether a thread there holds no lock of the allocator or the loader. It holds none in the
 * program's own code, and none while it waits in a system call that neither of them makes. If the
 * recorder has made the system call, the thread is recording an event, and its stream could not be
 * ended. */
static bool is_safe_place(remote *r, uint64_t pc, bool in_call, uint64_t number) {
    process_module m;
    if (!process_module_at(r->pid, pc, &m))
        return false;
    if (in_call)
        return !may_hold_locks(number) && !is_loader(&m) && !is_recorder(&m);
    return !is_system_library(&m) && !has_allocator(r, &m);
}

/* Returns whether a handler has interrupted the thread at a safe place. If its pc is at a system
 * call instruction, that call is to be restarted. If the result is EINTR after such an instruction,
 * the call was cut short, which never happens to a call that may hold locks. */
static bool was_safe_place(remote *r, const interrupted *i) {
    bool again = reads_syscall(r, i->pc);
    bool cut = i->result == (uint64_t)-EINTR && reads_syscall(r, i->pc - CPU_ENTER_SIZE);
    return is_safe_place(r, i->pc, again || cut, again ? i->result : SYS_pause);
}

/* Returns whether a signal handler that the thread is in may have interrupted code that holds a
 * lock. */
static bool is_inside_handler(remote *r) {
    enum { MAX_HANDLERS = 8 };
    interrupted found[MAX_HANDLERS];
    process_ranges ranges;
    if (!process_read_ranges(r->pid, &ranges))
        return true;
    size_t n = handlers_find(&ranges, r->memory, cpu_sp(&r->registers), found, MAX_HANDLERS);
    process_free_ranges(&ranges);
    for (size_t i = 0; i < n; i++)
        if (!was_safe_place(r, &found[i]) && handlers_lead_to(r->pid, r->tid, found[i].pc))
            return r->in_handler = true;
    return false;
}

/* Returns whether the thread certainly holds no lock of the allocator or the loader. */
static bool is_at_safe_place(remote *r) {
    const cpu_registers *at = &r->registers;
    bool in_call = cpu_number(at) >= 0 && reads_syscall(r, cpu_pc(at) - CPU_ENTER_SIZE);
    return is_safe_place(r, cpu_pc(at), in_call, (uint64_t)cpu_number(at)) && !is_inside_handler(r);
}

static bool get_registers(remote *r) {
    struct iovec vectors = {.iov_base = r->xstate, .iov_len = sizeof r->xstate};
    if (!cpu_get(r->tid, &r->registers) ||
        ptrace(PTRACE_GETREGSET, r->tid, (void *)(uintptr_t)CPU_VECTORS, &vectors) != 0 ||
        ptrace(PTRACE_GETSIGMASK, r->tid, (void *)sizeof r->blocked, &r->blocked) != 0)
        return false;
    r->xstate_size = vectors.iov_len;
    return true;
}

/* Stops a thread. Sets no reason for one that has ended or is already traced, because other threads
 * may still do. */
static enum stop stop_thread(const remote *r, pid_t tid, remote_reason *why) {
    if (ptrace(PTRACE_SEIZE, tid, 0, PTRACE_O_TRACESYSGOOD) != 0) {
        if (errno == EPERM &&
            (process_status(tid, "TracerPid", 0) != 0 || !process_has_program(tid)))
            return GONE;
        if (errno == EPERM)
            remote_refuse(
                why,
                "process %d may not be traced by this user: it belongs to another user, or "
                "/proc/sys/kernel/yama/ptrace_scope forbids it",
                (int)r->pid);
        else if (errno != ESRCH)
            remote_refuse(why, "process %d cannot be traced: %s", (int)r->pid, strerror(errno));
        return GONE;
    }
    ptrace(PTRACE_INTERRUPT, tid, 0, 0);
    return await_stop(tid);
}

static bool waits_in_call(const cpu_registers *at) {
    enum { ERESTARTSYS = 512, ERESTART_RESTARTBLOCK = 516 };
    const int64_t result = -cpu_result(at);
    return cpu_number(at) >= 0 &&
           ((result >= ERESTARTSYS && result <= ERESTART_RESTARTBLOCK) || is_cut_short(at));
}

/* Called after each instruction, so it remembers the module of the last unsafe address. */
static bool may_be_safe_place(void *context, uint64_t pc) {
    remote *r = context;
    process_module m;
    if (pc >= r->unsafe_low && pc < r->unsafe_high)
        return false;
    if (is_safe_place(r, pc, false, 0))
        return true;
    if (process_module_at(r->pid, pc, &m)) {
        r->unsafe_low = m.low;
        r->unsafe_high = m.high;
    }
    return false;
}

/* Steps from where the thread is stopped to a safe place, which is not far unless the thread
 * waits. */
static enum stop go_to_safe_place(remote *r) {
    r->unsafe_low = r->unsafe_high = 0;
    switch (step_until(r->tid, r->memory, may_be_safe_place, r)) {
    case STEP_THERE:
        return get_registers(r) && is_at_safe_place(r) ? STOPPED : RUNNING;
    case STEP_LEFT:
        return RUNNING;
    default:
        return GONE;
    }
}

/* Tries one thread once. It is then either stopped at a safe place, or continues. */
static bool try_thread(remote *r, pid_t tid, bool goes_on, remote_reason *why) {
    r->tid = tid;
    enum stop stop = stop_thread(r, tid, why);
    if (stop == STOPPED && get_registers(r)) {
        if (is_at_safe_place(r))
            return true;
        if (goes_on && !waits_in_call(&r->registers) && (stop = go_to_safe_place(r)) == STOPPED)
            return true;
    }
    if (stop == STOPPED_JOB)
        remote_refuse(why, "process %d is stopped: continue it (kill -CONT %d) and try again",
                      (int)r->pid, (int)r->pid);
    if (stop != GONE)
        let_go(r, tid);
    return false;
}

/* Returns whether the program will stay as it was found. A process that was started just now may
 * still be loading its C library, or be about to exec another program. */
static bool is_settled(const remote *r) {
    process_module now;
    char loader[256];
    if (!process_exists(r->pid) || !process_has_program(r->pid))
        return true;
    if (r->libc.code)
        return process_find_module(r->pid, "libc.so.6", &now) && now.code == r->libc.code;
    return !process_loader(r->pid, loader, sizeof loader) || !*loader || strstr(loader, "/ld-musl");
}

static bool stop_somewhere_safe(remote *r, remote_reason *why) {
    static pid_t threads[MAX_THREADS];
    const uint64_t deadline = clock_monotonic_ms() + SAFE_MS;
    why->text[0] = '\0';
    for (int i = 0; i < SAFE_TRIES && clock_monotonic_ms() < deadline; i++) {
        size_t n = process_threads(r->pid, threads, MAX_THREADS);
        if (n == 0 || !process_has_program(r->pid) || (i % LOOK_TRIES == 0 && !is_settled(r)))
            break;
        r->in_handler = false;
        for (size_t j = 0; j < n; j++) {
            if (try_thread(r, threads[j], i >= PLAIN_TRIES, why))
                return true;
            if (why->text[0])
                return false;
        }
        pause_ms(10);
    }
    if (!process_exists(r->pid) || !process_has_program(r->pid))
        return remote_refuse(why, "process %d has ended", (int)r->pid);
    if (r->in_handler)
        return remote_refuse(why,
                             "process %d is in a signal handler that interrupted its allocator or "
                             "loader; try again later",
                             (int)r->pid);
    return remote_refuse(
        why, "process %d was always inside its allocator, its loader, or another lock; try again",
        (int)r->pid);
}

/* ---- preconditions --------------------------------------------------------------------------- */

static bool find_gate(remote *r) {
    unsigned char code[4096];
    for (uint64_t at = r->libc.code; at < r->libc.code_high;
         at += sizeof code - (CPU_ENTER_SIZE - 1)) {
        ssize_t n = pread(r->memory, code, sizeof code, (off_t)at);
        for (ssize_t i = 0; i + CPU_ENTER_SIZE <= n; i++)
            if (cpu_enters(code + i)) {
                r->gate = at + (uint64_t)i;
                return true;
            }
    }
    return false;
}

/* Returns whether an emulator runs the program. It treats the program's code as data, so functions
 * there cannot be called. */
static bool is_emulated(int pid, const char *loader) {
    char file[512];
    return !*loader && proc_link((uint64_t)pid, "exe", file, sizeof file) &&
           strncmp(path_base(file), "ld-linux", 8) != 0;
}

static bool check_program(const remote *r, remote_reason *why) {
    char loader[256];
    bool known = process_loader(r->pid, loader, sizeof loader);
    int pid = r->pid;
    if (known && strstr(loader, "/ld-musl"))
        return remote_refuse(why, "process %d uses the C library musl; only glibc is supported",
                             pid);
    if (known && !*loader && !r->libc.code)
        return remote_refuse(why, "process %d is statically linked: nothing can be loaded into it",
                             pid);
    if (known && is_emulated(pid, loader))
        return remote_refuse(
            why, "process %d is run by a program that emulates its code, such as valgrind", pid);
    if (!r->libc.code)
        return remote_refuse(
            why,
            "cannot find libc.so.6 in process %d: it uses a different C library, or belongs to "
            "another user",
            pid);
    if (strstr(r->libc.path, " (deleted)") && !remote_function(r, "dlopen"))
        return remote_refuse(
            why,
            "the C library of process %d was replaced since it started, and only root may read "
            "the old one",
            pid);
    if (!remote_function(r, "dlopen"))
        return remote_refuse(
            why, "process %d uses a different C library: 64-bit glibc 2.34 or later is required",
            pid);
    return true;
}

/* Returns whether all threads are traced. The first thread alone may be traced, by follow.h. */
static bool all_are_traced(pid_t pid) {
    static pid_t threads[MAX_THREADS];
    const size_t n = process_threads(pid, threads, MAX_THREADS);
    size_t i = 0;
    while (i < n && process_status(threads[i], "TracerPid", 0) != 0)
        i++;
    return i == n;
}

static bool check_process(remote *r, remote_reason *why) {
    int pid = r->pid;
    if (!process_exists(pid))
        return remote_refuse(why, "there is no process %d", pid);
    if (all_are_traced(pid))
        return remote_refuse(why, "process %d is being traced by process %ld", pid,
                             process_status(pid, "TracerPid", 0));
    if (!process_find_module(pid, "libc.so.6", &r->libc) && errno == EACCES)
        return remote_refuse(
            why,
            geteuid() ? "process %d belongs to another user"
                      : "process %d may not be read, even by root: it is outside of this "
                        "container, or protected",
            pid);
    return check_program(r, why);
}

static bool open_memory(remote *r, remote_reason *why) {
    r->memory = proc_open((uint64_t)r->pid, "mem", O_RDWR);
    if (r->memory >= 0)
        return true;
    return remote_refuse(why, "the memory of process %d cannot be opened: %s", (int)r->pid,
                         strerror(errno));
}

/* ---- seccomp filters --------------------------------------------------------------------------
 * Each thread has its own filters; a new thread starts with copies of its creator's. Once the
 * recorder is loaded, it handles filters that are installed later. */

static long filter_mode(pid_t tid) {
    return process_status(tid, "Seccomp", SECCOMP_MODE_DISABLED);
}

static bool are_harmless(remote *r, pid_t tid, const filters *f, remote_reason *why) {
    seccomp_harm harm;
    if (!seccomp_harms_recording(f->items, f->count, -1, &harm) &&
        !seccomp_harms_loading(f->items, f->count, &harm)) {
        r->may_not_ask |= seccomp_harms_asking(f->items, f->count, &harm);
        return true;
    }
    return remote_refuse(
        why,
        "thread %d of process %d has a seccomp filter that %s %s, which recording needs; under "
        "allotrace run, a program is recorded until it installs such a filter",
        (int)tid, (int)r->pid, filters_say(&harm), harm.call);
}

/* Reads the filters of a stopped thread. */
static bool read_filters(remote *r, pid_t tid, filters *f, remote_reason *why) {
    *f = (filters){0};
    if (filter_mode(tid) == SECCOMP_MODE_DISABLED)
        return true;
    int error = filters_read(tid, f);
    r->restart_forbidden |= error || !seccomp_allows_restart(f->items, f->count);
    if (!error)
        return are_harmless(r, tid, f, why);
    return remote_refuse(
        why,
        "process %d has a seccomp filter, which cannot be read: %s; only root outside all "
        "containers can read it",
        (int)r->pid, strerror(error));
}

static bool check_thread(remote *r, pid_t tid, remote_reason *why) {
    filters f;
    if (filter_mode(tid) == SECCOMP_MODE_STRICT)
        return remote_refuse(why,
                             "process %d has given up system calls that recording needs (seccomp)",
                             (int)r->pid);
    if (!filters_may_read())
        return remote_refuse(
            why,
            "process %d has a seccomp filter, which might kill it for system calls that "
            "recording needs; only root outside all containers can check",
            (int)r->pid);
    why->text[0] = '\0';
    if (stop_thread(r, tid, why) == GONE)
        return !why->text[0];
    bool good = read_filters(r, tid, &f, why);
    filters_free(&f);
    let_go(r, tid);
    return good;
}

static int compare_checked(const void *a, const void *b) {
    pid_t x = ((const struct checked *)a)->tid, y = ((const struct checked *)b)->tid;
    return (x > y) - (x < y);
}

static bool is_checked(const remote *r, const struct checked *c) {
    const struct checked *found =
        r->n_checked ? bsearch(c, r->checked, r->n_checked, sizeof *c, compare_checked) : NULL;
    return found && found->filters == c->filters;
}

bool remote_may_not_ask(const remote *r) {
    return r->may_not_ask;
}

/* The thread that we have stopped can't have changed since and is not checked again. */
bool remote_check_filters(remote *r, remote_reason *why) {
    static pid_t threads[MAX_CHECKED];
    size_t n = process_threads(r->pid, threads, MAX_CHECKED);
    struct checked *now = malloc(MAX_CHECKED * sizeof *now);
    bool good = now && n < MAX_CHECKED;
    if (!good)
        remote_refuse(why, "process %d has too many threads", (int)r->pid);
    for (size_t i = 0; good && i < n; i++) {
        now[i] = (struct checked){threads[i], process_status(threads[i], "Seccomp_filters", 0)};
        good = threads[i] == r->tid || filter_mode(threads[i]) == SECCOMP_MODE_DISABLED ||
               is_checked(r, &now[i]) || check_thread(r, threads[i], why);
    }
    if (good)
        qsort(now, n, sizeof *now, compare_checked);
    free(r->checked);
    r->checked = now;
    r->n_checked = good ? n : 0;
    return good;
}

/* Returns whether the filters let the thread make the system call that it stands before. */
static bool may_call(const remote *r, const cpu_registers *at) {
    struct seccomp_data data = {.nr = (int)cpu_number(at),
                                .arch = (uint32_t)CPU_ARCHITECTURE,
                                .instruction_pointer = cpu_pc(at)};
    uint64_t arguments[6] = {0};
    cpu_arguments(at, arguments);
    for (size_t i = 0; i < sizeof arguments / sizeof *arguments; i++)
        data.args[i] = arguments[i];
    return !seccomp_harms_call(r->filters.items, r->filters.count, &data);
}

/* ---- calls ----------------------------------------------------------------------------------- */

static void set_blocked(const remote *r, uint64_t signals) {
    ptrace(PTRACE_SETSIGMASK, r->tid, (void *)sizeof signals, &signals);
}

/* Waits for the next stop until `deadline` at most. */
static enum stop await_any_stop(pid_t tid, uint64_t deadline, int *status) {
    for (;;) {
        pid_t got = waitpid(tid, status, __WALL | WNOHANG);
        if (got != 0)
            return got == tid && WIFSTOPPED(*status) ? STOPPED : GONE;
        if (clock_monotonic_ms() > deadline)
            return RUNNING;
        nanosleep(&(struct timespec){.tv_nsec = 50000}, NULL);
    }
}

/* Replaces the system call at whose entry the thread stands by getpid, and continues to its exit.
 * An invalid number would not avoid the filters: they see it, too. */
static void skip_call(const remote *r, cpu_registers *at) {
    int status;
    cpu_set_number(at, SYS_getpid);
    cpu_set(r->tid, at);
    ptrace(PTRACE_SYSCALL, r->tid, 0, 0);
    waitpid(r->tid, &status, __WALL);
}

/* Skips the system call and makes it fail with EPERM. */
static void refuse_call(const remote *r, cpu_registers *at) {
    skip_call(r, at);
    cpu_set_result(at, -EPERM);
    cpu_set(r->tid, at);
}

/* Leaves the system call to which the function has returned, and continues to a stop like the first
 * one. */
static void leave_gate(const remote *r, cpu_registers *at) {
    skip_call(r, at);
    ptrace(PTRACE_INTERRUPT, r->tid, 0, 0);
    ptrace(PTRACE_CONT, r->tid, 0, 0);
    await_stop(r->tid);
}

/* Lets the thread run from one system call to the next until the function has returned. */
static bool run_to_gate(remote *r, uint64_t *result, remote_reason *why) {
    cpu_registers at;
    const uint64_t deadline = clock_monotonic_ms() + CALL_MS;
    bool enters = true; /* the next stop is at the entry of a system call, not at its exit */
    int status;
    for (;;) {
        if (ptrace(PTRACE_SYSCALL, r->tid, 0, 0) != 0)
            break;
        const enum stop stop = await_any_stop(r->tid, deadline, &status);
        if (stop == GONE)
            break;
        if (stop == RUNNING) {
            ptrace(PTRACE_INTERRUPT, r->tid, 0, 0);
            await_stop(r->tid);
            return remote_refuse(
                why, "process %d could not complete the call: a lock that it needs is held",
                (int)r->pid);
        }
        if (WSTOPSIG(status) == STOP_SYSCALL && cpu_get(r->tid, &at)) {
            if (cpu_pc(&at) != r->gate + CPU_ENTER_SIZE) {
                if (enters && !may_call(r, &at))
                    refuse_call(r, &at);
                else
                    enters = !enters;
                continue;
            }
            *result = (uint64_t)cpu_number(&at);
            leave_gate(r, &at);
            return true;
        }
        if (!stop_event(status) && WSTOPSIG(status) == SIGSTOP) {
            r->is_to_stop = true;
        } else if (!stop_event(status) && WSTOPSIG(status) != STOP_SYSCALL) {
            return remote_refuse(why, "process %d got signal %d in the function called in it",
                                 (int)r->pid, WSTOPSIG(status));
        }
    }
    return remote_refuse(why, "process %d has ended", (int)r->pid);
}

static void restore(const remote *r) {
    struct iovec vectors = {.iov_base = (char *)r->xstate, .iov_len = r->xstate_size};
    cpu_set(r->tid, &r->registers);
    ptrace(PTRACE_SETREGSET, r->tid, (void *)(uintptr_t)CPU_VECTORS, &vectors);
    set_blocked(r, r->blocked);
}

static bool call(remote *r, uint64_t stack, uint64_t function, const uint64_t arguments[6],
                 uint64_t *result, remote_reason *why) {
    cpu_registers at = r->registers;
    stack = cpu_stack_for(stack);
    if (pwrite(r->memory, &r->gate, sizeof r->gate, (off_t)stack) != sizeof r->gate)
        return remote_refuse(why, "the stack of process %d cannot be written", (int)r->pid);
    cpu_call(&at, function, stack, arguments);
    cpu_set(r->tid, &at);
    if (run_to_gate(r, result, why))
        return true;
    restore(r);
    return false;
}

/* Maps memory for the thread to use. The call of mmap itself runs on the thread's own stack, below
 * the red zone; it needs next to no stack. */
static bool borrow_memory(remote *r, remote_reason *why) {
    uint64_t arguments[6] = {
        0, LENT_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, (uint64_t)-1, 0};
    uint64_t function = remote_function(r, "mmap"), lent = 0;
    if (!call(r, cpu_sp(&r->registers) - CPU_RED_ZONE, function, arguments, &lent, why))
        return false;
    if (lent == (uint64_t)MAP_FAILED)
        return remote_refuse(why, "process %d has no memory to spare", (int)r->pid);
    r->lent = lent;
    return true;
}

bool remote_call(remote *r, uint64_t function, const uint64_t arguments[3], uint64_t *result,
                 remote_reason *why) {
    uint64_t all[6] = {arguments[0], arguments[1], arguments[2], 0, 0, 0};
    return call(r, r->lent + STACK_SIZE, function, all, result, why);
}

/* ---- code ------------------------------------------------------------------------------------ */

static bool is_in_the_middle(const control_code *codes, size_t n, uint64_t pc) {
    for (size_t i = 0; i < n; i++)
        if (pc > codes[i].at && pc < codes[i].at + codes[i].size)
            return true;
    return false;
}

/* Returns whether the thread is in the middle of this code, or returns there from signal
 * handlers. */
static bool stands_in_the_middle(const remote *r, const process_ranges *ranges,
                                 const cpu_registers *at, const control_code *codes, size_t n) {
    enum { MAX_HANDLERS = 64 };
    interrupted found[MAX_HANDLERS];
    bool is = is_in_the_middle(codes, n, cpu_pc(at));
    const size_t n_found = handlers_find(ranges, r->memory, cpu_sp(at), found, MAX_HANDLERS);
    for (size_t i = 0; i < n_found; i++)
        is |= is_in_the_middle(codes, n, found[i].pc);
    return is;
}

static bool some_in_the_middle(const remote *r, const follow_halt *h, const control_code *codes,
                               size_t n) {
    cpu_registers at;
    process_ranges ranges; /* read once, since each thread adds at least two mappings */
    if (!process_read_ranges(r->pid, &ranges))
        return true;
    bool some = stands_in_the_middle(r, &ranges, &r->registers, codes, n);
    for (size_t i = 0; i < h->n && !some; i++)
        some = !cpu_get(h->threads[i], &at) || stands_in_the_middle(r, &ranges, &at, codes, n);
    process_free_ranges(&ranges);
    return some;
}

static bool code_is(const remote *r, const control_code *c, const unsigned char *bytes) {
    unsigned char now[CONTROL_CODE];
    return c->size <= CONTROL_CODE && pread(r->memory, now, c->size, (off_t)c->at) == c->size &&
           memcmp(now, bytes, c->size) == 0;
}

static void write_code(const remote *r, const control_code *codes, size_t n, bool back) {
    for (size_t i = 0; i < n; i++) {
        const unsigned char *const from = back ? codes[i].after : codes[i].before;
        const unsigned char *const to = back ? codes[i].before : codes[i].after;
        if (code_is(r, &codes[i], from) &&
            pwrite(r->memory, to, codes[i].size, (off_t)codes[i].at) < 0)
            return;
    }
}

static bool code_is_all(const remote *r, const control_code *codes, size_t n, bool back) {
    for (size_t i = 0; i < n; i++)
        if (!code_is(r, &codes[i], back ? codes[i].before : codes[i].after))
            return false;
    return true;
}

static bool change_while_held(const remote *r, const control_code *codes, size_t n, bool back,
                              remote_reason *why) {
    write_code(r, codes, n, back);
    if (code_is_all(r, codes, n, back))
        return true;
    write_code(r, codes, n, !back);
    return remote_refuse(why, "the kernel does not let the code of process %d be changed",
                         (int)r->pid);
}

static void release_all(const remote *r, follow_halt *h) {
    for (size_t i = 0; i < h->n; i++)
        restart_call(r, h->threads[i]);
    follow_resume(h);
}

bool remote_change_code(remote *r, const control_code *codes, size_t n, bool back,
                        remote_reason *why) {
    enum { TRIES = 100, PAUSE_MS = 20, STOP_MS = 5000 };
    const uint64_t deadline = clock_monotonic_ms() + STOP_MS;
    for (int i = 0; i < TRIES; i++) {
        follow_halt h;
        if (!follow_stop(&h, r->pid, r->tid, why)) {
            /* Another process may be tracing a thread just now, or a thread may be waiting for its
             * vfork child. */
            if (clock_monotonic_ms() > deadline || !process_exists(r->pid))
                return false;
            pause_ms(PAUSE_MS);
            continue;
        }
        why->text[0] = '\0';
        const bool can = !some_in_the_middle(r, &h, codes, n);
        const bool done = can && change_while_held(r, codes, n, back, why);
        release_all(r, &h);
        if (can)
            return done;
        pause_ms(1);
    }
    if (!*why->text)
        remote_refuse(why, "threads of process %d were always in the code to be changed",
                      (int)r->pid);
    return false;
}

/* ---- open and close -------------------------------------------------------------------------- */

static void remote_free(remote *r) {
    file_close(r->memory);
    filters_free(&r->filters);
    free(r->checked);
    free(r);
}

/* Restores the thread and lets it continue. */
static void leave(const remote *r) {
    restore(r);
    let_go(r, r->tid);
    if (r->is_to_stop)
        kill(r->pid, SIGSTOP);
}

static remote *open_once(pid_t pid, bool *settled, remote_reason *why) {
    remote *r = calloc(1, sizeof *r);
    *settled = true;
    if (!r) {
        remote_refuse(why, "not enough memory");
        return NULL;
    }
    r->pid = pid;
    r->memory = -1;
    if (check_process(r, why) && open_memory(r, why) && remote_check_filters(r, why)) {
        if (!find_gate(r)) {
            remote_refuse(why, "the C library of process %d cannot be read", (int)pid);
        } else if (stop_somewhere_safe(r, why)) {
            set_blocked(r, ~UINT64_C(0));
            if (read_filters(r, r->tid, &r->filters, why) && borrow_memory(r, why))
                return r;
            leave(r);
        }
    }
    *settled = is_settled(r);
    remote_free(r);
    return NULL;
}

remote *remote_open(pid_t pid, remote_reason *why) {
    enum { SETTLE_MS = 5000, PAUSE_MS = 5 };
    const uint64_t deadline = clock_monotonic_ms() + SETTLE_MS;
    bool settled = false;
    if (!CPU_ATTACHES) {
        remote_refuse(why, "process %d runs on a CPU for which attaching is not supported",
                      (int)pid);
        return NULL;
    }
    remote *r = open_once(pid, &settled, why);
    while (!r && !settled && clock_monotonic_ms() < deadline) {
        pause_ms(PAUSE_MS);
        r = open_once(pid, &settled, why);
    }
    return r;
}

void remote_close(remote *r) {
    uint64_t arguments[6] = {r->lent, LENT_SIZE, 0, 0, 0, 0}, result;
    remote_reason why;
    call(r, cpu_sp(&r->registers) - CPU_RED_ZONE, remote_function(r, "munmap"), arguments, &result,
         &why);
    leave(r);
    remote_free(r);
}

bool remote_rights(const remote *r, rights *whose) {
    return rights_of_thread(r->pid, r->tid, whose);
}

/* ---- memory and symbols ---------------------------------------------------------------------- */

uint64_t remote_room(const remote *r, size_t at) {
    return r->lent + STACK_SIZE + at;
}

bool remote_write(remote *r, size_t at, const void *bytes, size_t size) {
    return at <= REMOTE_ROOM && size <= REMOTE_ROOM - at &&
           pwrite(r->memory, bytes, size, (off_t)remote_room(r, at)) == (ssize_t)size;
}

bool remote_read(remote *r, size_t at, void *bytes, size_t size) {
    return at <= REMOTE_ROOM && size <= REMOTE_ROOM - at &&
           pread(r->memory, bytes, size, (off_t)remote_room(r, at)) == (ssize_t)size;
}

bool remote_read_text(remote *r, uint64_t address, char *text, size_t size) {
    ssize_t n = pread(r->memory, text, size - 1, (off_t)address);
    text[n > 0 ? n : 0] = '\0';
    return n > 0;
}

uint64_t remote_function(const remote *r, const char *name) {
    return process_symbol(r->pid, &r->libc, name);
}
