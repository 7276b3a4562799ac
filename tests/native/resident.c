/* resident.c: a program that stays, and does what the lines of its standard input say:
 *
 *     a N SIZE   keep N blocks of SIZE bytes more      f      free all of them
 *     b N        start N threads that allocate         e      end them; how often they found a
 * *                fault
 *     s MS       sleep; what nanosleep said            m NAME set a mark
 *     l LIBRARY  load it and call its plugin_work      q      end with status 5
 *
 * and answers each with a line. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "allotrace/mark.h"

enum { MAX_BLOCKS = 100000, MAX_THREADS = 8 };

static void *blocks[MAX_BLOCKS];
static size_t n_blocks;
static pthread_t threads[MAX_THREADS];
static size_t n_threads;
static atomic_bool end;
static atomic_long faults;

__attribute__((noinline)) static void keep(size_t size) {
    blocks[n_blocks++] = malloc(size);
}

/* What is in a block must stay there, and a block must be nobody else's. */
static void *work(void *context) {
    unsigned char mine = (unsigned char)(uintptr_t)context;
    for (size_t i = 0; !end; i++) {
        size_t size = i % 500 + 1;
        unsigned char *block = malloc(size), *string;
        memset(block, mine, size);
        block = realloc(block, size + 100);
        memset(block + size, 0, 1);
        block[0] = 'x';
        string = (unsigned char *)strdup((char *)block);
        for (size_t j = 1; j < size; j++)
            faults += block[j] != mine || string[j] != mine;
        free(string);
        free(block);
    }
    return NULL;
}

static long rest(long ms) {
    struct timespec time = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
    return nanosleep(&time, NULL);
}

#ifdef STATIC
static long work_of(const char *library) {
    return library != NULL;
}
#else
static long work_of(const char *library) {
    void *handle = dlopen(library, RTLD_NOW);
    void (*plugin_work)(void) = NULL;
    if (handle)
        *(void **)&plugin_work = dlsym(handle, "plugin_work");
    if (!plugin_work)
        return 1;
    plugin_work();
    return 0;
}
#endif

int main(void) {
    char line[256], name[200];
    size_t n, size;
    while (fgets(line, sizeof line, stdin)) {
        long answer = 0;
        if (sscanf(line, "a %zu %zu", &n, &size) == 2)
            for (size_t i = 0; i < n && n_blocks < MAX_BLOCKS; i++)
                keep(size);
        else if (line[0] == 'f')
            while (n_blocks > 0)
                free(blocks[--n_blocks]);
        else if (sscanf(line, "b %zu", &n) == 1)
            for (end = false; n_threads < n && n_threads < MAX_THREADS; n_threads++)
                pthread_create(&threads[n_threads], NULL, work, (void *)('a' + n_threads));
        else if (line[0] == 'e')
            for (end = true; n_threads > 0; answer = faults)
                pthread_join(threads[--n_threads], NULL);
        else if (sscanf(line, "s %zu", &n) == 1)
            answer = rest((long)n);
        else if (sscanf(line, "m %199[^\n]", name) == 1)
            allotrace_mark_here(name);
        else if (sscanf(line, "l %199[^\n]", name) == 1)
            answer = work_of(name);
        else if (line[0] == 'q')
            return 5;
        printf("%ld\n", answer);
        fflush(stdout);
    }
    return 0;
}
