/* budget.c: compares the limit of a rule with both ends of the interval: the rule passes beyond one
 * end, fails beyond the other, and is undecided between them. docs/estimator.md says how the rate
 * that would decide is found. */
#include "query/budget.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/path.h"
#include "profile/blocks_spread.h"
#include "query/name_sets.h"

#define UNDER "under:"

/* At this many standard errors from a limit, four of five traces have a verdict. */
#define DECIDING (ESTIMATE_NORMAL + 0.84)

/* Without a sample, the truth may still be this many samples, with a confidence of 97.5%. */
#define NOTHING_SEEN 3.69

/* ---- the tally ----------------------------------------------------------------------------- */

static bool count(budget_tally *t, double rate, const budget_entry *block, uint64_t words) {
    uint32_t at;
    if (!map64_number(&t->index, (uint64_t)block->node << 1 | block->external, &at) ||
        (at == t->entries.count &&
         !vec_push(&t->entries,
                   ((budget_entry){.node = block->node, .external = block->external}))))
        return false;
    budget_entry *e = &t->entries.items[at];
    e->samples += block->samples;
    estimate_blocks_add(&e->blocks, words, rate);
    cost_add(&e->life, &block->life);
    return true;
}

bool budget_count(budget_tally *t, double rate, uint32_t node, const memtrace_event *event) {
    const budget_entry block = {
        .node = node, .external = event->source == MEMTRACE_EXTERNAL, .samples = event->samples};
    return count(t, rate, &block, event->length + 1);
}

static bool count_row(budget_tally *t, const profile *p, measure m, size_t row) {
    const block_table *b = &p->table;
    budget_entry block = {.node = b->node[row],
                          .external = b->source[row] == MEMTRACE_EXTERNAL,
                          .samples = blocks_samples(b, row)};
    if (m == MEASURE_BYTESECONDS)
        block.life = cost_of_life(p, row);
    return count(t, p->info.sample_rate, &block, blocks_length(b, row) + 1);
}

/* Keeps a copy of the filter's rows, before the measure clears some. */
static bool keep_uncertain(budget_tally *t, const profile *p, const uint8_t *kept) {
    if (p->info.sample_rate < 1 || !blocks_are_of_several(&p->table))
        return true;
    t->kept = malloc(p->table.count + 1);
    if (t->kept)
        memcpy(t->kept, kept, p->table.count);
    return t->kept;
}

bool budget_count_rows(budget_tally *t, const profile *p, measure m, uint8_t *kept) {
    blocks_most most = {.at = blocks_end_of(p->duration)};
    bool ok = m != MEASURE_PEAK || (blocks_peak(&p->table, &most) && keep_uncertain(t, p, kept));
    t->at = most.at;
    ok = ok && cost_keep(p, m, most.at, kept);
    for (size_t i = 0; ok && i < p->table.count; i++)
        ok = !kept[i] || count_row(t, p, m, i);
    return ok;
}

void budget_tally_free(budget_tally *t) {
    vec_free(&t->entries);
    map64_free(&t->index);
    free(t->kept);
}

/* ---- sites --------------------------------------------------------------------------------- */

/* A parsed site. */
typedef struct site_pattern {
    const char *text; /* the function, or the end of the file's path */
    size_t size;      /* of the function or file */
    uint32_t line;    /* 0: a function */
    bool or_unnamed;  /* also matches places of which it is not known whether they are the site */
} site_pattern;

static site_pattern parse_pattern(const char *site) {
    site_pattern p = {.text = site, .size = strlen(site)};
    const size_t file = path_line(site, p.size, &p.line);
    p.size = file ? file : p.size;
    return p;
}

/* Whether a function has the name, with or without its parameters. A name without parameters stands
 * for all overloads. */
static bool is_called(const char *function, const site_pattern *p) {
    return strncmp(function, p->text, p->size) == 0 &&
           (function[p->size] == '\0' || function[p->size] == '(');
}

/* Whether symbolizing did not find what the pattern compares: a function, or a line outside of
 * libraries of the language. */
static bool is_unnamed(const site_pattern *p, const profile_location *l) {
    return profile_is_address(l) ||
           (p->line > 0 && l->line == 0 && l->file[0] == '/' && !name_is_library_file(l->file) &&
            !name_is_library(l->function));
}

