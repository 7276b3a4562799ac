/* Tests of src/memprof with several threads; meant for ThreadSanitizer too. */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>

#include "memprof_host.h"
#include "unit.h"

enum { THREADS = 4, STEPS = 30000, SHELVES = 3000 };

/* ---- a tracker that checks each block's order of events
 * ------------------------------------------ */

typedef struct life {
    _Atomic(int) state;
    struct life *next; /* all lives of a town */
} life;

enum { BORN = 1, PROMOTED = 2, DEAD = 3 };

typedef struct town {
    test_memory memory;
    memprof_filter filter;
    memprof *engine;
    _Atomic(uintptr_t) shelves[SHELVES]; /* addresses, taken by whoever frees them */
    _Atomic(uint64_t) births, promotions, deaths, samples;
    _Atomic(bool) closed, wrong, end;
    _Atomic(life *) lives;
} town;

static void *town_alloc(void *context, memprof_thread *thread, const memprof_allocation *info) {
    (void)thread;
    town *t = context;
    life *l = calloc(1, sizeof *l);
    l->state = BORN;
    l->next = t->lives;
    while (!atomic_compare_exchange_weak(&t->lives, &l->next, l))
        ;
    t->births++;
    t->samples += info->n_samples;
    if (t->closed)
        t->wrong = true;
    return l;
}

static void town_advance(town *t, life *l, int to) {
    int from = atomic_exchange(&l->state, to);
    if (t->closed || from >= to)
        t->wrong = true;
}

static void *town_promote(void *context, memprof_thread *thread, void *metadata) {
    (void)thread;
    town *t = context;
    t->promotions++;
    town_advance(t, metadata, PROMOTED);
    return metadata;
}

static void town_dealloc(void *context, memprof_thread *thread, void *metadata) {
    (void)thread;
    town *t = context;
    t->deaths++;
    town_advance(t, metadata, DEAD);
}

static memprof_tracker town_tracker(town *t) {
    return (memprof_tracker){.context = t,
                             .alloc_minor = town_alloc,
                             .alloc_major = town_alloc,
                             .promote = town_promote,
                             .dealloc_minor = town_dealloc,
                             .dealloc_major = town_dealloc};
}

static town *town_new(bool collects) {
    town *t = calloc(1, sizeof *t);
    t->filter = (memprof_filter)MEMPROF_FILTER_INIT;
    t->engine = memprof_create(&(memprof_host){.context = &t->memory,
                                               .reallocate = test_reallocate,
                                               .filter = &t->filter,
                                               .collects = collects});
    return t;
}

static memprof_status town_start(town *t, memprof_thread *self, double rate) {
    const memprof_tracker tracker = town_tracker(t);
    return memprof_start(t->engine, self, &(memprof_options){.rate = rate, .seed = 1}, &tracker);
}

static void town_free(town *t) {
    memprof_destroy(t->engine);
    ck_assert_int_eq(t->memory.live, 0);
    ck_assert(!t->wrong);
    for (life *l = t->lives, *next; l; l = next) {
        next = l->next;
        free(l);
    }
    free(t);
}

static void in_threads(void *(*run)(void *), town *t) {
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, run, t), 0);
    for (int i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
}

/* ---- a counting host: blocks die in whichever thread finds them
 * ----------------------------------- */

static uint64_t birth(town *t, memprof_thread *self, uintptr_t address, memprof_heap in) {
    uint64_t k = memprof_count(self, 3) ? memprof_sample(t->engine, self, 3) : 0;
    memprof_track(t->engine, self,
                  &(memprof_birth){.address = address, .size = 2, .n_samples = k, .heap = in});
    return k;
}

static void death(town *t, memprof_thread *self, uintptr_t address) {
    memprof_taken taken;
    if (!address || !memprof_is_tracked(&t->filter, (void *)address))
        return;
    if (address % 128 != 0) {
        memprof_freed(t->engine, self, address);
    } else if (memprof_take(t->engine, self, address, &taken)) { /* a realloc that fails first */
        memprof_untake(t->engine, self, &taken);
        memprof_freed(t->engine, self, address);
    }
    free((void *)address);
}

