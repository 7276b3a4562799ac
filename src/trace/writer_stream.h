/* writer_stream.h: a stream of the writer, and inline the path of almost every event when all
 * blocks are recorded: the recorder does this some million times per second. Part of writer.c,
 * which has the design. */
#ifndef TRACE_WRITER_STREAM_H
#define TRACE_WRITER_STREAM_H

#include <stdatomic.h>

#include "allotrace/memtrace.h"
#include "base/inline.h"
#include "trace/format.h"
#include "trace/writer_cache.h"
#include "trace/writer_locations.h"
#include "trace/writer_put.h"

/* A packet being filled. */
typedef struct packet {
    uint8_t *used;       /* end of its last event; bytes + header size if there is none */
    uint64_t begin, end; /* us since the epoch; all its events are in between */
    uint64_t id_begin, id_end;
    uint16_t verify_bucket; /* bucket number, or FORMAT_VERIFY_NOTHING */
    cache_bucket verify;    /* content of that bucket before this packet */
    uint8_t bytes[FORMAT_MAX_PACKET];
} packet;

struct memtrace_stream {
    memtrace_writer *writer;
    memtrace_status status; /* returned by every further call, unless MEMTRACE_OK */
    uint16_t domain;
    uint16_t next_verify; /* bucket for the next packet of events to verify */
    uint64_t now;         /* time of the latest event, us since the epoch */
    uint64_t next_id;     /* 1 + the latest object's id */
    uint64_t chunk_left;  /* number of ids, from next_id on, reserved for this stream */

    /* The largest `events.used` at which a small event can simply be appended: nothing special
     * holds, and there is room. NULL: the slow path is needed. */
    uint8_t *fast_end;
    uint64_t fast_time;  /* `now` since the start of the trace; valid if `fast_end` is not NULL */
    uint64_t start_time; /* the writer's */

    /* The previous backtrace as passed by the caller. */
    uint64_t *previous;
    size_t previous_capacity;
    size_t n_previous;
    size_t n_dropped; /* its outermost frames that were not written */

    code_set announced;
    packet events;
    packet locations;
    writer_cache cache;
    location_names names;
    memtrace_location located[MEMTRACE_MAX_LOCATIONS]; /* scratch for the `locate` hook */
};

enum {
    MAX_ALLOC_HEAD = FORMAT_EVENT_HEADER + 3 * FORMAT_VINT_MAX_SIZE + 1 + 2,
    MAX_DEATH = FORMAT_EVENT_HEADER + FORMAT_VINT_MAX_SIZE,
};

/* The limits of the fast path: few enough new frames that their codewords can be counted in a byte,
 * and room for any event with so few. */
enum {
    STREAM_FAST_FRAMES = 32,
    STREAM_FAST_ROOM = MAX_ALLOC_HEAD + STREAM_FAST_FRAMES * CACHE_MAX_FRAME
};

static inline void stream_put_codeword_count(uint8_t *p, bool short_form, size_t n) {
    if (short_form)
        put_u8(p, (uint8_t)n);
    else
        put_u16(p, (uint16_t)n);
}

/* Appends the event that ends at `end` and has the time of the event before it. Up to this last
 * step, the packet is whole without the event, even if the process is killed. */
static inline void stream_commit_at_same_time(memtrace_stream *s, uint8_t *end) {
    atomic_signal_fence(memory_order_release);
    s->events.used = end;
}

/* Appends the event that ends at `end`, with any time. */
static inline void stream_commit(memtrace_stream *s, uint8_t *end) {
    s->events.end = s->now;
    stream_commit_at_same_time(s, end);
}

/* Uses up the id of the allocation that will be committed next. */
static inline uint64_t stream_use_next_id(memtrace_stream *s) {
    s->chunk_left--;
    s->events.id_end++;
    return s->next_id++;
}

/* Returns the id of the stream's next allocation, which stays the same until then. */
uint64_t stream_next_id(memtrace_stream *s);

/* ---- slow paths ---------------------------------------------------------------------------- */

