/* Tests of leaks: which sites grow, how fast, and how often it is said of one that does not. */
#include <stdio.h>
#include <string.h>

#include "profile/blocks_add.h"
#include "query/leaks.h"
#include "query/lifemap.h"
#include "random.h"
#include "tape.h"
#include "unit.h"

static void collect(tape *t, uint64_t time, uint64_t id) {
    ck_assert_int_eq(memtrace_stream_collect(t->streams[0], time, id), MEMTRACE_OK);
}

/* ---- parts ------------------------------------------------------------------------------- */

/* The slope of a line through what is live at many moments, by the textbook. */
static double slope_by_points(uint64_t born, uint64_t died, uint64_t from, uint64_t to) {
    double st = 0, sl = 0, stt = 0, stl = 0, n = 0;
    for (uint64_t t = from; t < to; t++) {
        double x = ((double)t + 0.5) / 1e6, live = born <= t && t < died;
        n++;
        st += x;
        sl += live;
        stt += x * x;
        stl += x * live;
    }
    return (n * stl - st * sl) / (n * stt - st * st);
}

START_TEST(a_weight_is_a_slope) {
    static const uint64_t lives[][2] = {{0, 5000},    {1500, 3000}, {3000, 9000}, {2500, 2501},
                                        {1000, 1200}, {0, 900},     {4100, 4200}, {0, 2500}};
    for (size_t i = 0; i < sizeof lives / sizeof *lives; i++)
        ck_assert_double_eq_tol(leaks_weight(lives[i][0], lives[i][1], 1000, 4000),
                                slope_by_points(lives[i][0], lives[i][1], 1000, 4000), 1e-4);
    /* A block that stays, born in the middle, raises the line by 1 in two thirds of the window. */
    ck_assert_double_eq_tol(leaks_weight(2500, BLOCKS_NEVER, 1000, 4000), 1.5 / 0.003, 1e-9);
    ck_assert_double_eq(leaks_weight(0, BLOCKS_NEVER, 1000, 4000), 0);
    ck_assert_double_eq(leaks_weight(0, BLOCKS_NEVER, 1000, 1000), 0);
    /* Rounding says nothing about growth. */
    for (uint64_t i = 1; i < 1000; i++)
        ck_assert_double_eq(leaks_weight(0, BLOCKS_NEVER, 5 * i, 20 * i + 977), 0);
}
END_TEST

/* Exactly, by all choices of signs. */
static double chance_by_counting(const double *y, int n) {
    double sum = 0, hits = 0;
    for (int i = 0; i < n; i++)
        sum += y[i];
    for (unsigned signs = 0; signs < 1u << n; signs++) {
        double other = 0;
        for (int i = 0; i < n; i++)
            other += signs >> i & 1 ? y[i] : -y[i];
        hits += other >= sum - 1e-12;
    }
    return hits / (1u << n);
}

START_TEST(a_chance_is_a_limit) {
    const double all[] = {3, 1, 2, 5, 4, 1, 1, 2, 3, 1}, burst[] = {9, -1, 0.5, -0.2};
    const double down[] = {-1, 0.5};
    ck_assert_double_eq_tol(leaks_chance(all, 10), ldexp(1, -10), 1e-6);
    ck_assert_double_ge(leaks_chance(burst, 4), 0.4); /* one time says nothing */
    ck_assert_double_eq(leaks_chance(down, 2), 1);
    ck_assert_double_eq(leaks_chance(down, 0), 1);
    test_random r = {7};
    for (int i = 0; i < 200; i++) {
        double y[12];
        for (int j = 0; j < 12; j++)
            y[j] = test_random_exponential(&r) * (test_random_unit(&r) < 0.3 ? -1 : 1);
        double exact = chance_by_counting(y, 12), limit = leaks_chance(y, 12);
        ck_assert_double_ge(limit, exact * (1 - 1e-9));
        ck_assert_double_le(limit, fmax(8 * exact, 1e-3)); /* and no idle one */
    }
}
END_TEST

/* ---- many blocks ------------------------------------------------------------------------- */

enum { MANY = 1 << 20 }; /* are added up in parts, by threads */

