/* plugin_pause: has the loader wait while it fills in what other libraries call it by. */
#include <time.h>

__attribute__((visibility("default"))) void plugin_pause(void);

static void nothing(void) {}

static void (*choose(void))(void) {
    nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
    return nothing;
}

__attribute__((ifunc("choose"))) void plugin_pause(void);
