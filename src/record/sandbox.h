/* sandbox.h: interposes the calls by which a program gives up system calls. */
#ifndef RECORD_SANDBOX_H
#define RECORD_SANDBOX_H

/* The interposing functions. They have names of their own here because the C library declares both
 * calls as variadic. The first one is defined in sandbox_stubs.S. */
long sandbox_syscall(long number, ...) __asm__("syscall") __attribute__((visibility("default")));
int sandbox_prctl(int option, long a, long b, long c, long d) __asm__("prctl")
    __attribute__((visibility("default")));

/* Called by `syscall` before it continues with SYS_seccomp or SYS_prctl. */
void sandbox_before_syscall(long number, long a, long b, long c)
    __attribute__((visibility("hidden")));

#endif
