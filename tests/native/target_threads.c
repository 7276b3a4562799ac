/* target_threads.c: threads that are called something, and what each of them allocates and keeps.
 *
 *     target_threads ROUNDS [sandbox | at-once]
 *
 * In each round, threads `keeper-0` to `keeper-3` name themselves first and allocate then; one
 * after the other, so that they have one domain. Thread `changes` has two names. With `sandbox`, a
 * filter first forbids to ask for names and mappings. With `at-once`, there are as many threads as
 * rounds, which all live until each has allocated, and nothing else. */
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { KEEPERS = 4, BLOCKS = 50, SIZE = 10000 };

static _Atomic(void *) kept[1 << 16];
static _Atomic unsigned n_kept;

static void keep(size_t size) {
    for (int i = 0; i < BLOCKS; i++) {
        void *block = malloc(size);
        if (!block)
            abort();
        memset(block, 1, size);
        kept[n_kept++ % (1 << 16)] = block;
    }
}

static void *keeper(void *number) {
    char name[16];
    const int i = (int)(long)number;
    snprintf(name, sizeof name, "keeper-%d", i);
    pthread_setname_np(pthread_self(), name);
    keep((size_t)(SIZE * (i + 1) - 8));
    return NULL;
}

static void *changes(void *nothing) {
    prctl(PR_SET_NAME, "before");
    keep(SIZE - 8);
    prctl(PR_SET_NAME, "after");
    usleep(3000); /* until the clock is read */
    keep(SIZE - 8);
    return nothing;
}

/* Forbids to ask for a thread's name or for a mapping. */
static void forbid_asking(void) {
    const unsigned procmap_query = _IOWR('f', 17, char[104]);
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_ioctl, 3, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_prctl, 0, 5),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, PR_GET_NAME, 2, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[1])),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, procmap_query, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog filter = {sizeof code / sizeof *code, code};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter))
        abort();
}

static void run(void *(*work)(void *), long argument) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, work, (void *)argument) || pthread_join(thread, NULL))
        abort();
}

static pthread_barrier_t all;

static void *waits(void *nothing) {
    keep(SIZE - 8);
    pthread_barrier_wait(&all);
    return nothing;
}

static int run_at_once(unsigned n) {
    pthread_t *threads = calloc(n, sizeof *threads);
    pthread_barrier_init(&all, NULL, n);
    for (unsigned i = 0; i < n; i++)
        if (pthread_create(&threads[i], NULL, waits, NULL))
            abort();
    for (unsigned i = 0; i < n; i++)
        pthread_join(threads[i], NULL);
    return 0;
}

int main(int argc, char **argv) {
    if (argc > 2 && strcmp(argv[2], "at-once") == 0)
        return run_at_once((unsigned)strtol(argv[1], NULL, 10));
    if (argc > 2) {
        keep(8);
        forbid_asking();
    }
    for (long round = argc > 1 ? strtol(argv[1], NULL, 10) : 1; round > 0; round--) {
        for (long i = 0; i < KEEPERS; i++)
            run(keeper, i);
        run(changes, 0);
    }
    return 0;
}
