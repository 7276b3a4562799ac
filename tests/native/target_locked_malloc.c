/* target_locked_malloc.c: a program with an allocator of its own, in which it is nearly always,
 * with the allocator's lock held. Rests for a moment now and then if it gets an argument. */
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static _Alignas(16) char pool[1 << 26];
static size_t used;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void dawdle(void) {
    for (volatile int i = 0; i < 3000; i++)
        continue;
}

/* The size of a block stands before it. Used blocks are given away again when the pool is full. */
void *malloc(size_t size) {
    size_t take = (size + 31) & ~(size_t)15;
    pthread_mutex_lock(&lock);
    dawdle();
    if (take > sizeof pool - used)
        used = 0;
    char *block = pool + used + 16;
    used += take;
    memcpy(block - 16, &size, sizeof size);
    pthread_mutex_unlock(&lock);
    return block;
}

void free(void *block) {
    (void)block;
}

void *calloc(size_t n, size_t size) {
    return memset(malloc(n * size), 0, n * size);
}

void *realloc(void *block, size_t size) {
    size_t old = 0;
    void *new = malloc(size);
    if (block)
        memcpy(&old, (char *)block - 16, sizeof old);
    return block ? memcpy(new, block, old < size ? old : size) : new;
}

int main(int argc, char **argv) {
    (void)argv;
    write(1, "\n", 1);
    for (int i = 1;; i++) {
        free(strdup("a block of a library that calls our malloc"));
        if (argc > 1 && i % 100 == 0)
            usleep(1000);
    }
}
