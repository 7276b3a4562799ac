/* Tests of src/memprof with a host that collects: a small runtime with a nursery that bumps up or
 * down, a copying minor collection, with or without aging, and a sliding major one. It keeps an
 * exact account of what each of its objects went through, with which the tracker's must agree. */
#include <stdio.h>

#include "memprof_host.h"
#include "unit.h"

/* ---- the account ------------------------------------------------------------------------------
 */

enum { MAX_OBJECTS = 300000, MAX_FATE = 4 };

typedef struct fate {
    char happened[MAX_FATE], told[MAX_FATE]; /* such as "apD" */
    uint64_t samples, words;
} fate;

static void fate_add(char *events, char event) {
    size_t n = strlen(events);
    REQUIRE(n < MAX_FATE - 1);
    events[n] = event;
}

/* ---- a heap ------------------------------------------------------------------------------------
 */

typedef struct object {
    uint64_t id;
    uint32_t n_fields;
    bool marked, aged;
    struct object *forward; /* where it went; NULL: nowhere yet */
    struct object *fields[];
} object;

enum { SPACE = 2048, ARENA = 1 << 17, ROOTS = 40, LARGE_FIELDS = 300, HEADER = 3 };

typedef struct heap {
    test_memory memory;
    memprof *engine;
    memprof_thread thread;
    bool downwards, aging, reports_survivors, frees_majors;
    uint64_t spaces[2][SPACE];
    int from; /* the space in use */
    uintptr_t next, end, limit;
    uint64_t *arena; /* of major objects, one after the other */
    size_t arena_used;
    object *young[SPACE];
    size_t n_young;
    object *roots[ROOTS];
    struct {
        uintptr_t old, new;
    } * moves; /* of the last major collection, ascending; new = 0: dead */
    size_t n_moves;
    uint64_t random;
    fate *fates;
    uint64_t n_objects, callbacks_postponed;
} heap;

static uint32_t dice(heap *h, uint32_t sides) {
    h->random = h->random * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (uint32_t)((h->random >> 33) % sides);
}

static size_t words_of(const object *o) {
    return HEADER + o->n_fields;
}

static void happens(heap *h, const object *o, char event) {
    if (h->fates[o->id].samples)
        fate_add(h->fates[o->id].happened, event);
}

static void nursery_use(heap *h, int space) {
    uintptr_t low = (uintptr_t)h->spaces[space], high = (uintptr_t)(h->spaces[space] + SPACE);
    h->from = space;
    h->next = h->downwards ? high : low;
    h->end = h->downwards ? low : high;
}

static void nursery_enter(heap *h) {
    h->limit = memprof_nursery_enter(h->engine, &h->thread, h->next, h->end);
}

/* Bumps; NULL if that would pass `limit`. */
static object *bump(heap *h, uint32_t n_fields, uintptr_t limit) {
    size_t bytes = (HEADER + (size_t)n_fields) * 8;
    if ((h->downwards ? h->next - limit : limit - h->next) < bytes)
        return NULL;
    object *o = (object *)(h->downwards ? h->next - bytes : h->next);
    h->next = h->downwards ? h->next - bytes : h->next + bytes;
    return o;
}

static object *arena_bump(heap *h, uint32_t n_fields) {
    object *o = (object *)(h->arena + h->arena_used);
    h->arena_used += HEADER + n_fields;
    REQUIRE(h->arena_used <= ARENA);
    return o;
}

/* ---- minor collections --------------------------------------------------------------------------
 */

static bool is_young(const heap *h, const object *o) {
    return o && (uintptr_t)o >= (uintptr_t)h->spaces[h->from] &&
           (uintptr_t)o < (uintptr_t)(h->spaces[h->from] + SPACE);
}

