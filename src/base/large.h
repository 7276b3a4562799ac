/* large.h: large arrays. If the kernel backs them with few large pages instead of many small ones,
 * random accesses miss the TLB less often, and allocation is faster. For arrays that are used in
 * full; freed by free. */
#ifndef BASE_LARGE_H
#define BASE_LARGE_H

#include <stddef.h>
#include <stdint.h>

/* Like malloc and calloc, for `n` elements of `size` bytes. */
void *large_new(size_t n, size_t size);
void *large_zeroed(size_t n, size_t size);

/* Returns an array of `n` numbers that are UINT32_MAX, which stands for none. */
uint32_t *large_none(size_t n);

#endif
