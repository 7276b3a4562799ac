/* advise_growth.c: the recorder gives the end of the old block and the beginning of the new one
 * their times within one call, but the machine may delay the second. Each block is the successor of
 * at most one other. */
#include "advice/advise_growth.h"

#include <math.h>

enum { AT_ONCE = 50 /* microseconds */ };

static int compare_births(const void *a, const void *b, void *table) {
    const block_table *t = table;
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    if (blocks_born(t, x) != blocks_born(t, y))
        return blocks_born(t, x) < blocks_born(t, y) ? -1 : 1;
    return x < y ? -1 : x > y;
}

static int compare_doubles(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static double median(double *values, size_t n, double none) {
    if (n == 0)
        return none;
    qsort(values, n, sizeof *values, compare_doubles);
    return values[n / 2];
}

/* Returns the index of the first row that was born at that time or later. */
static size_t first_born(const block_table *t, const uint32_t *rows, size_t n, uint64_t time) {
    size_t low = 0, high = n;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (blocks_born(t, rows[middle]) < time)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Returns the index in `rows` of the block into which this one grew, or `n`. */
static size_t find_successor(const block_table *t, const uint32_t *rows, size_t n, const bool *used,
                             uint32_t row) {
    const uint64_t died = blocks_died(t, row);
    if (died == BLOCKS_NEVER)
        return n;
    for (size_t i = first_born(t, rows, n, died);
         i < n && blocks_born(t, rows[i]) - died <= AT_ONCE; i++)
        if (!used[i] && rows[i] != row && t->domain[rows[i]] == t->domain[row] &&
            blocks_length(t, rows[i]) > blocks_length(t, row))
            return i;
    return n;
}

bool advise_growth_of(const profile *p, uint32_t *rows, size_t n, advise_growth *g) {
    const block_table *t = &p->table;
    bool *used = calloc(n + 1, sizeof *used);
    double *ratios = malloc((n + 1) * sizeof *ratios), *steps = malloc((n + 1) * sizeof *steps);
    uint64_t grown = 0, all = 0;
    size_t n_grown = 0;
    const bool ok = used && ratios && steps;
    if (ok && n)
        qsort_r(rows, n, sizeof *rows, compare_births, (void *)(uintptr_t)t);
    for (size_t i = 0; ok && i < n; i++) {
        const size_t next = find_successor(t, rows, n, used, rows[i]);
        all += blocks_samples(t, rows[i]);
        if (next == n)
            continue;
        used[next] = true;
        grown += blocks_samples(t, rows[i]);
        const double before = (double)blocks_length(t, rows[i]),
                     after = (double)blocks_length(t, rows[next]);
        ratios[n_grown] = after / fmax(1, before);
        steps[n_grown++] = after - before;
    }
    if (ok)
        *g = (advise_growth){.share = all ? 100 * (double)grown / (double)all : 0,
                             .ratio = median(ratios, n_grown, 1),
                             .step = median(steps, n_grown, 0)};
    free(used);
    free(ratios);
    free(steps);
    return ok;
}