/* At rate 1, a block a microsecond, by two sites in turn; the second one keeps one in eight. */
static profile make_many(void) {
    tape t;
    profile p;
    tape_start(&t, 1);
    for (uint64_t i = 0; i < MANY; i++) {
        const bool second = i % 2;
        const uint64_t id = second ? allocate(&t, i, MEMTRACE_EXTERNAL, 1, 2, STACK(MAIN, PARSE))
                                   : allocate(&t, i, MEMTRACE_EXTERNAL, 1, 2, STACK(MAIN, EVAL));
        if (!second || i % 16 != 15)
            collect(&t, i, id);
    }
    tape_read_blocks(&t, &p, false);
    return p;
}

START_TEST(blocks_of_all_parts_count_once) {
    profile p = make_many();
    lens view;
    leaks l, same;
    leaks_window w;
    lifemap lives;
    ck_assert(lens_init(&view, &p, true, NULL));
    ck_assert(leaks_query(&view, &(leaks_spec){.measure = MEASURE_BLOCKS}, &l));
    ck_assert_uint_eq(l.sites.count, 2);
    ck_assert_uint_eq(l.sites.items[0].cost.blocks, MANY / 16);
    ck_assert_double_eq(l.sites.items[0].cost.weight, MANY / 16);
    ck_assert_uint_eq(l.sites.items[1].cost.blocks, 0);
    ck_assert_uint_eq(l.total.cost.blocks, MANY / 16);
    ck_assert_int_eq(l.sites.items[0].class, LEAKS_GROWING);
    ck_assert_double_eq_tol(l.sites.items[0].slope.value, 1e6 / 16, 1);
    ck_assert_double_eq_tol(l.sites.items[0].line[LEAKS_POINTS / 2 - 1], MANY / 32, 2);

    ck_assert(leaks_find_window(&p, &w));
    ck_assert(leaks_query(&view, &(leaks_spec){.window = &w, .measure = MEASURE_BLOCKS}, &same));
    ck_assert_mem_eq(&same.total.cost, &l.total.cost, sizeof l.total.cost);
    ck_assert_mem_eq(same.total.line, l.total.line, sizeof l.total.line);
    ck_assert_double_eq(same.total.slope.value, l.total.slope.value);
    ck_assert_int_eq(same.total.class, l.total.class);
    leaks_free(&same);
    w.to /= 2;
    ck_assert(leaks_query(&view, &(leaks_spec){.window = &w, .measure = MEASURE_BLOCKS}, &same));
    ck_assert_uint_eq(same.total.cost.blocks, MANY / 32);
    leaks_free(&same);

    ck_assert(lifemap_query(&p, NULL, MEASURE_BLOCKS, &lives));
    ck_assert_uint_eq(lives.cells.count, 2);
    ck_assert_uint_eq(lives.cells.items[0].size, 4); /* 8 bytes */
    ck_assert_uint_eq(lives.lives[0].blocks, MANY - MANY / 16);
    ck_assert_uint_eq(lives.lives[LIFEMAP_ALIVE].blocks, MANY / 16);
    lifemap_free(&lives);
    leaks_free(&l);
    lens_free(&view);
    profile_free(&p);
}
END_TEST

/* ---- classes ----------------------------------------------------------------------------- */

static const leaks_site *find(const leaks *l, const char *function) {
    for (size_t i = 0; i < l->sites.count; i++)
        if (strcmp(l->sites.items[i].place->function, function) == 0)
            return &l->sites.items[i];
    ck_abort_msg("no site %s", function);
}

static leaks ask(const profile *p) {
    lens view;
    leaks l;
    ck_assert(lens_init(&view, p, true, NULL));
    ck_assert(leaks_query(&view, &(leaks_spec){.warm_up = 0.25}, &l));
    lens_free(&view);
    return l;
}

/* At rate 1, 1 s: main allocates at the start, parse leaks one of ten, eval keeps ten, List.map
 * keeps all until the program cleans up, if it does: all that it has, or that much alone; or it
 * only drops that while it goes on. */
typedef enum ending { STAYS, DROPS, CLEANS_A_PART, CLEANS_ALL } ending;

