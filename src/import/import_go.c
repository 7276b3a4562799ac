/* import_go.c: turns the buckets of Go's heap profile into an import. The numbers equal those of
 * Go's own profile of the same moment (runtime/pprof), with one exception: allocations since the
 * last garbage collection, which that profile omits, count as allocated. As in that profile, live
 * blocks are those that the last completed collection left, or all blocks if there was no
 * collection. */
#include <math.h>
#include <string.h>

#include "base/file.h"
#include "import/import_go.h"

double go_heap_scale(uint64_t size, uint64_t period) {
    return period <= 1 || size == 0 ? 1 : 1 / (1 - exp(-(double)size / (double)period));
}

/* ---- buckets ------------------------------------------------------------------------------- */

enum {
    N_FUTURE = 3, /* collection cycles that are counted separately */
    MEMORY_BUCKET = 1,
    MOST_FRAMES = 2048,
    MOST_BUCKETS = 1 << 20,
    MOST_WORDS = 1 << 25, /* frames of all buckets together */
};

/* A bucket consists of this head, the return addresses, the published `counts`, and one `counts`
 * for each future cycle. */
typedef struct bucket_head {
    uint64_t next, next_of_all, kind, hash, size, n_frames;
} bucket_head;

typedef struct counts {
    uint64_t allocated, freed, allocated_bytes, freed_bytes;
} counts;

typedef struct bucket_body {
    uint64_t frames[MOST_FRAMES];
    counts cycles[1 + N_FUTURE]; /* the published ones first */
} bucket_body;

/* Whether counts may be changing: whoever changes them, even published ones, holds the lock of a
 * future cycle. */
static bool is_locked(const go_program *p, int memory) {
    uint64_t locks[N_FUTURE];
    return file_read_at(memory, locks, sizeof locks, p->at[GO_FUTURE_LOCKS]) != 0 || locks[0] ||
           locks[1] || locks[2];
}

/* Reads the frames and the counts of a bucket. */
static bool read_body(int memory, uint64_t at, const bucket_head *b, bucket_body *body) {
    unsigned char bytes[sizeof body->frames + sizeof body->cycles];
    const size_t frames = b->n_frames * sizeof *body->frames;
    if (file_read_at(memory, bytes, frames + sizeof body->cycles, at + sizeof *b) != 0)
        return false;
    memcpy(body->frames, bytes, frames);
    memcpy(body->cycles, bytes + frames, sizeof body->cycles);
    return true;
}

static bool read_cycle(const go_program *p, int memory, uint32_t *cycle) {
    return file_read_at(memory, cycle, sizeof *cycle, p->at[GO_CYCLE]) == 0;
}

static bool is_sound(const bucket_head *b, const bucket_body *body) {
    for (int i = 0; i <= N_FUTURE; i++)
        if (body->cycles[i].allocated_bytes != body->cycles[i].allocated * b->size)
            return false;
    return true;
}

/* For memory that keeps changing: whether the data read from a bucket is its state at one moment.
 * This holds if it is still the same and nobody was changing counts in between: a change that was
 * half seen has either completed by now or holds its lock. */
static bool is_steady(const go_program *p, int memory, uint64_t at, const bucket_head *b,
                      const bucket_body *body, uint32_t cycle) {
    counts again[1 + N_FUTURE];
    uint32_t now;
    const uint64_t where = at + sizeof *b + b->n_frames * sizeof *body->frames;
    return !is_locked(p, memory) && file_read_at(memory, again, sizeof again, where) == 0 &&
           memcmp(again, body->cycles, sizeof again) == 0 && read_cycle(p, memory, &now) &&
           now == cycle && is_sound(b, body);
}

static bool keep_bucket(go_heap *h, uint64_t at, const bucket_head *b, const bucket_body *body,
                        uint32_t cycle) {
    /* The cycle is the value without its lowest bit. Its counts belong to the published ones,
     * whether they have been added to them yet or not. */
    const unsigned due = (cycle >> 1) % N_FUTURE;
    counts published = body->cycles[0];
    uint64_t since = 0;
    for (unsigned i = 0; i < N_FUTURE; i++) {
        const counts *c = &body->cycles[1 + i];
        if (i == due) {
            published.allocated += c->allocated;
            published.freed += c->freed;
        } else {
            since += c->allocated;
        }
    }
    h->is_collected |= published.allocated || published.freed;
    h->since += (double)(since * b->size) * go_heap_scale(b->size, h->period);
    if (published.allocated + since == 0)
        return true;
    const go_bucket new = {
        .at = at,
        .size = b->size,
        .allocated = published.allocated + since,
        .live = published.allocated > published.freed ? published.allocated - published.freed : 0,
        .since = since,
        .first = h->frames.count,
        .n_frames = b->n_frames};
    if (!vec_reserve(&h->frames, b->n_frames) || !vec_push(&h->buckets, new))
        return false;
    memcpy(h->frames.items + h->frames.count, body->frames, b->n_frames * sizeof *body->frames);
    h->frames.count += b->n_frames;
    return true;
}

