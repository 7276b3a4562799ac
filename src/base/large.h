/* large.h: large arrays: what stands anywhere in them is found faster, and they are had in less
 * time, if the kernel gives them in few large pages instead of many small ones. For those that are
 * used all over; to be freed by free, as those of malloc. */
#ifndef BASE_LARGE_H
#define BASE_LARGE_H

#include <stddef.h>

/* As malloc and calloc. */
void *large_new(size_t n, size_t size);
void *large_zeroed(size_t n, size_t size);

#endif