static void make_classes(tape *t, profile *p, ending how) {
    uint64_t kept[100], n_kept = 0, cache[10];
    tape_start(t, 1);
    allocate(t, 5, MEMTRACE_MAJOR, 99, 100, STACK(MAIN));
    for (uint64_t i = 0; i < 10; i++)
        kept[n_kept++] = allocate(t, 10 + i, MEMTRACE_MAJOR, 9, 10, STACK(MAIN, LIB_MAP));
    for (uint64_t i = 0; i < 1000; i++) {
        uint64_t time = 1000 + i * 999;
        uint64_t id = allocate(t, time, MEMTRACE_MAJOR, 9, 10, STACK(MAIN, PARSE));
        if (i % 10)
            collect(t, time + 10, id);
        if (i >= 10)
            collect(t, time + 20, cache[i % 10]);
        cache[i % 10] = allocate(t, time + 30, MEMTRACE_MAJOR, 9, 10, STACK(MAIN, EVAL));
        for (uint64_t j = 0; how == DROPS && i == 995 && j < n_kept; j++)
            collect(t, time + 40 + j, kept[j]);
    }
    for (uint64_t i = 0; how >= CLEANS_A_PART && i < n_kept; i++)
        collect(t, 1000001 + i, kept[i]);
    for (uint64_t i = 0; how == CLEANS_ALL && i < 1500; i++) /* so that most is freed */
        collect(t, 1000100 + i, i);
    tape_read_blocks(t, p, false);
}

START_TEST(classes_of_sites) {
    tape t;
    profile p;
    make_classes(&t, &p, STAYS);
    leaks l = ask(&p);
    ck_assert(!l.cleaned_up);
    ck_assert_uint_eq(l.to, p.duration);
    ck_assert_uint_eq(l.sites.count, 4);
    const leaks_site *s = find(&l, "parse");
    ck_assert_ptr_eq(s, &l.sites.items[0]);
    ck_assert_int_eq(s->class, LEAKS_GROWING);
    ck_assert_uint_eq(s->cost.samples, 1000);
    ck_assert_double_eq(s->live.value, 8000);
    ck_assert_double_eq(s->line[LEAKS_POINTS - 1], 1000);
    ck_assert_double_le(s->line[LEAKS_POINTS / 2 - 1], 520);
    ck_assert_double_ge(s->line[LEAKS_POINTS / 2 - 1], 490);
    ck_assert_double_eq_tol(s->slope.value, 8000, 100); /* 8 bytes a word, 1,000 words in 1 s */
    ck_assert_double_eq(s->slope.low, s->slope.high);
    ck_assert_double_le(s->q, 1e-5);
    s = find(&l, "eval");
    ck_assert_int_eq(s->class, LEAKS_BOUNDED);
    ck_assert_uint_eq(s->cost.samples, 100);
    ck_assert_double_eq_tol(s->slope.value, 0, 40);
    s = find(&l, "main");
    ck_assert_int_eq(s->class, LEAKS_STARTUP);
    ck_assert_uint_eq(s->startup, 100);
    ck_assert_double_eq(s->slope.value, 0);
    ck_assert_double_eq(s->p, 1);
    ck_assert_int_eq(find(&l, "List.map")->class, LEAKS_STARTUP);
    ck_assert_uint_eq(l.total.cost.samples, 1000 + 100 + 100 + 100);
    ck_assert_int_eq(l.total.class, LEAKS_GROWING);
    leaks_free(&l);
    profile_free(&p);
}
END_TEST

/* What is live when each of the equal parts of the time ends. */
static void check_line(const profile *p, const leaks *l) {
    const block_table *b = &p->table;
    double live[LEAKS_POINTS + 1] = {0}, now = 0;
    for (size_t row = 0; row < b->count; row++)
        for (int end = 0; end < 2; end++) {
            const uint64_t time = end ? blocks_died(b, row) : blocks_born(b, row);
            const double at = (double)time / ((double)l->to + 1) * LEAKS_POINTS;
            live[time > l->to ? LEAKS_POINTS : (size_t)at] +=
                (end ? -1.0 : 1.0) * (double)blocks_samples(b, row);
        }
    for (int i = 0; i < LEAKS_POINTS; i++)
        ck_assert_double_eq(l->total.line[i], now += live[i]);
}

START_TEST(a_line_knows_each_microsecond) {
    static const uint64_t ends[] = {0, 1, 7, 23, 24, 25, 47, 999, 3001};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        tape t;
        profile p;
        tape_start(&t, 1);
        for (uint64_t time = 0; time <= ends[i]; time++) {
            allocate(&t, time, MEMTRACE_MAJOR, 1 + time % 3, 2 + time % 3, STACK(MAIN, PARSE));
            if (time % 4 == 1)
                collect(&t, time, time - time % 3);
        }
        tape_read_blocks(&t, &p, false);
        leaks l = ask(&p);
        check_line(&p, &l);
        leaks_free(&l);
        profile_free(&p);
    }
}
END_TEST

