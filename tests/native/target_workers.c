/* target_workers: a server of several processes: forks workers that allocate and free, in bursts
 * and with rests, until they are killed, and waits for them. Each counts in a file that outlives
 * it what it has allocated and freed; its blocks are known by their size.
 *
 *     target_workers COUNTS WORKERS BURST REST [leave | close | user]
 *     target_workers COUNTS 0 CHILDREN BLOCKS
 *
 * leave: the first process ends when all workers have been at it for a while
 * close: workers close all files now and then
 * user:  workers are nobody's
 *
 * With 0 workers, there are so many children, one after the other, which allocate so many blocks
 * and end. */
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { KEPT = 50, SIZE = 20000, CLOSING = 500, LEAVING = 5000, NOBODY = 65534 };

static struct { volatile unsigned long pid, born, died; } * counts;

static void work(long w, unsigned long burst, useconds_t rest, bool closes) {
    void *kept[KEPT] = {0};
    counts[w].pid = (unsigned long)getpid();
    for (unsigned long i = 0;; i++) {
        void **place = &kept[i * 7 % KEPT];
        if (*place) {
            free(*place);
            counts[w].died++;
        }
        *place = malloc((size_t)(SIZE + 8 * w));
        counts[w].born++;
        if (rest && i % burst == burst - 1)
            usleep(rest);
        if (closes && i % CLOSING == CLOSING - 1)
            close_range(STDERR_FILENO + 1, UINT_MAX, 0);
    }
}

static void live_shortly(long blocks) {
    for (long i = 0; i < blocks; i++) {
        void *volatile block = malloc(SIZE);
        free(block);
    }
}

int main(int argc, char **argv) {
    const int fd = argc > 4 ? open(argv[1], O_RDWR) : -1;
    if (fd < 0)
        return 2;
    counts = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    const long n = strtol(argv[2], NULL, 10), first = strtol(argv[3], NULL, 10),
               second = strtol(argv[4], NULL, 10);
    live_shortly(1);
    for (long i = 0; n == 0 && i < first; i++) {
        if (fork() == 0) {
            live_shortly(second);
            return 0;
        }
        wait(NULL);
    }
    for (long w = 0; w < n; w++)
        if (fork() == 0) {
            if (argc > 5 && argv[5][0] == 'u' && setuid(NOBODY) != 0)
                return 1;
            work(w, (unsigned long)first, (useconds_t)second, argc > 5 && argv[5][0] == 'c');
        }
    const bool leaves = argc > 5 && argv[5][0] == 'l';
    for (long w = 0; leaves && w < n; w++)
        while (counts[w].born < LEAVING)
            usleep(1000);
    if (leaves)
        return 0;
    while (wait(NULL) > 0)
        continue;
    return 0;
}
