/* Tests of the calling-context tree, against a plain list of stacks. */
#include "cct_fixture.h"
#include "unit.h"

enum { MAX_DEPTH = 40, STACKS = 3000, BATCH = 24 };

typedef struct stack {
    uint32_t frames[MAX_DEPTH];
    uint32_t n;
} stack;

static uint32_t next_random(uint64_t *state) {
    *state = *state * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (uint32_t)(*state >> 33);
}

/* Keeps a random part of the stack and appends random frames out of `n_frames`. */
static uint32_t change(stack *s, uint64_t *random, uint32_t n_frames) {
    uint32_t common = s->n ? next_random(random) % (s->n + 1) : 0;
    s->n = common + next_random(random) % (MAX_DEPTH - common + 1);
    for (uint32_t i = common; i < s->n; i++)
        s->frames[i] = next_random(random) % n_frames;
    return common;
}

static void check_path(const cct *tree, uint32_t node, const stack *s) {
    for (uint32_t i = s->n; i > 0; i--) {
        ck_assert_uint_eq(cct_frame(tree, node), s->frames[i - 1]);
        ck_assert_uint_lt(cct_parent(tree, node), node);
        node = cct_parent(tree, node);
    }
    ck_assert_uint_eq(node, CCT_ROOT);
}

/* All blocks' samples differ, so that none can stand for another. */
static void check_all_totals(const cct *tree, const uint32_t *nodes) {
    uint64_t(*samples)[CCT_SOURCES] = calloc(cct_count(tree), sizeof *samples);
    size_t n_stacks = 0;
    for (uint32_t i = 0; i < STACKS; i++)
        samples[nodes[i]][i % CCT_SOURCES] += UINT64_C(1) << 32 | i;
    for (uint32_t i = 0; i < cct_count(tree); i++)
        n_stacks += cct_sum(samples[i]) > 0;
    for (uint32_t i = 0; i < tree->totals.count; i++) {
        const cct_totals *t = &tree->totals.items[i];
        const cct_sums sums = cct_sums_at(tree, i);
        ck_assert_uint_eq(sums.samples, samples[t->node][t->source]);
        ck_assert_uint_eq(sums.blocks, samples[t->node][t->source] >> 32);
        samples[t->node][t->source] = 0;
    }
    for (uint32_t i = 0; i < cct_count(tree); i++)
        ck_assert_uint_eq(cct_sum(samples[i]), 0);
    ck_assert_uint_eq(tree->n_stacks, n_stacks);
    free(samples);
}

/* Few frames give long chains and recursion, many give nodes with many children. */
static void walk_random_stacks(uint32_t n_frames) {
    static stack stacks[STACKS];
    static uint32_t nodes[STACKS];
    cct tree = {0};
    cct_path paths[3] = {0};
    stack last[3] = {0};
    cct_addition added[BATCH];
    size_t n_added = 0;
    uint64_t random = n_frames;
    for (int i = 0; i < STACKS; i++) {
        uint32_t domain = next_random(&random) % 3;
        uint32_t common = change(&last[domain], &random, n_frames);
        stacks[i] = last[domain];
        nodes[i] = cct_walk(&tree, &paths[domain], last[domain].frames, last[domain].n, common);
        check_path(&tree, nodes[i], &stacks[i]);
        added[n_added++] =
            (cct_addition){nodes[i], (unsigned)i % CCT_SOURCES, UINT64_C(1) << 32 | (unsigned)i, 1};
        if (n_added == BATCH || i + 1 == STACKS || next_random(&random) % 8 == 0) {
            ck_assert(cct_add(&tree, added, n_added));
            n_added = 0;
        }
    }
    size_t count = cct_count(&tree);
    for (int i = 0; i < STACKS; i++) /* each stack has one node, however it was reached */
        ck_assert_uint_eq(cct_walk(&tree, &paths[0], stacks[i].frames, stacks[i].n, 0), nodes[i]);
    ck_assert_uint_eq(cct_count(&tree), count);
    check_all_totals(&tree, nodes);
    for (int i = 0; i < 3; i++)
        cct_path_free(&paths[i]);
    cct_free(&tree);
}

