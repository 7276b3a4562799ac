/* import_write.c: makes a trace of an import.
 *
 * A profile has totals, while a trace has blocks. So each stack gets blocks of its size, or mean
 * size: as many as would be sampled there on average, with so many samples that all estimates equal
 * the totals of the profile. Rounding errors carry over to the next stack. Freed blocks come first,
 * and each ends before the next one begins, so that the peak is what is live at the end. Blocks are
 * written like those of a language's heap: nothing must be added to their sizes for headers. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "import/import.h"

enum { WORD = 8, MOST_BLOCKS = 4000000, MOST_FRAMES = 4096, N_DOMAINS = 1 << 16 };

typedef VEC(uint64_t) id_list;

typedef struct emitter {
    const import *from;
    compressor out;
    int os_error;
    double rate;
    /* Rounding errors carried over, for the group being written. */
    double left_blocks, left_samples;
    memtrace_writer *writer;
    memtrace_stream *stream;   /* stream of the first domain */
    memtrace_stream **streams; /* by domain; NULL: no events yet */
    id_list blocks;            /* ids of all blocks, in order of allocation */
    VEC(uint64_t) codes;
} emitter;

static int take(void *context, const void *bytes, size_t size) {
    emitter *e = context;
    return e->os_error = compressor_write(&e->out, bytes, size);
}

/* A code is the index of a place + 1. */
static size_t locate(void *context, uint64_t code, memtrace_location *locations, size_t max) {
    const import *from = ((const emitter *)context)->from;
    const import_place *place = &from->places.items[code - 1];
    const size_t n = place->n < max ? place->n : max;
    if (n > 0)
        memcpy(locations, from->locations.items + place->first, n * sizeof *locations);
    return n;
}

static bool take_stack(emitter *e, const import_record *r) {
    const size_t n = r->n < MOST_FRAMES ? r->n : MOST_FRAMES;
    vec_clear(&e->codes);
    for (size_t i = r->n - n; i < r->n; i++)
        if (!vec_push(&e->codes, (uint64_t)e->from->frames.items[r->first + i] + 1))
            return false;
    return true;
}

static memtrace_status put_block(emitter *e, uint64_t words, uint64_t samples, bool live) {
    uint64_t id;
    const memtrace_status status =
        memtrace_stream_alloc(e->stream, 0, MEMTRACE_EXTERNAL, words - 1, samples, e->codes.items,
                              e->codes.count, 0, &id);
    return status == MEMTRACE_OK && !live ? memtrace_stream_collect(e->stream, 0, id) : status;
}

/* Returns part `i` of `n` parts of an integer, which differ by at most one. */
static uint64_t part(uint64_t whole, uint64_t i, uint64_t n) {
    return whole / n + (i < whole % n);
}

static memtrace_status put_all(emitter *e, uint64_t blocks, uint64_t words, bool live) {
    memtrace_status status = MEMTRACE_OK;
    for (uint64_t i = 0; i < blocks && status == MEMTRACE_OK; i++) {
        const uint64_t size = part(words, i, blocks);
        status = put_block(e, size ? size : 1, size ? size : 1, live);
    }
    return status;
}

static memtrace_status put_sampled(emitter *e, const import_record *r, uint64_t blocks,
                                   uint64_t words, bool live) {
    const double mean = r->size ? (double)r->size / WORD : (double)words / (double)blocks;
    const double chance = -expm1(mean * log1p(-e->rate));
    e->left_blocks += (double)words / mean * chance;
    e->left_samples += (double)words * e->rate;
    const uint64_t size = mean < 1 ? 1 : (uint64_t)(mean + 0.5);
    uint64_t samples = (uint64_t)e->left_samples;
    uint64_t n = e->left_blocks < 1 ? 1 : (uint64_t)e->left_blocks;
    n = n < samples ? n : samples;
    samples = samples / size < n ? samples : n * size; /* at most one per word */
    e->left_blocks -= (double)n;
    e->left_samples -= (double)samples;
    memtrace_status status = MEMTRACE_OK;
    for (uint64_t i = 0; i < n && status == MEMTRACE_OK; i++)
        status = put_block(e, size, part(samples, i, n), live);
    return status;
}