static object *copy(heap *h, object *o, object **kept, size_t *n_kept) {
    if (!is_young(h, o))
        return o;
    if (o->forward)
        return o->forward;
    bool stays = h->aging && !o->aged;
    object *to = stays ? bump(h, o->n_fields, h->end) : arena_bump(h, o->n_fields);
    memcpy(to, o, words_of(o) * 8);
    o->forward = to;
    to->aged = true;
    if (stays)
        kept[(*n_kept)++] = to;
    else
        happens(h, o, 'p');
    if (h->reports_survivors)
        memprof_survived(h->engine, &h->thread, (uintptr_t)o, (uintptr_t)to,
                         stays ? MEMPROF_MINOR : MEMPROF_MAJOR);
    for (uint32_t i = 0; i < to->n_fields; i++) /* stacks are shallow here */
        to->fields[i] = copy(h, to->fields[i], kept, n_kept);
    return to;
}

static uintptr_t locate_minor(void *context, uintptr_t address) {
    (void)context;
    return (uintptr_t)((object *)address)->forward;
}

static void each_major_field(heap *h, void (*fn)(heap *, object **)) {
    for (size_t at = 0; at < h->arena_used;) {
        object *o = (object *)(h->arena + at);
        at += words_of(o);
        for (uint32_t i = 0; i < o->n_fields; i++)
            fn(h, &o->fields[i]);
    }
}

static object *kept_young[SPACE];
static size_t n_kept_young;

static void copy_field(heap *h, object **field) {
    *field = copy(h, *field, kept_young, &n_kept_young);
}

static void collect_minor(heap *h) {
    memprof_nursery_leave(h->engine, &h->thread, h->next);
    int from = h->from;
    nursery_use(h, !from); /* survivors that stay young go there */
    h->from = from;
    n_kept_young = 0;
    for (int i = 0; i < ROOTS; i++)
        copy_field(h, &h->roots[i]);
    each_major_field(h, copy_field);
    for (size_t i = 0; i < h->n_young; i++)
        if (!h->young[i]->forward)
            happens(h, h->young[i], 'd');
    memprof_minor_ended(h->engine, &h->thread, &h->thread,
                        h->reports_survivors ? NULL : locate_minor, NULL);
    memset(h->spaces[from], 0xEE, sizeof h->spaces[from]);
    h->from = !from;
    memcpy(h->young, kept_young, n_kept_young * sizeof *kept_young);
    h->n_young = n_kept_young;
}

/* ---- major collections --------------------------------------------------------------------------
 */

static void mark(heap *h, object *o) {
    if (!o || o->marked || is_young(h, o))
        return;
    o->marked = true;
    for (uint32_t i = 0; i < o->n_fields; i++)
        mark(h, o->fields[i]);
}

static int compare_move(const void *key, const void *move) {
    uintptr_t a = *(const uintptr_t *)key, b = *(const uintptr_t *)move;
    return a < b ? -1 : a > b;
}

static uintptr_t locate_major(void *context, uintptr_t address) {
    heap *h = context;
    uintptr_t *move = bsearch(&address, h->moves, h->n_moves, sizeof *h->moves, compare_move);
    REQUIRE(move);
    return move[1];
}

static void forward_field(heap *h, object **field) {
    (void)h;
    if (*field && (*field)->forward)
        *field = (*field)->forward;
}

/* Decides who lives, and where it will slide to. */
static void plan(heap *h) {
    size_t to = 0;
    h->n_moves = 0;
    for (size_t at = 0; at < h->arena_used;) {
        object *o = (object *)(h->arena + at);
        at += words_of(o);
        h->moves[h->n_moves].old = (uintptr_t)o;
        o->forward = o->marked ? (object *)(h->arena + to) : NULL;
        h->moves[h->n_moves++].new = (uintptr_t)o->forward;
        if (o->marked)
            to += words_of(o);
        else {
            happens(h, o, 'D');
            if (h->frees_majors)
                memprof_freed(h->engine, &h->thread, (uintptr_t)o);
        }
    }
}

