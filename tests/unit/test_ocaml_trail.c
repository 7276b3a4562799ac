/* Tests of src/runtimes/ocaml/ocaml_trail.c: random stacks, each compared with what is to become
 * of it by itself, and with the one before. */
#include <stdbool.h>
#include <string.h>

#include "random.h"
#include "record/code.h"
#include "runtimes/ocaml/ocaml_trail.h"
#include "unit.h"

enum { DEPTH = 12, MOST = 2 * DEPTH, PLACES = 6, GLUE = 2 };

/* Descriptions of frames, which begin with the return address; the first few are glue. */
static const uintptr_t frames[PLACES] = {1000, 1001, 2000, 2001, 2002, 2003};
static const ocaml_runtime runtime = {.glue_low = 1000, .glue_high = 1000 + GLUE};

/* An entry as the runtime has it: an integer, half of whose addresses are those of a frame's
 * allocation. */
static ocaml_value entry(size_t place, bool is_allocation) {
    return (ocaml_value)((uintptr_t)&frames[place] | 1 | (is_allocation ? 2 : 0));
}

/* What the codes of a stack, innermost first, should be. */
static size_t expected(const ocaml_value *stack, size_t n, uint64_t *codes) {
    size_t out = 0;
    if (n > DEPTH)
        codes[out++] = CODE_CUT;
    for (size_t i = n > DEPTH ? DEPTH : n; i-- > 0;) {
        uintptr_t slot = (uintptr_t)stack[i] - 1;
        bool is_glue = !(slot & 2) && slot < (uintptr_t)&frames[GLUE];
        if (!is_glue)
            codes[out++] = code_of_runtime(slot);
    }
    return out;
}

/* Changes the innermost part of a stack. */
static size_t wander(test_random *r, ocaml_value *stack, size_t n) {
    ocaml_value next[MOST];
    size_t keep = test_random_u64(r) % (n + 1), add = test_random_u64(r) % (MOST + 1 - keep);
    for (size_t i = 0; i < add; i++)
        next[i] = entry(test_random_u64(r) % PLACES, i == 0 && test_random_u64(r) % 2);
    memcpy(next + add, stack + n - keep, keep * sizeof *next);
    memcpy(stack, next, (add + keep) * sizeof *next);
    return add + keep;
}

START_TEST(stacks_are_what_they_are_by_themselves) {
    test_random random = {.state = 42};
    uint64_t before[DEPTH + 1], wanted[DEPTH + 1];
    ocaml_value stack[MOST];
    size_t n = 0, n_before = 0, saved = 0;
    ocaml_trail *trail = malloc(ocaml_trail_size(DEPTH));
    ocaml_trail_init(trail, DEPTH);
    for (int i = 0; i < 20000; i++) {
        bool forgets = test_random_u64(&random) % 8 == 0;
        if (forgets)
            ocaml_trail_forget(trail);
        n = wander(&random, stack, n);
        struct runtime_stack got = ocaml_trail_take(trail, &runtime, stack, n);
        size_t n_wanted = expected(stack, n, wanted);
        ck_assert_uint_eq(got.n, n_wanted);
        ck_assert_mem_eq(got.codes, wanted, n_wanted * sizeof *wanted);
        ck_assert_uint_le(got.common, got.n);
        ck_assert_uint_le(got.common, forgets ? 0 : n_before);
        ck_assert_mem_eq(got.codes, before, got.common * sizeof *before);
        memcpy(before, wanted, n_wanted * sizeof *wanted);
        n_before = n_wanted;
        saved += got.common;
    }
    ck_assert_uint_gt(saved, 10000);
    free(trail);
}
END_TEST

START_TEST(what_stays_is_not_asked_for_again) {
    const ocaml_value stack[] = {entry(3, true), entry(2, false), entry(4, false), entry(0, false)};
    const ocaml_value other[] = {entry(3, false), entry(2, false), entry(4, false),
                                 entry(0, false)};
    ocaml_trail *trail = malloc(ocaml_trail_size(DEPTH));
    ocaml_trail_init(trail, DEPTH);
    ck_assert_uint_eq(ocaml_trail_take(trail, &runtime, stack, 4).common, 0);
    ck_assert_uint_eq(ocaml_trail_take(trail, &runtime, stack, 4).common, 3);
    ck_assert_uint_eq(ocaml_trail_take(trail, &runtime, other, 4).common, 2);
    ck_assert_uint_eq(ocaml_trail_take(trail, &runtime, other + 1, 3).common, 2);
    ck_assert_uint_eq(ocaml_trail_take(trail, &runtime, other, 4).common, 2);
    free(trail);
}
END_TEST

static Suite *suite(void) {
    Suite *s = suite_create("ocaml_trail");
    TCase *t = tcase_create("trail");
    tcase_add_test(t, stacks_are_what_they_are_by_themselves);
    tcase_add_test(t, what_stays_is_not_asked_for_again);
    suite_add_tcase(s, t);
    return s;
}

UNIT_MAIN(suite)
