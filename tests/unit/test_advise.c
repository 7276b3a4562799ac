/* test_advise.c: that rules are whole, how growth is recognised, and that advice on real traces
 * adds up. Which rule applies to which program is tested in tests/advise/. */
#include <math.h>
#include <string.h>

#include "advice/advise.h"
#include "tape.h"
#include "trace_fixture.h"

/* ---- rules ------------------------------------------------------------------------------- */

START_TEST(rules_are_whole) {
    for (size_t i = 0; i < advise_n_rules; i++) {
        const advise_rule *r = &advise_rules[i];
        filter_error error;
        filter *f = NULL;
        ck_assert_msg(r->name && r->title && r->why && r->what_to_do && r->evidence, "rule %zu", i);
        ck_assert_msg(r->within || r->owner || r->caller || r->type || r->shape ||
                          r->min_brief > 0 || r->min_blocks || r->min_promoted > 0,
                      "%s applies to everything", r->name);
        ck_assert_msg((r->most > 0) + r->by_growth + r->by_promotion + r->by_calls ==
                          (strcmp(r->name, "ocaml-heap") != 0), /* another trace says that */
                      "%s: what does it gain?", r->name);
        ck_assert_msg(r->most <= 1, "%s", r->name);
        ck_assert_msg(!r->filter || filter_parse(r->filter, &f, &error), "%s: %s", r->name,
                      error.reason);
        filter_free(f);
    }
}
END_TEST

/* ---- growth ------------------------------------------------------------------------------ */

enum { N_ROWS = 40 };

typedef struct rows {
    profile p;
    uint32_t node[N_ROWS], length[N_ROWS], index[N_ROWS];
    uint16_t samples[N_ROWS], domain[N_ROWS];
    uint8_t source[N_ROWS];
    uint32_t born[N_ROWS], died[N_ROWS];
} rows;

/* A table of no blocks, with room. */
static void rows_init(rows *r) {
    *r = (rows){.p.table = {.node = r->node,
                            .length = r->length,
                            .samples = r->samples,
                            .domain = r->domain,
                            .source = r->source,
                            .times = {{.low = r->born}, {0}, {.low = r->died}},
                            .capacity = N_ROWS}};
}

static void rows_add(rows *r, uint32_t length, uint64_t born, uint64_t died) {
    const size_t i = r->p.table.count++;
    r->length[i] = length;
    r->samples[i] = 1;
    blocks_set_time(&r->p.table, BLOCKS_BORN, i, born);
    blocks_set_time(&r->p.table, BLOCKS_DIED, i, died);
    r->index[i] = (uint32_t)i;
}

static advise_growth growth_of(rows *r) {
    advise_growth g;
    ck_assert(advise_growth_of(&r->p, r->index, r->p.table.count, &g));
    return g;
}

START_TEST(a_chain_grows) {
    rows r;
    rows_init(&r);
    for (uint32_t i = 0; i < 8; i++)
        rows_add(&r, 16u << i, 1000 * i, i < 7 ? 1000 * (i + 1) - i % 2 : BLOCKS_NEVER);
    const advise_growth g = growth_of(&r);
    ck_assert_double_eq_tol(g.share, 100 * 7 / 8., 1e-9);
    ck_assert_double_eq(g.ratio, 2);
    ck_assert_double_eq(g.step, 16 << 3); /* the one in the middle */
}
END_TEST

START_TEST(what_only_follows_does_not_grow) {
    rows r;
    rows_init(&r);
    rows_add(&r, 64, 0, 1000);
    rows_add(&r, 64, 1000, 2000);          /* not larger */
    rows_add(&r, 32, 2000, 3000);          /* smaller */
    rows_add(&r, 128, 3100, BLOCKS_NEVER); /* too late */
    rows_add(&r, 256, 900, BLOCKS_NEVER);  /* too early */
    r.domain[r.p.table.count] = 1;
    rows_add(&r, 512, 3000, BLOCKS_NEVER); /* elsewhere */
    const advise_growth g = growth_of(&r);
    ck_assert_double_eq(g.share, 0);
    ck_assert_double_eq(g.ratio, 1);
    ck_assert_double_eq(g.step, 0);
}
END_TEST

START_TEST(a_successor_counts_once) {
    rows r;
    rows_init(&r);
    for (int i = 0; i < 9; i++)
        rows_add(&r, 10, (uint64_t)i, 1000);
    rows_add(&r, 20, 1001, BLOCKS_NEVER);
    ck_assert_double_eq_tol(growth_of(&r).share, 10, 1e-9);
}
END_TEST

START_TEST(nothing_does_not_grow) {
    rows r;
    rows_init(&r);
    ck_assert_double_eq(growth_of(&r).share, 0);
}
END_TEST

/* ---- real traces ------------------------------------------------------------------------- */

static void read_trace(profile *p, const char *name) {
    char path[4096];
    memtrace_reader *reader;
    memtrace_error error;
    snprintf(path, sizeof path, "%s/traces/%s.ctf", test_data(), name);
    ck_assert_int_eq(memtrace_reader_open(path, NULL, &reader, &error), MEMTRACE_OK);
    *p = (profile){.duration = 0};
    ck_assert_int_eq(profile_read(p, reader, &(profile_options){.keep_blocks = true}), MEMTRACE_OK);
    memtrace_reader_close(reader);
}

static uint64_t samples_kept(const profile *p, const char *text) {
    filter *f;
    filter_error error;
    selection s;
    uint64_t sum = 0;
    ck_assert_msg(filter_parse(text, &f, &error), "%s: %s", text, error.reason);
    ck_assert(filter_select(f, p, &s));
    for (size_t i = 0; i < p->table.count; i++)
        sum += s.kept[i] ? blocks_samples(&p->table, i) : 0;
    selection_free(&s);
    filter_free(f);
    return sum;
}