static void *swap_blocks(void *context) {
    town *t = context;
    memprof_thread self = {0};
    uint64_t random = (uintptr_t)&self;
    for (int i = 0; i < STEPS; i++) {
        random = random * UINT64_C(6364136223846793005) + 1442695040888963407u;
        uintptr_t address = (uintptr_t)malloc(16); /* a real one: never given out twice at once */
        if (!birth(t, &self, address, MEMPROF_MAJOR)) {
            free((void *)address);
            continue;
        }
        death(t, &self, atomic_exchange(&t->shelves[(random >> 33) % SHELVES], address));
    }
    memprof_thread_exit(t->engine, &self);
    return NULL;
}

static void clear_shelves(town *t, memprof_thread *self) {
    for (int i = 0; i < SHELVES; i++)
        death(t, self, t->shelves[i]);
}

START_TEST(blocks_die_in_other_threads) {
    town *t = town_new(false);
    memprof_thread self = {0};
    ck_assert_int_eq(town_start(t, &self, _i ? 0.1 : 1), MEMPROF_OK);
    in_threads(swap_blocks, t);
    clear_shelves(t, &self);
    memprof_stats s;
    memprof_get_stats(t->engine, &s);
    ck_assert_uint_eq(s.tracked, 0);
    ck_assert_uint_eq(s.implied_deaths + s.lost_busy + s.lost_memory, 0);
    ck_assert_uint_eq(t->births, t->deaths);
    double n = 3. * THREADS * STEPS, rate = _i ? 0.1 : 1;
    ck_assert_double_le(fabs((double)t->samples - n * rate), 4 * sqrt(n * rate * (1 - rate)));
    town_free(t);
}
END_TEST

/* ---- callbacks at the same time
 * ---------------------------------------------------------------------- */

/* Nobody leaves an allocation's callback, or a death's, before all threads are inside one: with a
 * lock around callbacks this would never end. */
static pthread_barrier_t meeting;

static void *meet_alloc(void *context, memprof_thread *thread, const memprof_allocation *info) {
    pthread_barrier_wait(&meeting);
    return town_alloc(context, thread, info);
}

static void meet_dealloc(void *context, memprof_thread *thread, void *metadata) {
    pthread_barrier_wait(&meeting);
    town_dealloc(context, thread, metadata);
}

static void *meet(void *context) {
    town *t = context;
    memprof_thread self = {0};
    uintptr_t address = (uintptr_t)malloc(16);
    birth(t, &self, address, MEMPROF_MAJOR);
    memprof_freed(t->engine, &self, address);
    free((void *)address);
    memprof_thread_exit(t->engine, &self);
    return NULL;
}

START_TEST(callbacks_run_at_the_same_time) {
    town *t = town_new(false);
    memprof_thread self = {0};
    const memprof_tracker tracker = {
        .context = t, .alloc_major = meet_alloc, .dealloc_major = meet_dealloc};
    pthread_barrier_init(&meeting, NULL, THREADS);
    ck_assert_int_eq(memprof_start(t->engine, &self, &(memprof_options){.rate = 1}, &tracker),
                     MEMPROF_OK);
    in_threads(meet, t);
    ck_assert_uint_eq(t->births, THREADS);
    ck_assert_uint_eq(t->deaths, THREADS);
    pthread_barrier_destroy(&meeting);
    town_free(t);
}
END_TEST

/* ---- starts and stops while others run
 * ---------------------------------------------------------------- */