START_TEST(a_clean_up_is_no_life) {
    tape t;
    profile p;
    make_classes(&t, &p, CLEANS_ALL);
    leaks l = ask(&p);
    ck_assert(l.cleaned_up);
    ck_assert_uint_le(l.to, 1000001);
    ck_assert_uint_ge(l.to, 998000);
    ck_assert_int_eq(find(&l, "parse")->class, LEAKS_GROWING); /* it grew all the same */
    ck_assert_int_eq(find(&l, "List.map")->class, LEAKS_EXIT);
    ck_assert_uint_eq(find(&l, "List.map")->at_exit, 100);
    leaks_free(&l);
    profile_free(&p);
}
END_TEST

/* A program that builds something and frees it again, however often it allocates, has no leak. */
START_TEST(what_is_built_and_freed_does_not_grow) {
    enum { BLOCKS = 4000 };
    tape t;
    profile p;
    tape_start(&t, 1);
    for (uint64_t i = 0; i < BLOCKS; i++)
        allocate(&t, i, MEMTRACE_EXTERNAL, 125, 126, STACK(MAIN, PARSE));
    for (uint64_t i = 0; i < BLOCKS; i++)
        collect(&t, BLOCKS + i / 4, i);
    tape_read_blocks(&t, &p, false);
    leaks l = ask(&p);
    ck_assert(l.cleaned_up && l.kept_all);
    ck_assert_int_eq(find(&l, "parse")->class, LEAKS_EXIT);
    ck_assert_int_eq(l.total.class, LEAKS_EXIT);
    leaks_free(&l);
    profile_free(&p);
}
END_TEST

/* A program that leaves most of what it has to the system may free the rest all the same. */
START_TEST(a_clean_up_need_not_be_of_all) {
    tape t;
    profile p;
    make_classes(&t, &p, CLEANS_A_PART);
    leaks l = ask(&p);
    ck_assert(l.cleaned_up);
    ck_assert_uint_le(l.to, 1000001);
    ck_assert_int_eq(find(&l, "List.map")->class, LEAKS_EXIT);
    ck_assert_int_eq(find(&l, "parse")->class, LEAKS_GROWING);
    ck_assert_int_eq(find(&l, "eval")->class, LEAKS_BOUNDED);
    leaks_free(&l);
    profile_free(&p);
    make_classes(&t, &p, DROPS);
    l = ask(&p);
    ck_assert(!l.cleaned_up);
    leaks_free(&l);
    profile_free(&p);
}
END_TEST

/* A program that works until it ends, with a clock that hardly goes on: what it has kept is freed
 * in the tick of the last allocations. With 5 blocks kept, it might be chance. */
START_TEST(a_clean_up_within_a_tick) {
    enum { BLOCKS = 20000, TICK = 50, KEPT = 100, FEW = 5 };
    const uint64_t kept_every = BLOCKS / (_i ? FEW : KEPT);
    uint64_t kept[KEPT], n_kept = 0;
    tape t;
    profile p;
    tape_start(&t, 1);
    for (uint64_t i = 0; i < BLOCKS; i++) {
        const uint64_t time = i / TICK * TICK;
        collect(&t, time, allocate(&t, time, MEMTRACE_EXTERNAL, 9, 10, STACK(MAIN, EVAL)));
        if (i % kept_every == 0)
            kept[n_kept++] = allocate(&t, time, MEMTRACE_EXTERNAL, 9, 10, STACK(MAIN, PARSE));
    }
    for (uint64_t i = 0; i < n_kept; i++)
        collect(&t, BLOCKS - TICK, kept[i]);
    tape_read_blocks(&t, &p, false);
    leaks l = ask(&p);
    ck_assert(l.cleaned_up == (_i == 0));
    if (_i == 0) {
        ck_assert_uint_eq(l.to, BLOCKS - TICK - 1);
        ck_assert_int_eq(find(&l, "parse")->class, LEAKS_GROWING);
    }
    leaks_free(&l);
    profile_free(&p);
}
END_TEST

