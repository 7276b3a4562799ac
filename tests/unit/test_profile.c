/* Tests of profiles and of the hotspots query, on traces written to memory. */
#include <string.h>

#include "cct_fixture.h"
#include "hotspots_fixture.h"
#include "tape.h"
#include "unit.h"

static const hotspots_entry *site_at(const hotspots *h, size_t i) {
    ck_assert_uint_lt(i, h->sites.count);
    return &h->sites.items[i].entry;
}

static void check_caller(const hotspots *h, size_t site, size_t i, const char *function,
                         uint32_t line, uint64_t samples) {
    const hotspots_site *s = &h->sites.items[site];
    ck_assert_uint_lt(i, s->n_callers);
    const hotspots_entry *c = &h->callers.items[s->first_caller + i];
    ck_assert_str_eq(c->place->function, function);
    ck_assert_uint_eq(c->place->line, line);
    ck_assert_uint_eq(c->cost.samples, samples);
}

/* ---- tests ------------------------------------------------------------------------------- */

START_TEST(an_empty_trace_has_no_hotspots) {
    tape t;
    profile p;
    hotspots h;
    tape_start(&t, 0.5);
    tape_read(&t, &p, false);
    ck_assert(hotspots_of_all(&p, HOTSPOTS_BY_LINE, &h));
    ck_assert_uint_eq(h.total.samples, 0);
    ck_assert_uint_eq(h.sites.count, 0);
    ck_assert_str_eq(p.info.context, "a test");
    hotspots_free(&h);
    profile_free(&p);
}
END_TEST

START_TEST(a_site_sums_its_callers_inlined_ones_too) {
    tape t;
    profile p;
    hotspots h;
    tape_start(&t, 0.5);
    allocate(&t, 1, MEMTRACE_MINOR, 9, 2, STACK(MAIN, LEAF));
    allocate(&t, 2, MEMTRACE_MAJOR, 9, 4, STACK(MAIN, INLINED));
    allocate(&t, 3, MEMTRACE_MINOR, 9, 1, STACK(MAIN, LEAF));
    allocate(&t, 4, MEMTRACE_MINOR, 9, 5, STACK(MAIN, LEAF_ELSEWHERE));
    tape_read(&t, &p, false);
    ck_assert(hotspots_of_all(&p, HOTSPOTS_BY_LINE, &h));
    ck_assert_uint_eq(h.total.samples, 12);
    ck_assert_uint_eq(h.sites.count, 2);
    ck_assert_uint_eq(site_at(&h, 0)->place->line, 20);
    ck_assert_uint_eq(site_at(&h, 0)->cost.samples, 7);
    ck_assert_uint_eq(site_at(&h, 0)->cost.blocks, 3);
    check_caller(&h, 0, 0, "helper", 30, 4);
    check_caller(&h, 0, 1, "main", 10, 3);
    ck_assert_uint_eq(h.sites.items[0].n_callers, 2);
    ck_assert_uint_eq(site_at(&h, 1)->cost.samples, 5);
    hotspots_free(&h);
    ck_assert(hotspots_of_all(&p, HOTSPOTS_BY_FUNCTION, &h));
    ck_assert_uint_eq(h.sites.count, 1);
    ck_assert_uint_eq(site_at(&h, 0)->cost.samples, 12);
    check_caller(&h, 0, 0, "main", 10, 8);
    hotspots_free(&h);
    profile_free(&p);
}
END_TEST

typedef struct order_of_calls {
    unsigned blocks, ends; /* so far */
} order_of_calls;

static bool see_block(void *context, uint32_t node, const memtrace_event *event) {
    order_of_calls *seen = context;
    (void)node;
    (void)event;
    ck_assert_uint_eq(seen->ends, 0);
    seen->blocks++;
    return true;
}

static void see_end(void *context) {
    order_of_calls *seen = context;
    ck_assert_uint_eq(seen->blocks, 2);
    seen->ends++;
}

START_TEST(who_asks_is_told_that_all_is_read) {
    tape t;
    profile p;
    order_of_calls seen = {0};
    tape_start(&t, 0.5);
    allocate(&t, 1, MEMTRACE_MINOR, 9, 2, STACK(MAIN, LEAF));
    allocate(&t, 2, MEMTRACE_MINOR, 9, 1, STACK(MAIN, LEAF));
    tape_read_with(&t, &p, false,
                   &(profile_options){.keep_blocks = true,
                                      .block = see_block,
                                      .block_context = &seen,
                                      .all_read = see_end,
                                      .all_read_context = &seen});
    ck_assert_uint_eq(seen.ends, 1);
    profile_free(&p);
}
END_TEST

