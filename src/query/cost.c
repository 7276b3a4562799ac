/* cost.c: takes costs from the tree if its totals suffice. Otherwise it scans columns of the table
 * in pieces that stay in the cache, by several threads, into sums by stack, which are then
 * listed. */
#include "query/cost.h"

#include <math.h>
#include <string.h>

#include "base/inline.h"
#include "base/large.h"
#include "profile/parallel.h"
#include "query/temporary.h"

const measure_info measure_infos[] = {
#define MEASURE_INFO(name_, text_, unit_, title_)                                                  \
    [MEASURE_##name_] = {.name = text_, .title = title_, .unit = UNIT_##unit_},
    MEASURES(MEASURE_INFO)
#undef MEASURE_INFO
};

const char *const measure_names[] = {
#define MEASURE_TEXT(name, text, unit, title) text,
    MEASURES(MEASURE_TEXT)
#undef MEASURE_TEXT
        NULL};

/* By MEASURE_BYTESECONDS, `heaviest` is a number of seconds. */
estimate cost_estimate_of_seen(const profile *p, measure m, const cost *c) {
    double word = p->info.word_size / 8.0, rate = p->info.sample_rate;
    const estimate_blocks blocks = cost_blocks(c);
    if (measure_infos[m].unit == UNIT_BLOCKS)
        return estimate_blocks_total(&blocks);
    const estimate e = measure_infos[m].unit == UNIT_BYTES
                           ? estimate_words(c->samples, rate)
                           : estimate_weighted(c->weight, c->squares, c->heaviest, rate);
    return estimate_times(e, word);
}

/* Returns what a missed sample may weigh. */
static double most_of_sample(const profile *p, measure m, filter_bounds may) {
    return m == MEASURE_REQUESTED ? 1 : cost_longest(p, may);
}

estimate cost_estimate(const profile *p, measure m, filter_bounds may, const cost *c) {
    cost possible = *c;
    const estimate_blocks blocks = cost_blocks(c);
    if (measure_infos[m].unit == UNIT_BLOCKS)
        possible.heaviest =
            estimate_blocks_possible(&blocks, may.least_words, p->info.sample_rate).heaviest;
    else if (c->blocks > 0)
        possible.heaviest =
            estimate_weight_possible(c->heaviest, c->blocks, most_of_sample(p, m, may));
    return cost_estimate_of_seen(p, m, &possible);
}

double cost_value(const profile *p, measure m, const cost *c) {
    switch (measure_infos[m].unit) {
    case UNIT_BLOCKS:
        return c->weight;
    case UNIT_BYTESECONDS:
    case UNIT_REQUESTED:
        return c->weight / p->info.sample_rate * (p->info.word_size / 8.0);
    default:
        return cost_bytes(p, c->samples);
    }
}

/* For a block of w words, (1 - rate)^w / (1 - (1 - rate)^w) <= (1 - rate) / (rate w). */
double cost_scatter(const profile *p, measure m, const cost *c) {
    const double word = p->info.word_size / 8.0;
    return measure_infos[m].unit == UNIT_BLOCKS ? c->per_word
                                                : c->squares * word * word / p->info.sample_rate;
}

cost cost_with_missed(const profile *p, measure m, const cost *c, const cost *seen) {
    cost with = *c;
    double most = seen->heaviest;
    if (measure_infos[m].unit == UNIT_BLOCKS)
        most = seen->most_per_word > 0
                   ? 1 / estimate_inclusion((uint64_t)lround(1 / seen->most_per_word),
                                            p->info.sample_rate)
                   : 0;
    with.heaviest = fmax(with.heaviest, most);
    return with;
}

/* ---- from the tree ----------------------------------------------------------------------- */

/* Makes room for `n` costs. */
static bool make_list(cost_list *list, size_t n, cost_shape shape) {
    list->stacks = large_new(n + 1, sizeof *list->stacks);
    return cost_columns_make(&list->costs, n, shape) && list->stacks;
}

size_t cost_list_size(const cost_list *list) {
    return list->count * sizeof *list->stacks + cost_columns_size(&list->costs, list->count);
}

void cost_list_free(cost_list *list) {
    free(list->stacks);
    cost_columns_free(&list->costs);
    *list = (cost_list){0};
}

static void add_plain(cost *c, cct_sums sums) {
    c->samples += sums.samples;
    c->blocks += sums.blocks;
}

static void put_plain(cost_list *list, uint32_t node, bool external, const cost *c) {
    if (c->blocks == 0)
        return;
    list->stacks[list->count] = node << 1 | external;
    cost_columns_add(&list->costs, list->count++, c);
}

/* Each total makes at most one entry. `kept` is by total; NULL: all. */
static bool list_totals(const profile *p, const uint8_t *kept, cost_list *list) {
    const cct_totals *totals = p->tree.totals.items;
    const size_t n = p->tree.totals.count;
    uint64_t samples = 0, blocks = 0;
    for (unsigned source = 0; source < CCT_SOURCES; source++) {
        samples += p->samples[source];
        blocks += p->blocks[source];
    }
    if (!make_list(list, n, (cost_shape){.few = (samples | blocks) <= UINT32_MAX}))
        return false;
    for (size_t i = 0; i < n; i++) {
        cost heap = {0}, external = {0};
        if (!totals[i].is_first || (kept && !kept[i]))
            continue;
        for (uint32_t j = (uint32_t)i; j != CCT_NO_TOTALS; j = totals[j].next)
            add_plain(totals[j].source == MEMTRACE_EXTERNAL ? &external : &heap,
                      cct_sums_at(&p->tree, j));
        put_plain(list, totals[i].node, false, &heap);
        put_plain(list, totals[i].node, true, &external);
    }
    return true;
}

bool cost_of_tree(const profile *p, cost_list *list) {
    return list_totals(p, NULL, list);
}

/* ---- from the table ---------------------------------------------------------------------- */

static bool keep_temporary(const profile *p, uint8_t *kept) {
    uint8_t *temporary = temporary_rows(p);
    for (size_t i = 0; temporary && i < p->table.count; i++)
        kept[i] &= temporary[i];
    free(temporary);
    return temporary;
}

bool cost_keep(const profile *p, measure m, blocks_moment moment, uint8_t *kept) {
    const block_table *b = &p->table;
    switch (m) {
    case MEASURE_LIVE:
    case MEASURE_PEAK:
        for (size_t i = 0; i < b->count; i++)
            kept[i] &= blocks_was_live(b, i, moment);
        return true;
    case MEASURE_PROMOTED:
        for (size_t i = 0; i < b->count; i++)
            kept[i] &= blocks_was_promoted(b, i);
        return true;
    case MEASURE_SURVIVED:
        for (size_t i = 0; i < b->count; i++)
            kept[i] &= blocks_died(b, i) == BLOCKS_NEVER;
        return true;
    case MEASURE_TEMPORARY:
        return keep_temporary(p, kept);
    default:
        return true;
    }
}

cost cost_of_number(const profile *p, size_t row) {
    const uint64_t words = blocks_length(&p->table, row) + 1;
    double inclusion = estimate_inclusion(words, p->info.sample_rate);
    double weight = 1 / inclusion;
    return (cost){.samples = blocks_samples(&p->table, row),
                  .blocks = 1,
                  .weight = weight,
                  .squares = weight * weight * (1 - inclusion),
                  .heaviest = weight,
                  .per_word = weight / (double)words,
                  .most_per_word = 1 / (double)words};
}

/* The cost of a block by MEASURE_REQUESTED: each sample counts as the share of the block's words
 * that is not its header. */
static cost cost_of_requested(const profile *p, size_t row) {
    const double length = (double)blocks_length(&p->table, row), part = length / (length + 1);
    const double samples = (double)blocks_samples(&p->table, row);
    return (cost){.samples = blocks_samples(&p->table, row),
                  .blocks = 1,
                  .weight = samples * part,
                  .squares = samples * part * part,
                  .heaviest = part};
}

cost cost_of_life(const profile *p, size_t row) {
    const block_table *b = &p->table;
    uint64_t end = blocks_died(b, row) < p->duration ? blocks_died(b, row) : p->duration;
    return cost_of_seconds(blocks_samples(b, row), (double)(end - blocks_born(b, row)) / 1e6);
}

cost cost_of_block(const profile *p, measure m, size_t row) {
    const uint64_t samples = blocks_samples(&p->table, row);
    switch (measure_infos[m].unit) {
    case UNIT_BLOCKS:
        return cost_of_number(p, row);
    case UNIT_BYTESECONDS:
        return cost_of_life(p, row);
    case UNIT_REQUESTED:
        return cost_of_requested(p, row);
    default:
        return (cost){.samples = samples, .blocks = 1, .weight = (double)samples};
    }
}

cost cost_or_missed(const profile *p, measure m, filter_bounds may, cost sum) {
    const uint64_t words = may.least_words ? may.least_words : 1;
    if (sum.blocks == 0)
        sum.heaviest = m == MEASURE_BLOCKS ? 1 / estimate_inclusion(words, p->info.sample_rate)
                                           : most_of_sample(p, m, may);
    return sum;
}

/* Sums of amounts of memory, by number of the stack. They are accessed at random, so they must be
 * small to stay in the cache. Most stacks have few samples, so the sums are short, and what does
 * not fit is carried to a list. If too much would be carried, sums are narrow. If a narrow sum
 * overflows, all are computed again with wide ones. */
typedef struct short_sum {
    uint8_t samples, blocks;
} short_sum;

typedef struct narrow_sum {
    uint32_t samples, blocks;
} narrow_sum;

typedef struct wide_sum {
    uint64_t samples;
    uint32_t blocks;
} wide_sum;

typedef enum sum_width { SUMS_SHORT, SUMS_NARROW, SUMS_WIDE } sum_width;

/* What was carried from a sum, which keeps at least one block. */
typedef struct carry {
    uint64_t samples;
    uint32_t blocks, at;
} carry;

typedef VEC(carry) carry_list;

enum {
    SHORT_FROM = 1 << 16, /* stacks: the sums of fewer stay in the cache anyway */
    SHORT_BLOCKS = 64,    /* blocks per stack on average: with more, most sums would be carried */
    SHORT_SAMPLES = 4,    /* samples per block on average, likewise */
    CARRY_LESS = 256,     /* at most one carry for so many sums */
};

typedef struct plain_adding {
    const profile *profile;
    measure measure;
    blocks_moment moment;
    const uint8_t *kept; /* by row; NULL: a filter tells, piece by piece */
    uint8_t *temporary;  /* by row, for MEASURE_TEMPORARY */
    size_t parts;
    bool both;     /* heap and external blocks, adjacent for each stack; else … */
    bool external; /* … all blocks are external, or none is */
    sum_width width;
    void *sums;                           /* one array per part of the table, one after the other */
    carry_list carry[PARALLEL_MAX];       /* by part; in the end the first part has all, sorted */
    bool too_large[PARALLEL_MAX];         /* by part: this width is too small */
    size_t first_entry[PARALLEL_MAX + 1]; /* by part of the stacks: index in the list */
    uint64_t samples[PARALLEL_MAX];       /* by part of the stacks */
    cost_list *list;
} plain_adding;

static size_t sums_of(const plain_adding *a) {
    return (a->profile->tree.n_stacks + 1) * (a->both ? 2 : 1);
}

static inline size_t index_of(const plain_adding *a, size_t row, bool both) {
    const block_table *b = &a->profile->table;
    const size_t stack = cct_stack(&a->profile->tree, b->node[row]);
    return both ? 2 * stack + (b->source[row] == MEMTRACE_EXTERNAL) : stack;
}

/* Carries to the list of the part; false if there are too many. */
static bool carry_sum(plain_adding *a, size_t part, carry c) {
    carry_list *list = &a->carry[part];
    return list->count <= sums_of(a) / CARRY_LESS && vec_push(list, c);
}

enum { AHEAD = 256 /* rows: far enough to be in the cache when they are needed */ };

/* Finds and prefetches the sums of some rows, which are at random places of memory. */
static ALWAYS_INLINE void find_short(const plain_adding *a, filter_piece rows,
                                     const short_sum *sums, bool both, uint32_t at[AHEAD]) {
    const block_table *b = &a->profile->table;
    for (size_t i = 0; i < rows.n; i++)
        __builtin_prefetch(&a->profile->tree.stacks[b->node[rows.at + rows.list[i]] / BITS_WORD]);
    for (size_t i = 0; i < rows.n; i++) {
        at[i] = (uint32_t)index_of(a, rows.at + rows.list[i], both);
        __builtin_prefetch(&sums[at[i]], 1);
    }
}

/* Adds up to AHEAD rows. */
static ALWAYS_INLINE void add_some_short(plain_adding *a, size_t part, filter_piece rows,
                                         bool both) {
    const block_table *b = &a->profile->table;
    short_sum *sums = (short_sum *)a->sums + part * sums_of(a);
    uint32_t places[AHEAD];
    find_short(a, rows, sums, both, places);
    for (size_t i = 0; i < rows.n && !a->too_large[part]; i++) {
        const size_t row = rows.at + rows.list[i], at = places[i];
        const uint64_t samples = sums[at].samples + blocks_samples(b, row);
        const uint32_t blocks = sums[at].blocks + 1u;
        sums[at] = (short_sum){(uint8_t)samples, (uint8_t)blocks};
        if (__builtin_expect((samples | blocks) <= UINT8_MAX, 1))
            continue;
        sums[at] = (short_sum){.blocks = 1};
        a->too_large[part] = !carry_sum(a, part, (carry){samples, blocks - 1, (uint32_t)at});
    }
}

static ALWAYS_INLINE void add_short(plain_adding *a, size_t part, filter_piece rows, bool both) {
    for (size_t i = 0; i < rows.n && !a->too_large[part]; i += AHEAD) {
        const size_t left = rows.n - i;
        add_some_short(
            a, part,
            (filter_piece){.at = rows.at, .n = left < AHEAD ? left : AHEAD, .list = rows.list + i},
            both);
    }
}

/* Adds all of the rows. */
static ALWAYS_INLINE void add_narrow(plain_adding *a, size_t part, filter_piece rows, bool both) {
    const block_table *b = &a->profile->table;
    narrow_sum *sums = (narrow_sum *)a->sums + part * sums_of(a);
    bool too_large = false;
    for (size_t i = 0; i < rows.n; i++) {
        const size_t row = rows.at + rows.list[i];
        const size_t at = index_of(a, row, both);
        const uint64_t sum = sums[at].samples + blocks_samples(b, row);
        too_large |= sum > UINT32_MAX;
        sums[at].samples = (uint32_t)sum;
        sums[at].blocks++;
    }
    a->too_large[part] |= too_large;
}

static void add_wide(const plain_adding *a, size_t part, filter_piece rows) {
    const block_table *b = &a->profile->table;
    wide_sum *sums = (wide_sum *)a->sums + part * sums_of(a);
    for (size_t i = 0; i < rows.n; i++) {
        const size_t row = rows.at + rows.list[i];
        wide_sum *sum = &sums[index_of(a, row, a->both)];
        sum->samples += blocks_samples(b, row);
        sum->blocks++;
    }
}

static void add_rows(plain_adding *a, size_t part, filter_piece rows) {
    if (a->width == SUMS_WIDE)
        add_wide(a, part, rows);
    else if (a->width == SUMS_NARROW && a->both)
        add_narrow(a, part, rows, true);
    else if (a->width == SUMS_NARROW)
        add_narrow(a, part, rows, false);
    else if (a->both)
        add_short(a, part, rows, true);
    else
        add_short(a, part, rows, false);
}

/* Lists the rows for which a condition is true, without an unpredictable branch on it. */
#define LIST_IF(list, n_listed, rows, condition)                                                   \
    for (size_t i = 0; i < (rows).n; i++) {                                                        \
        const size_t row = (rows).at + (rows).list[i];                                             \
        (list)[n_listed] = (rows).list[i];                                                         \
        (n_listed) += (condition);                                                                 \
    }

/* Adds those of the rows that the measure counts. */
static void add_plain_piece(void *context, size_t part, filter_piece rows) {
    plain_adding *a = context;
    const block_table *b = &a->profile->table;
    uint16_t list[FILTER_PIECE];
    size_t n = 0;
    if (a->measure == MEASURE_LIVE || a->measure == MEASURE_PEAK)
        LIST_IF(list, n, rows, blocks_was_live(b, row, a->moment))
    else if (a->measure == MEASURE_PROMOTED)
        LIST_IF(list, n, rows, blocks_was_promoted(b, row))
    else if (a->measure == MEASURE_SURVIVED)
        LIST_IF(list, n, rows, blocks_died(b, row) == BLOCKS_NEVER)
    else if (a->measure == MEASURE_TEMPORARY)
        LIST_IF(list, n, rows, a->temporary[row])
    if (a->measure != MEASURE_ALLOCATED)
        rows = (filter_piece){.at = rows.at, .n = n, .list = list};
    add_rows(a, part, rows);
}

/* Does the same for the rows in `kept`. */
static void add_plain_part(void *context, size_t part) {
    plain_adding *a = context;
    const size_t n_rows = a->profile->table.count;
    const size_t end = parallel_begin(n_rows, a->parts, part + 1);
    uint16_t list[FILTER_PIECE];
    for (size_t at = parallel_begin(n_rows, a->parts, part); at < end; at += FILTER_PIECE) {
        size_t n = 0;
        for (size_t i = 0; i < FILTER_PIECE && at + i < end; i++) {
            list[n] = (uint16_t)i;
            n += a->kept[at + i];
        }
        add_plain_piece(context, part, (filter_piece){.at = at, .n = n, .list = list});
    }
}

/* ---- what was added up, as a list; each part of it in a thread of its own ------------------ */

static int compare_carries(const void *a, const void *b) {
    const carry *x = a, *y = b;
    return (x->at > y->at) - (x->at < y->at);
}

/* Collects all carries in the first list, sorted by sum. False when there is no memory. */
static bool order_carries(plain_adding *a) {
    carry_list *all = &a->carry[0];
    for (size_t part = 1; part < a->parts; part++)
        for (size_t i = 0; i < a->carry[part].count; i++)
            if (!vec_push(all, a->carry[part].items[i]))
                return false;
    if (all->count > 0)
        qsort(all->items, all->count, sizeof *all->items, compare_carries);
    return true;
}

/* Returns the first carry to this sum or a later one. */
static size_t carry_from(const plain_adding *a, size_t at) {
    size_t low = 0, high = a->carry[0].count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (a->carry[0].items[middle].at < at)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Returns a sum over all parts of the table, without carries. */
static inline wide_sum sum_alone(const plain_adding *a, size_t at) {
    wide_sum all = {0};
    for (size_t part = 0, n = sums_of(a); part < a->parts; part++, at += n) {
        const short_sum *few = a->sums;
        const narrow_sum *narrow = a->sums;
        const wide_sum *wide = a->sums;
        all.samples += a->width == SUMS_SHORT    ? few[at].samples
                       : a->width == SUMS_NARROW ? narrow[at].samples
                                                 : wide[at].samples;
        all.blocks += a->width == SUMS_SHORT    ? few[at].blocks
                      : a->width == SUMS_NARROW ? narrow[at].blocks
                                                : wide[at].blocks;
    }
    return all;
}

/* Returns a sum with its carries; `*next` is the first carry that was not added yet. */
static inline wide_sum sum_at(const plain_adding *a, size_t at, size_t *next) {
    const carry_list *more = &a->carry[0];
    wide_sum all = sum_alone(a, at);
    for (; *next < more->count && more->items[*next].at == at; ++*next) {
        all.samples += more->items[*next].samples;
        all.blocks += more->items[*next].blocks;
    }
    return all;
}

/* Returns where a part of the stacks begins, in words of the set of stacks. */
static uint32_t first_word(const plain_adding *a, size_t part) {
    return (uint32_t)parallel_begin(bits_words((uint32_t)cct_count(&a->profile->tree)), a->parts,
                                    part);
}

/* Returns the first sum of a part of the stacks. If there are few stacks, the last parts have
 * none. */
static size_t first_sum(const plain_adding *a, size_t part) {
    const cct *tree = &a->profile->tree;
    const uint32_t word = first_word(a, part), n_words = bits_words((uint32_t)cct_count(tree));
    const size_t stack = word < n_words ? tree->stacks[word].before : tree->n_stacks;
    return stack * (a->both ? 2 : 1);
}

static void count_entries(void *context, size_t part) {
    plain_adding *a = context;
    const size_t end = first_sum(a, part + 1);
    size_t n = 0, next = carry_from(a, first_sum(a, part));
    uint64_t samples = 0;
    for (size_t i = first_sum(a, part); i < end; i++) {
        const wide_sum sum = sum_at(a, i, &next);
        n += sum.blocks > 0;
        samples += sum.samples;
    }
    a->samples[part] = samples;
    a->first_entry[part + 1] = n;
}

typedef struct entry_writing {
    size_t at, end; /* in the list: the part's next entry, and its end */
    size_t sum;     /* the next sum */
    size_t next;    /* see sum_at */
} entry_writing;

/* Writes an entry without an unpredictable branch: if the sum is empty, the next entry overwrites
 * it. */
static inline void write_entry(const plain_adding *a, entry_writing *w, uint32_t stack) {
    const wide_sum sum = sum_at(a, w->sum++, &w->next);
    a->list->stacks[w->at] = stack;
    cost_columns_add(&a->list->costs, w->at, &(cost){.samples = sum.samples, .blocks = sum.blocks});
    w->at += sum.blocks > 0;
}

static void write_entries(void *context, size_t part) {
    const plain_adding *a = context;
    const bits_word *stacks = a->profile->tree.stacks;
    const uint32_t end = first_word(a, part + 1);
    entry_writing w = {.at = a->first_entry[part],
                       .end = a->first_entry[part + 1],
                       .sum = first_sum(a, part),
                       .next = carry_from(a, first_sum(a, part))};
    for (uint32_t word = first_word(a, part); word < end; word++)
        for (uint32_t left = stacks[word].bits; left && w.at < w.end; left &= left - 1) {
            const uint32_t node = word * BITS_WORD + (uint32_t)__builtin_ctz(left);
            write_entry(a, &w, node << 1 | (!a->both && a->external));
            if (a->both && w.at < w.end)
                write_entry(a, &w, node << 1 | 1);
        }
}

static bool list_entries(plain_adding *a, cost_list *list) {
    if (!order_carries(a))
        return false;
    parallel_run(a->parts, count_entries, a);
    uint64_t samples = 0;
    for (size_t part = 0; part < a->parts; part++) {
        a->first_entry[part + 1] += a->first_entry[part];
        samples += a->samples[part];
    }
    list->count = a->first_entry[a->parts];
    a->list = list;
    if (!make_list(list, list->count, (cost_shape){.few = samples <= UINT32_MAX}))
        return false;
    parallel_run(a->parts, write_entries, a);
    return true;
}

/* ---- amounts of memory --------------------------------------------------------------------- */

static bool make_sums(plain_adding *a) {
    static const size_t sizes[] = {[SUMS_SHORT] = sizeof(short_sum),
                                   [SUMS_NARROW] = sizeof(narrow_sum),
                                   [SUMS_WIDE] = sizeof(wide_sum)};
    memset(a->too_large, 0, sizeof a->too_large);
    a->sums = large_zeroed(a->parts * sums_of(a) + 1, sizes[a->width]);
    return a->sums;
}

static void free_sums(plain_adding *a) {
    free(a->sums);
    a->sums = NULL;
    for (size_t part = 0; part < PARALLEL_MAX; part++)
        vec_free(&a->carry[part]);
}

static bool are_too_large(const plain_adding *a) {
    bool any = false;
    for (size_t part = 0; part < a->parts; part++)
        any |= a->too_large[part];
    return any;
}

/* Adds what is kept, or what the filter selects. */
static bool add_all(plain_adding *a, const filter *f, selection *s) {
    if (!a->kept)
        return filter_scan(f, a->profile, a->parts, add_plain_piece, a, s);
    parallel_run(a->parts, add_plain_part, a);
    return true;
}

/* Chooses the kind of sums, and finds what is needed beside columns. */
static bool prepare(plain_adding *a) {
    const profile *p = a->profile;
    const uint64_t external = p->blocks[MEMTRACE_EXTERNAL], blocks = cct_sum(p->blocks);
    a->parts = parallel_parts(p->table.count);
    a->external = external > 0;
    a->both = a->external && blocks > external;
    a->width = p->tree.n_stacks >= SHORT_FROM && blocks / SHORT_BLOCKS <= p->tree.n_stacks &&
                       cct_sum(p->samples) / SHORT_SAMPLES <= blocks
                   ? SUMS_SHORT
                   : SUMS_NARROW;
    if (a->measure == MEASURE_TEMPORARY)
        a->temporary = temporary_rows(p);
    return a->temporary || a->measure != MEASURE_TEMPORARY;
}

static bool plain_costs(plain_adding *a, const filter *f, selection *s, cost_list *list) {
    bool ok = prepare(a) && make_sums(a) && add_all(a, f, s);
    for (; ok && are_too_large(a); ok = make_sums(a) && add_all(a, f, s)) {
        free_sums(a);
        a->width++;
    }
    ok = ok && list_entries(a, list);
    free_sums(a);
    free(a->temporary);
    return ok;
}

/* ---- other measures ------------------------------------------------------------------------ */

#define NO_BIT UINT32_MAX

/* Sums are listed by stack, first those of heaps, then those of external blocks; a set of bits says
 * which exist. Each thread computes the sums of some of the bits from all rows. So a sum adds rows
 * in their order, however many threads there are. */
typedef struct weighted_adding {
    const profile *profile;
    const uint8_t *kept;
    measure measure;
    size_t parts;
    uint32_t n_words;
    bits_word *bits; /* by part of the rows; in the end the first has all */
    uint32_t *of;    /* by row: its bit; NO_BIT: it is not kept */
    uint64_t samples[PARALLEL_MAX];
    cost_list *list;
} weighted_adding;

/* Returns the first bit of external stacks. */
static uint32_t first_external(const cct *tree) {
    return (uint32_t)tree->n_stacks + 1;
}

/* Finds the bits of rows from `from` to before `end`, at most AHEAD. Returns their number of
 * samples. */
static uint64_t find_some_bits(weighted_adding *a, bits_word *bits, size_t from, size_t end) {
    const cct *tree = &a->profile->tree;
    const block_table *b = &a->profile->table;
    uint64_t samples = 0;
    for (size_t i = from; i < end; i++)
        __builtin_prefetch(&tree->stacks[b->node[i] / BITS_WORD]);
    for (size_t i = from; i < end; i++) {
        a->of[i] = NO_BIT;
        if (!a->kept[i])
            continue;
        a->of[i] = cct_stack(tree, b->node[i]) +
                   (b->source[i] == MEMTRACE_EXTERNAL ? first_external(tree) : 0);
        __builtin_prefetch(&bits[a->of[i] / BITS_WORD], 1);
        samples += blocks_samples(b, i);
    }
    for (size_t i = from; i < end; i++)
        if (a->of[i] != NO_BIT)
            bits_add(bits, a->of[i]);
    return samples;
}

static void find_bits(void *context, size_t part) {
    weighted_adding *a = context;
    bits_word *bits = a->bits + part * a->n_words;
    const size_t rows = a->profile->table.count, end = parallel_begin(rows, a->parts, part + 1);
    uint64_t samples = 0;
    for (size_t at = parallel_begin(rows, a->parts, part); at < end; at += AHEAD)
        samples += find_some_bits(a, bits, at, end - at < AHEAD ? end : at + AHEAD);
    a->samples[part] = samples;
}

/* Joins the bits of all parts, and returns how many are set. */
static size_t join_bits(weighted_adding *a) {
    for (size_t part = 1; part < a->parts; part++) {
        for (uint32_t i = 0; i < a->n_words; i++)
            a->bits[i].bits |= a->bits[part * a->n_words + i].bits;
        a->samples[0] += a->samples[part];
    }
    return bits_rank_all(a->bits, a->n_words);
}

static void list_stacks(const weighted_adding *a, bool external) {
    const cct *tree = &a->profile->tree;
    const uint32_t n_words = bits_words((uint32_t)cct_count(tree));
    uint32_t bit = external ? first_external(tree) : 0;
    for (uint32_t word = 0; word < n_words; word++)
        for (uint32_t left = tree->stacks[word].bits; left; left &= left - 1, bit++)
            if (bits_has(a->bits, bit)) {
                const uint32_t node = word * BITS_WORD + (uint32_t)__builtin_ctz(left);
                a->list->stacks[a->list->count++] = node << 1 | external;
            }
}

/* Parts have about the same number of bits, and whole words. */
static uint32_t first_bit(const weighted_adding *a, size_t part) {
    const size_t before = parallel_begin(a->list->count, a->parts, part);
    uint32_t word = 0;
    while (word < a->n_words && (part == a->parts || a->bits[word].before < before))
        word++;
    return word * BITS_WORD;
}

/* Lists up to AHEAD rows whose bit is in a range, without an unpredictable branch. */
static size_t list_bits(const weighted_adding *a, uint32_t begin, uint32_t end, size_t at,
                        uint16_t *list) {
    const size_t left = a->profile->table.count - at, n = left < AHEAD ? left : AHEAD;
    size_t n_listed = 0;
    for (size_t i = 0; i < n; i++) {
        const uint32_t bit = a->of[at + i];
        list[n_listed] = (uint16_t)i;
        n_listed += (unsigned)(bit - begin < end - begin) & (bit != NO_BIT);
    }
    return n_listed;
}

static void add_weighted(void *context, size_t part) {
    const weighted_adding *a = context;
    const cost_columns *costs = &a->list->costs;
    const uint32_t begin = first_bit(a, part), end = first_bit(a, part + 1);
    uint16_t list[AHEAD];
    uint32_t ranks[AHEAD];
    for (size_t at = 0; at < a->profile->table.count; at += AHEAD) {
        const size_t n = list_bits(a, begin, end, at, list);
        for (size_t i = 0; i < n; i++)
            __builtin_prefetch(&a->bits[a->of[at + list[i]] / BITS_WORD]);
        for (size_t i = 0; i < n; i++) {
            ranks[i] = bits_rank(a->bits, a->of[at + list[i]]);
            cost_columns_expect(costs, ranks[i]);
        }
        for (size_t i = 0; i < n; i++) {
            const cost one = cost_of_block(a->profile, a->measure, at + list[i]);
            cost_columns_add(costs, ranks[i], &one);
        }
    }
}

static bool weighted_costs(const profile *p, const uint8_t *kept, measure m, bool words,
                           cost_list *list) {
    weighted_adding a = {.profile = p,
                         .kept = kept,
                         .measure = m,
                         .parts = parallel_parts(p->table.count),
                         .n_words = bits_words(2 * first_external(&p->tree)),
                         .of = large_new(p->table.count + 1, sizeof *a.of),
                         .list = list};
    a.bits = calloc(a.parts * a.n_words, sizeof *a.bits);
    bool ok = a.of && a.bits;
    if (ok) {
        parallel_run(a.parts, find_bits, &a);
        const size_t n = join_bits(&a);
        const cost_shape shape = {.few = a.samples[0] <= UINT32_MAX,
                                  .weights = true,
                                  .words = words && measure_infos[m].unit == UNIT_BLOCKS};
        ok = make_list(list, n, shape);
    }
    if (ok) {
        list_stacks(&a, false);
        list_stacks(&a, true);
        parallel_run(a.parts, add_weighted, &a);
    }
    free(a.bits);
    free(a.of);
    return ok;
}

bool cost_of_blocks(const profile *p, const selection *s, measure m, blocks_moment moment,
                    bool words, cost_list *list) {
    plain_adding a = {.profile = p, .kept = s->kept, .measure = m, .moment = moment};
    return measure_infos[m].unit == UNIT_BYTES ? plain_costs(&a, NULL, NULL, list)
                                               : weighted_costs(p, s->kept, m, words, list);
}

bool cost_of_filter(const profile *p, const filter *f, measure m, blocks_moment moment, bool words,
                    selection *s, cost_list *list) {
    plain_adding a = {.profile = p, .measure = m, .moment = moment};
    if (m == MEASURE_ALLOCATED && filter_is_of_stacks(f)) {
        uint8_t *kept;
        const bool found = filter_select_stacks(f, p, &kept, s) && list_totals(p, kept, list);
        free(kept);
        return found;
    }
    if (measure_infos[m].unit == UNIT_BYTES)
        return plain_costs(&a, f, s, list);
    const bool ok = filter_select(f, p, s) && weighted_costs(p, s->kept, m, words, list);
    selection_free(s);
    return ok;
}
