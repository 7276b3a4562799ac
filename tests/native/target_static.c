/* target_static.c: what test_static.py records. Each word of the command line is something to do;
 * what was done is printed. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

#ifdef NO_VARIABLES
#define __thread
#endif
static __thread const char *word =
    "as it begins"; /* relocated, where programs have no fixed place */
static __thread int number = 7;
static __thread char line[64] __attribute__((aligned(64))) = "aligned";

static void *volatile kept;

__attribute__((noinline)) void *site_a(size_t size) {
    kept = malloc(size);
    return kept;
}

__attribute__((noinline)) void *site_b(size_t size) {
    kept = calloc(2, size / 2);
    return kept;
}

static int has_its_variables(void) {
    return strcmp(word, "as it begins") == 0 && number == 7 && strcmp(line, "aligned") == 0 &&
           (uintptr_t)line % 64 == 0;
}

static void do_counts(void) {
    for (int i = 0; i < 100; i++) {
        char *a = site_a(40001), *b = site_b(40100), *c = realloc(site_a(40201), 40301);
        void *d = NULL, *e = aligned_alloc(64, 40512);
        if (posix_memalign(&d, 256, 40401) != 0)
            exit(9);
        char *text = strdup("of the C library");
        memset(a, 1, 40001);
        errno = i;
        free(a);
        if (errno != i)
            puts("errno has changed");
        if (b[0] != 0 || b[40099] != 0)
            puts("calloc gave no zeros");
        if (i % 2) {
            free(b);
            free(c);
        }
        free(d);
        free(e);
        free(text);
    }
    puts("counted");
}

static void *thread(void *mine) {
    const int good = has_its_variables();
    number++;
    for (int i = 0; i < 50; i++)
        free(site_a(30001));
    free(mine);
    return good ? &number : NULL;
}

static void do_threads(void) {
    enum { ROUNDS = 5, N = 8 };
    int good = 0;
    for (int round = 0; round < ROUNDS; round++) {
        pthread_t threads[N];
        void *result;
        for (int i = 0; i < N; i++)
            if (pthread_create(&threads[i], NULL, thread, site_b(30100)) != 0)
                exit(9);
        for (int i = 0; i < N; i++)
            good += pthread_join(threads[i], &result) == 0 && result;
    }
    printf("%d threads had their variables\n", good);
}

static void do_forks(void) {
    for (int i = 0; i < 3; i++) {
        int status = 0;
        fflush(stdout);
        const pid_t child = fork();
        if (child == 0) {
            for (int j = 0; j < 20 + i; j++)
                free(site_a(20001));
            if (i == 1)
                _exit(40 + i);
            exit(40 + i);
        }
        waitpid(child, &status, 0);
        printf("child %d ended with %d\n", i, WEXITSTATUS(status));
    }
}

static volatile sig_atomic_t n_signals;
static void on_signal(int sig) {
    (void)sig;
    n_signals++;
}

static void do_signals(void) {
    sigset_t blocked;
    struct sigaction before;
    sigprocmask(SIG_SETMASK, NULL, &blocked);
    for (int sig = 1; sig < 32; sig++) {
        sigaction(sig, NULL, &before);
        if (before.sa_handler == SIG_IGN || sigismember(&blocked, sig) == 1)
            printf("signal %d is ignored or blocked\n", sig);
    }
    signal(SIGUSR1, on_signal);
    for (int i = 0; i < 100; i++) {
        free(site_a(10001));
        raise(SIGUSR1);
    }
    printf("%d signals\n", (int)n_signals);
}

static void do_environment(int argc, char **argv) {
    for (int i = 0; i < argc; i++)
        puts(argv[i]);
    for (char **e = environ; *e; e++)
        if (strncmp(*e, "TARGET_", 7) == 0)
            puts(*e);
    printf("variables of the thread: %s\n", has_its_variables() ? "good" : "bad");
}

int main(int argc, char **argv) {
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "counts") == 0)
            do_counts();
        else if (strcmp(argv[i], "threads") == 0)
            do_threads();
        else if (strcmp(argv[i], "forks") == 0)
            do_forks();
        else if (strcmp(argv[i], "signals") == 0)
            do_signals();
        else if (strcmp(argv[i], "environment") == 0)
            do_environment(argc, argv);
        else if (strcmp(argv[i], "much") == 0)
            for (int j = 0; j < 200000; j++)
                free(site_a(1000));
        else if (strcmp(argv[i], "system") == 0)
            printf("system gave %d\n", system("exit 4"));
        fflush(stdout);
        if (strcmp(argv[i], "abort") == 0)
            abort();
        if (strcmp(argv[i], "kill") == 0)
            raise(SIGKILL);
        if (strcmp(argv[i], "quick") == 0)
            _exit(6);
        if (strcmp(argv[i], "exec") == 0)
            execl("/bin/echo", "echo", "another program", (char *)NULL);
    }
    return 5;
}