static void slide(heap *h) {
    size_t to = 0;
    for (size_t at = 0; at < h->arena_used;) {
        object *o = (object *)(h->arena + at);
        size_t n = words_of(o);
        at += n;
        if (!o->marked)
            continue;
        o->marked = false;
        o->forward = NULL;
        memmove(h->arena + to, o, n * 8);
        to += n;
    }
    h->arena_used = to;
}

/* With an empty nursery. */
static void collect_major(heap *h) {
    for (int i = 0; i < ROOTS; i++)
        mark(h, h->roots[i]);
    plan(h);
    for (int i = 0; i < ROOTS; i++)
        forward_field(h, &h->roots[i]);
    each_major_field(h, forward_field);
    memprof_major_ended(h->engine, &h->thread, locate_major, h);
    slide(h);
}

static void collect_all(heap *h) {
    bool aging = h->aging;
    h->aging = false;
    collect_minor(h);
    collect_major(h);
    h->aging = aging;
}

/* ---- allocation
 * ---------------------------------------------------------------------------------- */

static object *set_up(heap *h, object *o, uint32_t n_fields) {
    *o = (object){.id = h->n_objects++, .n_fields = n_fields};
    REQUIRE(o->id < MAX_OBJECTS);
    h->fates[o->id].words = words_of(o);
    for (uint32_t i = 0; i < n_fields; i++)
        o->fields[i] = NULL;
    return o;
}

static void track(heap *h, object *o, uint64_t k, memprof_heap in) {
    h->fates[o->id].samples = k;
    if (k)
        fate_add(h->fates[o->id].happened, in == MEMPROF_MINOR ? 'a' : 'A');
    memprof_track(h->engine, &h->thread,
                  &(memprof_birth){.address = (uintptr_t)o,
                                   .size = words_of(o) - 1,
                                   .n_samples = k,
                                   .heap = in,
                                   .site = &o->id});
}

static object *allocate_large(heap *h, uint32_t n_fields) {
    memprof_nursery_leave(h->engine, &h->thread, h->next);
    object *o = set_up(h, arena_bump(h, n_fields), n_fields);
    bool maybe = memprof_count(&h->thread, words_of(o));
    track(h, o, maybe ? memprof_sample(h->engine, &h->thread, words_of(o)) : 0, MEMPROF_MAJOR);
    nursery_enter(h);
    return o;
}

static object *allocate_slow(heap *h, uint32_t n_fields) {
    uintptr_t before = h->next;
    object *o = bump(h, n_fields, h->end);
    if (!o) {
        collect_minor(h);
        if (h->arena_used > ARENA / 2)
            collect_all(h);
        before = h->next;
        if (!(o = bump(h, n_fields, h->end))) { /* survivors fill it */
            collect_all(h);
            before = h->next;
            o = bump(h, n_fields, h->end);
        }
    }
    h->young[h->n_young++] = set_up(h, o, n_fields);
    uint64_t k = memprof_nursery_sample(h->engine, &h->thread, before, words_of(o));
    nursery_enter(h);
    track(h, o, k, MEMPROF_MINOR);
    return o;
}

static object *allocate(heap *h, uint32_t n_fields) {
    if (n_fields >= LARGE_FIELDS)
        return allocate_large(h, n_fields);
    object *o = bump(h, n_fields, h->limit);
    if (!o)
        return allocate_slow(h, n_fields);
    return h->young[h->n_young++] = set_up(h, o, n_fields);
}

/* ---- the tracker: metadata is the object's id + 1, which comes as the call stack
 * -------------------- */

static size_t id_as_stack(void *context, memprof_thread *thread, const void *site, uint64_t *frames,
                          size_t max) {
    (void)context, (void)thread;
    REQUIRE(max >= 1);
    frames[0] = *(const uint64_t *)site;
    return 1;
}

static void *told_alloc(void *context, const memprof_allocation *info, char event) {
    heap *h = context;
    uint64_t id = info->callstack[0];
    REQUIRE(info->n_samples == h->fates[id].samples);
    REQUIRE(info->size + 1 == h->fates[id].words);
    fate_add(h->fates[id].told, event);
    h->callbacks_postponed += strcmp(h->fates[id].told, h->fates[id].happened) != 0;
    return (void *)(uintptr_t)(id + 1);
}

