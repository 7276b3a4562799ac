/* target_killed: allocates and frees in several threads, in bursts and with long rests, until it is
 * killed, or becomes another program. After each allocation and each free it counts it in a file
 * that outlives it.
 *
 *     target_killed COUNTS BURST REST [PROGRAM WORD...]
 *                                     allocations at a time; microseconds between; 0: no rest */
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { THREADS = 3, KEPT = 50, SIZE = 20000, BECOMES_AT = 5000 };

static struct { volatile unsigned long born, died; } * counts;
static long burst, rest;
static char **becomes; /* NULL: nothing else */

static void *work(void *arg) {
    long t = (long)arg;
    void *kept[KEPT] = {0};
    for (unsigned long i = 0;; i++) {
        void **place = &kept[i * 7 % KEPT];
        if (*place) {
            free(*place);
            counts[t].died++;
        }
        *place = malloc((size_t)(SIZE + 8 * t));
        counts[t].born++;
        if (t == 0 && becomes && i == BECOMES_AT)
            execv(becomes[0], becomes);
        if (rest && i % (unsigned long)burst == (unsigned long)burst - 1)
            usleep((useconds_t)rest);
    }
    return NULL;
}

int main(int argc, char **argv) {
    int fd = argc > 3 ? open(argv[1], O_RDWR) : -1;
    if (fd < 0)
        return 2;
    counts = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    burst = strtol(argv[2], NULL, 10);
    rest = strtol(argv[3], NULL, 10);
    becomes = argc > 4 ? argv + 4 : NULL;
    for (long t = 1; t < THREADS; t++) {
        pthread_t thread;
        pthread_create(&thread, NULL, work, (void *)t);
    }
    work(NULL);
}
