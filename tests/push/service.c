/* service.c: a service that allocates as it is told: ROUNDS times, MILLISECONDS apart, it makes
 * `short_lived` 100 blocks of 1,000 bytes and frees them, and `long_lived` 10 of them that stay.
 * ROUNDS of 0 before the rest: begins once more as another program, as shell scripts do. */
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static void *volatile kept;

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
    int rounds = argc > 1 ? atoi(argv[1]) : 1, ms = argc > 2 ? atoi(argv[2]) : 0;
    for (int i = 0; i < rounds; i++) {
        short_lived();
        long_lived();
        nanosleep(&(struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L}, NULL);
    }
    if (argc > 3)
        execv(argv[0], (char *[]){argv[0], argv[3], argv[2], NULL});
    return 0;
}