START_TEST(each_stack_is_one_path) {
    walk_random_stacks(1);
    walk_random_stacks(2);
    walk_random_stacks(5);
    walk_random_stacks(1000);
}
END_TEST

START_TEST(a_node_with_many_children_finds_each) {
    cct tree = {0};
    cct_path path = {0};
    enum { CHILDREN = 20000 };
    static uint32_t nodes[CHILDREN];
    for (uint32_t i = 0; i < CHILDREN; i++)
        nodes[i] = cct_walk(&tree, &path, (uint32_t[]){7, i}, 2, i ? 1 : 0);
    ck_assert_uint_eq(cct_count(&tree), CHILDREN + 2);
    for (uint32_t i = 0; i < CHILDREN; i++)
        ck_assert_uint_eq(cct_walk(&tree, &path, (uint32_t[]){7, i}, 2, 1), nodes[i]);
    cct_path_free(&path);
    cct_free(&tree);
}
END_TEST

START_TEST(a_common_prefix_longer_than_the_last_stack_is_cut) {
    cct tree = {0};
    cct_path path = {0};
    const uint32_t frames[] = {1, 2, 3};
    uint32_t shallow = cct_walk(&tree, &path, frames, 1, 0);
    uint32_t deep = cct_walk(&tree, &path, frames, 3, 3);
    ck_assert_uint_eq(cct_parent(&tree, cct_parent(&tree, deep)), shallow);
    ck_assert_uint_eq(cct_walk(&tree, &path, frames, 0, 3), CCT_ROOT);
    cct_path_free(&path);
    cct_free(&tree);
}
END_TEST

static void check_totals(const cct *tree, uint32_t node, unsigned source, uint64_t samples,
                         uint64_t blocks) {
    const cct_sums sums = cct_fixture_own(tree, node, source);
    ck_assert_uint_eq(sums.samples, samples);
    ck_assert_uint_eq(sums.blocks, blocks);
}

START_TEST(totals_add_up_by_source) {
    cct tree = {0};
    cct_path path = {0};
    uint32_t node = cct_walk(&tree, &path, (uint32_t[]){1, 2}, 2, 0);
    uint32_t other = cct_walk(&tree, &path, (uint32_t[]){1}, 1, 0);
    const cct_addition added[] = {
        {node, 0, 5, 1}, {other, 1, 1, 1}, {node, 2, 7, 3}, {node, 2, 1, 1}};
    ck_assert(cct_add(&tree, added, 4));
    check_totals(&tree, node, 0, 5, 1);
    check_totals(&tree, node, 2, 8, 4);
    check_totals(&tree, other, 1, 1, 1);
    check_totals(&tree, node, 1, 0, 0);
    check_totals(&tree, CCT_ROOT, 0, 0, 0);
    ck_assert_uint_eq(tree.n_stacks, 2);
    ck_assert_uint_eq(tree.totals.count, 3);
    ck_assert(cct_number_stacks(&tree));
    ck_assert_uint_eq(cct_stack(&tree, other), 0);
    ck_assert_uint_eq(cct_stack(&tree, node), 1);
    cct_path_free(&path);
    cct_free(&tree);
}
END_TEST

static Suite *suite(void) {
    Suite *s = suite_create("cct");
    TCase *t = tcase_create("cct");
    tcase_add_test(t, each_stack_is_one_path);
    tcase_add_test(t, a_node_with_many_children_finds_each);
    tcase_add_test(t, a_common_prefix_longer_than_the_last_stack_is_cut);
    tcase_add_test(t, totals_add_up_by_source);
    suite_add_tcase(s, t);
    return s;
}

UNIT_MAIN(suite)
