/* target_own_malloc: a program that brings an allocator of its own, too simple to ever free, and
 * whose free must not be called before main. */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#pragma GCC visibility push(default)
void *malloc(size_t size);
void free(void *block);
void *calloc(size_t count, size_t size);
void *realloc(void *block, size_t size);
#pragma GCC visibility pop

static _Alignas(16) char heap[1 << 24];
static size_t used;
static int has_begun;

void *malloc(size_t size) {
    char *block = heap + used + 16;
    memcpy(block - 16, &size, sizeof size);
    used += 16 + ((size + 15) & ~(size_t)15);
    return used < sizeof heap ? block : NULL;
}

void free(void *block) {
    if (block && !has_begun)
        __builtin_trap();
}

void *calloc(size_t count, size_t size) {
    return malloc(count * size);
}

void *realloc(void *block, size_t size) {
    size_t old = 0;
    void *copy = malloc(size);
    if (block)
        memcpy(&old, (char *)block - 16, sizeof old);
    return copy && block ? memcpy(copy, block, old < size ? old : size) : copy;
}

int main(void) {
    has_begun = 1;
    char *volatile p = malloc(1000);
    memcpy(p, "own heap", sizeof "own heap");
    puts(p);
    return p < heap || p >= heap + sizeof heap;
}
