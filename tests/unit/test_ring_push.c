/* Tests of how keepers hand spools to whoever pushes them: each once, and counted as long as it
 * takes room. One process is both sides here. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>

#include "cli/ring/ring_push.h"
#include "unit.h"

enum { PID = 47, SIZE = 1 << 16, MANY = 2000 };

static ring_plan plan;
static family_source source;

static void begin(void) {
    plan = (ring_plan){.on = true, .max_size = 1 << 26, .run = ring_run_new()};
    ck_assert(plan.run && ring_push_begin(&plan));
    source = ring_push_source(&plan);
}

/* Of which its keeper has the lock. */
static int new_spool(void) {
    char path[] = "/tmp/ring-push.XXXXXX";
    const int fd = mkostemp(path, O_CLOEXEC);
    ck_assert_int_ge(fd, 0);
    unlink(path);
    ck_assert_int_eq(posix_fallocate(fd, 0, SIZE), 0);
    ck_assert_int_eq(flock(fd, LOCK_EX), 0);
    return fd;
}

static family_trace take(void) {
    family_trace t;
    ck_assert(source.next(source.context, &t));
    ck_assert_int_ge(t.fd, 0);
    ck_assert_uint_eq(t.pid, PID);
    return t;
}

static void give_back(const family_trace *t) {
    source.end(source.context, t);
    close(t->fd);
}

START_TEST(a_spool_is_given_once) {
    const int fd = new_spool();
    family_trace more;
    ring_pushed *p = ring_push_offer(&plan, fd, PID);
    ck_assert_ptr_nonnull(p);
    family_trace t = take();
    ck_assert(!source.next(source.context, &more));
    ck_assert_ptr_eq(t.position, &p->position);
    ck_assert(!source.is_over(source.context, &t));
    atomic_store(&t.position->offset, UINT64_MAX); /* all was read */
    ring_push_done(&plan, p, fd, SIZE);
    ck_assert(source.is_over(source.context, &t));
    ck_assert_uint_eq(atomic_load(&plan.run->spooled), 0);
    give_back(&t);
    ck_assert_uint_eq(atomic_load(&p->holders), 0);
}
END_TEST

START_TEST(what_waits_counts_until_it_was_read) {
    const int fd = new_spool();
    ring_pushed *p = ring_push_offer(&plan, fd, PID);
    ring_push_done(&plan, p, fd, SIZE);
    ck_assert_uint_eq(atomic_load(&plan.run->spooled), SIZE);
    family_trace t = take();
    ck_assert(source.is_over(source.context, &t));
    ck_assert_uint_eq(atomic_load(&t.position->overrun), 0);
    give_back(&t);
    ck_assert_uint_eq(atomic_load(&plan.run->spooled), 0);
}
END_TEST

START_TEST(where_room_is_short_nothing_waits) {
    const int fd = new_spool();
    ring_pushed *p = ring_push_offer(&plan, fd, PID);
    atomic_store(&plan.run->spooled, plan.max_size / 4 + 1);
    ck_assert(ring_push_is_tight(&plan));
    ring_push_done(&plan, p, fd, SIZE);
    ck_assert_uint_eq(atomic_load(&plan.run->spooled), plan.max_size / 4 + 1);
    family_trace t = take();
    ck_assert_uint_eq(atomic_load(&t.position->overrun), 1);
    ck_assert_int_eq(lseek(t.fd, 0, SEEK_DATA), -1); /* it is a hole */
    give_back(&t);
}
END_TEST

START_TEST(a_keeper_that_was_killed_ends_nothing_by_itself) {
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    const int fd = new_spool();
    char path[32];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    const int recorder = open(path, O_RDWR | O_CLOEXEC);
    ck_assert_int_eq(fcntl(recorder, F_OFD_SETLK, &whole), 0);
    ck_assert_ptr_nonnull(ring_push_offer(&plan, fd, PID));
    family_trace t = take();
    close(fd);
    ck_assert(!source.is_over(source.context, &t));
    close(recorder);
    ck_assert(source.is_over(source.context, &t));
    give_back(&t);
}
END_TEST

/* And each can be offered again when others were taken. */
START_TEST(only_so_many_wait) {
    const int fd = new_spool();
    int n = 0;
    while (n < MANY && ring_push_offer(&plan, fd, PID))
        n++;
    ck_assert_int_gt(n, 50);
    ck_assert_int_lt(n, RING_RUN_PUSHED);
    family_trace t = take();
    give_back(&t);
    ck_assert_ptr_nonnull(ring_push_offer(&plan, fd, PID));
}
END_TEST

START_TEST(without_a_pusher_nothing_is_offered) {
    const int fd = new_spool();
    ring_plan keepers = plan;
    ck_assert(ring_push_is_on(&plan));
    close(plan.push_ends[0]);
    keepers.push_ends[0] = 0;
    ck_assert(!ring_push_is_on(&keepers));
    ck_assert_ptr_null(ring_push_offer(&keepers, fd, PID));
}
END_TEST

static Suite *suite(void) {
    Suite *s = suite_create("ring_push");
    TCase *c = tcase_create("ring_push");
    tcase_add_checked_fixture(c, begin, NULL);
    tcase_add_test(c, a_spool_is_given_once);
    tcase_add_test(c, what_waits_counts_until_it_was_read);
    tcase_add_test(c, where_room_is_short_nothing_waits);
    tcase_add_test(c, a_keeper_that_was_killed_ends_nothing_by_itself);
    tcase_add_test(c, only_so_many_wait);
    tcase_add_test(c, without_a_pusher_nothing_is_offered);
    suite_add_tcase(s, c);
    return s;
}

UNIT_MAIN(suite)