/* Continues an allocation whose head ends at `p`, from any of its frames on. */
memtrace_status stream_put_frames_slow(memtrace_stream *s, uint8_t *p, bool short_form,
                                       const cache_cursor *c, uint64_t *id);

/* The slow path of stream_alloc_block: for a block that is large, does not fit the packet, has many
 * new frames, or is the first at its time. */
memtrace_status stream_alloc_block_slow(memtrace_stream *s, uint64_t time, uint64_t words,
                                        uint64_t samples, const uint64_t *frames, size_t n,
                                        size_t common, uint64_t *id);

/* Blocks of this many words or more may need a longer form. */
enum { STREAM_FAST_WORDS = FORMAT_VINT_16 - 1 };

/* ---- inline ---------------------------------------------------------------------------------- */

/* Encodes the frames of an allocation from `common` on, at most STREAM_FAST_FRAMES, after its head,
 * which ends at `p`. Stops at the first frame that the cache does not hold. */
static ALWAYS_INLINE cache_cursor stream_encode_frames(memtrace_stream *s, uint8_t *p,
                                                       bool short_form, const uint64_t *frames,
                                                       size_t n, size_t common, bool nonzero) {
    _Static_assert((int)STREAM_FAST_FRAMES <= (int)FORMAT_MAX_RUN, "as cache_encode_held wants it");
    /* Adding to NULL is undefined. */
    const cache_cursor whole = {.frames = n ? frames + common : NULL,
                                .stop = n ? frames + n : NULL,
                                .last = s->cache.buckets,
                                .p = p + (short_form ? 1 : 2)};
    cache_prefetch(&s->cache, whole.frames, whole.stop);
    return cache_encode_held(&s->cache, whole, nonzero);
}

/* Whether a small event at `time` can simply be appended: it has the time of the event before it,
 * at which the packet of events ends now. */
static inline bool stream_is_fast(const memtrace_stream *s, uint64_t time) {
    return __builtin_expect(time == s->fast_time && s->events.used <= s->fast_end, 1);
}

/* Writes the death of the block whose id is `taken` - 1. Returns false if memtrace_stream_collect
 * must be called instead. */
static inline bool stream_collect_fast(memtrace_stream *s, uint64_t time, uint64_t taken) {
    if (!stream_is_fast(s, time))
        return false;
    uint8_t *p = put_event_header(s->events.used, FORMAT_COLLECT, s->now);
    stream_commit_at_same_time(s, put_vint(p, (int64_t)(s->next_id - taken)));
    return true;
}

/* memtrace_stream_alloc_block, inline. */
static ALWAYS_INLINE memtrace_status stream_alloc_block(memtrace_stream *s, uint64_t time,
                                                        uint64_t words, uint64_t samples,
                                                        const uint64_t *frames, size_t n,
                                                        size_t common, uint64_t *id) {
    if (__builtin_expect(!stream_is_fast(s, time) || s->chunk_left == 0 ||
                             n - common > STREAM_FAST_FRAMES || words - 1 >= STREAM_FAST_WORDS ||
                             common >= FORMAT_VINT_16,
                         0))
        return stream_alloc_block_slow(s, time, words, samples, frames, n, common, id);
    s->n_previous = 0;
    uint8_t *p = put_event_header(s->events.used, FORMAT_ALLOC, s->now);
    p = put_u32(p, (uint32_t)(words - 1) | (uint32_t)samples << 8 |
                       (uint32_t)MEMTRACE_EXTERNAL << 16 | (uint32_t)common << 24);
    const cache_cursor c = stream_encode_frames(s, p, false, frames, n, common, true);
    if (__builtin_expect(c.frames < c.stop, 0)) {
        const cache_cursor rest = c;
        return stream_put_frames_slow(s, p, false, &rest, id);
    }
    stream_put_codeword_count(p, false, c.codewords);
    *id = stream_use_next_id(s);
    stream_commit_at_same_time(s, c.p);
    return MEMTRACE_OK;
}

#endif
