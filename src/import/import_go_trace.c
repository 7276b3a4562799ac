/* import_go_trace.c: turns readings of Go's profile into events. import_go_trace.h has the
 * design. */
#include "import/import_go_trace.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"

enum {
    WORD = 8,
    MOST_NEW = 1 << 22, /* most new blocks in a reading */
    MOST_LIVE = 1 << 24 /* most live blocks, which are written one by one */
};

/* ---- the file ------------------------------------------------------------------------------ */

static int take(void *context, const void *bytes, size_t size) {
    go_trace *t = context;
    return t->os_error = file_write_all(t->fd, bytes, size);
}

static int amend(void *context, uint64_t offset, const void *bytes, size_t size) {
    return file_write_at(((const go_trace *)context)->fd, bytes, size, offset);
}

/* A code is the index of a place + 1. */
static size_t locate(void *context, uint64_t code, memtrace_location *locations, size_t max) {
    const import *tables = &((const go_trace *)context)->tables;
    const import_place *place = &tables->places.items[code - 1];
    const size_t n = place->n < max ? place->n : max;
    memcpy(locations, tables->locations.items + place->first, n * sizeof *locations);
    return n;
}

static memtrace_status open_trace(go_trace *t, int fd, const go_heap *h) {
    char context[128], host[256] = "";
    const memtrace_writer_options options = {
        .sink = take, .amend = amend, .locate = locate, .context = t};
    if (gethostname(host, sizeof host - 1) != 0)
        host[0] = '\0';
    go_heap_describe(&t->tables, h);
    snprintf(context, sizeof context, MEMTRACE_IMPORTED "%s" IMPORT_LACKS "%s", t->tables.format,
             t->tables.missing);
    t->fd = fd;
    t->rate = h->period > WORD ? WORD / (double)h->period : 1;
    const memtrace_info info = {.sample_rate = t->rate,
                                .start_time = t->tables.start_time,
                                .pid = t->tables.pid,
                                .executable_name = t->tables.program ? t->tables.program : "",
                                .host_name = host,
                                .runtime_params = "",
                                .context = context};
    const memtrace_status status = memtrace_writer_open(&info, &options, &t->writer, NULL);
    return status == MEMTRACE_OK ? memtrace_stream_open(t->writer, 0, &t->stream) : status;
}

/* ---- buckets ------------------------------------------------------------------------------- */

/* Returns evenly spread phases, so that rounding errors of any consecutive buckets cancel each
 * other. */
static double phase_of(size_t i) {
    const double golden = 0.6180339887498949, x = 0.5 + (double)i * golden;
    return x - floor(x);
}

/* Whether a bucket is older than the recording. Blocks of it that were already freed are not
 * recorded. */
static bool is_earlier(const go_trace *t, const go_bucket *b) {
    return t->from_now && (!t->writer || map64_get(&t->late, b->at) != MAP64_NONE);
}

static bool add_bucket(go_trace *t, const go_heap *h, const go_bucket *b) {
    const import_record record = {.first = t->tables.frames.count, .size = b->size};
    const go_trace_bucket new = {.phase = phase_of(t->buckets.count),
                                 .before =
                                     is_earlier(t, b) ? b->allocated - b->since - b->live : 0};
    go_stacks_add(&t->stacks, go_heap_frames(h, b), b->n_frames);
    import_add_record(&t->tables, record);
    return !t->tables.no_memory && vec_push(&t->buckets, new);
}

/* Returns the trace's bucket for one that was read, adding it if it is new. NULL when out of
 * memory. */
static go_trace_bucket *bucket_of(go_trace *t, const go_heap *h, const go_bucket *b) {
    uint32_t *i = map64_put(&t->bucket_of, b->at);
    if (!i)
        return NULL;
    if (*i == MAP64_NONE) {
        *i = (uint32_t)t->buckets.count;
        if (!add_bucket(t, h, b))
            return NULL;
    }
    return &t->buckets.items[*i];
}

/* ---- events -------------------------------------------------------------------------------- */

static bool take_stack(go_trace *t, const import_record *r) {
    vec_clear(&t->codes);
    for (size_t i = 0; i < r->n; i++)
        if (!vec_push(&t->codes, (uint64_t)t->tables.frames.items[r->first + i] + 1))
            return false;
    return true;
}

