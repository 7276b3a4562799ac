/* unseen.c: compares the gauge of anonymous memory with the upper end of what the recorded blocks
 * can have taken. Traces with a language's heap, and traces whose recording was stopped for a
 * while, are excluded. */
#include "query/unseen.h"

#include <string.h>

#include "contract/control.h"
#include "profile/gauges.h"
#include "query/estimate.h"

#define ANONYMOUS "anonymous" /* name of a gauge */

/* Every process holds some megabytes, and malloc needs twice the size of the smallest blocks. */
#define LEAST_BYTES   (8.0 * (1 << 20))
#define LARGEST_SHARE (1 / 3.0)

static double most_held(const profile *p) {
    gauge_list list;
    double most = 0;
    if (!gauges_find(p, &list))
        return 0;
    for (size_t i = 0; i < list.count; i++)
        if (strcmp(list.items[i].name, ANONYMOUS) == 0)
            most = (double)gauge_most(&list.items[i], 0, UINT64_MAX)->bytes;
    gauges_free(&list);
    return most;
}

/* Whether recording was stopped for a while, so that what was allocated then is unknown. */
static bool was_stopped(const profile *p) {
    for (size_t i = 0; i < p->marks.count; i++)
        if (!p->marks.items[i].is_gauge &&
            strcmp(p->marks.items[i].name, CONTROL_MARK_STOPPED) == 0)
            return true;
    return false;
}

bool unseen_find(const profile *p, unseen *found) {
    blocks_most most = {.samples = cct_sum(p->samples)};
    const bool collected = p->samples[MEMTRACE_MINOR] > 0 || p->samples[MEMTRACE_MAJOR] > 0;
    if (collected || was_stopped(p) || (p->keep_blocks && !blocks_peak(&p->table, &most)))
        return false;
    found->held = most_held(p);
    found->recorded =
        estimate_words(most.samples, p->info.sample_rate).high * (p->info.word_size / 8.0);
    return found->held - found->recorded > LEAST_BYTES &&
           found->recorded < found->held * LARGEST_SHARE;
}
