/* import_go.c: the buckets of Go's heap profile, as an import. Numbers are those of Go's own
 * profile of the same moment (runtime/pprof), with one exception: allocations since the last
 * garbage collection, which it leaves out, count as allocated. What is live is, as there, what the
 * last finished collection left; where there was none, all is. */
#include <math.h>
#include <string.h>

#include "base/file.h"
#include "import/import_go.h"

/* ---- buckets ------------------------------------------------------------------------------- */

enum {
    N_FUTURE = 3, /* cycles of collection that are counted by themselves */
    MEMORY_BUCKET = 1,
    MOST_FRAMES = 2048,
    MOST_BUCKETS = 1 << 20,

};

/* A bucket is this, the return addresses, a `counts` of what is published, and one for each cycle
 * to come. */
typedef struct bucket_head {
    uint64_t next, next_of_all, kind, hash, size, n_frames;
} bucket_head;

typedef struct counts {
    uint64_t allocated, freed, allocated_bytes, freed_bytes;
} counts;

typedef struct bucket_body {
    uint64_t frames[MOST_FRAMES];
    counts cycles[1 + N_FUTURE]; /* the published one first */
} bucket_body;

/* Whoever changes counts, published ones too, holds the lock of a cycle to come. */
static bool is_locked(const go_program *p, int memory) {
    uint64_t locks[N_FUTURE];
    return file_read_at(memory, locks, sizeof locks, p->at[GO_FUTURE_LOCKS]) != 0 || locks[0] ||
           locks[1] || locks[2];
}

/* The frames and the counts of a bucket. */
static bool read_body(int memory, uint64_t at, const bucket_head *b, bucket_body *body) {
    unsigned char bytes[sizeof body->frames + sizeof body->cycles];
    const size_t frames = b->n_frames * sizeof *body->frames;
    if (file_read_at(memory, bytes, frames + sizeof body->cycles, at + sizeof *b) != 0)
        return false;
    memcpy(body->frames, bytes, frames);
    memcpy(body->cycles, bytes + frames, sizeof body->cycles);
    return true;
}

static bool is_sound(const bucket_head *b, const bucket_body *body) {
    for (int i = 0; i <= N_FUTURE; i++)
        if (body->cycles[i].allocated_bytes != body->cycles[i].allocated * b->size)
            return false;
    return true;
}

static bool keep_bucket(go_heap *h, const bucket_head *b, const bucket_body *body, unsigned due) {
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
    const uint64_t live =
        published.allocated > published.freed ? published.allocated - published.freed : 0;
    h->is_collected |= published.allocated || published.freed;
    if (published.allocated + since == 0)
        return true;
    h->n_buckets++;
    return vec_reserve(&h->words, 5 + b->n_frames) && vec_push(&h->words, b->size) &&
           vec_push(&h->words, published.allocated + since) && vec_push(&h->words, live) &&
           vec_push(&h->words, since) && vec_push(&h->words, b->n_frames) &&
           (memcpy(h->words.items + h->words.count, body->frames,
                   b->n_frames * sizeof *body->frames),
            h->words.count += b->n_frames, true);
}

static go_heap_status no_profile(import_error *error, const char *reason) {
    import_fail(error, 0, "%s", reason);
    return GO_HEAP_FAILED;
}

go_heap_status go_heap_read(go_heap *h, const go_program *p, int memory, bool is_over,
                            import_error *error) {
    uint32_t cycle;
    uint64_t at;
    bucket_head head;
    bucket_body body;
    vec_clear(&h->words);
    h->n_buckets = 0;
    h->is_collected = false;
    if (!is_over && is_locked(p, memory))
        return GO_HEAP_BUSY;
    if (file_read_at(memory, &cycle, sizeof cycle, p->at[GO_CYCLE]) != 0 ||
        file_read_at(memory, &h->period, sizeof h->period, p->at[GO_RATE]) != 0 ||
        file_read_at(memory, &at, sizeof at, p->at[GO_BUCKETS]) != 0)
        return no_profile(error, "the variables of its runtime cannot be read");
    /* The number of the cycle stands above a bit; its counts belong to what is published, whether
     * they have been added yet or not. */
    const unsigned due = (cycle >> 1) % N_FUTURE;
    for (size_t i = 0; at; i++, at = head.next_of_all)
        if (i >= MOST_BUCKETS || file_read_at(memory, &head, sizeof head, at) != 0 ||
            head.kind != MEMORY_BUCKET || head.n_frames > MOST_FRAMES ||
            !read_body(memory, at, &head, &body) || (!is_over && !is_sound(&head, &body)))
            return no_profile(error, "its profile is not as Go lays it out");
        else if (!keep_bucket(h, &head, &body, due))
            return no_profile(error, "not enough memory");
    return GO_HEAP_READ;
}

void go_heap_free(go_heap *h) {
    vec_free(&h->words);
}

/* ---- stacks -------------------------------------------------------------------------------- */