static void *told_alloc_minor(void *c, memprof_thread *t, const memprof_allocation *info) {
    (void)t;
    return told_alloc(c, info, 'a');
}

static void *told_alloc_major(void *c, memprof_thread *t, const memprof_allocation *info) {
    (void)t;
    return told_alloc(c, info, 'A');
}

static void told(void *context, memprof_thread *t, void *metadata, char event) {
    (void)t;
    fate_add(((heap *)context)->fates[(uintptr_t)metadata - 1].told, event);
}

static void *told_promote(void *c, memprof_thread *t, void *metadata) {
    told(c, t, metadata, 'p');
    return metadata;
}

static void told_dealloc_minor(void *c, memprof_thread *t, void *metadata) {
    told(c, t, metadata, 'd');
}

static void told_dealloc_major(void *c, memprof_thread *t, void *metadata) {
    told(c, t, metadata, 'D');
}

/* ---- a program
 * ---------------------------------------------------------------------------------------- */

static heap *heap_new(double rate, unsigned kind) {
    heap *h = calloc(1, sizeof *h);
    *h = (heap){.downwards = kind & 1,
                .reports_survivors = kind & 2,
                .aging = (kind & 6) == 6, /* needs the reports */
                .frees_majors = kind & 8,
                .random = kind + 1,
                .arena = calloc(ARENA, 8),
                .moves = calloc(ARENA / HEADER, sizeof *h->moves),
                .fates = calloc(MAX_OBJECTS, sizeof *h->fates)};
    h->engine = memprof_create(&(memprof_host){.context = &h->memory,
                                               .reallocate = test_reallocate,
                                               .callstack = id_as_stack,
                                               .word_size = 8,
                                               .collects = true});
    const memprof_tracker tracker = {.context = h,
                                     .alloc_minor = told_alloc_minor,
                                     .alloc_major = told_alloc_major,
                                     .promote = told_promote,
                                     .dealloc_minor = told_dealloc_minor,
                                     .dealloc_major = told_dealloc_major};
    ck_assert_int_eq(
        memprof_start(h->engine, &h->thread,
                      &(memprof_options){.rate = rate, .callstack_size = 1, .seed = kind},
                      &tracker),
        MEMPROF_OK);
    nursery_use(h, 0);
    nursery_enter(h);
    return h;
}

static void heap_free(heap *h) {
    memprof_destroy(h->engine);
    ck_assert_int_eq(h->memory.live, 0);
    free(h->arena);
    free(h->moves);
    free(h->fates);
    free(h);
}

/* At a safe point. */
static void run_postponed(heap *h) {
    if (!memprof_has_postponed(&h->thread))
        return;
    memprof_nursery_leave(h->engine, &h->thread, h->next);
    memprof_run_postponed(h->engine, &h->thread);
    nursery_enter(h);
}

/* Builds chains that hang on roots, drops some, and makes garbage. */
static void run_program(heap *h, int steps, unsigned delay) {
    for (int i = 0; i < steps; i++) {
        uint32_t n = dice(h, 400) == 0 ? LARGE_FIELDS + dice(h, 50) : dice(h, 12);
        object *o = allocate(h, n), **root = &h->roots[dice(h, ROOTS)];
        if (n > 1 && dice(h, 3) == 0) {
            o->fields[0] = dice(h, 6) ? *root : NULL; /* chains of about six */
            o->fields[1] = h->roots[dice(h, ROOTS)];
            if (o->fields[1] && o->fields[1]->n_fields && dice(h, 4))
                o->fields[1] = NULL;
            *root = o;
        }
        if (dice(h, 200) == 0)
            h->roots[dice(h, ROOTS)] = NULL;
        if (dice(h, delay) == 0)
            run_postponed(h);
    }
}

static void check_fates(heap *h) {
    for (uint64_t id = 0; id < h->n_objects; id++)
        REQUIRE(!strcmp(h->fates[id].told, h->fates[id].happened));
}