START_TEST(of_nothing) {
    tape t;
    profile p;
    tape_start(&t, 0.5);
    tape_read_blocks(&t, &p, false);
    leaks l = ask(&p);
    ck_assert_uint_eq(l.sites.count, 0);
    ck_assert_double_eq(l.total.p, 1);
    leaks_free(&l);
    profile_free(&p);
}
END_TEST

/* ---- how often it is wrong --------------------------------------------------------------- */

enum { LENGTH = 1000000, ROUNDS = 100 };

typedef enum behaviour {
    STEADY,
    SLOW,
    BURSTS,
    CACHE,
    FLUSHED,
    FLUSHED_RARELY,
    AT_START,
    LEAK,
    FEW_LEAK,
    MIXED_LEAK
} behaviour;

typedef struct program {
    test_random random;
    profile *profile;
    uint64_t id;
    uint64_t length; /* of each block; 0: of four kinds in turn, which matters to numbers alone */
    double rate;
} program;

static void make_block(program *p, double born, double died) {
    if (born >= LENGTH || test_random_unit(&p->random) >= p->rate)
        return;
    const memtrace_event event = {.kind = MEMTRACE_ALLOC,
                                  .time = (uint64_t)born,
                                  .id = p->id,
                                  .length = p->length ? p->length : p->id % 4 * 5,
                                  .samples = 1,
                                  .source = MEMTRACE_MAJOR};
    ck_assert(blocks_add(&p->profile->table, 0, &event));
    if (died < LENGTH)
        ck_assert(blocks_add_fate(&p->profile->table, p->id, (uint64_t)died, BLOCKS_DIED));
    p->id++;
}

/* Blocks of one word that are born by chance and live by chance. */
static void make_life(program *p, double blocks, double life) {
    double born = 0;
    while ((born += LENGTH / blocks * test_random_exponential(&p->random)) < LENGTH)
        make_block(p, born, born + life * LENGTH * test_random_exponential(&p->random));
}

/* Bursts of many blocks that die together. */
static void make_bursts(program *p, int bursts, int blocks, double life) {
    for (int i = 0; i < bursts; i++) {
        double born = LENGTH * test_random_unit(&p->random);
        double died = born + life * LENGTH * test_random_exponential(&p->random);
        for (int j = 0; j < blocks; j++)
            make_block(p, born, died);
    }
}

/* At most `size` at a time, the oldest of which goes; or all at once when it is full. */
static void make_cache(program *p, int blocks, int size, bool flushed) {
    double step = (double)LENGTH / blocks;
    for (int i = 0; i < blocks; i++)
        make_block(p, i * step, flushed ? (i / size + 1) * size * step : (i + size) * step);
}

static void make_program(behaviour b, uint64_t seed, double rate, profile *result) {
    *result = (profile){.duration = LENGTH, .keep_blocks = true};
    result->info.sample_rate = rate;
    result->info.word_size = 64;
    cct_path path = {0};
    ck_assert_uint_eq(cct_walk(&result->tree, &path, NULL, 0, 0), CCT_ROOT); /* no backtraces */
    cct_path_free(&path);
    program p = {.random = {seed * 1000 + b}, .profile = result, .rate = rate};
    switch (b) {
    case STEADY:
        make_life(&p, 3000, 0.02);
        break;
    case SLOW:
        make_life(&p, 3000, 0.08);
        break;
    case BURSTS:
        make_bursts(&p, 40, 100, 0.05);
        break;
    case CACHE:
        make_cache(&p, 3000, 200, false);
        break;
    case FLUSHED:
        make_cache(&p, 3000, 370, true);
        break;
    case FLUSHED_RARELY:
        make_cache(&p, 3000, 1300, true);
        break;
    case AT_START:
        for (int i = 0; i < 500; i++)
            make_block(&p, i * 100, LENGTH);
        make_life(&p, 1000, 0.001);
        break;
    case LEAK:
        make_life(&p, 3000, 0.02);
        make_life(&p, 300, 1e9);
        break;
    case FEW_LEAK:
        make_life(&p, 120, 1e9);
        break;
    case MIXED_LEAK:
        p.length = 500;
        make_life(&p, 20, 1e9);
        p.length = 1;
        make_life(&p, 40, 1e9);
        break;
    }
    ck_assert(blocks_finish(&result->table) && profile_sum_up(result));
}