/* Writes a block of the record's size with so many samples. */
static memtrace_status put_block(go_trace *t, go_trace_bucket *to, const import_record *r,
                                 uint64_t samples, uint64_t time) {
    const uint64_t words = t->rate < 1 ? (r->size + WORD / 2) / WORD : 1;
    go_trace_block new = {.samples = samples};
    const memtrace_status status = memtrace_stream_alloc(
        t->stream, time, MEMTRACE_EXTERNAL, (words > samples ? words : samples) - 1, samples,
        t->codes.items, t->codes.count, 0, &new.id);
    if (status != MEMTRACE_OK)
        return status;
    to->samples += samples;
    to->live += samples;
    t->n_new++;
    t->n_live++;
    return vec_push(&to->blocks, new) ? MEMTRACE_OK : MEMTRACE_NOMEM;
}

/* Returns the samples of the first `i` of `n` blocks. The oldest blocks always weigh what is
 * expected of so many blocks, so that the sum of the live ones is right. */
static uint64_t first_of(const go_trace_bucket *b, uint64_t samples, uint64_t i, uint64_t n) {
    return i < n ? (uint64_t)((double)i * (double)samples / (double)n + b->phase) : samples;
}

/* Returns how many more blocks may be written. Beyond the limits, a few for each stack and size
 * still approximate the live amount well enough. */
static uint64_t room_for_new(const go_trace *t) {
    enum { FEW = 16 };
    const uint64_t new = t->n_new < MOST_NEW ? MOST_NEW - t->n_new : FEW,
                   live = t->n_live < MOST_LIVE ? MOST_LIVE - t->n_live : 1;
    return new < live ? new : live;
}

static memtrace_status put_new(go_trace *t, go_trace_bucket *to, const import_record *r,
                               uint64_t blocks, uint64_t samples, uint64_t time) {
    memtrace_status status = samples == 0 || take_stack(t, r) ? MEMTRACE_OK : MEMTRACE_NOMEM;
    const uint64_t room = room_for_new(t), wanted = blocks < samples ? blocks : samples,
                   n = wanted < room ? wanted : room;
    for (uint64_t i = 0; i < n && status == MEMTRACE_OK; i++)
        status = put_block(t, to, r, first_of(to, samples, i + 1, n) - first_of(to, samples, i, n),
                           time);
    return status;
}

/* Whether the live samples are as close to `left` as whole blocks allow. */
static bool is_near(const go_trace_bucket *b, uint64_t left) {
    const uint64_t last = b->blocks.items[b->blocks.count - 1].samples,
                   over = b->live > left ? b->live - left : 0;
    return 2 * over < last || (2 * over == last && b->phase >= 0.5);
}

/* Frees blocks until about `left` samples remain. */
static memtrace_status end_old(go_trace *t, go_trace_bucket *of, uint64_t left, uint64_t time) {
    memtrace_status status = MEMTRACE_OK;
    while (status == MEMTRACE_OK && of->blocks.count > 0 && !is_near(of, left)) {
        const go_trace_block last = of->blocks.items[--of->blocks.count];
        t->n_live--;
        of->live -= last.samples;
        status = memtrace_stream_collect(t->stream, time, last.id);
    }
    return status;
}

/* Returns the weight of blocks of a size, in samples. In damaged memory, it can be anything. The
 * phase is added to the fraction alone: beside a large number, it would be rounded up to 1. */
static uint64_t weight(const go_trace *t, const go_heap *h, const go_trace_bucket *b, uint64_t size,
                       uint64_t blocks) {
    const double words = (double)size / WORD * go_heap_scale(size, h->period) * (double)blocks,
                 most = 1LL << 52, samples = words * t->rate, whole = floor(samples);
    return whole < most ? (uint64_t)whole + (samples - whole + b->phase >= 1) : (uint64_t)most;
}

/* Writes the blocks that the trace lacks, and frees those that are no longer live. Blocks allocated
 * since the last collection may be in the trace already, if they were read before the first
 * collection. Nothing says that they were freed, so they count as live. */
static memtrace_status update(go_trace *t, const go_reading *reading, const go_bucket *b,
                              go_trace_bucket *to, const import_record *r) {
    const go_heap *h = reading->heap;
    const bool is_last = reading->is_last;
    const uint64_t published = h->is_collected ? b->allocated - b->since : b->allocated,
                   wanted = is_last ? b->allocated : published,
                   before = to->before < wanted ? to->before : wanted,
                   allocated = wanted - before > to->allocated ? wanted - before : to->allocated,
                   beyond = is_last || allocated + before < published
                                ? 0
                                : allocated + before - published,
                   live = h->is_collected ? b->live + beyond : allocated,
                   samples = weight(t, h, to, b->size, allocated),
                   left = weight(t, h, to, b->size, live < allocated ? live : allocated);
    const memtrace_status status =
        put_new(t, to, r, allocated - to->allocated,
                samples > to->samples ? samples - to->samples : 0, reading->time);
    to->allocated = allocated;
    return status == MEMTRACE_OK ? end_old(t, to, left, reading->time) : status;
}

