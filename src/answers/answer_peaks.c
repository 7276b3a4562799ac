/* answer_peaks.c: `/api/peaks`: the largest peaks of live memory. */
#include <inttypes.h>

#include "answers/endpoints.h"
#include "answers/write.h"
#include "reports/timeline.h"

enum { PEAK_POINTS = 8192 };
#define PEAK_SHARE 0.02 /* of the largest peak; memory must fall by this on both sides */

/* Puts the exact peak first. The points of a timeline may miss it, and the list is empty if nothing
 * is live at any point. */
static bool correct_first(const timeline *t, peaks_list *list) {
    const peaks_entry first = {.time = t->peak.at.time, .samples = t->peak.samples};
    if (list->count)
        list->items[0] = first;
    return list->count || !first.samples || vec_push(list, first);
}

/* Gives each peak its interval: the sampling error or, at rate 1, where each block is known, the
 * uncertainty in the order of events of different threads. The first row is the overall maximum,
 * whose spread the timeline already has. */
static bool find_peak_rows(const asked *a, const timeline *t, const uint8_t *kept,
                           const peaks_list *list, timeline_peak *rows) {
    const profile *p = &a->reading->profile;
    bool ok = true;
    for (size_t i = 0; ok && i < list->count; i++) {
        const peaks_entry *e = &list->items[i];
        blocks_spread spread = t->spread;
        if (i > 0 && p->info.sample_rate >= 1)
            ok = blocks_spread_at(&p->table, kept, blocks_end_of(e->time), e->samples, &spread);
        rows[i] = (timeline_peak){.time = e->time, .live = figure_between(p, e->samples, spread)};
    }
    return ok;
}

static bool write_peaks(request *r, const asked *a, const timeline_peak *rows, size_t n) {
    const table peaks = timeline_peaks(rows, n);
    output_char(r->o, '{');
    write_head(r->o, a);
    output_format(r->o, ",\n\"count\":%zu", n);
    const page_rows all = {.table = &peaks, .n = n};
    const bool ok = write_table_rows(r->o, "peaks", &all, NULL, false);
    output_text(r->o, "}\n");
    return ok || request_no_memory(r);
}

static bool find_peaks(request *r, asked *a, uint64_t n) {
    timeline_spec spec = {.to = TIMELINE_END, .points = PEAK_POINTS};
    timeline t;
    peaks_list list;
    if (!asked_rows(r, a, &spec.kept))
        return false;
    if (!timeline_query(&a->reading->profile, &spec, &t))
        return request_no_memory(r);
    bool ok = peaks_query(&t, PEAK_SHARE, (size_t)n, &list);
    if (ok) {
        ok = correct_first(&t, &list);
        timeline_peak *rows = malloc((list.count + 1) * sizeof *rows);
        ok = ok && rows && find_peak_rows(a, &t, spec.kept, &list, rows) &&
             write_peaks(r, a, rows, list.count);
        free(rows);
        vec_free(&list);
    }
    timeline_free(&t);
    return ok || request_no_memory(r);
}

bool answer_peaks(request *r) {
    uint64_t n = 10;
    asked a = {.needs_blocks = true};
    bool ok = request_integer(r, "n", 1, 100, &n) && asked_open(r, &a) && find_peaks(r, &a, n);
    asked_close(r, &a);
    return ok;
}
