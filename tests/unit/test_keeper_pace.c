/* Tests of how the rate of a recording follows what its samples cost. */
#include <stdlib.h>

#include "cli/ring/keeper_pace.h"
#include "cli/ring/ring_run.h"
#include "unit.h"

/* Seconds of processor time that samples take in each second of the program's own, at the full
 * rate, and the part that dropping one takes of what recording it takes. */
typedef struct model {
    double recorded, dropping;
} model;

/* Returns the level after many looks at a program that costs as the model says. */
static uint64_t settled(model m, double target) {
    enum { LOOKS = 60, HERTZ = 3000, SECOND = 1000000 };
    struct pace pace = {.magic = PACE_MAGIC, .follows = 1};
    keeper_pace p = {.shared = &pace};
    ring_plan plan = {.overhead = target, .run = ring_run_new()};
    const cutter nothing_lives = {0};
    ck_assert_ptr_nonnull(plan.run);
    for (int i = 1; i <= LOOKS; i++) {
        const double part = 1 / (double)(UINT64_C(1) << pace.level);
        const double recorded = m.recorded * part, dropped = m.recorded * (1 - part) * m.dropping;
        pace.cpu += (uint64_t)((1 + recorded + dropped) * SECOND);
        pace.at += SECOND;
        pace.cycles += (uint64_t)HERTZ * SECOND;
        pace.spent += (uint64_t)(recorded * HERTZ * SECOND);
        pace.dropped += (uint64_t)(dropped * HERTZ * SECOND);
        plan.run->paced = 0; /* it is our turn */
        keeper_pace_steer(&p, &plan, 1, &nothing_lives);
    }
    return pace.level;
}

START_TEST(the_rate_is_halved_until_samples_cost_no_more_than_the_target) {
    ck_assert_uint_eq(settled((model){.recorded = 0.005}, 0.01), 0);
    ck_assert_uint_eq(settled((model){.recorded = 0.1}, 0.01), 4); /* 10% / 2^4 < 1% */
    ck_assert_uint_eq(settled((model){.recorded = 0.5}, 0.01), 6);
}
END_TEST

/* Dropping alone takes 4% here, at any level. */
START_TEST(what_dropping_costs_does_not_end_the_recording) {
    const uint64_t level = settled((model){.recorded = 0.4, .dropping = 0.1}, 0.01);
    ck_assert_uint_ge(level, 7); /* 40% / 2^7 < half of 1% */
    ck_assert_uint_le(level, 8);
}
END_TEST

static Suite *suite(void) {
    Suite *s = suite_create("keeper_pace");
    TCase *c = tcase_create("keeper_pace");
    tcase_add_test(c, the_rate_is_halved_until_samples_cost_no_more_than_the_target);
    tcase_add_test(c, what_dropping_costs_does_not_end_the_recording);
    suite_add_tcase(s, c);
    return s;
}

UNIT_MAIN(suite)
