/* parallel.h: work on large columns in up to PARALLEL_MAX threads, where somebody waits for a
 * single answer.
 *
 *   size_t parts = parallel_parts(n_rows);
 *   parallel_run(parts, add_part, &sums);
 *
 * Small work stays in the caller's thread. */
#ifndef PROFILE_PARALLEL_H
#define PROFILE_PARALLEL_H

#include <stddef.h>

#define PARALLEL_MAX 4

/* Returns the number of parts that so many rows are worth on this machine's processors: 1 to
 * PARALLEL_MAX. */
size_t parallel_parts(size_t rows);

/* Returns the number of parts regardless of processors, for floating-point sums whose last digits
 * depend on the parts: they must be equal on all machines. */
size_t parallel_same_parts(size_t rows);

/* Calls `work` for the parts 0 to n - 1, one of them in this thread, and returns when all are done.
 * If a thread cannot be created, its part runs in this one. */
void parallel_run(size_t n, void (*work)(void *context, size_t part), void *context);

/* Returns the first row of a part. */
static inline size_t parallel_begin(size_t rows, size_t n, size_t part) {
    return rows / n * part + (part < rows % n ? part : rows % n);
}

#endif
