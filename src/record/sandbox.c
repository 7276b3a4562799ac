/* sandbox.c: intercepts the calls by which a program gives up system calls; the kernel will kill it
 * if it makes them nevertheless. The program does not know which system calls the recorder makes.
 * If these are among those given up, the recording ends first, and the program does not.
 * A filter applies to one thread or to all. A filter for one thread ends the recording, too. */
#include "record/sandbox.h"

#include <errno.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "record/filter.h"
#include "record/next.h"
#include "record/recorder.h"

static void before_filter(const void *filter) {
    int saved_errno = errno;
    struct session *s = recorder_enter_own();
    if (s && !filter_spares_recorder(filter, s->sink.fd))
        recorder_yield(s, "the program's seccomp filter forbids system calls that recording needs");
    else if (s && !filter_allows_asking(filter))
        session_forbid_asking();
    errno = saved_errno;
}

static void before_strict_mode(void) {
    int saved_errno = errno;
    struct session *s = recorder_enter_own();
    if (s)
        recorder_yield(s, "the program gives up system calls that recording needs (seccomp)");
    errno = saved_errno;
}

static void before_prctl(long option, long mode, long filter) {
    if (option == PR_SET_SECCOMP && mode == SECCOMP_MODE_STRICT)
        before_strict_mode();
    else if (option == PR_SET_SECCOMP && mode == SECCOMP_MODE_FILTER)
        before_filter((const void *)filter);
}

static void before_seccomp(long operation, long filter) {
    if (operation == SECCOMP_SET_MODE_STRICT)
        before_strict_mode();
    else if (operation == SECCOMP_SET_MODE_FILTER)
        before_filter((const void *)filter);
}

_Static_assert(offsetof(struct next_calls, syscall) == 0, "sandbox_stubs.S takes it from there");

CPU_ALIGN_STACK void sandbox_before_syscall(long number, long a, long b, long c) {
    if (number == SYS_seccomp)
        before_seccomp(a, c);
    else
        before_prctl(a, b, c);
}

CPU_ALIGN_STACK int sandbox_prctl(int option, long a, long b, long c, long d) {
    before_prctl(option, a, b);
    const int result = next.prctl(option, a, b, c, d);
    if (option == PR_SET_NAME && self.domain)
        self.domain->name_due = 0;
    return result;
}
