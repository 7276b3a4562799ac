/* query.c: answers a question in this order: the moment, if the measure has one; the rows that the
 * filter keeps; their costs, without keeping rows unless a report asks for them; the bounds of the
 * peak; the lens. */
#include "query/query.h"

#include "query/temporary.h"

bool query_needs_blocks(const query_spec *spec) {
    return spec->keep_rows || spec->measure != MEASURE_ALLOCATED || filter_selects(spec->filter);
}

static bool is_of_peak(const query_spec *spec) {
    return spec->measure == MEASURE_PEAK || (spec->measure == MEASURE_LIVE && spec->at_peak);
}

unsigned query_columns(const query_spec *spec) {
    static const unsigned life = BLOCKS_HAS(born) | BLOCKS_HAS(died);
    static const unsigned columns[] = {
        [MEASURE_ALLOCATED] = 0,
        [MEASURE_BLOCKS] = BLOCKS_HAS(length),
        [MEASURE_LIVE] = life,
        [MEASURE_PEAK] = BLOCKS_PEAK_COLUMNS | BLOCKS_IF_SEVERAL,
        [MEASURE_PROMOTED] = BLOCKS_HAS(promoted),
        [MEASURE_SURVIVED] = BLOCKS_HAS(died),
        [MEASURE_TEMPORARY] = TEMPORARY_COLUMNS,
        [MEASURE_BYTESECONDS] = life,
        [MEASURE_REQUESTED] = BLOCKS_HAS(length),
    };
    const unsigned filtered = filter_columns(spec->filter);
    const bool ordered = is_of_peak(spec) || spec->measure == MEASURE_TEMPORARY;
    if (spec->keep_rows && !spec->finds_peak && !ordered)
        return (BLOCKS_ALL_COLUMNS & ~BLOCKS_PLACE_COLUMNS) | filtered;
    if (spec->keep_rows)
        return BLOCKS_ALL_COLUMNS;
    return BLOCKS_HAS(node) | BLOCKS_HAS(samples) | BLOCKS_HAS(source) | columns[spec->measure] |
           (spec->at_peak ? BLOCKS_PEAK_COLUMNS | BLOCKS_IF_SEVERAL : 0) | filtered;
}

/* The peak is that of the whole trace, whatever is selected, so that all questions use the same
 * moment. */
static bool find_moment(query_result *q, const query_spec *spec) {
    const uint64_t end = q->profile->duration;
    blocks_most most = {.at = blocks_end_of(spec->moment < end ? spec->moment : end)};
    const bool ok = !is_of_peak(spec) || blocks_peak(&q->profile->table, &most);
    q->moment = most.at;
    return ok;
}

/* Finds costs, and keeps the selected rows. */
static bool find_costs_and_rows(query_result *q, const query_spec *spec) {
    const bool all = spec->measure == MEASURE_ALLOCATED && !filter_selects(spec->filter);
    if (!filter_select(spec->filter, q->profile, &q->selection))
        return false;
    if (!(all ? cost_of_tree(q->profile, &q->costs)
              : cost_of_blocks(q->profile, &q->selection, q->measure, q->moment, !spec->alone,
                               &q->costs)))
        return false;
    return !spec->keep_counted || cost_keep(q->profile, q->measure, q->moment, q->selection.kept);
}

static bool find_costs(query_result *q, const query_spec *spec) {
    if (!query_needs_blocks(spec))
        return cost_of_tree(q->profile, &q->costs);
    if (!find_moment(q, spec))
        return false;
    return spec->keep_rows ? find_costs_and_rows(q, spec)
                           : cost_of_filter(q->profile, spec->filter, q->measure, q->moment,
                                            !spec->alone, &q->selection, &q->costs);
}

/* Whether the order of events matters. Below rate 1, sampling is the larger error. */
static bool is_uncertain(const query_result *q, const query_spec *spec) {
    return is_of_peak(spec) && q->profile->info.sample_rate >= 1 &&
           blocks_are_of_several(&q->profile->table);
}

/* Bounds the most that was live if all blocks are selected. For some of them, the peak is a moment
 * like any other. */
static bool find_spread(query_result *q, const query_spec *spec) {
    const block_table *b = &q->profile->table;
    selection kept = {0};
    blocks_most most;
    q->spread = (blocks_spread){.low = q->total.samples, .high = q->total.samples};
    if (!is_uncertain(q, spec))
        return true;
    if (!filter_selects(spec->filter))
        return blocks_peak(b, &most) && blocks_spread_of_most(b, NULL, &most, &q->spread);
    const bool ok = filter_select(spec->filter, q->profile, &kept) &&
                    blocks_spread_at(b, kept.kept, q->moment, q->total.samples, &q->spread);
    selection_free(&kept);
    return ok;
}

static bool find_lens(query_result *q, const query_spec *spec) {
    return spec->lens ? lens_copy(&q->lens, spec->lens)
                      : lens_init(&q->lens, q->profile, !spec->show_wrappers, spec->filter);
}

/* Sums up before packing, which loses digits. */
static void find_total(query_result *q) {
    q->total = cost_columns_sum(&q->costs.costs, 0, q->costs.count);
    cost_columns_pack(&q->costs.costs, q->costs.count);
}

bool query_run(query_result *q, const profile *p, const query_spec *spec) {
    *q = (query_result){.profile = p,
                        .measure = spec->measure,
                        .may = filter_bounds_of(spec->filter, p),
                        .is_of_all = !filter_selects(spec->filter)};
    bool ok = find_lens(q, spec) && find_costs(q, spec);
    if (ok)
        find_total(q);
    ok = ok && find_spread(q, spec);
    if (!ok)
        query_free(q);
    return ok;
}

void query_free(query_result *q) {
    lens_free(&q->lens);
    cost_list_free(&q->costs);
    selection_free(&q->selection);
    *q = (query_result){0};
}
