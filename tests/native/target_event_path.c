/* target_event_path.c: allocates blocks between two signals, again and again, while time stands
 * nearly still: what the recorder does now and then is left out. Prints nothing.
 *
 *     target_event_path BLOCKS ROUNDS */
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static struct timespec now;

/* Takes the place of the C library's. A microsecond passes at each reading. */
int clock_gettime(clockid_t clock, struct timespec *at) {
    if (!now.tv_sec)
        return (int)syscall(SYS_clock_gettime, clock, at);
    now.tv_nsec += 1000;
    *at = now;
    return 0;
}

static void stop_time(void) {
    struct timespec begun;
    clock_gettime(CLOCK_MONOTONIC, &begun);
    now = (struct timespec){.tv_sec = begun.tv_sec + 1};
}

static void allocate(long n) {
    for (long i = 0; i < n; i++)
        if (!malloc(100)) /* nothing is freed, so that no table becomes smaller */
            abort();
}

int main(int argc, char **argv) {
    const long n = strtol(argv[1], NULL, 10), rounds = strtol(argv[2], NULL, 10);
    signal(SIGUSR1, SIG_IGN);
    allocate(1000 * n); /* from now on, tables seldom grow */
    stop_time();
    for (long round = 0; round < rounds; round++) {
        raise(SIGUSR1);
        allocate(n);
    }
    return argc != 3;
}
