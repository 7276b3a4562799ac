/* Tests of the spans that a program publishes: this one does, in a thread-local variable. */
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <unistd.h>

#include "platform/thread_local.h"
#include "record/span.h"
#include "sanitized.h"
#include "unit.h"

enum { SIZE = 25, VALID_AT = 24 };

struct record {
    _Alignas(8) uint8_t bytes[SIZE + 3];
};

extern __thread const void *volatile otel_thread_ctx_v1;
__attribute__((visibility("default"))) __thread const void *volatile otel_thread_ctx_v1;
static uint64_t now;

static struct record record_of(uint8_t first) {
    struct record r = {.bytes = {[VALID_AT] = 1}};
    for (int i = 0; i < VALID_AT; i++)
        r.bytes[i] = (uint8_t)(first + i);
    return r;
}

/* What a sample finds that comes some time later. */
static memtrace_span look(void) {
    struct span_state state = {0};
    memtrace_span span;
    (void)span_has_changed(&state, ++now, &span);
    return span;
}

static bool is_none(memtrace_span span) {
    return memcmp(&span, &(memtrace_span){0}, sizeof span) == 0;
}

static void *look_elsewhere(void *found) {
    *(memtrace_span *)found = look();
    return NULL;
}

START_TEST(the_variable_of_each_thread_is_read) {
    static struct record r;
    memtrace_span span, other;
    pthread_t thread;
    r = record_of(7);
    span_look(true);
    ck_assert_uint_eq(span_variables, 1);
    ck_assert(is_none(look()));
    otel_thread_ctx_v1 = &r;
    span = look();
    ck_assert_mem_eq(span.ids, r.bytes, sizeof span.ids);
    ck_assert_int_eq(pthread_create(&thread, NULL, look_elsewhere, &other), 0);
    pthread_join(thread, NULL);
    ck_assert(is_none(other));
    otel_thread_ctx_v1 = NULL;
    ck_assert(is_none(look()));
}
END_TEST

START_TEST(only_1_is_valid) {
    static struct record r;
    r = record_of(7);
    span_look(true);
    otel_thread_ctx_v1 = &r;
    for (int valid = 0; valid < 256; valid++) {
        r.bytes[VALID_AT] = (uint8_t)valid;
        ck_assert_int_eq(is_none(look()), valid != 1);
    }
}
END_TEST

START_TEST(a_change_is_one_since_the_last) {
    static struct record r;
    struct span_state state = {0};
    memtrace_span span;
    r = record_of(7);
    span_look(true);
    ck_assert(!span_has_changed(&state, 1, &span));
    otel_thread_ctx_v1 = &r;
    ck_assert(span_has_changed(&state, 1, &span));
    state.now = span;
    ck_assert(!span_has_changed(&state, 1, &span));
    r.bytes[3]++; /* in place, in the same microsecond */
    ck_assert(span_has_changed(&state, 1, &span));
}
END_TEST

START_TEST(a_record_that_is_not_there_is_none) {
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    uint8_t *pages =
        mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ck_assert_ptr_ne(pages, MAP_FAILED);
    static struct record r;
    r = record_of(7);
    memcpy(pages + page - 12, r.bytes, SIZE); /* across both */
    span_look(true);
    otel_thread_ctx_v1 = pages + page - 12;
    ck_assert(!is_none(look()));
    munmap(pages + page, page);
    ck_assert(is_none(look()));
    memcpy(pages + page - SIZE - 1, r.bytes, SIZE);
    otel_thread_ctx_v1 = pages + page - SIZE - 1;
    ck_assert(!is_none(look()));
    munmap(pages, page);
    ck_assert(is_none(look()));
#ifndef SANITIZED /* whose own memory is there, but must not be looked at */
    for (uintptr_t wrong = 1; wrong; wrong *= 2) {
        otel_thread_ctx_v1 = (const void *)wrong;
        ck_assert(is_none(look()));
        otel_thread_ctx_v1 = (const void *)(0 - wrong);
        ck_assert(is_none(look()));
    }
#endif
    otel_thread_ctx_v1 = r.bytes + 1; /* records begin at even addresses */
    ck_assert(is_none(look()));
}
END_TEST

static size_t n_called(const char *name) {
    struct thread_local_found found;
    thread_local_find(name, &found);
    return found.n;
}

