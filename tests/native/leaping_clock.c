/* leaping_clock.c: loaded in front of the C library, the clocks of a program: an hour passes at
 * each reading. */
#include <time.h>

static time_t now = 1000000000;

int clock_gettime(clockid_t clock, struct timespec *at) {
    (void)clock;
    *at = (struct timespec){.tv_sec = now += 3600};
    return 0;
}

time_t time(time_t *at) {
    now += 3600;
    if (at)
        *at = now;
    return now;
}
