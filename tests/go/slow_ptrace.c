/* slow_ptrace.c: preloaded into a command, delays each of its requests to trace a process, as a
 * busy machine does. */
#include <stdarg.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { LATE = 50000000 /* ns */ };

long ptrace(enum __ptrace_request request, ...) {
    va_list arguments;
    va_start(arguments, request);
    const long pid = va_arg(arguments, long), address = va_arg(arguments, long),
               data = va_arg(arguments, long);
    va_end(arguments);
    if (request == PTRACE_SEIZE)
        nanosleep(&(struct timespec){.tv_nsec = LATE}, NULL);
    return syscall(SYS_ptrace, (long)request, pid, address, data);
}
