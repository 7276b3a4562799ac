/* target_event_path.c: allocates blocks between two signals, again and again. Prints nothing.
 *
 *     target_event_path BLOCKS ROUNDS */
#include <signal.h>
#include <stdlib.h>
#include <time.h>

/* Takes the place of the kernel's, when the test says so. A microsecond passes at each reading. */
int standing_clock(clockid_t clock, struct timespec *at) {
    static struct timespec now;
    if (!now.tv_sec)
        clock_gettime(clock, &now);
    now.tv_nsec += 1000;
    *at = now;
    return 0;
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
    for (long round = 0; round < rounds; round++) {
        raise(SIGUSR1);
        allocate(n);
    }
    return argc != 3;
}