static const double rates[] = {1, 0.3, 0.01};

/* Every kind of heap at every rate. */
START_TEST(the_tracker_is_told_what_happened) {
    heap *h = heap_new(rates[_i / 16], (unsigned)_i % 16);
    run_program(h, 30000, _i % 3 ? 50 : 5000);
    collect_all(h);
    nursery_enter(h);
    run_postponed(h);
    check_fates(h);
    memset(h->roots, 0, sizeof h->roots);
    collect_all(h); /* now everything is dead */
    nursery_enter(h);
    run_postponed(h);
    check_fates(h);
    memprof_stats s;
    memprof_get_stats(h->engine, &s);
    ck_assert_uint_eq(s.tracked, 0);
    ck_assert_uint_eq(s.implied_deaths + s.lost_busy + s.lost_memory, 0);
    ck_assert_uint_gt(h->callbacks_postponed, 0); /* promoted or dead before it was told */
    heap_free(h);
}
END_TEST

/* The limit finds exactly the samples: each size has its binomial law. */
START_TEST(nursery_samples_are_binomial) {
    enum { CLASSES = 40, SIZES = 12 };
    const double rate = rates[1 + _i / 2];
    heap *h = heap_new(rate, _i % 2);
    run_program(h, 300000, 1000);
    uint64_t counts[SIZES][CLASSES] = {0}, totals[SIZES] = {0};
    for (uint64_t id = 0; id < h->n_objects; id++) {
        uint64_t size = h->fates[id].words - HEADER, k = h->fates[id].samples;
        if (size >= SIZES)
            continue;
        totals[size]++;
        counts[size][k < CLASSES ? k : CLASSES - 1]++;
    }
    for (int size = 0; size < SIZES; size++)
        ck_assert_double_lt(
            fabs(binomial_z(counts[size], CLASSES, (double)totals[size], HEADER + size, rate)), 4);
    heap_free(h);
}
END_TEST

START_TEST(rate_one_samples_every_word_of_a_nursery) {
    heap *h = heap_new(1, _i);
    run_program(h, 20000, 100);
    for (uint64_t id = 0; id < h->n_objects; id++)
        REQUIRE(h->fates[id].samples == h->fates[id].words);
    heap_free(h);
}
END_TEST

/* ---- small scenes
 * ---------------------------------------------------------------------------------------- */

typedef struct scene {
    test_memory memory;
    memprof *engine;
    memprof_thread thread;
    test_diary diary;
} scene;

static scene *scene_new(void) {
    scene *s = calloc(1, sizeof *s);
    s->engine = memprof_create(
        &(memprof_host){.context = &s->memory, .reallocate = test_reallocate, .collects = true});
    const memprof_tracker tracker = diary_tracker(&s->diary);
    ck_assert_int_eq(memprof_start(s->engine, &s->thread, &(memprof_options){.rate = 1}, &tracker),
                     MEMPROF_OK);
    return s;
}

static void scene_free(scene *s) {
    memprof_destroy(s->engine);
    ck_assert_int_eq(s->memory.live, 0);
    free(s);
}

static void scene_birth(scene *s, memprof_thread *t, uintptr_t address, memprof_heap in) {
    uint64_t k = memprof_count(t, 2) ? memprof_sample(s->engine, t, 2) : 0;
    ck_assert_uint_eq(k, 2);
    memprof_track(s->engine, t,
                  &(memprof_birth){.address = address, .size = 1, .n_samples = k, .heap = in});
}

static uintptr_t one_up(void *context, uintptr_t address) {
    (void)context;
    return address + 0x100;
}

