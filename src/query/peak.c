/* peak.c: takes the moment from the table of blocks. To tell how certain it is, the trace is cut
 * into moments, and each is tested for whether it may have been higher, given the random error of
 * the blocks that are live at only one of the two moments. */
#include "query/peak.h"

#include <math.h>
#include <string.h>

#include "query/timeline.h"

enum { MOMENTS = 1000 };

/* Standard errors. This is more than the 1.64 of a single comparison because the peak is the
 * highest of many moments, so it is itself too high by some of them. */
#define PEAK_ERRORS 3.0

static void count(const profile *p, const uint8_t *live, peak *k) {
    const block_table *b = &p->table;
    for (size_t i = 0; i < b->count; i++) {
        if (!live[i])
            continue;
        uint64_t samples = blocks_samples(b, i);
        bool promoted = blocks_promoted(b, i) <= k->at.time;
        k->samples += samples;
        k->blocks++;
        k->heaps[promoted ? MEMTRACE_MAJOR : b->source[i]] += samples;
        k->ages[lifetime_class_of(blocks_born(b, i), k->at.time)] += samples;
        k->later += blocks_died(b, i) == BLOCKS_NEVER ? 0 : samples;
    }
}

/* Whether a moment with `there` samples may have been higher than one with `here`; `common` are
 * live at both. The common samples make no difference, and the others are independent random
 * counts. */
static bool may_exceed(uint64_t here, uint64_t there, uint64_t common) {
    double more = (double)(here - common), less = (double)(there - common);
    return more - less <= PEAK_ERRORS * sqrt(more + less);
}

static uint64_t live_at(const timeline_point *point) {
    return cct_sum(point->live);
}

/* `all` has what is live at each moment, `those` the part that was also live at the peak. */
static void find_moments(const timeline *all, const timeline *those, uint64_t samples, peak *k) {
    for (size_t i = 0; i < all->points.count; i++) {
        uint64_t end = all->points.items[i].end - 1;
        if (!may_exceed(samples, live_at(&all->points.items[i]), live_at(&those->points.items[i])))
            continue;
        k->low = end < k->low ? end : k->low;
        k->high = end > k->high ? end : k->high;
    }
}

static bool find_limits(const profile *p, uint64_t samples, const uint8_t *live, peak *k) {
    timeline_spec spec = {.to = TIMELINE_END, .points = MOMENTS, .without_peak = true};
    timeline all, those = {0};
    bool ok = timeline_query(p, &spec, &all);
    spec.kept = live;
    ok = ok && timeline_query(p, &spec, &those);
    if (ok)
        find_moments(&all, &those, samples, k);
    timeline_free(&all);
    timeline_free(&those);
    return ok;
}

bool peak_query(const profile *p, const uint8_t *kept, peak *k) {
    const block_table *b = &p->table;
    blocks_most all = {0};
    uint8_t *live = malloc(b->count + 1);
    *k = (peak){0};
    bool ok = live && blocks_peak(b, &all) && blocks_peak_of(b, kept, &k->own);
    k->at = all.at;
    k->own_spread = (blocks_spread){.low = k->own.samples, .high = k->own.samples};
    if (p->info.sample_rate >= 1)
        ok = ok && blocks_spread_of_most(b, kept, &k->own, &k->own_spread);
    for (size_t i = 0; ok && i < b->count; i++)
        live[i] = blocks_was_live(b, i, k->at);
    k->low = k->high = k->at.time;
    if (p->info.sample_rate < 1) /* else it is certain */
        ok = ok && find_limits(p, all.samples, live, k);
    for (size_t i = 0; ok && i < b->count; i++) {
        live[i] &= !kept || kept[i];
        if ((!kept || kept[i]) && blocks_died(b, i) == BLOCKS_NEVER)
            k->end_samples += blocks_samples(b, i);
    }
    if (ok)
        count(p, live, k);
    free(live);
    return ok;
}