START_TEST(variables_that_are_not_there_are_not_found) {
    struct pages_seen seen = {0};
    ck_assert_uint_eq(n_called("otel_thread_ctx_v1"), 1);
    ck_assert_uint_eq(n_called("otel_thread_ctx_v2"), 0);
    ck_assert_uint_eq(n_called("malloc"), 0); /* a function */
    ck_assert_uint_eq(thread_local_pointer((uint64_t)9999 << 32, &seen), 0);
}
END_TEST

/* An object as the loader lists it; some of what follows must not be 0. */
struct object {
    struct link_map map;
    uint8_t rest[4096 - sizeof(struct link_map)];
};

static struct {
    void *dynamic; /* a page of the object, which comes and goes */
    volatile bool is_there;
    volatile unsigned n_times;
} volatile going;

static void come_or_go(int signal) {
    const size_t size = (size_t)sysconf(_SC_PAGESIZE);
    (void)signal;
    if (going.is_there)
        munmap(going.dynamic, size);
    else if (mmap(going.dynamic, size, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == going.dynamic)
        memset(going.dynamic, 1, size); /* no end of the section */
    going.is_there = !going.is_there;
    going.n_times++;
}

/* As a C library unloads what it has loaded itself: nobody learns of it, whatever they are at. */
START_TEST(an_object_may_go_at_any_moment) {
    enum { TIMES = 200, MICROSECONDS = 200 };
    static struct object before, last;
    const struct itimerval often = {{0, MICROSECONDS}, {0, MICROSECONDS}}, never = {{0}, {0}};
    memset(before.rest, 1, sizeof before.rest);
    memset(last.rest, 1, sizeof last.rest);
    before.map.l_next = &last.map;
    last.map.l_prev = &before.map;
    going.dynamic =
        mmap(NULL, (size_t)sysconf(_SC_PAGESIZE), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    last.map.l_ld = going.dynamic;
    signal(SIGALRM, come_or_go);
    setitimer(ITIMER_REAL, &often, NULL);
    while (going.n_times < TIMES) {
        struct thread_local_found found = {.last = (uintptr_t)&before};
        thread_local_find_more("otel_thread_ctx_v1", &found);
        ck_assert_uint_eq(found.last, (uintptr_t)&last);
    }
    setitimer(ITIMER_REAL, &never, NULL);
}
END_TEST

/* What was looked at last is gone, or another's: all are looked at again. */
START_TEST(after_an_object_has_gone_others_are_found) {
    static struct object before, gone;
    struct thread_local_found found = {.last = (uintptr_t)&gone};
    gone.map.l_prev = &before.map;
    thread_local_find_more("otel_thread_ctx_v1", &found);
    ck_assert_uint_eq(found.n, 1);
    found = (struct thread_local_found){.undecided = {64}, .n = 1};
    thread_local_find_more("otel_thread_ctx_v1", &found);
    ck_assert_uint_eq(found.n, 1);
    ck_assert_uint_ne(found.places[0], 0);
}
END_TEST

/* As a process that begins finds them, which need not hold the loader. */
START_TEST(without_the_lock_the_same_is_found) {
    struct thread_local_found one = {0}, other = {0};
    thread_local_find("otel_thread_ctx_v1", &one);
    thread_local_find_more("otel_thread_ctx_v1", &other);
    ck_assert_mem_eq(&one, &other, sizeof one);
    ck_assert(!thread_local_is_more(&one));
    thread_local_find_more("otel_thread_ctx_v1", &other);
    ck_assert_mem_eq(&one, &other, sizeof one);
}
END_TEST

static Suite *suite(void) {
    Suite *s = suite_create("span");
    TCase *t = tcase_create("spans");
    tcase_add_test(t, the_variable_of_each_thread_is_read);
    tcase_add_test(t, only_1_is_valid);
    tcase_add_test(t, a_change_is_one_since_the_last);
    tcase_add_test(t, a_record_that_is_not_there_is_none);
    tcase_add_test(t, variables_that_are_not_there_are_not_found);
    tcase_add_test(t, without_the_lock_the_same_is_found);
    tcase_add_test(t, an_object_may_go_at_any_moment);
    tcase_add_test(t, after_an_object_has_gone_others_are_found);
    suite_add_tcase(s, t);
    return s;
}

UNIT_MAIN(suite)