static bool matches(const site_pattern *p, const profile_location *l) {
    if (p->or_unnamed && is_unnamed(p, l))
        return true;
    if (p->line == 0)
        return is_called(l->function, p);
    return l->line == p->line && path_ends(l->file, p->text, p->size);
}

bool budget_is_under(const char *site) {
    return strncmp(site, UNDER, sizeof UNDER - 1) == 0;
}

bool budget_is_line(const char *site) {
    return parse_pattern(budget_site_name(site)).line > 0;
}

const char *budget_site_name(const char *site) {
    return site + (budget_is_under(site) ? sizeof UNDER - 1 : 0);
}

bool budget_knows(const profile *p, const char *site) {
    const site_pattern pattern = parse_pattern(budget_site_name(site));
    bool known = strcmp(site, "total") == 0;
    for (size_t i = 0; !known && i < p->locations.count; i++)
        known = matches(&pattern, &p->locations.items[i]);
    return known;
}

bool budget_knows_file(const profile *p, const char *site) {
    const site_pattern pattern = parse_pattern(budget_site_name(site));
    bool known = false;
    for (size_t i = 0; !known && i < p->locations.count; i++)
        known = path_ends(p->locations.items[i].file, pattern.text, pattern.size);
    return known;
}

static bool matches_frame(const site_pattern *pattern, const profile *p, uint32_t frame) {
    const profile_frame *f = &p->frames.items[frame];
    for (uint32_t i = 0; i < f->n; i++)
        if (matches(pattern, &p->locations.items[f->first + i]))
            return true;
    return false;
}

/* Returns which nodes have a match on their stacks. A node comes after its parent. */
static bool *nodes_under(const site_pattern *pattern, const profile *p) {
    const cct *tree = &p->tree;
    bool *under = calloc(cct_count(tree) + 1, sizeof *under);
    for (uint32_t i = 1; under && i < cct_count(tree); i++)
        under[i] = under[cct_parent(tree, i)] || matches_frame(pattern, p, cct_frame(tree, i));
    return under;
}

typedef struct sum {
    uint64_t samples;
    estimate_blocks blocks;
    cost life;
} sum;

static void add_entry(sum *s, const budget_entry *e) {
    s->samples += e->samples;
    estimate_blocks_join(&s->blocks, &e->blocks);
    cost_add(&s->life, &e->life);
}

/* The blocks that a rule is about. */
typedef struct subject {
    const lens *lens;
    bool all;
    bool *under; /* by node; NULL: only the site itself */
    site_pattern pattern;
} subject;

static bool find_subject(const lens *l, const char *site, bool or_unnamed, subject *s) {
    *s = (subject){.lens = l,
                   .all = strcmp(site, "total") == 0,
                   .pattern = parse_pattern(budget_site_name(site))};
    s->pattern.or_unnamed = or_unnamed;
    if (budget_is_under(site))
        s->under = nodes_under(&s->pattern, l->profile);
    return s->under || !budget_is_under(site);
}

static bool is_about(const subject *s, uint32_t node, bool external) {
    uint32_t wrapper;
    if (s->all || s->under)
        return s->all || s->under[node];
    const profile_location *place =
        lens_location(s->lens, lens_site(s->lens, node, external, &wrapper).location);
    return place && matches(&s->pattern, place);
}

static void sum_up(const subject *about, const budget_tally *t, sum *s) {
    for (size_t i = 0; i < t->entries.count; i++)
        if (is_about(about, t->entries.items[i].node, t->entries.items[i].external))
            add_entry(s, &t->entries.items[i]);
}

/* Bounds what is live at the peak, in samples; both are equal if the order of events is known. */
static bool find_spread(const subject *about, const budget_tally *t, uint64_t samples,
                        blocks_spread *spread) {
    const block_table *b = &about->lens->profile->table;
    *spread = (blocks_spread){.low = samples, .high = samples};
    if (!t->kept)
        return true;
    uint8_t *kept = malloc(b->count + 1);
    size_t n_kept = 0;
    for (size_t i = 0; kept && i < b->count; i++) {
        kept[i] = t->kept[i] && is_about(about, b->node[i], b->source[i] == MEMTRACE_EXTERNAL);
        n_kept += kept[i];
    }
    const blocks_most most = {.at = t->at, .samples = samples};
    const bool ok =
        kept && (n_kept == b->count ? blocks_spread_of_most(b, NULL, &most, spread)
                                    : blocks_spread_at(b, kept, t->at, samples, spread));
    free(kept);
    return ok;
}