static go_heap_status no_profile(import_error *error, const char *reason) {
    import_fail(error, 0, "%s", reason);
    return GO_HEAP_FAILED;
}

/* Reads one bucket; `head` then has its successor. In a running program, a bucket that does not
 * hold still is left out. */
static go_heap_status read_bucket(go_heap *h, const go_program *p, int memory, go_heap_how how,
                                  uint64_t at, bucket_head *head, import_error *error) {
    static const char strange[] = "its profile is not as Go lays it out";
    enum { TRIES = 20 };
    bucket_body body;
    uint32_t cycle;
    bool steady = false;
    if (file_read_at(memory, head, sizeof *head, at) != 0 || head->kind != MEMORY_BUCKET ||
        head->n_frames > MOST_FRAMES)
        return no_profile(error, strange);
    for (int i = 0; i < TRIES && !steady; i++) {
        if (!read_cycle(p, memory, &cycle) || !read_body(memory, at, head, &body))
            return no_profile(error, strange);
        steady = how != GO_HEAP_RUNS || is_steady(p, memory, at, head, &body, cycle);
    }
    if (how == GO_HEAP_STANDS && !is_sound(head, &body))
        return no_profile(error, strange);
    return (steady ? keep_bucket(h, at, head, &body, cycle) : vec_push(&h->left_out, at))
               ? GO_HEAP_READ
               : no_profile(error, "not enough memory");
}

go_heap_status go_heap_read(go_heap *h, const go_program *p, int memory, go_heap_how how,
                            import_error *error) {
    uint64_t at;
    bucket_head head;
    go_heap_status status = GO_HEAP_READ;
    vec_clear(&h->buckets);
    vec_clear(&h->frames);
    vec_clear(&h->left_out);
    h->is_collected = false;
    h->since = 0;
    if (how == GO_HEAP_STANDS && is_locked(p, memory))
        return GO_HEAP_BUSY;
    if (file_read_at(memory, &h->period, sizeof h->period, p->at[GO_RATE]) != 0 ||
        file_read_at(memory, &at, sizeof at, p->at[GO_BUCKETS]) != 0)
        return no_profile(error, "the variables of its runtime cannot be read");
    uint64_t mark = 0; /* an earlier bucket, at growing distances, to detect a circular list */
    for (size_t i = 0; at && status == GO_HEAP_READ; i++, at = head.next_of_all) {
        const bool goes_on = i < MOST_BUCKETS && h->frames.count <= MOST_WORDS && at != mark;
        if ((i & (i - 1)) == 0)
            mark = at;
        status = goes_on ? read_bucket(h, p, memory, how, at, &head, error)
                         : no_profile(error, "its profile is endless");
    }
    if (!h->is_collected)
        h->since = 0;
    return status;
}

void go_heap_free(go_heap *h) {
    vec_free(&h->buckets);
    vec_free(&h->frames);
    vec_free(&h->left_out);
}

/* ---- numbers ------------------------------------------------------------------------------- */

/* Converts to an integer; in damaged memory, `x` can be anything. */
static uint64_t whole(double x) {
    const double most = 1LL << 52;
    return x < most ? (uint64_t)x : x >= most ? (uint64_t)most : 0;
}

static void add_bucket(go_stacks *s, const go_heap *h, const go_bucket *b) {
    const uint64_t live = h->is_collected ? b->live : b->allocated;
    const double scale = go_heap_scale(b->size, h->period);
    import_record record = {.first = s->to->frames.count,
                            .size = b->size,
                            .blocks = whole((double)b->allocated * scale),
                            .bytes = whole((double)(b->allocated * b->size) * scale),
                            .live = whole((double)live * scale),
                            .live_bytes = whole((double)(live * b->size) * scale)};
    go_stacks_add(s, go_heap_frames(h, b), b->n_frames);
    import_add_record(s->to, record);
}

void go_heap_describe(import *to, const go_heap *h) {
    to->format = MEMTRACE_GO_PROFILE;
    to->missing = "times";
    to->period = (double)h->period;
}

bool go_heap_import(import *to, const go_heap *h, const go_program *p, int memory,
                    import_error *error) {
    go_stacks s;
    const bool opened = go_stacks_open(&s, to, p, memory, error);
    go_heap_describe(to, h);
    for (size_t i = 0; opened && i < h->buckets.count && !to->no_memory; i++)
        add_bucket(&s, h, &h->buckets.items[i]);
    go_stacks_close(&s);
    return opened && !to->no_memory;
}