/* Writes the live blocks of a record, or the others. */
static memtrace_status put_record(emitter *e, const import_record *r, bool live) {
    uint64_t blocks = live ? r->live : r->blocks - r->live;
    const uint64_t bytes = live ? r->live_bytes : r->bytes - r->live_bytes;
    const uint64_t words = bytes / WORD + (bytes % WORD >= WORD / 2);
    if (blocks == 0 && words > 0)
        blocks = 1;
    if (blocks == 0)
        return MEMTRACE_OK;
    if (!take_stack(e, r))
        return MEMTRACE_NOMEM;
    return e->rate < 1 ? put_sampled(e, r, blocks, words, live) : put_all(e, blocks, words, live);
}

static memtrace_status put_records(emitter *e) {
    memtrace_status status = MEMTRACE_OK;
    for (int live = 0; live < 2; live++) {
        e->left_blocks = e->left_samples = 0.5;
        for (size_t i = 0; i < e->from->records.count && status == MEMTRACE_OK; i++)
            status = put_record(e, &e->from->records.items[i], live);
    }
    return status;
}

static memtrace_status put_alloc(emitter *e, memtrace_stream *stream, const import_event *event,
                                 id_list *alive) {
    const import_record *r = &e->from->records.items[event->what];
    const uint64_t words = r->bytes / WORD + (r->bytes % WORD > 0);
    uint64_t id;
    if (!take_stack(e, r))
        return MEMTRACE_NOMEM;
    const memtrace_status status =
        memtrace_stream_alloc(stream, event->time, MEMTRACE_EXTERNAL, words ? words - 1 : 0,
                              words ? words : 1, e->codes.items, e->codes.count, 0, &id);
    return status != MEMTRACE_OK || vec_push(alive ? alive : &e->blocks, id) ? status
                                                                             : MEMTRACE_NOMEM;
}

/* Writes an event. `alive`, by record, is set if blocks of one record cannot be told apart: then a
 * free applies to the latest one. */
static memtrace_status put_event(emitter *e, memtrace_stream *stream, const import_event *event,
                                 id_list *alive) {
    id_list *of = alive && event->kind != IMPORT_REMARK ? &alive[event->what] : NULL;
    switch ((import_event_kind)event->kind) {
    case IMPORT_ALLOC:
        return put_alloc(e, stream, event, of);
    case IMPORT_FREE_LATEST:
        return !of || of->count == 0
                   ? MEMTRACE_OK /* allocated before the recording */
                   : memtrace_stream_collect(stream, event->time, of->items[--of->count]);
    case IMPORT_FREE:
        return memtrace_stream_collect(stream, event->time, e->blocks.items[event->what]);
    case IMPORT_REMARK:
        break;
    }
    const import_remark *r = &e->from->remarks.items[event->what];
    return memtrace_stream_remark(stream, event->time, (uint64_t)r->place + 1, r->value);
}

static bool frees_latest(const import *from) {
    for (size_t i = 0; i < from->events.count; i++)
        if (from->events.items[i].kind == IMPORT_FREE_LATEST)
            return true;
    return false;
}

static memtrace_status stream_of(emitter *e, uint16_t domain, memtrace_stream **stream) {
    memtrace_status status = MEMTRACE_OK;
    if (!e->streams[domain])
        status = memtrace_stream_open(e->writer, domain, &e->streams[domain]);
    *stream = e->streams[domain];
    return status;
}

