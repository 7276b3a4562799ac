/* target_linked: a program that calls allocators of its own by their own names, as Rust's programs
 * do: one that stands for jemalloc (_rjem_), one for mimalloc (mi_). Each function calls what the
 * real one might. With an argument, the allocator's memory comes by mmap. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define OWN __attribute__((visibility("default"), noinline, used))

/* ---- blocks of one size class, 16 bytes apart, with their size in front ---------------------- */

static char *heap, *heap_end;

static void *take(size_t size, size_t alignment) {
    if (!heap) {
        enum { SIZE = 1 << 25 };
        heap = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        heap_end = heap + SIZE;
    }
    uintptr_t at = ((uintptr_t)heap + sizeof size + alignment - 1) & ~(alignment - 1);
    if (size > (size_t)(heap_end - (char *)at))
        return NULL;
    heap = (char *)at + size;
    memcpy((char *)at - sizeof size, &size, sizeof size);
    return (void *)at;
}

static size_t size_of(void *block) {
    size_t size;
    memcpy(&size, (char *)block - sizeof size, sizeof size);
    return size;
}

static void give_back(void *block) {
    memset(block, 0xA5, size_of(block));
}

/* ---- the one ------------------------------------------------------------------------------- */

OWN void *_rjem_malloc(size_t size) {
    return take(size, 8);
}

/* Larger than a wrapper, and calls another function of the list. */
OWN void *_rjem_calloc(size_t count, size_t size) {
    static size_t sizes[4];
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        sizes[i] += count * size + i;
    return sizes[0] == 1 ? take(1, 8) : _rjem_malloc(count * size);
}

OWN void *_rjem_mallocx(size_t size, int flags) {
    return take(size, (size_t)1 << (flags & 63));
}

OWN void _rjem_sdallocx(void *block, size_t size, int flags) {
    give_back(block);
}

OWN void *_rjem_rallocx(void *block, size_t size, int flags) {
    void *copy = size > 1 << 20 ? NULL : _rjem_mallocx(size, flags);
    if (copy) {
        memcpy(copy, block, size_of(block) < size ? size_of(block) : size);
        _rjem_sdallocx(block, 0, 0);
    }
    return copy;
}

/* ---- the other ----------------------------------------------------------------------------- */

OWN void *mi_malloc_aligned(size_t size, size_t alignment) {
    return take(size, alignment);
}

OWN void *mi_zalloc_aligned(size_t size, size_t alignment) {
    return memset(mi_malloc_aligned(size, alignment), 0, size); /* a wrapper */
}

OWN void mi_free(void *block) {
    give_back(block);
}

/* What has the name by chance, and cannot be reached from elsewhere. */
static __attribute__((noinline)) int malloc_size_is(void *block, size_t size) {
    return size_of(block) == size;
}

/* ---- the program --------------------------------------------------------------------------- */

__attribute__((noinline)) void *site_a(size_t size) {
    return _rjem_malloc(size);
}

__attribute__((noinline)) void *site_b(size_t size) {
    return _rjem_calloc(1, size);
}

__attribute__((noinline)) void *site_c(void *block, size_t size) {
    return _rjem_rallocx(block, size, 4);
}

__attribute__((noinline)) void *site_d(size_t size) {
    return mi_zalloc_aligned(size, 64);
}

int main(void) {
    int good = 1;
    for (int i = 0; i < 10; i++) {
        void *a = site_a(31001), *b = site_b(31101), *d = site_d(31301), *small[8];
        void *c = site_c(_rjem_mallocx(31201, 6), 31401);
        void *e = malloc(31501); /* the C library's */
        good &= malloc_size_is(a, 31001) && malloc_size_is(b, 31101) && malloc_size_is(c, 31401);
        good &= !site_c(a, 1 << 21) && malloc_size_is(a, 31001); /* it lives on */
        for (int k = 0; k < 8; k++)
            small[k] = site_a(8); /* closer together than the C library's */
        for (int k = 0; k < 8; k++)
            _rjem_sdallocx(small[k], 8, 0);
        _rjem_sdallocx(a, 31001, 0);
        if (i % 2)
            _rjem_sdallocx(b, 31101, 0);
        _rjem_sdallocx(c, 31401, 4);
        mi_free(d);
        free(e);
    }
    puts(good ? "good" : "bad");
    return !good;
}
