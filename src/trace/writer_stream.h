/* writer_stream.h: a stream of the writer, and what nearly every event passes through where all
 * blocks are recorded, in line: the recorder does this some million times a second. Part of
 * writer.c, where all is described. */
#ifndef TRACE_WRITER_STREAM_H
#define TRACE_WRITER_STREAM_H

#include <stdatomic.h>

#include "allotrace/memtrace.h"
#include "trace/format.h"
#include "trace/writer_cache.h"
#include "trace/writer_locations.h"
#include "trace/writer_put.h"

/* A packet in the making. */
typedef struct packet {
    uint8_t *used;       /* the end of its last event; bytes + header size: there is none */
    uint64_t begin, end; /* us since the epoch: no event of it is outside */
    uint64_t id_begin, id_end;
    uint16_t verify_bucket; /* or FORMAT_VERIFY_NOTHING */
    cache_bucket verify;    /* that bucket before this packet */
    uint8_t bytes[FORMAT_MAX_PACKET];
} packet;

struct memtrace_stream {
    memtrace_writer *writer;
    memtrace_status status; /* what every further call returns, unless MEMTRACE_OK */
    uint16_t domain;
    uint16_t next_verify; /* the bucket that the next packet of events lets readers verify */
    uint64_t now;         /* time of the latest event, us since the epoch */
    uint64_t next_id;     /* the latest object's id + 1 */
    uint64_t chunk_left;  /* how many ids from next_id on are this stream's */

    /* Up to here `events.used` may be for a small event simply to be added: all is well, and there
     * will be room. NULL: it takes more than that. */
    uint8_t *fast_end;
    uint64_t
        fast_time; /* `now`, from the start of the trace on, as long as `fast_end` is not NULL */
    uint64_t start_time; /* the writer's */

    /* The previous backtrace as the caller gave it. */
    uint64_t *previous;
    size_t previous_capacity;
    size_t n_previous;
    size_t n_dropped; /* outermost frames of it that were not written */

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

/* Few new frames, whose codewords can be counted in a byte; more than any event takes that has no
 * more. */
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

/* The event, whose time is that of the one before, ends at `end`. The packet is whole without it
 * until the last step, even if the process is killed. */
static inline void stream_commit_at_same_time(memtrace_stream *s, uint8_t *end) {
    atomic_signal_fence(memory_order_release);
    s->events.used = end;
}

/* The same at any time. */
static inline void stream_commit(memtrace_stream *s, uint8_t *end) {
    s->events.end = s->now;
    stream_commit_at_same_time(s, end);
}

/* The id of the allocation in the making, which is to be committed next. */
static inline uint64_t stream_use_next_id(memtrace_stream *s) {
    s->chunk_left--;
    s->events.id_end++;
    return s->next_id++;
}

/* The id of the next allocation of the stream, which does not change meanwhile. */
uint64_t stream_next_id(memtrace_stream *s);

/* ---- what is not in line ------------------------------------------------------------------- */

/* Goes on, from any frame on, with an allocation whose head ends at `p`. */
memtrace_status stream_put_frames_slow(memtrace_stream *s, uint8_t *p, bool short_form,
                                       const cache_cursor *c, uint64_t *id);

/* What stream_alloc_block does for a block that is large, does not fit the packet, has many new
 * frames, or is the first at its time. */
memtrace_status stream_alloc_block_slow(memtrace_stream *s, uint64_t time, uint64_t words,
                                        uint64_t samples, const uint64_t *frames, size_t n,
                                        size_t common, uint64_t *id);

/* Blocks of more words may be written in longer form. */
enum { STREAM_FAST_WORDS = FORMAT_VINT_16 - 1 };

/* ---- in line --------------------------------------------------------------------------------- */

/* Encodes the rest of an allocation, whose head ends at `p`: the frames from `common` on, of which
 * there are STREAM_FAST_FRAMES at most. Stops at the first that the cache does not hold. */
static inline __attribute__((always_inline)) cache_cursor
encode_frames(memtrace_stream *s, uint8_t *p, bool short_form, const uint64_t *frames, size_t n,
              size_t common, bool nonzero) {
    _Static_assert((int)STREAM_FAST_FRAMES <= (int)FORMAT_MAX_RUN, "as cache_encode_held wants it");
    const cache_cursor whole = {.frames = n ? frames + common : NULL, /* may not be added to */
                                .stop = n ? frames + n : NULL,
                                .last = s->cache.buckets,
                                .p = p + (short_form ? 1 : 2)};
    cache_prefetch(&s->cache, whole.frames, whole.stop);
    return cache_encode_held(&s->cache, whole, nonzero);
}

/* Whether a small event at `time` can be added as the one before was, at whose time the packet of
 * events now ends. */
static inline bool stream_is_fast(const memtrace_stream *s, uint64_t time) {
    return __builtin_expect(time == s->fast_time && s->events.used <= s->fast_end, 1);
}

/* The end of the block whose id + 1 is `taken`. False: memtrace_stream_collect can do more. */
static inline bool stream_collect_fast(memtrace_stream *s, uint64_t time, uint64_t taken) {
    if (!stream_is_fast(s, time))
        return false;
    uint8_t *p = put_event_header(s->events.used, FORMAT_COLLECT, s->now);
    stream_commit_at_same_time(s, put_vint(p, (int64_t)(s->next_id - taken)));
    return true;
}

/* memtrace_stream_alloc_block, in line. */
static inline __attribute__((always_inline)) memtrace_status
stream_alloc_block(memtrace_stream *s, uint64_t time, uint64_t words, uint64_t samples,
                   const uint64_t *frames, size_t n, size_t common, uint64_t *id) {
    if (__builtin_expect(!stream_is_fast(s, time) || s->chunk_left == 0 ||
                             n - common > STREAM_FAST_FRAMES || words - 1 >= STREAM_FAST_WORDS ||
                             common >= FORMAT_VINT_16,
                         0))
        return stream_alloc_block_slow(s, time, words, samples, frames, n, common, id);
    s->n_previous = 0;
    uint8_t *p = put_event_header(s->events.used, FORMAT_ALLOC, s->now);
    p = put_u32(p, (uint32_t)(words - 1) | (uint32_t)samples << 8 |
                       (uint32_t)MEMTRACE_EXTERNAL << 16 | (uint32_t)common << 24);
    const cache_cursor c = encode_frames(s, p, false, frames, n, common, true);
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
