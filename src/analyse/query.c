/* query.c: see query.h. */
#include "analyse/query.h"

bool query_needs_blocks(const query_spec *spec) {
    return spec->keep_rows || spec->measure != MEASURE_ALLOCATED || filter_selects(spec->filter);
}

unsigned query_columns(const query_spec *spec) {
    static const unsigned life = BLOCKS_HAS(born) | BLOCKS_HAS(died);
    static const unsigned columns[] = {
        [MEASURE_ALLOCATED] = 0,
        [MEASURE_BLOCKS] = BLOCKS_HAS(length),
        [MEASURE_LIVE] = life,
        [MEASURE_PEAK] = BLOCKS_PEAK_COLUMNS,
        [MEASURE_PROMOTED] = BLOCKS_HAS(promoted),
        [MEASURE_SURVIVED] = BLOCKS_HAS(died),
        [MEASURE_BYTESECONDS] = life,
    };
    if (spec->keep_rows)
        return BLOCKS_ALL_COLUMNS;
    return BLOCKS_HAS(node) | BLOCKS_HAS(samples) | BLOCKS_HAS(source) | columns[spec->measure] |
           filter_columns(spec->filter);
}

/* The peak is that of the whole trace, whatever is selected: one moment for all questions. */
static bool find_moment(query_result *q, const query_spec *spec) {
    uint64_t samples;
    if (spec->measure == MEASURE_PEAK)
        return blocks_peak(&q->profile->table, &q->moment, &samples);
    q->moment = spec->moment < q->profile->duration ? spec->moment : q->profile->duration;
    return true;
}

/* … and keeps the rows that are selected. */
static bool find_costs_and_rows(query_result *q, const query_spec *spec) {
    const bool all = spec->measure == MEASURE_ALLOCATED && !filter_selects(spec->filter);
    if (!filter_select(spec->filter, q->profile, &q->selection))
        return false;
    if (!(all ? cost_of_tree(q->profile, &q->costs)
              : cost_of_blocks(q->profile, &q->selection, q->measure, q->moment, &q->costs)))
        return false;
    if (spec->keep_counted)
        cost_keep(q->profile, q->measure, q->moment, q->selection.kept);
    return true;
}

static bool find_costs(query_result *q, const query_spec *spec) {
    if (!query_needs_blocks(spec))
        return cost_of_tree(q->profile, &q->costs);
    if (!find_moment(q, spec))
        return false;
    return spec->keep_rows ? find_costs_and_rows(q, spec)
                           : cost_of_filter(q->profile, spec->filter, q->measure, q->moment,
                                            &q->selection, &q->costs);
}

static bool find_lens(query_result *q, const query_spec *spec) {
    return spec->lens ? lens_copy(&q->lens, spec->lens)
                      : lens_init(&q->lens, q->profile, !spec->show_wrappers, spec->filter);
}

bool query_run(query_result *q, const profile *p, const query_spec *spec) {
    *q = (query_result){
        .profile = p, .measure = spec->measure, .may = filter_bounds_of(spec->filter, p)};
    bool ok = find_lens(q, spec) && find_costs(q, spec);
    for (size_t i = 0; ok && i < q->costs.count; i++)
        cost_add(&q->total, &q->costs.items[i].cost);
    if (!ok)
        query_free(q);
    return ok;
}

void query_free(query_result *q) {
    lens_free(&q->lens);
    vec_free(&q->costs);
    selection_free(&q->selection);
    *q = (query_result){0};
}
