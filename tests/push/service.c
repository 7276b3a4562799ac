/* service.c: a service that allocates as it is told, `service ROUNDS MILLISECONDS [ROUNDS]`: each
 * round, so long apart, short_lived makes 100 blocks of 1,000 bytes and frees them, and long_lived
 * makes 10 that stay. With more rounds behind it becomes another program for these, as shell
 * scripts do; SIGUSR1 ends the rounds early. With $SERVICE_SCOPES, the first of the two is in a
 * scope of its name. With $SERVICE_AWAITS, the rounds go on until there is a file of that name, and
 * how many there were is printed. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "allotrace/mark.h"

static void *volatile kept;
static volatile sig_atomic_t enough;

static void end_rounds(int signal_number) {
    enough = signal_number;
}

static void short_lived(void) {
    void *blocks[100];
    for (int i = 0; i < 100; i++)
        blocks[i] = malloc(1000);
    for (int i = 0; i < 100; i++)
        free(blocks[i]);
}

static void long_lived(void) {
    for (int i = 0; i < 10; i++) {
        void **block = malloc(1000);
        *block = kept;
        kept = block;
    }
}

int main(int argc, char **argv) {
    long rounds = argc > 1 ? strtol(argv[1], NULL, 10) : 1, i = 0;
    long ms = argc > 2 ? strtol(argv[2], NULL, 10) : 0;
    const char *scopes = getenv("SERVICE_SCOPES"), *awaits = getenv("SERVICE_AWAITS");
    signal(SIGUSR1, end_rounds);
    for (; (i < rounds || (awaits && access(awaits, F_OK) != 0)) && !enough; i++) {
        const unsigned outer = scopes ? allotrace_scope_begin("short") : 0;
        short_lived();
        if (scopes)
            allotrace_scope_end(outer);
        long_lived();
        nanosleep(&(struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L}, NULL);
    }
    if (awaits)
        printf("%ld\n", i);
    if (argc > 3)
        execv(argv[0], (char *[]){argv[0], argv[3], argv[2], NULL});
    return 0;
}
