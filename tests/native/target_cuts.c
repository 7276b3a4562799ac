/* target_cuts: threads that free each other's blocks, in bursts; one that has an event now and then
 * and rests; and, one after the other, threads that end after a few. Until it is told to end, or
 * killed.
 *
 *     target_cuts REST [PROCESSES [SANDBOX]]
 *
 * REST is microseconds between bursts; so many children do the same. With SANDBOX, in one without
 * membarrier. */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { THREADS = 4, BLOCKS = 2048, BURST = 32, RARELY = 70000, SOON = 5000 };

static _Atomic(void *) blocks[BLOCKS];
static useconds_t rest;

static uint64_t next(uint64_t *random) {
    *random = *random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *random >> 33;
}

static void replace(uint64_t *random, size_t size) {
    free(atomic_exchange(&blocks[next(random) % BLOCKS], malloc(size)));
}

static void *in_bursts(void *number) {
    uint64_t random = (uintptr_t)number;
    for (;;) {
        for (int i = 0; i < BURST; i++)
            replace(&random, 100 + next(&random) % 10000);
        usleep(rest);
    }
    return NULL;
}

static void *rarely(void *number) {
    for (uint64_t random = (uintptr_t)number;;) {
        replace(&random, 777);
        usleep(RARELY);
    }
    return NULL;
}

static void *once(void *number) {
    uint64_t random = (uintptr_t)number;
    for (int i = 0; i < BURST; i++)
        replace(&random, 5000);
    return NULL;
}

static bool forbid_barriers(void) {
    struct sock_filter of[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_membarrier, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    const struct sock_fprog program = {.len = sizeof of / sizeof *of, .filter = of};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

int main(int argc, char **argv) {
    rest = argc > 1 ? (useconds_t)strtol(argv[1], NULL, 10) : SOON;
    pthread_t thread;
    if (argc > 3 && (free(malloc(1)), !forbid_barriers()))
        return EXIT_FAILURE;
    for (long i = argc > 2 ? strtol(argv[2], NULL, 10) : 0; i > 0; i--)
        if (fork() == 0)
            break;
    for (uintptr_t i = 1; i <= THREADS; i++)
        pthread_create(&thread, NULL, in_bursts, (void *)i);
    pthread_create(&thread, NULL, rarely, (void *)(uintptr_t)77);
    for (uintptr_t i = 1000;; i++) {
        pthread_create(&thread, NULL, once, (void *)i);
        pthread_join(thread, NULL);
        usleep(SOON);
    }
}