/* ---- verdicts ------------------------------------------------------------------------------ */

/* Without a tracked block, nothing is known of weights except that a block has at least a word. */
static estimate blocks_of(const sum *s, filter_bounds may, double rate) {
    estimate e = estimate_blocks_number(&s->blocks, may.least_words, rate);
    if (s->blocks.tracked == 0)
        e.high = estimate_words(0, rate).high / (double)(may.least_words ? may.least_words : 1);
    return e;
}

static budget_verdict judge(const budget_rule *r, const estimate *e) {
    double most = r->within > 0 ? r->amount * r->within : r->amount;
    double least = r->within > 0 ? r->amount / r->within : 0;
    if (e->low > most || e->high < least)
        return BUDGET_FAIL;
    return e->high <= most && e->low >= least ? BUDGET_PASS : BUDGET_UNDECIDED;
}

/* Returns the distance from the closer limit. */
static double distance(const budget_rule *r, double value) {
    if (r->within <= 0)
        return fabs(value - r->amount);
    return fmin(fabs(value - r->amount * r->within), fabs(value - r->amount / r->within));
}

/* Returns the rate at which so many blocks are seen that probably no block is smaller than all of
 * them, or at which the smallest missed blocks are below the distance. */
static double knows_sizes(const sum *s, filter_bounds may, double rate, double distance) {
    const double least = fmax((double)may.least_words, ESTIMATE_LEAST_WORDS);
    return s->blocks.tracked >= ESTIMATE_FEW_BLOCKS
               ? 0
               : fmin(rate * ESTIMATE_FEW_BLOCKS / (double)s->blocks.tracked,
                      NOTHING_SEEN / least / distance);
}

/* Returns the same for lifetimes of blocks. */
static double knows_lives(const sum *s, double rate, double distance) {
    return s->life.blocks >= ESTIMATE_FEW_BLOCKS
               ? 0
               : fmin(rate * ESTIMATE_FEW_BLOCKS / (double)s->life.blocks,
                      NOTHING_SEEN * s->life.heaviest / distance);
}

/* Returns what one sample would have stood for, times the rate, if none was seen. */
static double missed_weight(const budget_rule *r, const sum *s, filter_bounds may) {
    if (r->unit == BUDGET_BYTESECONDS)
        return s->life.heaviest;
    return r->unit == BUDGET_BLOCKS && may.least_words ? 1 / (double)may.least_words : 1;
}

/* The variance is W (1 - rate) / rate for words, and about proportional to 1 / rate otherwise. */
static double deciding_rate(const budget_rule *r, const budget_result *result, const sum *s,
                            filter_bounds may, double rate, double word) {
    double d = distance(r, result->actual.value) / word;
    double needed = DECIDING * DECIDING, decides;
    if (s->samples == 0)
        decides = NOTHING_SEEN * missed_weight(r, s, may) / d;
    else if (r->unit == BUDGET_BLOCKS)
        decides = fmax(rate * needed * s->blocks.variance / (d * d), knows_sizes(s, may, rate, d));
    else if (r->unit == BUDGET_BYTESECONDS)
        decides = fmax(needed * s->life.squares / rate / (d * d), knows_lives(s, rate, d));
    else
        decides = 1 / (1 + d * d / (needed * (double)s->samples / rate));
    return fmin(1, fmax(decides, rate));
}