static void check_item(const profile *p, const advice_list *a, const advice *item) {
    uint64_t samples = 0;
    for (uint32_t i = 0; i < item->n_places; i++) {
        samples += a->places.items[item->first_place + i].cost.samples;
        ck_assert(i == 0 || a->places.items[item->first_place + i].cost.samples <=
                                a->places.items[item->first_place + i - 1].cost.samples);
    }
    ck_assert_uint_eq(samples, item->cost.samples);
    const uint64_t kept = samples_kept(p, item->filter);
    ck_assert_msg(kept >= item->cost.samples, "%s keeps %lu of %lu", item->filter,
                  (unsigned long)kept, (unsigned long)item->cost.samples);
    ck_assert(item->blocks.min_words <= item->blocks.words);
    ck_assert(item->blocks.words <= item->blocks.max_words);
    ck_assert(item->rule || !item->worth);
    ck_assert(item->few == (item->cost.samples < ADVISE_SAMPLES));
    ck_assert(item->gain >= 0 && item->gain <= 1);
}

/* With all that there is, every sample is in one item; and in each the parts make the whole. */
static void check_all(const char *name, const char *text, double min_share) {
    profile p;
    query_result q;
    advice_list a;
    filter *f;
    filter_error error;
    read_trace(&p, name);
    ck_assert_msg(filter_parse(text, &f, &error), "%s: %s", text, error.reason);
    ck_assert(query_run(&q, &p, &(query_spec){.keep_rows = true, .filter = f}));
    ck_assert(advise_query(&q, min_share, &a));
    uint64_t samples = 0;
    for (size_t i = 0; i < a.items.count; i++) {
        check_item(&p, &a, &a.items.items[i]);
        samples += a.items.items[i].cost.samples;
        ck_assert(100 * a.items.items[i].cost.weight / q.total.weight >= min_share);
        ck_assert(i == 0 || a.items.items[i].cost.weight <= a.items.items[i - 1].cost.weight);
    }
    if (min_share > 0)
        ck_assert_uint_le(samples, q.total.samples);
    else
        ck_assert_uint_eq(samples, q.total.samples);
    ck_assert_uint_gt(a.items.count, 0);
    ck_assert(a.largest.cost.samples >= a.items.items[0].cost.samples || a.items.items[0].spreads);
    advise_free(&a);
    query_free(&q);
    filter_free(f);
    profile_free(&p);
}

/* Stacks that a filter cuts or folds have nodes of their own, which can be more than the tree's. */
START_TEST(advice_adds_up) {
    static const struct {
        const char *name, *filter;
        double min_share;
    } runs[] = {{"ocamlopt", "", 0},
                {"ocamlopt", "", 1},
                {"irmin-replay", "", 0},
                {"irmin-replay", "", 2},
                {"ocamlopt", "recursion:*", 0},
                {"irmin-replay", "recursion:*", 0}};
    check_all(runs[_i].name, runs[_i].filter, runs[_i].min_share);
}
END_TEST

/* Of one function by two ways, of several sizes each: they are tallied together. */
START_TEST(blocks_of_all_stacks_are_tallied) {
    tape t;
    profile p;
    query_result q;
    advice_list a;
    static const uint64_t words[][2] = {{20, 300}, {10, 40}, {10, 20}, {3, 10}, {40, 4}};
    tape_start(&t, 1);
    for (size_t i = 0; i < 5; i++) {
        allocate(&t, 10 * i, MEMTRACE_MINOR, words[i][0], words[i][0] + 1, STACK(MAIN, PARSE));
        const uint64_t id = allocate(&t, 10 * i + 1, MEMTRACE_MINOR, words[i][1], words[i][1] + 1,
                                     STACK(MAIN, EVAL, PARSE));
        if (i < 2)
            ck_assert_int_eq(memtrace_stream_collect(t.streams[0], 10 * i + 2, id), MEMTRACE_OK);
    }
    tape_read_blocks(&t, &p, false);
    ck_assert(query_run(&q, &p, &(query_spec){.keep_rows = true}));
    ck_assert(advise_query(&q, 0, &a));
    ck_assert_uint_eq(a.items.count, 1);
    const advise_blocks *b = &a.items.items[0].blocks;
    ck_assert_uint_eq(b->sizes, 6); /* 3, 4, 10, 20, 40, 300 */
    ck_assert_uint_eq(b->min_words, 3);
    ck_assert_uint_eq(b->max_words, 300);
    ck_assert_uint_eq(b->words, 300);
    ck_assert_double_eq_tol(b->one_size, 100 * 301 / 467., 1e-9);
    ck_assert_double_eq(b->number.value, 10);
    ck_assert_double_eq_tol(b->young, 100 * (301 + 41) / 467., 1e-9);
    ck_assert_double_eq_tol(b->brief, b->young, 1e-9);
    ck_assert_double_eq_tol(b->alive, 100 - b->young, 1e-9);
    ck_assert_double_eq(b->promoted, 0);
    advise_free(&a);
    query_free(&q);
    profile_free(&p);
}
END_TEST

static Suite *suite(void) {
    Suite *s = suite_create("advise");
    TCase *t = tcase_create("advise");
    tcase_add_test(t, rules_are_whole);
    tcase_add_test(t, a_chain_grows);
    tcase_add_test(t, what_only_follows_does_not_grow);
    tcase_add_test(t, a_successor_counts_once);
    tcase_add_test(t, nothing_does_not_grow);
    tcase_add_test(t, blocks_of_all_stacks_are_tallied);
    tcase_add_loop_test(t, advice_adds_up, 0, 6);
    tcase_set_timeout(t, 120);
    suite_add_tcase(s, t);
    return s;
}

UNIT_MAIN(suite)
