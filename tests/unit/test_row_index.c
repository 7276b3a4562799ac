/* Tests of the index from ids to rows, against a plain map. */
#include "base/row_index.h"
#include "unit.h"

static row_index rows;
static map64 expected; /* one process a test: both start empty */
static uint32_t n_rows;
static bool good = true; /* asserting a million times takes long */

static void add(uint64_t id) {
    uint32_t *row = map64_put(&expected, id);
    if (*row != MAP64_NONE)
        return;
    good &= row_index_find(&rows, id) == ROW_NONE && row_index_add(&rows, id, n_rows);
    *row = n_rows++;
}

static void check_all(void) {
    for (uint32_t i = 0; i <= expected.mask; i++) {
        const map64_slot *s = &expected.slots[i];
        if (s->value == MAP64_NONE)
            continue;
        good &= row_index_find(&rows, s->key) == s->value;
        for (uint64_t near = s->key > 2 ? s->key - 2 : 0; near < s->key + 3; near++)
            good &= row_index_find(&rows, near) == map64_get(&expected, near);
    }
    ck_assert(good);
    row_index_free(&rows);
    map64_free(&expected);
}

static uint64_t next_random(uint64_t *state) {
    *state = *state * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return *state >> 33;
}

START_TEST(ids_in_sequence_take_no_number_each) {
    for (uint64_t id = 5; id < 100000; id++)
        add(id);
    ck_assert_uint_eq(rows.loose.count, 0);
    check_all();
}
END_TEST

START_TEST(chunks_of_ids_may_take_turns) {
    for (uint64_t i = 0; i < 60000; i++)
        add(i / 700 % 3 * 10000 + i / 2100 * 700 + i % 700);
    check_all();
}
END_TEST

START_TEST(ids_may_come_in_any_order) {
    uint64_t random = 1;
    for (int i = 0; i < 50000; i++)
        add(next_random(&random) % 100000);
    check_all();
}
END_TEST

/* The numbers of pages grow much faster than those of rows, until the rows catch up. */
START_TEST(ids_far_away_are_found_also_when_they_no_longer_are) {
    uint64_t random = 2;
    for (uint64_t i = 0; i < 2000; i++)
        add(i * 100003);
    for (uint64_t i = 0; i < 2000; i++)
        add(UINT64_MAX - i * 77);
    ck_assert_uint_gt(rows.far.count, 0);
    const size_t before = rows.pages.count;
    for (uint64_t i = 0; i < 800000; i++)
        add(i + (next_random(&random) % 64 ? 0 : 200000));
    ck_assert_uint_gt(rows.pages.count, before);
    check_all();
}
END_TEST

static Suite *suite(void) {
    Suite *s = suite_create("row_index");
    TCase *t = tcase_create("row_index");
    tcase_add_test(t, ids_in_sequence_take_no_number_each);
    tcase_add_test(t, chunks_of_ids_may_take_turns);
    tcase_add_test(t, ids_may_come_in_any_order);
    tcase_add_test(t, ids_far_away_are_found_also_when_they_no_longer_are);
    suite_add_tcase(s, t);
    return s;
}

UNIT_MAIN(suite)
