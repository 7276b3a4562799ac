/* target_clock.c: a program with a clock of its own, on which an hour passes at each reading, or,
 * with `back`, is taken back. Allocates, sleeps a fifth of a second, and allocates again. Then it
 * ends, by SIGKILL with `kill`; with `wait`, at the end of its input. Prints nothing. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static time_t now = 1000000000, step = 3600;

int clock_gettime(clockid_t clock, struct timespec *at) {
    (void)clock;
    *at = (struct timespec){.tv_sec = now += step};
    return 0;
}

static void allocate(size_t size) {
    static void *volatile kept;
    kept = malloc(size);
}

int main(int argc, char **argv) {
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "back") == 0)
            step = -step;
    allocate(50000);
    nanosleep(&(struct timespec){.tv_nsec = 200000000}, NULL);
    allocate(60000);
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "kill") == 0)
            raise(SIGKILL);
        else if (strcmp(argv[i], "wait") == 0)
            getchar();
    return 0;
}