static void *churn(void *context) {
    town *t = context;
    memprof_thread self = {0};
    uintptr_t addresses[64] = {0};
    for (uint64_t i = 0; !t->end; i++) {
        uintptr_t *a = &addresses[i % 64];
        if (*a && memprof_is_tracked(&t->filter, (void *)*a))
            memprof_freed(t->engine, &self, *a);
        free((void *)*a);
        *a = (uintptr_t)malloc(16);
        uint64_t words = 100; /* so that starts are noticed soon */
        uint64_t k = memprof_count(&self, words) ? memprof_sample(t->engine, &self, words) : 0;
        memprof_track(t->engine, &self,
                      &(memprof_birth){.address = *a, .size = words - 1, .n_samples = k});
        if (i % 1000 == 0)
            memprof_run_postponed(t->engine, &self);
    }
    for (int i = 0; i < 64; i++) {
        memprof_freed(t->engine, &self, addresses[i]);
        free((void *)addresses[i]);
    }
    memprof_thread_exit(t->engine, &self);
    return NULL;
}

static int64_t now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000) + now.tv_nsec / 1000000;
}

/* Lets others run so many times, or for a while: on one processor, each of them takes its slice. */
static void let_others_run(int times) {
    enum { WHILE_MS = 5 };
    const int64_t end = now_ms() + WHILE_MS;
    for (int i = 0; i < times && now_ms() < end; i++)
        sched_yield();
}

static void *start_and_stop(void *context) {
    town *t = context;
    memprof_thread self = {0};
    for (int i = 0; i < 60; i++) {
        if (town_start(t, &self, 0.05) != MEMPROF_OK)
            t->wrong = true;
        do
            let_others_run(100); /* the first session lasts until it has seen something */
        while (i == 0 && t->births == 0);
        if (memprof_stop(t->engine, &self) != MEMPROF_OK)
            t->wrong = true;
        while (!memprof_is_quiet(t->engine))
            sched_yield();
        t->closed = true; /* from here to the next start no callback may run */
        let_others_run(20);
        t->closed = false;
    }
    t->end = true;
    memprof_thread_exit(t->engine, &self);
    return NULL;
}

static _Atomic(int) role;

static void *play(void *context) {
    return atomic_fetch_add(&role, 1) == 0 ? start_and_stop(context) : churn(context);
}

START_TEST(sessions_come_and_go) {
    town *t = town_new(_i);
    in_threads(play, t);
    ck_assert_uint_gt(t->births, 0);
    memprof_stats s;
    memprof_get_stats(t->engine, &s);
    ck_assert_uint_eq(s.tracked, 0);
    town_free(t);
}
END_TEST

/* ---- domains, each with a nursery
 * ------------------------------------------------------------------------ */

enum { TO_MAJOR = 1 << 30 }; /* words from a young block to where it is promoted to */

/* Promotes every third block. */
static uintptr_t every_third(void *context, uintptr_t address) {
    (void)context;
    return address / 64 % 3 == 0 ? address + UINT64_C(8) * TO_MAJOR : 0;
}

static void *domain(void *context) {
    town *t = context;
    memprof_thread self = {0};
    static _Atomic(uintptr_t) domains;
    uintptr_t base = (atomic_fetch_add(&domains, 1) + 1) << 40;
    for (int i = 0; i < STEPS; i++) {
        uintptr_t address = base + (uintptr_t)i * 64;
        birth(t, &self, address, MEMPROF_MINOR);
        if (i % 300 == 299)
            memprof_minor_ended(t->engine, &self, &self, every_third, NULL);
        uintptr_t old = address - 600 * 64 + UINT64_C(8) * TO_MAJOR;
        if (memprof_is_tracked(&t->filter, (void *)old))
            memprof_freed(t->engine, &self, old);
        if (i % 1000 == 999)
            memprof_run_postponed(t->engine, &self);
    }
    memprof_minor_ended(t->engine, &self, &self, NULL, NULL);
    memprof_thread_exit(t->engine, &self);
    return NULL;
}

static uintptr_t nowhere(void *context, uintptr_t address) {
    (void)context, (void)address;
    return 0;
}