static bool judge_site(const lens *l, const budget_tally *t, const budget_rule *rule,
                       bool or_unnamed, budget_result *result) {
    const memtrace_info *info = &l->profile->info;
    sum s = {0};
    subject about;
    blocks_spread spread = {0};
    bool ok = find_subject(l, rule->site, or_unnamed, &about);
    if (ok)
        sum_up(&about, t, &s);
    ok = ok && find_spread(&about, t, s.samples, &spread);
    free(about.under);
    if (!ok)
        return false;
    double rate = info->sample_rate;
    bool bytes = rule->unit == BUDGET_BYTES || rule->unit == BUDGET_BYTESECONDS;
    double word = bytes ? info->word_size / 8.0 : 1;
    /* a missed block lived at most as long as the trace */
    s.life.heaviest =
        estimate_weight_possible(s.life.heaviest, s.life.blocks, cost_longest(l->profile, t->may));
    estimate e = rule->unit == BUDGET_BLOCKS ? blocks_of(&s, t->may, rate)
                 : rule->unit == BUDGET_BYTESECONDS
                     ? estimate_weighted(s.life.weight, s.life.squares, s.life.heaviest, rate)
                     : estimate_words(s.samples, rate);
    if (t->kept && rule->unit != BUDGET_BLOCKS) { /* at rate 1 */
        e.low = (double)spread.low;
        e.high = (double)spread.high;
    }
    *result = (budget_result){
        .actual = {.value = e.value * word, .low = e.low * word, .high = e.high * word},
        .samples = s.samples};
    result->verdict = judge(rule, &result->actual);
    result->is_of_order = result->verdict == BUDGET_UNDECIDED && t->kept;
    if (result->verdict == BUDGET_UNDECIDED && !t->kept)
        result->deciding_rate = deciding_rate(rule, result, &s, t->may, info->sample_rate, word);
    return true;
}

bool budget_judge(const lens *l, const budget_tally *t, const budget_rule *rule,
                  budget_result *result) {
    budget_result with_unnamed;
    if (!judge_site(l, t, rule, false, result))
        return false;
    result->is_unknown = !budget_knows(l->profile, rule->site);
    if (!result->is_unknown || result->verdict != BUDGET_PASS)
        return true;
    if (!judge_site(l, t, rule, true, &with_unnamed))
        return false;
    result->is_unnamed = with_unnamed.verdict != BUDGET_PASS;
    if (result->is_unnamed)
        result->verdict = BUDGET_UNDECIDED;
    return true;
}

/* ---- amounts ------------------------------------------------------------------------------- */

/* Another run differs by as much, and is judged by its own upper bound. The standard error of the
 * difference of two values is √2 times that of one, so 19 of 20 runs pass at value + (1.96 + 1.64 *
 * sqrt(2)) / 1.96 * (high - value). */
double budget_maximum(const budget_result *actual) {
    const estimate *e = &actual->actual;
    return fmax(0, ceil(fmax(e->high * 1.1, e->value + 2.2 * (e->high - e->value))));
}

bool budget_fits(measure m, budget_unit unit) {
    if (m == MEASURE_BYTESECONDS || unit == BUDGET_BYTESECONDS)
        return m == MEASURE_BYTESECONDS && unit == BUDGET_BYTESECONDS;
    return m != MEASURE_BLOCKS || unit == BUDGET_BLOCKS;
}

measure budget_measure_of(budget_unit unit) {
    return unit == BUDGET_BLOCKS        ? MEASURE_BLOCKS
           : unit == BUDGET_BYTESECONDS ? MEASURE_BYTESECONDS
                                        : MEASURE_ALLOCATED;
}

bool budget_parse_amount(const char *text, double *amount, budget_unit *unit) {
    static const struct {
        const char *name;
        budget_unit unit;
        double factor;
    } units[] = {{"", BUDGET_BYTES, 1},
                 {"B", BUDGET_BYTES, 1},
                 {"KB", BUDGET_BYTES, 1024.0},
                 {"MB", BUDGET_BYTES, 1024.0 * 1024},
                 {"GB", BUDGET_BYTES, 1024.0 * 1024 * 1024},
                 {"TB", BUDGET_BYTES, 1024.0 * 1024 * 1024 * 1024},
                 {"B*s", BUDGET_BYTESECONDS, 1},
                 {"KB*s", BUDGET_BYTESECONDS, 1024.0},
                 {"MB*s", BUDGET_BYTESECONDS, 1024.0 * 1024},
                 {"GB*s", BUDGET_BYTESECONDS, 1024.0 * 1024 * 1024},
                 {"TB*s", BUDGET_BYTESECONDS, 1024.0 * 1024 * 1024 * 1024},
                 {"words", BUDGET_WORDS, 1},
                 {"blocks", BUDGET_BLOCKS, 1}};
    double number = 0;
    const char *end = text + number_read(text, &number);
    if (end == text)
        return false;
    end += strspn(end, " ");
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strcmp(end, units[i].name) == 0) {
            *amount = number * units[i].factor;
            *unit = units[i].unit;
            return isfinite(number);
        }
    return false;
}