START_TEST(recursion_names_the_site_as_its_own_caller) {
    tape t;
    profile p;
    hotspots h;
    tape_start(&t, 0.5);
    allocate(&t, 1, MEMTRACE_MINOR, 9, 2, STACK(MAIN, LEAF, LEAF, LEAF));
    allocate(&t, 2, MEMTRACE_MINOR, 9, 1, STACK(MAIN, LEAF));
    tape_read(&t, &p, false);
    ck_assert(hotspots_of_all(&p, HOTSPOTS_BY_LINE, &h));
    ck_assert_uint_eq(h.sites.count, 1);
    ck_assert_uint_eq(site_at(&h, 0)->cost.samples, 3); /* once an allocation, not once a frame */
    check_caller(&h, 0, 0, "leaf", 20, 2);
    check_caller(&h, 0, 1, "main", 10, 1);
    hotspots_free(&h);
    profile_free(&p);
}
END_TEST

START_TEST(types_are_grouped_and_called_by_their_sites) {
    tape t;
    profile p;
    hotspots h;
    tape_start(&t, 0.5);
    allocate(&t, 1, MEMTRACE_EXTERNAL, 9, 2, STACK(MAIN, TYPED));
    allocate(&t, 2, MEMTRACE_EXTERNAL, 9, 1, STACK(MAIN, LEAF));
    tape_read(&t, &p, false);
    ck_assert(hotspots_of_all(&p, HOTSPOTS_BY_TYPE, &h));
    ck_assert_uint_eq(h.sites.count, 2);
    ck_assert_str_eq(site_at(&h, 0)->type, "table");
    check_caller(&h, 0, 0, "leaf", 22, 2);
    ck_assert_ptr_null(site_at(&h, 1)->type);
    check_caller(&h, 1, 0, "leaf", 20, 1);
    hotspots_free(&h);
    profile_free(&p);
}
END_TEST

START_TEST(frames_without_location_are_shown_by_their_code) {
    tape t;
    profile p;
    hotspots h;
    tape_start(&t, 0.5);
    allocate(&t, 1, MEMTRACE_MINOR, 9, 2, STACK(NOWHERE));
    allocate(&t, 2, MEMTRACE_MINOR, 9, 1, NULL, 0);
    tape_read(&t, &p, false);
    ck_assert(hotspots_of_all(&p, HOTSPOTS_BY_LINE, &h));
    ck_assert_uint_eq(h.sites.count, 2);
    ck_assert_str_eq(site_at(&h, 0)->place->function, "$6");
    ck_assert_ptr_null(h.callers.items[h.sites.items[0].first_caller].place);
    ck_assert_ptr_null(site_at(&h, 1)->place);
    hotspots_free(&h);
    profile_free(&p);
}
END_TEST

START_TEST(marks_and_gauges_are_remarks_not_allocations) {
    tape t;
    profile p;
    tape_start(&t, 0.5);
    remark(&t, 5, MARK, 0);
    allocate(&t, 6, MEMTRACE_MINOR, 9, 2, STACK(MAIN, LEAF));
    remark(&t, 7, GAUGE, 4096);
    tape_read(&t, &p, false);
    ck_assert_uint_eq(cct_sum(p.samples), 2);
    ck_assert_uint_eq(cct_sum(p.blocks), 1);
    ck_assert_uint_eq(p.tree.n_stacks, 1);
    ck_assert_uint_eq(p.marks.count, 2);
    ck_assert_str_eq(p.marks.items[0].name, "loaded");
    ck_assert(!p.marks.items[0].is_gauge);
    ck_assert_str_eq(p.marks.items[1].name, "rss");
    ck_assert_uint_eq(p.marks.items[1].value, 4096);
    ck_assert_uint_eq(p.collected_blocks, 0);
    ck_assert_uint_eq(p.duration, 7);
    profile_free(&p);
}
END_TEST

/* The promoting domain's packet may stand before the allocating one's. */
static void promote_across_domains(bool reversed) {
    tape t;
    profile p;
    tape_start(&t, 0.5);
    uint64_t promoted = allocate(&t, 1, MEMTRACE_MINOR, 9, 3, STACK(MAIN, LEAF));
    allocate(&t, 2, MEMTRACE_MINOR, 9, 1, STACK(MAIN, LEAF));
    uint64_t major = allocate(&t, 3, MEMTRACE_MAJOR, 9, 5, STACK(MAIN, LEAF));
    ck_assert_int_eq(memtrace_stream_promote(t.streams[1], 4, promoted), MEMTRACE_OK);
    ck_assert_int_eq(memtrace_stream_collect(t.streams[1], 5, major), MEMTRACE_OK);
    tape_read(&t, &p, reversed);
    ck_assert_uint_eq(p.samples[MEMTRACE_MINOR], 4);
    ck_assert_uint_eq(p.samples[MEMTRACE_MAJOR], 5);
    ck_assert_uint_eq(p.promoted_samples, 3);
    ck_assert_uint_eq(p.promoted_blocks, 1);
    ck_assert_uint_eq(p.collected_blocks, 1);
    ck_assert_uint_eq(p.n_domains, 2);
    profile_free(&p);
}

