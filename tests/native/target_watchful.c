/* target_watchful.c: a program whose malloc notices that its idle main thread allocates, as it does
 * when it is made to load something:
 *
 *     target_watchful calls      malloc makes a system call that a seccomp filter forbids
 *     target_watchful installs   meanwhile, another thread gets a seccomp filter
 *
 * Says when it is ready; when it reads a line, how often malloc was called, and in how many of
 * these calls the system call failed. Without the C library, whose calls might be somebody else's.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static _Alignas(16) char heap[16 << 20];
static atomic_size_t used;
static atomic_bool armed, install_now, installed;
static atomic_int n_calls, n_failed;
static bool calls;

static long raw(long number, long a, long b, long c) {
#ifdef __x86_64__
    long result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c)
                     : "rcx", "r11", "memory");
    return result;
#else
    return syscall(number, a, b, c);
#endif
}

static void forbid(int number) {
    struct sock_filter program[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    struct sock_fprog filter = {.len = 4, .filter = program};
    raw(SYS_prctl, PR_SET_NO_NEW_PRIVS, 1, 0);
    raw(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, (long)&filter);
}

static void *wait_and_install(void *context) {
    while (!install_now)
        raw(SYS_sched_yield, 0, 0, 0);
    forbid(SYS_madvise);
    installed = true;
    for (;;)
        sleep(1000);
}

static void notice(void) {
    n_calls++;
    if (calls) {
        n_failed += raw(SYS_getppid, 0, 0, 0) == -EPERM;
        return;
    }
    for (install_now = true; !installed;)
        raw(SYS_sched_yield, 0, 0, 0);
}

void *malloc(size_t size) {
    if (armed)
        notice();
    return heap + atomic_fetch_add(&used, (size + 15) & ~(size_t)15);
}

void free(void *block) {}

void *calloc(size_t n, size_t size) {
    return malloc(n * size); /* no block is used twice */
}

void *realloc(void *block, size_t size) {
    void *moved = malloc(size);
    size_t behind = (size_t)(heap + sizeof heap - (char *)block);
    return block ? memcpy(moved, block, size < behind ? size : behind) : moved;
}

int main(int argc, char **argv) {
    char text[64];
    pthread_t thread;
    calls = strcmp(argv[1], "calls") == 0;
    if (calls)
        forbid(SYS_getppid);
    else
        pthread_create(&thread, NULL, wait_and_install, NULL);
    armed = true;
    raw(SYS_write, 1, (long)"ready\n", 6);
    raw(SYS_read, 0, (long)text, sizeof text);
    armed = false;
    int n = snprintf(text, sizeof text, "%d %d\n", n_calls, n_failed);
    raw(SYS_write, 1, (long)text, n);
    return 0;
}