START_TEST(domains_run_in_parallel) {
    town *t = town_new(true);
    memprof_thread self = {0};
    ck_assert_int_eq(town_start(t, &self, _i ? 0.1 : 1), MEMPROF_OK);
    in_threads(domain, t);
    ck_assert_uint_gt(t->promotions, 0);
    ck_assert_uint_lt(t->deaths, t->births);
    memprof_major_ended(t->engine, &self, nowhere, NULL);
    memprof_run_postponed(t->engine, &self);
    ck_assert_uint_eq(t->deaths, t->births);
    memprof_stats s;
    memprof_get_stats(t->engine, &s);
    ck_assert_uint_eq(s.tracked, 0);
    ck_assert_uint_eq(s.implied_deaths, 0);
    town_free(t);
}
END_TEST

/* ---- a signal handler that allocates and frees, at any moment
 * ----------------------------------------- */

enum { SIGNALS = 3000, HANDLER_BLOCKS = 0x100000 };

static town *interrupted_town;
static memprof_thread interrupted_thread;
static _Atomic(int) signals_left;

/* Uses made-up addresses, because real ones come from a malloc that no handler may call. */
static void use_engine(uintptr_t base, int n) {
    town *t = interrupted_town;
    for (int i = 0; i < n; i++) {
        uintptr_t address = base + (uintptr_t)(i % 50) * 64;
        if (memprof_is_tracked(&t->filter, (void *)address))
            memprof_freed(t->engine, &interrupted_thread, address);
        birth(t, &interrupted_thread, address, MEMPROF_MAJOR);
        memprof_run_postponed(t->engine, &interrupted_thread);
    }
}

/* Memory that a handler may ask for: malloc's must not be. */
static void *map_memory(void *context, void *old, size_t old_size, size_t size) {
    (void)context;
    void *p = NULL;
    if (size) {
        p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (p == MAP_FAILED)
            return NULL;
        if (old)
            memcpy(p, old, old_size < size ? old_size : size);
    }
    if (old)
        munmap(old, old_size);
    return p;
}

/* Each signal asks for the next one, so that the program goes on however slow the machine is. */
static void signal_soon(void) {
    const struct itimerval timer = {.it_value.tv_usec = 50};
    setitimer(ITIMER_REAL, &timer, NULL);
}

static void handler(int number) {
    (void)number;
    use_engine(HANDLER_BLOCKS, 20);
    if (--signals_left > 0)
        signal_soon();
}

static void *count_calls(void *context, memprof_thread *thread, const memprof_allocation *info) {
    (void)thread, (void)info;
    ((town *)context)->births++;
    return context;
}

START_TEST(signal_handlers_may_allocate) {
    town *t = interrupted_town = calloc(1, sizeof *t);
    t->filter = (memprof_filter)MEMPROF_FILTER_INIT;
    t->engine = memprof_create(
        &(memprof_host){.reallocate = map_memory, .filter = &t->filter, .collects = _i});
    const memprof_tracker tracker = {.context = t, .alloc_major = count_calls};
    ck_assert_int_eq(memprof_start(t->engine, &interrupted_thread,
                                   &(memprof_options){.rate = 0.3, .seed = 1}, &tracker),
                     MEMPROF_OK);
    signals_left = SIGNALS;
    signal(SIGALRM, handler);
    signal_soon();
    while (signals_left > 0)
        use_engine(2 * HANDLER_BLOCKS, 100);
    ck_assert_uint_eq(interrupted_thread.busy, 0);
    ck_assert_uint_gt(t->births, SIGNALS);
    ck_assert_int_eq(memprof_stop(t->engine, &interrupted_thread), MEMPROF_OK);
    town_free(t);
}
END_TEST

static Suite *suite(void) {
    Suite *s = suite_create("memprof_threads");
    TCase *t = tcase_create("memprof_threads");
    tcase_set_timeout(t, 120);
    tcase_add_loop_test(t, blocks_die_in_other_threads, 0, 2);
    tcase_add_test(t, callbacks_run_at_the_same_time);
    tcase_add_loop_test(t, sessions_come_and_go, 0, 2);
    tcase_add_loop_test(t, domains_run_in_parallel, 0, 2);
    tcase_add_loop_test(t, signal_handlers_may_allocate, 0, 2);
    suite_add_tcase(s, t);
    return s;
}

UNIT_MAIN(suite)