typedef struct stacks {
    import *to;
    go_names names;
    map64 place_of; /* by address and number of locations */
    VEC(go_frame) group;
    uint64_t first; /* address of the group */
} stacks;

static uint32_t make_place(stacks *s) {
    const uint32_t place = import_add_place(s->to);
    for (size_t i = s->group.count; i-- > 0;) {
        const go_frame *f = &s->group.items[i];
        import_add_location(s->to, import_text(s->to, f->symbol, strlen(f->symbol)),
                            import_text(s->to, f->file, strlen(f->file)), f->line);
    }
    return place;
}

/* The frames that were gathered are one place. */
static void end_group(stacks *s) {
    enum { MOST_GROUP_BITS = 8 };
    if (s->group.count == 0)
        return;
    uint32_t *place = map64_put(&s->place_of, s->first << MOST_GROUP_BITS | s->group.count);
    if (place && *place == MAP64_NONE)
        *place = make_place(s);
    s->to->no_memory |= !place || !vec_push(&s->to->frames, *place);
    vec_clear(&s->group);
}

/* A frame belongs to those before if these are inlined into it. */
static void add_frame(stacks *s, uint64_t address, const go_frame *f) {
    enum { MOST_GROUP = 255 };
    const go_frame *last = s->group.count ? &s->group.items[s->group.count - 1] : NULL;
    if (last && (!last->parent || last->entry != f->entry || strcmp(last->symbol, f->symbol) == 0 ||
                 s->group.count == MOST_GROUP))
        end_group(s);
    if (s->group.count == 0)
        s->first = address;
    s->to->no_memory |= !vec_push(&s->group, *f);
}

static void add_address(stacks *s, uint64_t address) {
    const go_frame f = go_names_look(&s->names, address);
    if (f.symbol && strcmp(f.symbol, "runtime.goexit") == 0)
        end_group(s);
    else if (f.symbol)
        add_frame(s, address, &f);
}

static bool is_runtime(const char *symbol) {
    return symbol &&
           (strncmp(symbol, "runtime.", 8) == 0 || strncmp(symbol, "internal/runtime/", 17) == 0);
}

/* Where a stack begins whose innermost frames of the runtime do not count; 0 if they are all. */
static size_t skip_runtime(stacks *s, const uint64_t *frames, size_t n) {
    size_t i = 0;
    while (i < n && is_runtime(go_names_at(&s->names, frames[i])))
        i++;
    return i < n ? i : 0;
}

static void add_stack(stacks *s, const uint64_t *frames, size_t n) {
    for (size_t i = 0; i < n; i++)
        add_address(s, frames[i]);
    /* Of a stack that was cut off, the last function may be inlined into others. */
    for (int i = 0; i < 64 && n > 0 && s->group.count > 0; i++) {
        const uint64_t parent = s->group.items[s->group.count - 1].parent;
        if (!parent)
            break;
        add_address(s, parent);
    }
    end_group(s);
}

/* ---- numbers ------------------------------------------------------------------------------- */

/* As Go itself estimates how many there were: by the chance of a block of that size. */
static double scale_of(uint64_t size, uint64_t period) {
    return period <= 1 || size == 0 ? 1 : 1 / (1 - exp(-(double)size / (double)period));
}

/* Of damaged memory, it may be anything. */
static uint64_t whole(double x) {
    const double most = 1LL << 52;
    return x < most ? (uint64_t)x : x >= most ? (uint64_t)most : 0;
}

static const uint64_t *add_bucket(stacks *s, go_heap *h, const uint64_t *b) {
    const uint64_t size = b[0], n = b[4];
    const uint64_t live = h->is_collected ? b[2] : b[1];
    const double scale = scale_of(size, h->period);
    import_record record = {.first = s->to->frames.count,
                            .size = size,
                            .blocks = whole((double)b[1] * scale),
                            .bytes = whole((double)(b[1] * size) * scale),
                            .live = whole((double)live * scale),
                            .live_bytes = whole((double)(live * size) * scale)};
    const uint64_t *frames = b + 5;
    const size_t skipped = skip_runtime(s, frames, n);
    add_stack(s, frames + skipped, n - skipped);
    if (s->to->frames.count == record.first)
        add_stack(s, frames, n);
    import_add_record(s->to, record);
    h->since += (double)(b[3] * size) * scale;
    return frames + n;
}

bool go_heap_import(import *to, go_heap *h, const go_program *p, int memory, import_error *error) {
    stacks s = {.to = to};
    const bool opened = go_names_open(&s.names, p, memory, error);
    to->format = "Go's own heap profile";
    to->missing = "times";
    to->period = (double)h->period;
    h->since = 0;
    const uint64_t *b = h->words.items;
    for (size_t i = 0; opened && i < h->n_buckets && !to->no_memory; i++)
        b = add_bucket(&s, h, b);
    if (!h->is_collected)
        h->since = 0;
    go_names_close(&s.names);
    map64_free(&s.place_of);
    vec_free(&s.group);
    return opened && !to->no_memory;
}
