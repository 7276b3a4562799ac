/* parallel.h: work on large columns in two threads or more, for those who wait for one answer.
 *
 *     size_t parts = parallel_parts(n_rows);
 *     parallel_run(parts, add_part, &sums);
 *
 * Small work stays in the caller's thread. */
#ifndef PROFILE_PARALLEL_H
#define PROFILE_PARALLEL_H

#include <stddef.h>

#define PARALLEL_MAX 4

/* How many parts so many rows are worth, with the processors that there are: 1 to PARALLEL_MAX. */
size_t parallel_parts(size_t rows);

/* The same with no regard to processors, for sums whose last digits depend on the parts: they are
 * equal on all machines. */
size_t parallel_same_parts(size_t rows);

/* Calls `work` for the parts 0 to n - 1, one of them in this thread; returns when all are done.
 * Where a thread cannot be had, its part is done in this one. */
void parallel_run(size_t n, void (*work)(void *context, size_t part), void *context);

/* The first row of a part. */
static inline size_t parallel_begin(size_t rows, size_t n, size_t part) {
    return rows / n * part + (part < rows % n ? part : rows % n);
}

#endif