/* How many of so many programs are said to grow. */
static int count_growing(behaviour b, double rate) {
    int growing = 0;
    for (uint64_t seed = 1; seed <= ROUNDS; seed++) {
        profile p;
        make_program(b, seed, rate, &p);
        const lens view = {.profile = &p};
        leaks l;
        ck_assert(leaks_query(&view, &(leaks_spec){.warm_up = 0.25}, &l));
        growing += l.total.class == LEAKS_GROWING;
        leaks_free(&l);
        profile_free(&p);
    }
    return growing;
}

static const struct {
    const char *name;
    behaviour behaviour;
    int most, least; /* of all rounds */
} behaviours[] = {
    {"blocks that live 2 % of the time", STEADY, ROUNDS / 50, 0},
    {"blocks that live 8 % of the time", SLOW, ROUNDS / 20, 0},
    {"40 bursts of 100 blocks", BURSTS, ROUNDS / 50, 0},
    {"a cache of 200 blocks", CACHE, ROUNDS / 50, 0},
    {"a buffer that is flushed 8 times", FLUSHED, ROUNDS / 50, 0},
    {"a buffer that is flushed twice", FLUSHED_RARELY, ROUNDS / 20, 0},
    {"blocks of the start", AT_START, ROUNDS / 50, 0},
    {"a leak of one block in eleven", LEAK, ROUNDS, ROUNDS * 3 / 4},
    {"a leak of 120 blocks alone", FEW_LEAK, ROUNDS, ROUNDS / 2},
};

START_TEST(what_is_bounded_does_not_grow) {
    static const double rates[] = {0.1, 1};
    for (int i = 0; i < 2; i++) {
        int n = count_growing(behaviours[_i].behaviour, rates[i]);
        printf("# %s, rate %g: %d of %d grow\n", behaviours[_i].name, rates[i], n, ROUNDS);
        ck_assert_int_le(n, behaviours[_i].most);
        ck_assert_int_ge(n, behaviours[_i].least);
    }
}
END_TEST

/* The leak of 120 blocks, with as many samples as that rate gives. */
START_TEST(the_rate_that_is_named_would_do) {
    int telling = 0;
    for (uint64_t seed = 1; seed <= ROUNDS; seed++) {
        const double rate = 0.03; /* four samples */
        profile p;
        make_program(FEW_LEAK, seed, rate, &p);
        const lens view = {.profile = &p};
        leaks l;
        ck_assert(leaks_query(&view, &(leaks_spec){.warm_up = 0.25}, &l));
        ck_assert(l.total.class != LEAKS_GROWING);
        const uint64_t blocks = l.total.cost.blocks;
        const bool is_unclear = l.total.class == LEAKS_UNCLEAR && blocks > 0;
        if (is_unclear)
            ck_assert_double_eq_tol(l.telling_rate,
                                    fmin(1, rate * fmax(2, LEAKS_TELLING / (double)blocks)), 1e-9);
        else
            ck_assert_double_eq(l.telling_rate, 0);
        telling += is_unclear;
        leaks_free(&l);
        profile_free(&p);
    }
    const int growing = count_growing(FEW_LEAK, LEAKS_TELLING / 120.0);
    printf("# %d of %d unclear; with %d samples %d grow\n", telling, ROUNDS, LEAKS_TELLING,
           growing);
    ck_assert_int_ge(telling, ROUNDS / 2);
    ck_assert_int_ge(growing, ROUNDS * 9 / 10);
}
END_TEST

static leaks ask_of(const profile *p, const uint8_t *kept, measure m) {
    const lens view = {.profile = p};
    const leaks_spec spec = {.warm_up = 0.25, .kept = kept, .measure = m};
    leaks l;
    ck_assert(leaks_query(&view, &spec, &l));
    return l;
}

/* Of all blocks of a program, those that sampling would leave: each with the same chance, as if it
 * were a word, or by its size. */
static uint8_t *sample(const profile *p, uint64_t seed, double rate, bool by_size) {
    uint8_t *kept = malloc(p->table.count);
    test_random r = {seed};
    for (size_t row = 0; row < p->table.count; row++) {
        const uint64_t words = by_size ? blocks_length(&p->table, row) + 1 : 1;
        kept[row] = test_random_unit(&r) < estimate_inclusion(words, rate);
    }
    return kept;
}

enum { SLOPES = 200 }; /* programs of each kind */

/* The slope's interval holds what all blocks of the program amount to; by bytes, and by number,
 * also where most are small, and none or few of these were seen. */