START_TEST(nothing_runs_before_its_time) {
    scene *s = scene_new();
    scene_birth(s, &s->thread, 0x1000, MEMPROF_MINOR);
    ck_assert(memprof_has_postponed(&s->thread));
    memprof_minor_ended(s->engine, &s->thread, &s->thread, one_up, NULL);
    memprof_freed(s->engine, &s->thread, 0x1100);
    ck_assert_uint_eq(s->diary.n, 0);
    memprof_run_postponed(s->engine, &s->thread);
    ck_assert(!memprof_has_postponed(&s->thread));
    ck_assert_str_eq(diary_text(&s->diary), "a1 p1 D1");
    scene_free(s);
}
END_TEST

START_TEST(a_promotion_may_end_the_tracking) {
    scene *s = scene_new();
    s->diary.refuse_promote = true;
    scene_birth(s, &s->thread, 0x1000, MEMPROF_MINOR);
    memprof_minor_ended(s->engine, &s->thread, &s->thread, one_up, NULL);
    memprof_run_postponed(s->engine, &s->thread);
    memprof_freed(s->engine, &s->thread, 0x1100);
    memprof_run_postponed(s->engine, &s->thread);
    ck_assert_str_eq(diary_text(&s->diary), "a1 p1");
    scene_free(s);
}
END_TEST

START_TEST(a_refused_allocation_is_never_heard_of_again) {
    scene *s = scene_new();
    s->diary.refuse_alloc = true;
    scene_birth(s, &s->thread, 0x1000, MEMPROF_MINOR);
    scene_birth(s, &s->thread, 0x2000, MEMPROF_MAJOR);
    memprof_freed(s->engine, &s->thread, 0x2000); /* before it was told */
    memprof_minor_ended(s->engine, &s->thread, &s->thread, one_up, NULL);
    memprof_run_postponed(s->engine, &s->thread);
    ck_assert_str_eq(diary_text(&s->diary), "a1 A2");
    memprof_stats stats;
    memprof_get_stats(s->engine, &stats);
    ck_assert_uint_eq(stats.tracked, 0);
    scene_free(s);
}
END_TEST

/* Blocks slide down, each to where the one before it was. */
START_TEST(blocks_may_move_to_where_others_were) {
    scene *s = scene_new();
    for (uintptr_t a = 1; a <= 200; a++)
        scene_birth(s, &s->thread, a * 0x100, MEMPROF_MAJOR);
    memprof_run_postponed(s->engine, &s->thread);
    s->diary.n = 0;
    memprof_major_ended(s->engine, &s->thread, one_up, NULL);
    memprof_freed(s->engine, &s->thread, 0x100); /* nobody is there now */
    memprof_freed(s->engine, &s->thread, 0x200);
    memprof_freed(s->engine, &s->thread, 201 * 0x100);
    memprof_run_postponed(s->engine, &s->thread);
    ck_assert_str_eq(diary_text(&s->diary), "D1 D200");
    scene_free(s);
}
END_TEST

START_TEST(stop_runs_what_it_can) {
    scene *s = scene_new();
    memprof_thread other = {0};
    scene_birth(s, &other, 0x1000, MEMPROF_MAJOR);
    memprof_run_postponed(s->engine, &other);
    scene_birth(s, &other, 0x2000, MEMPROF_MAJOR); /* its callback can run in `other` only */
    memprof_freed(s->engine, &other, 0x1000);      /* this one anywhere */
    scene_birth(s, &s->thread, 0x3000, MEMPROF_MINOR);
    ck_assert_int_eq(memprof_stop(s->engine, &s->thread), MEMPROF_OK);
    ck_assert_uint_eq(s->diary.n, 3);
    ck_assert_int_eq(s->diary.events[0].kind, 'A');
    ck_assert(strstr(diary_text(&s->diary), "D1"));
    ck_assert(strstr(diary_text(&s->diary), "a2"));
    memprof_stats stats;
    memprof_get_stats(s->engine, &stats);
    ck_assert_uint_eq(stats.lost_at_stop, 1);
    ck_assert_uint_eq(stats.tracked, 0);
    memprof_run_postponed(s->engine, &other);
    memprof_thread_exit(s->engine, &other);
    ck_assert_uint_eq(s->diary.n, 3);
    scene_free(s);
}
END_TEST

