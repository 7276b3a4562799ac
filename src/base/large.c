/* large.c: an array that malloc gives pages of its own is one mapping with the head in front of it:
 * the advice is for all of that, as what is advised in part is two mappings, which cannot be made
 * larger. Where the kernel knows nothing of large pages, it stays as it is. */
#include "base/large.h"

#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define LARGE ((size_t)4 << 20) /* bytes: two large pages of most machines, so that one fits */

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