static memtrace_status put_real_events(emitter *e) {
    const import *from = e->from;
    const size_t n = from->records.count;
    id_list *alive = frees_latest(from) ? calloc(n ? n : 1, sizeof *alive) : NULL;
    memtrace_stream *stream = e->stream;
    memtrace_status status = MEMTRACE_OK;
    if (!alive && frees_latest(from))
        return MEMTRACE_NOMEM;
    for (size_t i = 0; i < from->events.count && status == MEMTRACE_OK; i++) {
        status = stream_of(e, from->events.items[i].domain, &stream);
        if (status == MEMTRACE_OK)
            status = put_event(e, stream, &from->events.items[i], alive);
    }
    for (size_t i = 0; alive && i < n; i++)
        vec_free(&alive[i]);
    free(alive);
    vec_free(&e->blocks);
    return status;
}

/* Returns the rate of the profile. If the profile has all of too many blocks, returns a lower rate
 * that keeps some of them. */
static double rate_of(const import *from) {
    double blocks = 0, words = 0;
    if (from->has_events)
        return 1;
    for (size_t i = 0; i < from->records.count; i++) {
        blocks += (double)from->records.items[i].blocks;
        words += (double)from->records.items[i].bytes / WORD;
    }
    const double rate = from->period > WORD ? WORD / from->period : 1;
    const double most = blocks > MOST_BLOCKS && words > MOST_BLOCKS ? MOST_BLOCKS / words : 1;
    return rate < most ? rate : most;
}

/* The first domain is closed last, so that the trace ends when the profile does. */
static memtrace_status close_streams(emitter *e, memtrace_status status) {
    for (size_t i = N_DOMAINS; i-- > 0;) {
        const memtrace_status closed =
            e->streams[i] ? memtrace_stream_close_at(e->streams[i], e->from->duration)
                          : MEMTRACE_OK;
        if (status == MEMTRACE_OK)
            status = closed;
    }
    return status;
}

static memtrace_status put_events(emitter *e) {
    e->streams = calloc(N_DOMAINS, sizeof(memtrace_stream *));
    if (!e->streams)
        return MEMTRACE_NOMEM;
    memtrace_status status = stream_of(e, 0, &e->stream);
    if (status == MEMTRACE_OK)
        status = e->from->has_events ? put_real_events(e) : put_records(e);
    status = close_streams(e, status);
    free(e->streams);
    return status;
}

static memtrace_status put_trace(emitter *e, const memtrace_info *info) {
    const memtrace_writer_options options = {.sink = take, .locate = locate, .context = e};
    memtrace_status status = memtrace_writer_open(info, &options, &e->writer, NULL);
    if (status != MEMTRACE_OK)
        return status;
    status = put_events(e);
    const memtrace_status closed = memtrace_writer_close(e->writer);
    return status == MEMTRACE_OK ? closed : status;
}

memtrace_status import_write(const import *from, int fd, compression how, double *rate,
                             memtrace_error *error) {
    char context[256];
    emitter e = {.from = from, .rate = rate_of(from)};
    snprintf(context, sizeof context, MEMTRACE_IMPORTED "%s%s%s%s", from->format,
             from->is_ordered ? " " MEMTRACE_ORDERED : "", from->missing ? IMPORT_LACKS : "",
             from->missing ? from->missing : "");
    *rate = e.rate;
    memtrace_info info = {.sample_rate = e.rate,
                          .start_time = from->start_time,
                          .pid = from->pid,
                          .executable_name = from->program ? from->program : "",
                          .host_name = "",
                          .runtime_params = "",
                          .context = context};
    e.os_error = compressor_open(&e.out, fd, how);
    memtrace_status status = e.os_error ? MEMTRACE_IO : put_trace(&e, &info);
    const int closed = e.os_error ? e.os_error : compressor_close(&e.out, status != MEMTRACE_OK);
    vec_free(&e.codes);
    if (status == MEMTRACE_OK && closed)
        status = MEMTRACE_IO;
    *error = (memtrace_error){.status = status, .os_error = closed};
    if (status != MEMTRACE_OK)
        snprintf(error->reason, sizeof error->reason, "%s",
                 status == MEMTRACE_NOMEM ? strerror(ENOMEM) : strerror(closed ? closed : EIO));
    return status;
}