static void add_1000(void *context, void **metadata) {
    *(int *)context += 1;
    *metadata = (char *)*metadata + 1000;
}

START_TEST(metadata_can_be_moved) {
    scene *s = scene_new();
    int visited = 0;
    scene_birth(s, &s->thread, 0x1000, MEMPROF_MAJOR);
    scene_birth(s, &s->thread, 0x2000, MEMPROF_MINOR);
    memprof_run_postponed(s->engine, &s->thread);
    scene_birth(s, &s->thread, 0x3000, MEMPROF_MINOR); /* has no metadata yet */
    memprof_freed(s->engine, &s->thread, 0x1000);      /* dead, but its metadata still counts */
    memprof_visit_metadata(s->engine, add_1000, &visited);
    ck_assert_int_eq(visited, 2);
    memprof_minor_ended(s->engine, &s->thread, &s->thread, NULL, NULL);
    memprof_run_postponed(s->engine, &s->thread);
    ck_assert(strstr(diary_text(&s->diary), "D1001"));
    ck_assert(strstr(diary_text(&s->diary), "d1002"));
    ck_assert(strstr(diary_text(&s->diary), "a3 d3"));
    scene_free(s);
}
END_TEST

/* A callback that allocates in the nursery and collects. */
static void collect_inside(void *context, memprof_thread *thread) {
    scene *s = context;
    uintptr_t limit = memprof_nursery_enter(s->engine, thread, 0x8000, 0x9000);
    ck_assert_uint_eq(limit, 0x9000); /* nothing is sampled */
    ck_assert_uint_eq(memprof_nursery_sample(s->engine, thread, 0x8100, 10), 0);
    memprof_minor_ended(s->engine, thread, thread, NULL, NULL);
    memprof_run_postponed(s->engine, thread); /* does not nest */
}

START_TEST(a_callback_may_collect) {
    scene *s = scene_new();
    s->diary.inside = collect_inside;
    s->diary.inside_context = s;
    scene_birth(s, &s->thread, 0x1000, MEMPROF_MINOR);
    scene_birth(s, &s->thread, 0x2000, MEMPROF_MINOR);
    memprof_run_postponed(s->engine, &s->thread);
    ck_assert_str_eq(diary_text(&s->diary), "a1 d1 a2 d2");
    scene_free(s);
}
END_TEST

START_TEST(a_domain_may_collect_for_another) {
    scene *s = scene_new();
    memprof_thread other = {0};
    scene_birth(s, &other, 0x1000, MEMPROF_MINOR);
    memprof_run_postponed(s->engine, &other);
    memprof_minor_ended(s->engine, &s->thread, &other, NULL, NULL);
    ck_assert(memprof_has_postponed(&s->thread));
    memprof_run_postponed(s->engine, &s->thread);
    ck_assert_str_eq(diary_text(&s->diary), "a1 d1");
    scene_free(s);
}
END_TEST

static Suite *suite(void) {
    Suite *s = suite_create("memprof_heap");
    TCase *t = tcase_create("memprof_heap");
    tcase_set_timeout(t, 120);
    tcase_add_loop_test(t, the_tracker_is_told_what_happened, 0, 48);
    tcase_add_loop_test(t, nursery_samples_are_binomial, 0, 4);
    tcase_add_loop_test(t, rate_one_samples_every_word_of_a_nursery, 0, 4);
    tcase_add_test(t, nothing_runs_before_its_time);
    tcase_add_test(t, a_promotion_may_end_the_tracking);
    tcase_add_test(t, a_refused_allocation_is_never_heard_of_again);
    tcase_add_test(t, blocks_may_move_to_where_others_were);
    tcase_add_test(t, stop_runs_what_it_can);
    tcase_add_test(t, metadata_can_be_moved);
    tcase_add_test(t, a_callback_may_collect);
    tcase_add_test(t, a_domain_may_collect_for_another);
    suite_add_tcase(s, t);
    return s;
}

UNIT_MAIN(suite)
