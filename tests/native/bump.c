/* bump: an allocator that may be called anywhere, also in a signal handler that has interrupted it:
 * it only ever moves a mark. Preloaded behind the recorder. */
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

enum { HEADER = 16 };
static _Alignas(HEADER) char heap[(size_t)1 << 30];
static _Atomic size_t used;

void *malloc(size_t size) {
    size_t at = atomic_fetch_add(&used, HEADER + ((size + HEADER - 1) & ~(size_t)(HEADER - 1)));
    if (at + size + HEADER > sizeof heap)
        return NULL;
    memcpy(heap + at, &size, sizeof size);
    return heap + at + HEADER;
}

void free(void *block) {
    (void)block;
}

void *calloc(size_t count, size_t size) {
    return malloc(count * size);
}

void *realloc(void *block, size_t size) {
    size_t old = 0;
    void *copy = malloc(size);
    if (block)
        memcpy(&old, (char *)block - HEADER, sizeof old);
    return copy && block ? memcpy(copy, block, old < size ? old : size) : copy;
}
