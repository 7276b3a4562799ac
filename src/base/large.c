/* large.c: an array to which malloc gives pages of its own is one mapping, with malloc's header at
 * its start. The advice covers the whole mapping: advice for a part would split it into two
 * mappings, which realloc cannot grow in place. Kernels without large pages ignore the advice. */
#include "base/large.h"

#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define LARGE ((size_t)4 << 20) /* bytes: two large pages on most machines, so one fits */

static void *advise(void *p, size_t size) {
    if (!p || size < LARGE)
        return p;
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    const uintptr_t begin = (uintptr_t)p & -page;
    const uintptr_t end = ((uintptr_t)p + malloc_usable_size(p) + page - 1) & -page;
    madvise((void *)begin, end - begin, MADV_HUGEPAGE);
    return p;
}

void *large_new(size_t n, size_t size) {
    return n > SIZE_MAX / size ? NULL : advise(malloc(n * size), n * size);
}

void *large_zeroed(size_t n, size_t size) {
    return advise(calloc(n, size), n * size);
}

uint32_t *large_none(size_t n) {
    uint32_t *numbers = large_new(n, sizeof *numbers);
    if (numbers)
        memset(numbers, 0xFF, n * sizeof *numbers);
    return numbers;
}