START_TEST(slopes_are_covered) {
    static const behaviour programs[] = {SLOW, CACHE, LEAK, FEW_LEAK, MIXED_LEAK};
    const bool numbers = _i > 0;
    const measure m = numbers ? MEASURE_BLOCKS : MEASURE_ALLOCATED;
    for (size_t i = 0; i < (numbers ? 5 : 4); i++) {
        const double rate = programs[i] == MIXED_LEAK ? 0.02 : 0.1;
        int covered = 0;
        for (uint64_t seed = 1; seed <= SLOPES; seed++) {
            profile p;
            make_program(programs[i], i == 3 ? 1 : seed, 1, &p);
            leaks all = ask_of(&p, NULL, m);
            uint8_t *kept = sample(&p, seed, rate, numbers);
            p.info.sample_rate = rate;
            leaks some = ask_of(&p, kept, m);
            covered += some.total.slope.low <= all.total.slope.value &&
                       all.total.slope.value <= some.total.slope.high;
            leaks_free(&all);
            leaks_free(&some);
            free(kept);
            profile_free(&p);
        }
        printf("# slope %zu by %s: covers %d of %d\n", i, numbers ? "number" : "bytes", covered,
               SLOPES);
        ck_assert_int_ge(covered, SLOPES * 95 / 100);
    }
}
END_TEST

/* The same sites by how many blocks they have, ten words each. */
START_TEST(numbers_of_blocks) {
    tape t;
    profile p;
    lens view;
    make_classes(&t, &p, STAYS);
    ck_assert(lens_init(&view, &p, true, NULL));
    leaks bytes = ask(&p), l;
    ck_assert(leaks_query(&view, &(leaks_spec){.warm_up = 0.25, .measure = MEASURE_BLOCKS}, &l));
    ck_assert_int_eq(l.measure, MEASURE_BLOCKS);
    const leaks_site *s = find(&l, "parse");
    ck_assert_int_eq(s->class, LEAKS_GROWING);
    ck_assert_uint_eq(s->cost.blocks, 100);
    ck_assert_double_eq(s->live.value, 100);
    ck_assert_double_eq(s->live.high, 100);
    ck_assert_double_eq(s->line[LEAKS_POINTS - 1], 100);
    ck_assert_double_eq_tol(s->slope.value, find(&bytes, "parse")->slope.value / 80, 1e-9);
    ck_assert_double_eq(find(&l, "main")->live.value, 1); /* one of 100 words */
    ck_assert_int_eq(find(&l, "main")->class, LEAKS_STARTUP);
    ck_assert_int_eq(find(&l, "eval")->class, LEAKS_BOUNDED);
    leaks_free(&bytes);
    leaks_free(&l);
    lens_free(&view);
    profile_free(&p);
}
END_TEST

/* The same sites by how long what is left has been held: they are judged as before. */
START_TEST(what_survivors_hold) {
    tape t;
    profile p;
    lens view;
    cost sum = {0};
    make_classes(&t, &p, _i > 0 ? CLEANS_ALL : STAYS);
    ck_assert(lens_init(&view, &p, true, NULL));
    leaks bytes = ask(&p), l;
    const leaks_spec spec = {.warm_up = 0.25, .measure = MEASURE_BYTESECONDS};
    ck_assert(leaks_query(&view, &spec, &l));
    ck_assert_int_eq(l.measure, MEASURE_BYTESECONDS);
    for (size_t row = 0; row < p.table.count; row++) {
        const cost one =
            cost_of_seconds(blocks_samples(&p.table, row),
                            (double)l.to / 1e6 - (double)blocks_born(&p.table, row) / 1e6);
        if (blocks_born(&p.table, row) <= l.to && blocks_died(&p.table, row) > l.to)
            cost_add(&sum, &one);
    }
    ck_assert_uint_eq(l.total.cost.blocks, sum.blocks);
    ck_assert_double_eq_tol(l.total.cost.weight, sum.weight, 1e-9);
    ck_assert_double_eq_tol(l.total.live.value, sum.weight * 8, 1e-6);
    ck_assert_uint_eq(l.sites.count, bytes.sites.count);
    for (size_t i = 0; i < l.sites.count; i++) {
        const leaks_site *x = &l.sites.items[i], *y = find(&bytes, x->place->function);
        ck_assert_int_eq(x->class, y->class);
        ck_assert_double_eq(x->slope.value, y->slope.value);
        ck_assert_double_eq(x->line[LEAKS_POINTS - 1], y->line[LEAKS_POINTS - 1]);
        ck_assert_uint_eq(x->cost.samples, y->cost.samples);
    }
    leaks_free(&bytes);
    leaks_free(&l);
    lens_free(&view);
    profile_free(&p);
}
END_TEST