START_TEST(promotions_count_once_in_any_order) {
    promote_across_domains(false);
    promote_across_domains(true);
}
END_TEST

/* The sums of what was added last are apart from the tree: nodes that share a place there keep
 * theirs, and so do a node's sources. Stack i has i + 1 frames, and so is node i + 1. */
START_TEST(sums_of_many_stacks_are_kept_apart) {
    enum { STACKS = 3 * PROFILE_RECENT, ROUNDS = 3 };
    tape t;
    profile p;
    uint64_t frames[STACKS], all = 0;
    for (int i = 0; i < STACKS; i++)
        frames[i] = LEAF;
    tape_start(&t, 0.5);
    for (uint64_t i = 0; i < STACKS; i++)
        for (unsigned round = 0; round < ROUNDS; round++, all += 1 + i) {
            const uint64_t stack = (i + round * PROFILE_RECENT) % STACKS;
            allocate(&t, i, round % 2 ? MEMTRACE_MAJOR : MEMTRACE_MINOR, STACKS, 1 + i, frames,
                     stack + 1);
        }
    tape_read(&t, &p, false);
    for (uint32_t i = 0; i < STACKS; i++) {
        const uint64_t last = (i + PROFILE_RECENT) % STACKS,
                       next = (last + PROFILE_RECENT) % STACKS;
        const cct_sums minor = cct_fixture_own(&p.tree, i + 1, MEMTRACE_MINOR),
                       major = cct_fixture_own(&p.tree, i + 1, MEMTRACE_MAJOR);
        ck_assert_uint_eq(minor.samples, 1 + i + 1 + last);
        ck_assert_uint_eq(minor.blocks, 2);
        ck_assert_uint_eq(major.samples, 1 + next);
        ck_assert_uint_eq(major.blocks, 1);
    }
    ck_assert_uint_eq(cct_sum(p.samples), all);
    ck_assert_uint_eq(cct_sum(p.blocks), STACKS * ROUNDS);
    ck_assert_uint_eq(p.blocks[MEMTRACE_MAJOR], STACKS);
    profile_free(&p);
}
END_TEST

/* Its last event is longer than the end of a packet that is read with care. */
START_TEST(a_profile_lasts_until_its_last_event) {
    static const uint64_t codes[] = {MAIN, LEAF, INLINED, TYPED};
    tape t;
    profile p;
    uint64_t frames[60];
    for (unsigned i = 0, random = 1; i < 60; i++, random = random * 69069 + 1)
        frames[i] = codes[random >> 30];
    tape_start(&t, 0.5);
    allocate(&t, 3, MEMTRACE_MINOR, 9, 1, codes, 4);
    allocate(&t, 7, MEMTRACE_MINOR, 9, 1, frames, 60);
    tape_read(&t, &p, false);
    ck_assert_uint_eq(p.duration, 7);
    ck_assert_uint_eq(p.blocks[MEMTRACE_MINOR], 2);
    profile_free(&p);
}
END_TEST

static Suite *suite(void) {
    Suite *s = suite_create("profile");
    TCase *t = tcase_create("profile");
    tcase_add_test(t, an_empty_trace_has_no_hotspots);
    tcase_add_test(t, a_site_sums_its_callers_inlined_ones_too);
    tcase_add_test(t, who_asks_is_told_that_all_is_read);
    tcase_add_test(t, recursion_names_the_site_as_its_own_caller);
    tcase_add_test(t, types_are_grouped_and_called_by_their_sites);
    tcase_add_test(t, frames_without_location_are_shown_by_their_code);
    tcase_add_test(t, marks_and_gauges_are_remarks_not_allocations);
    tcase_add_test(t, promotions_count_once_in_any_order);
    tcase_add_test(t, sums_of_many_stacks_are_kept_apart);
    tcase_add_test(t, a_profile_lasts_until_its_last_event);
    suite_add_tcase(s, t);
    return s;
}

UNIT_MAIN(suite)