static memtrace_status put_remark(go_trace *t, uint64_t *code, const char *name, const char *file,
                                  uint64_t time, uint64_t value) {
    if (!*code) {
        *code = import_add_place(&t->tables) + UINT64_C(1);
        import_add_location(&t->tables, name, file, 0);
    }
    return t->tables.no_memory ? MEMTRACE_NOMEM
                               : memtrace_stream_remark(t->stream, time, *code, value);
}

/* Writes remarks after all events of the reading, so that a segment cut there begins after them. */
static memtrace_status put_remarks(go_trace *t, const go_reading *r) {
    const uint64_t behind = r->time + 2;
    const memtrace_status status =
        put_remark(t, &t->rss, "rss", MEMTRACE_GAUGE_FILE, behind, r->rss);
    return status == MEMTRACE_OK && t->is_cut
               ? put_remark(t, &t->written, "written", MEMTRACE_SEGMENT_FILE, behind, 0)
               : status;
}

static memtrace_status put_reading(go_trace *t, int fd, const go_reading *r) {
    const go_heap *h = r->heap;
    t->n_new = 0;
    memtrace_status status = t->writer ? MEMTRACE_OK : open_trace(t, fd, h);
    for (size_t i = 0; i < h->buckets.count && status == MEMTRACE_OK; i++) {
        const uint32_t at = map64_get(&t->bucket_of, h->buckets.items[i].at);
        status =
            update(t, r, &h->buckets.items[i], &t->buckets.items[at], &t->tables.records.items[at]);
    }
    if (status == MEMTRACE_OK)
        status = put_remarks(t, r);
    return status == MEMTRACE_OK ? memtrace_stream_flush(t->stream) : status;
}

static bool learn_late(go_trace *t, const go_heap *h) {
    for (size_t i = 0; i < h->left_out.count; i++) {
        uint32_t *late = map64_put(&t->late, h->left_out.items[i]);
        if (!late)
            return false;
        *late = 0;
    }
    return true;
}

/* Looks up all names of a reading before any of it is written. */
static bool learn(go_trace *t, const go_heap *h, const go_program *p, int memory,
                  import_error *error) {
    if (!t->has_names)
        t->has_names = go_stacks_open(&t->stacks, &t->tables, p, memory, error);
    if (!t->has_names)
        go_stacks_close(&t->stacks);
    bool known = t->has_names && (t->writer || learn_late(t, h));
    for (size_t i = 0; i < h->buckets.count && known; i++)
        if (!bucket_of(t, h, &h->buckets.items[i]))
            known = import_fail(error, 0, "not enough memory");
    return known;
}

bool go_trace_add(go_trace *t, int fd, const go_reading *r, const go_program *p, int memory,
                  import_error *error) {
    if (t->os_error)
        return import_fail(error, 0, "%s", strerror(t->os_error));
    if (!t->writer && r->heap->buckets.count == 0)
        return true;
    if (!learn(t, r->heap, p, memory, error))
        return false;
    const memtrace_status status = put_reading(t, fd, r);
    if (status == MEMTRACE_OK)
        return true;
    if (!t->os_error)
        t->os_error = status == MEMTRACE_NOMEM ? ENOMEM : EIO;
    return import_fail(error, 0, "%s", strerror(t->os_error));
}

/* ---- the end ------------------------------------------------------------------------------- */

void go_trace_sums(const go_trace *t, double *allocated, double *live) {
    *allocated = *live = 0;
    for (size_t i = 0; i < t->buckets.count; i++) {
        *allocated += (double)t->buckets.items[i].samples * WORD / t->rate;
        *live += (double)t->buckets.items[i].live * WORD / t->rate;
    }
}

int go_trace_end(go_trace *t, uint64_t time) {
    memtrace_status status = MEMTRACE_OK;
    if (t->stream)
        status = memtrace_stream_close_at(t->stream, time);
    if (t->writer) {
        const memtrace_status closed = memtrace_writer_close(t->writer);
        status = status == MEMTRACE_OK ? closed : status;
    }
    t->stream = NULL;
    t->writer = NULL;
    if (status != MEMTRACE_OK && !t->os_error)
        t->os_error = status == MEMTRACE_NOMEM ? ENOMEM : EIO;
    return t->os_error;
}

void go_trace_free(go_trace *t) {
    if (t->has_names)
        go_stacks_close(&t->stacks);
    for (size_t i = 0; i < t->buckets.count; i++)
        vec_free(&t->buckets.items[i].blocks);
    vec_free(&t->buckets);
    map64_free(&t->bucket_of);
    map64_free(&t->late);
    vec_free(&t->codes);
    import_free(&t->tables);
    *t = (go_trace){.fd = -1};
}