/* At rate 0.1: `n` blocks of ten words that stay, born `step` apart, beside one of the start. */
static void make_stay(profile *p, uint64_t n, uint64_t from, uint64_t step, uint64_t first_words) {
    *p = (profile){.duration = LENGTH, .keep_blocks = true};
    p->info.sample_rate = 0.1;
    p->info.word_size = 64;
    cct_path path = {0};
    ck_assert_uint_eq(cct_walk(&p->tree, &path, NULL, 0, 0), CCT_ROOT);
    cct_path_free(&path);
    for (uint64_t id = 0; id <= n; id++) {
        const memtrace_event event = {.kind = MEMTRACE_ALLOC,
                                      .time = id == 0 ? 1 : from + id * step,
                                      .id = id,
                                      .length = id == 0 ? first_words - 1 : 9,
                                      .samples = id == 0 ? (first_words + 9) / 10 : 1,
                                      .source = MEMTRACE_MAJOR};
        ck_assert(blocks_add(&p->table, 0, &event));
    }
    ck_assert(blocks_finish(&p->table) && profile_sum_up(p));
}

/* What is most of what stays by bytes may be one block; and where all is of the start, a block that
 * was missed weighs no more than those that were seen. */
START_TEST(most_by_number) {
    profile p;
    make_stay(&p, 30, LENGTH / 2, 1000, 100000);
    leaks bytes = ask_of(&p, NULL, false), numbers = ask_of(&p, NULL, true);
    ck_assert_int_eq(bytes.total.class, LEAKS_STARTUP);
    ck_assert_int_ne(numbers.total.class, LEAKS_STARTUP);
    leaks_free(&bytes);
    leaks_free(&numbers);
    profile_free(&p);
    make_stay(&p, 9, 1, 1, 10);
    numbers = ask_of(&p, NULL, true);
    ck_assert_int_eq(numbers.total.class, LEAKS_STARTUP);
    leaks_free(&numbers);
    profile_free(&p);
}
END_TEST

/* Names are compared as a whole. */
START_TEST(remarks_on_streams) {
    ck_assert_ptr_nonnull(strstr(leaks_remark("_IO_file_doallocate"), "buffer"));
    ck_assert_ptr_nonnull(strstr(leaks_remark("__fopen_internal"), "open stream"));
    ck_assert_ptr_null(leaks_remark("my_IO_file_doallocate"));
    ck_assert_ptr_null(leaks_remark("_IO_file_doallocate_"));
    ck_assert_ptr_null(leaks_remark(""));
}
END_TEST

static Suite *suite(void) {
    Suite *s = suite_create("leaks");
    TCase *t = tcase_create("leaks");
    tcase_set_timeout(t, 240);
    tcase_add_test(t, a_weight_is_a_slope);
    tcase_add_test(t, a_chance_is_a_limit);
    tcase_add_test(t, blocks_of_all_parts_count_once);
    tcase_add_test(t, classes_of_sites);
    tcase_add_test(t, a_line_knows_each_microsecond);
    tcase_add_test(t, a_clean_up_is_no_life);
    tcase_add_test(t, what_is_built_and_freed_does_not_grow);
    tcase_add_test(t, the_rate_that_is_named_would_do);
    tcase_add_test(t, a_clean_up_need_not_be_of_all);
    tcase_add_loop_test(t, a_clean_up_within_a_tick, 0, 2);
    tcase_add_test(t, of_nothing);
    tcase_add_loop_test(t, what_is_bounded_does_not_grow, 0,
                        sizeof behaviours / sizeof *behaviours);
    tcase_add_loop_test(t, slopes_are_covered, 0, 2);
    tcase_add_test(t, numbers_of_blocks);
    tcase_add_test(t, remarks_on_streams);
    tcase_add_loop_test(t, what_survivors_hold, 0, 2);
    tcase_add_test(t, most_by_number);
    suite_add_tcase(s, t);
    return s;
}

UNIT_MAIN(suite)
