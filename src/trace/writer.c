/* writer.c: streams and packets: the public writing half of memtrace.h.
 *
 * A stream is the events of one domain. It fills two packets: one of events, and one of the
 * locations of codes that these events use for the first time. The packet of locations always goes
 * out first. writer_cache.c shortens backtraces, writer_locations.c names; writer_open.c writes the
 * head and the end of the trace.
 *
 * This code runs inside the malloc of arbitrary programs. So memory comes only from the
 * `reallocate` hook, nothing here blocks or touches errno, and all data that streams share is
 * immutable or atomic. An event is first written after the end of the packet, and becomes part of
 * it in the last step, so that a failure halfway leaves only whole events. */
#include <stdatomic.h>

#include "allotrace/memtrace.h"
#include "trace/bytes.h"
#include "trace/format.h"
#include "trace/writer_cache.h"
#include "trace/writer_locations.h"
#include "trace/writer_names.h"
#include "trace/writer_packet.h"
#include "trace/writer_put.h"
#include "trace/writer_rescue.h"
#include "trace/writer_stream.h"

/* ---- packets ----------------------------------------------------------------------------- */

static size_t packet_room(const memtrace_writer *w) {
    return FORMAT_MAX_PACKET - w->header_size;
}

static bool packet_is_empty(const memtrace_writer *w, const packet *p) {
    return p->used == p->bytes + w->header_size;
}

static size_t packet_left(const packet *p) {
    return (size_t)(p->bytes + FORMAT_MAX_PACKET - p->used);
}

/* Passes a packet to the sink and empties it. After a failure nothing more is written, because the
 * sink may have written half a packet. */
static memtrace_status packet_hand_over(memtrace_writer *w, uint16_t domain, packet *p) {
    if (atomic_load_explicit(&w->broken, memory_order_relaxed))
        return MEMTRACE_IO;
    packet_head(w, domain, p);
    const int failed = w->hooks.sink(w->hooks.context, p->bytes, (size_t)(p->used - p->bytes));
    if (failed)
        return writer_break(w, p->begin, failed);
    packet_clear(w, p);
    return MEMTRACE_OK;
}

static memtrace_status packet_emit(memtrace_writer *w, uint16_t domain, packet *p) {
    return packet_is_empty(w, p) ? MEMTRACE_OK : packet_hand_over(w, domain, p);
}

/* ---- streams ----------------------------------------------------------------------------- */

static bool claim_domain(memtrace_writer *w, uint16_t domain) {
    if (w->version < 3 && domain != 0)
        return false;
    const uint32_t bit = UINT32_C(1) << (domain % 32);
    return !(atomic_fetch_or(&w->domains_used[domain / 32], bit) & bit);
}

static void release_domain(memtrace_writer *w, uint16_t domain) {
    atomic_fetch_and(&w->domains_used[domain / 32], ~(UINT32_C(1) << (domain % 32)));
}

/* Does not touch what needs no initialization: most of the packets and the cache, and all
 * tables. */
static void stream_init(memtrace_stream *s, memtrace_writer *w, uint16_t domain) {
    s->writer = w;
    s->status = MEMTRACE_OK;
    s->domain = domain;
    s->next_verify = FORMAT_VERIFY_NOTHING;
    s->now = w->start_time;
    s->next_id = 0;
    s->chunk_left = w->version < 3 ? UINT64_MAX : 0; /* version 2: one stream has all ids */
    s->fast_end = NULL;
    s->fast_time = 0;
    s->start_time = w->start_time;
    s->previous = NULL;
    s->previous_capacity = s->n_previous = s->n_dropped = 0;
    s->announced = (code_set){0};
    packet_clear(w, &s->events);
    packet_clear(w, &s->locations);
    cache_init(&s->cache);
    location_names_init(&s->names);
}

memtrace_status memtrace_stream_open(memtrace_writer *writer, uint16_t domain,
                                     memtrace_stream **stream) {
    *stream = NULL;
    if (!claim_domain(writer, domain))
        return MEMTRACE_USAGE;
    memtrace_stream *s = writer_get_memory(writer, sizeof *s);
    if (!s) {
        release_domain(writer, domain);
        return MEMTRACE_NOMEM;
    }
    stream_init(s, writer, domain);
    atomic_fetch_add(&writer->open_streams, 1);
    *stream = s;
    return MEMTRACE_OK;
}

static memtrace_status stream_fail(memtrace_stream *s, memtrace_status status) {
    s->fast_end = NULL;
    if (s->status == MEMTRACE_OK)
        s->status = status;
    return s->status;
}

/* Passes the events so far to the sink, after the locations that they need. */
static memtrace_status stream_emit(memtrace_stream *s) {
    s->fast_end = NULL;
    memtrace_status status = packet_emit(s->writer, s->domain, &s->locations);
    if (status == MEMTRACE_OK)
        status = packet_emit(s->writer, s->domain, &s->events);
    return status == MEMTRACE_OK ? MEMTRACE_OK : stream_fail(s, status);
}

memtrace_status memtrace_stream_flush(memtrace_stream *stream) {
    const memtrace_status status = stream_emit(stream);
    return stream->status != MEMTRACE_OK ? stream->status : status;
}

uint64_t memtrace_stream_oldest(const memtrace_stream *stream) {
    return packet_is_empty(stream->writer, &stream->events)
               ? UINT64_MAX
               : stream->events.begin - stream->writer->start_time;
}

uint64_t memtrace_stream_pending(const memtrace_stream *stream) {
    return packet_is_empty(stream->writer, &stream->events)
               ? 0
               : stream->events.id_end - stream->events.id_begin;
}

static void raise_latest(memtrace_writer *w, uint64_t time) {
    uint64_t latest = atomic_load(&w->latest);
    while (latest < time && !atomic_compare_exchange_weak(&w->latest, &latest, time))
        ;
}

memtrace_status memtrace_stream_close(memtrace_stream *stream) {
    memtrace_writer *w = stream->writer;
    raise_latest(w, stream->now);
    const memtrace_status status = memtrace_stream_flush(stream);
    writer_give_back(w, stream->previous, stream->previous_capacity * sizeof *stream->previous);
    code_set_free(&stream->announced, w->hooks.reallocate, w->hooks.context);
    writer_give_back(w, stream, sizeof *stream);
    atomic_fetch_sub(&w->open_streams, 1);
    return status;
}

static void set_time(memtrace_stream *s, uint64_t time) {
    const uint64_t start = s->writer->start_time;
    const uint64_t now = time <= UINT64_MAX - start ? start + time : UINT64_MAX;
    if (now > s->now)
        s->now = now;
}

/* Records that nothing happens until `time`: the last packet ends then. If it cannot span that much
 * time, an empty packet follows it. */
static memtrace_status stream_last_until(memtrace_stream *s, uint64_t time) {
    const uint64_t last = s->now;
    set_time(s, time);
    if (s->status != MEMTRACE_OK || s->now == last)
        return s->status;
    if (!packet_is_empty(s->writer, &s->events) &&
        s->now - s->events.begin <= FORMAT_MAX_PACKET_TIME) {
        s->events.end = s->now;
        return MEMTRACE_OK;
    }
    memtrace_status status = stream_emit(s);
    if (status == MEMTRACE_OK) {
        packet_begin(&s->events, s->now, s->next_id);
        status = packet_hand_over(s->writer, s->domain, &s->events);
    }
    return status == MEMTRACE_OK ? status : stream_fail(s, status);
}

memtrace_status memtrace_stream_close_at(memtrace_stream *stream, uint64_t time) {
    const memtrace_status status = stream_last_until(stream, time),
                          closed = memtrace_stream_close(stream);
    return status == MEMTRACE_OK ? closed : status;
}

/* Begins a packet of events whose next id is `next_id`. */
static void begin_events(memtrace_stream *s, uint64_t next_id) {
    packet_begin(&s->events, s->now, next_id);
    if (s->next_verify == FORMAT_VERIFY_NOTHING) { /* first packet: the cache is empty */
        s->next_verify = FORMAT_VERIFY_FIRST;
        return;
    }
    s->events.verify_bucket = s->next_verify;
    s->events.verify = cache_peek(&s->cache, s->next_verify);
    s->next_verify = (uint16_t)((s->next_verify + FORMAT_VERIFY_STEP) % FORMAT_BUCKETS);
}

static bool fits(const memtrace_stream *s, size_t size) {
    return packet_left(&s->events) >= size && s->now - s->events.begin <= FORMAT_MAX_PACKET_TIME;
}

/* Makes room for an event of `size` bytes at time `now`, in a packet whose next id is `next_id`. */
static memtrace_status reserve(memtrace_stream *s, size_t size, uint64_t next_id) {
    if (!packet_is_empty(s->writer, &s->events)) {
        if (fits(s, size) && s->events.id_end == next_id)
            return MEMTRACE_OK;
        const memtrace_status status = stream_emit(s);
        if (status != MEMTRACE_OK)
            return status;
    }
    begin_events(s, next_id);
    return MEMTRACE_OK;
}

/* ---- rescue ------------------------------------------------------------------------------ */

size_t writer_stream_size(void) {
    return sizeof(memtrace_stream);
}

static bool packet_rescue(const memtrace_writer *w, memtrace_stream *s, packet *p, uint64_t address,
                          rescued_packet *out) {
    const uint64_t bytes_at = address + (uint64_t)(p->bytes - (const uint8_t *)s);
    const uint64_t size = (uint64_t)(uintptr_t)p->used - bytes_at;
    if (size < w->header_size || size > FORMAT_MAX_PACKET)
        return false;
    *out = (rescued_packet){.bytes = p->bytes, .size = size > w->header_size ? size : 0};
    p->used = p->bytes + size;
    packet_head(w, s->domain, p);
    return true;
}

bool writer_rescue(void *stream, uint64_t address, uint64_t pid,
                   rescued_packet packets[WRITER_RESCUED_PACKETS]) {
    memtrace_stream *s = stream;
    const memtrace_writer w = {.version = FORMAT_MAX_VERSION,
                               .header_size = format_header_size(FORMAT_MAX_VERSION),
                               .pid = pid};
    return packet_rescue(&w, s, &s->locations, address, &packets[0]) &&
           packet_rescue(&w, s, &s->events, address, &packets[1]);
}

void writer_put_empty_packet(uint8_t bytes[FORMAT_EMPTY_PACKET], uint64_t pid, uint64_t time,
                             uint64_t next_id) {
    const packet_header h = {.version = FORMAT_MAX_VERSION,
                             .verify_bucket = FORMAT_VERIFY_NOTHING,
                             .packet = {.size = FORMAT_EMPTY_PACKET,
                                        .time_begin = time,
                                        .time_end = time,
                                        .pid = pid,
                                        .id_begin = next_id,
                                        .id_end = next_id}};
    put_packet_header(bytes, &h);
}

/* ---- promotions and collections ---------------------------------------------------------- */

/* Whether a small event at `now` can be appended to the packet of events without further checks.
 * This is the common case, which costs hardly more than storing the bytes. */
static inline bool is_fast(const memtrace_stream *s, uint64_t now) {
    const bool fits = now == s->now || /* as for the event before it */
                      (s->now < now && now - s->events.begin <= FORMAT_MAX_PACKET_TIME);
    return s->events.used <= s->fast_end && __builtin_expect(fits, 1);
}

/* After an event was added, decides whether further ones can be appended in the same way. */
static void set_fast(memtrace_stream *s) {
    const bool able = s->status == MEMTRACE_OK && s->events.id_end == s->next_id && !s->n_dropped;
    s->fast_end = able ? s->events.bytes + FORMAT_MAX_PACKET - STREAM_FAST_ROOM : NULL;
    s->fast_time = s->now - s->start_time;
}

/* Returns the packet's next id for a promotion or collection. OCaml's reader refuses to promote an
 * object whose id is beyond the latest of its packet. Such an object, allocated by another domain,
 * may need a new packet whose ids begin beyond it, far enough for further promotions. */
static uint64_t next_id_for(const memtrace_stream *s, unsigned code, uint64_t id) {
    const bool beyond = code == FORMAT_PROMOTE && s->writer->version >= 3;
    if (!packet_is_empty(s->writer, &s->events) && (!beyond || id < s->events.id_end))
        return s->events.id_end;
    return beyond && id >= s->next_id ? id + FORMAT_ID_CHUNK : s->next_id;
}

static __attribute__((noinline)) memtrace_status write_delta_slow(memtrace_stream *s, unsigned code,
                                                                  uint64_t time, uint64_t id) {
    if (s->status != MEMTRACE_OK)
        return s->status;
    set_time(s, time);
    const memtrace_status status = reserve(s, MAX_DEATH, next_id_for(s, code, id));
    if (status != MEMTRACE_OK)
        return status;
    uint8_t *p = put_event_header(s->events.used, code, s->now);
    stream_commit(s, put_vint(p, (int64_t)(s->events.id_end - 1 - id)));
    set_fast(s);
    return MEMTRACE_OK;
}

static inline memtrace_status write_delta(memtrace_stream *s, unsigned code, uint64_t time,
                                          uint64_t id) {
    const uint64_t now = s->start_time + time;
    const bool beyond = code == FORMAT_PROMOTE && id >= s->next_id;
    if (__builtin_expect(!is_fast(s, now) || beyond, 0))
        return write_delta_slow(s, code, time, id);
    s->now = now;
    s->fast_time = time;
    uint8_t *p = put_event_header(s->events.used, code, now);
    stream_commit(s, put_vint(p, (int64_t)(s->next_id - 1 - id)));
    return MEMTRACE_OK;
}

memtrace_status memtrace_stream_promote(memtrace_stream *stream, uint64_t time, uint64_t id) {
    return write_delta(stream, FORMAT_PROMOTE, time, id);
}

memtrace_status memtrace_stream_collect(memtrace_stream *stream, uint64_t time, uint64_t id) {
    return write_delta(stream, FORMAT_COLLECT, time, id);
}

/* ---- locations --------------------------------------------------------------------------- */

/* Writes the locations of a code, before the packet of events that uses it first. A code without
 * locations is written as well: OCaml's reader requires each code to be announced. The locations
 * get the begin time of that packet, because the packets of a domain are in time order. */
static memtrace_status write_locations(memtrace_stream *s, uint64_t code, size_t n) {
    packet *ahead = &s->locations;
    const location_plan plan =
        location_fit(s->located, n, packet_room(s->writer) - FORMAT_EVENT_HEADER);
    if (packet_left(ahead) < FORMAT_EVENT_HEADER + plan.size) {
        const memtrace_status status = packet_emit(s->writer, s->domain, ahead);
        if (status != MEMTRACE_OK)
            return status;
    }
    if (packet_is_empty(s->writer, ahead))
        packet_begin(ahead, s->events.begin, s->events.id_begin);
    uint8_t *p = put_event_header(ahead->used, FORMAT_LOCATION, ahead->begin);
    ahead->used = location_put(&s->names, p, code, s->located, &plan);
    return MEMTRACE_OK;
}

static memtrace_status announce(memtrace_stream *s, uint64_t code) {
    const memtrace_writer_options *hooks = &s->writer->hooks;
    bool added;
    if (!code_set_add(&s->announced, code, hooks->reallocate, hooks->context, &added))
        return MEMTRACE_NOMEM;
    if (!added)
        return MEMTRACE_OK;
    const size_t n =
        hooks->locate ? hooks->locate(hooks->context, code, s->located, MEMTRACE_MAX_LOCATIONS) : 0;
    return n == WRITER_NAMED_ELSEWHERE ? MEMTRACE_OK : write_locations(s, code, n);
}

memtrace_status writer_announce(memtrace_stream *stream, uint64_t code) {
    if (packet_is_empty(stream->writer, &stream->events))
        packet_begin(&stream->events, stream->now, stream->next_id);
    const memtrace_status status =
        stream->status == MEMTRACE_OK ? announce(stream, code) : stream->status;
    return status == MEMTRACE_OK ? status : stream_fail(stream, status);
}

/* Announces the codes that are misses in newly encoded codewords. All others are known. */
static memtrace_status announce_misses(memtrace_stream *s, const uint8_t *codewords, size_t n) {
    memtrace_status status = MEMTRACE_OK;
    while (n-- > 0 && status == MEMTRACE_OK)
        status = announce(s, cache_next_miss(&codewords));
    return status;
}

/* ---- allocations ------------------------------------------------------------------------- */

typedef struct allocation {
    uint64_t length, samples;
    unsigned source;
    size_t prefix;          /* frames that remain of the previous backtrace, as written */
    const uint64_t *frames; /* the other frames */
    size_t n_frames;
    size_t depth; /* frames of the whole backtrace, as passed by the caller */
} allocation;

/* An encoded allocation, without the event header. */
typedef struct encoded {
    uint8_t *codewords, *end;
    size_t misses;
} encoded;

static bool is_short(const allocation *a) {
    return a->samples == 1 && a->source == MEMTRACE_MINOR && a->length >= 1 &&
           a->length <= FORMAT_SHORT_ALLOC_MAX;
}

static inline uint8_t *put_alloc_head(uint8_t *p, const allocation *a, bool short_form,
                                      uint64_t time) {
    if (short_form) {
        p = put_event_header(p, FORMAT_SHORT_ALLOC + (unsigned)a->length, time);
        return put_vint(p, (int64_t)a->prefix);
    }
    p = put_event_header(p, FORMAT_ALLOC, time);
    p = put_vint(p, (int64_t)a->length);
    p = put_vint(p, (int64_t)a->samples);
    p = put_u8(p, (uint8_t)a->source);
    return put_vint(p, (int64_t)a->prefix);
}

/* Turns an event in short form with too many codewords into the long form. */
static encoded lengthen(memtrace_stream *s, const allocation *a, encoded e) {
    uint8_t head[MAX_ALLOC_HEAD];
    const size_t size = (size_t)(put_alloc_head(head, a, false, s->now) - head) + 2;
    uint8_t *codewords = s->events.used + size;
    memmove(codewords, e.codewords, (size_t)(e.end - e.codewords));
    memcpy(s->events.used, head, size - 2);
    e.end = codewords + (e.end - e.codewords);
    e.codewords = codewords;
    return e;
}

/* Encodes an event after the end of the packet of events. Returns false if there is too little
 * room: the cache must be restored then. */
static bool encode(memtrace_stream *s, const allocation *a, encoded *e) {
    bool short_form = is_short(a);
    uint8_t *count_at = put_alloc_head(s->events.used, a, short_form, s->now);
    cache_tally tally;
    /* Leaves room for the long form in case it is needed. */
    const uint8_t *end = s->events.bytes + FORMAT_MAX_PACKET - (short_form ? MAX_ALLOC_HEAD : 0);
    e->codewords = count_at + (short_form ? 1 : 2);
    e->end = cache_encode(&s->cache, s->cache.buckets, a->frames, a->n_frames, e->codewords, end,
                          &tally);
    if (!e->end)
        return false;
    e->misses = tally.misses;
    if (short_form && tally.codewords > UINT8_MAX) {
        *e = lengthen(s, a, *e);
        short_form = false;
        count_at = e->codewords - 2;
    }
    stream_put_codeword_count(count_at, short_form, tally.codewords);
    return true;
}

/* Returns an upper bound of an allocation's size in bytes. */
static size_t most_of_alloc(size_t n_frames) {
    return 2 * MAX_ALLOC_HEAD + n_frames * CACHE_MAX_FRAME;
}

static size_t most_frames(const memtrace_writer *w) {
    return (packet_room(w) - 2 * MAX_ALLOC_HEAD) / CACHE_MAX_FRAME;
}

/* Tries to encode frames that may not fit an empty packet. */
static bool encode_tentatively(memtrace_stream *s, const allocation *a, encoded *e) {
    writer_cache *before = writer_get_memory(s->writer, sizeof *before);
    if (!before)
        return false;
    memcpy(before, &s->cache, sizeof *before);
    const bool done = encode(s, a, e);
    if (!done)
        memcpy(&s->cache, before, sizeof *before);
    writer_give_back(s->writer, before, sizeof *before);
    return done;
}

/* Drops the outermost frames, so that the others are sure to fit an empty packet. */
static void cut(memtrace_stream *s, allocation *a) {
    const size_t too_many = a->n_frames - most_frames(s->writer);
    a->prefix = 0;
    a->frames += too_many;
    a->n_frames -= too_many;
    s->n_dropped = a->depth - a->n_frames;
}

/* Returns how many of the first `n` frames are equal, given that the first `from` are. */
static size_t shared_prefix(const uint64_t *a, const uint64_t *b, size_t from, size_t n) {
    size_t i = from;
    for (; n - i >= 4; i += 4)
        if ((a[i] ^ b[i]) | (a[i + 1] ^ b[i + 1]) | (a[i + 2] ^ b[i + 2]) | (a[i + 3] ^ b[i + 3]))
            break;
    while (i < n && a[i] == b[i])
        i++;
    return i;
}

static memtrace_status hold_frames(memtrace_stream *s, size_t n) {
    if (n <= s->previous_capacity)
        return MEMTRACE_OK;
    const memtrace_writer_options *hooks = &s->writer->hooks;
    const size_t size = sizeof *s->previous;
    size_t capacity = s->previous_capacity ? s->previous_capacity : 64;
    while (capacity < n)
        capacity *= 2;
    void *grown = hooks->reallocate(hooks->context, s->previous, s->previous_capacity * size,
                                    capacity * size);
    if (!grown)
        return MEMTRACE_NOMEM;
    s->previous = grown;
    s->previous_capacity = capacity;
    return MEMTRACE_OK;
}

/* Chooses the frames to write out of `n`, given that the first `common` are those of the previous
 * backtrace. If the previous one lost its outermost frames, this one drops the same frames, so that
 * both still share the frames after them. */
static void choose_frames(memtrace_stream *s, allocation *a, const uint64_t *frames, size_t n,
                          size_t common) {
    if (common < s->n_dropped || n <= s->n_dropped)
        common = s->n_dropped = 0;
    a->prefix = common - s->n_dropped;
    a->frames = n ? frames + common : NULL; /* adding to NULL, even 0, is undefined in C */
    a->n_frames = n - common;
    a->depth = n;
}

static memtrace_status write_alloc(memtrace_stream *s, uint64_t id, allocation *a) {
    const bool sure = a->n_frames <= most_frames(s->writer);
    memtrace_status status =
        reserve(s, sure ? most_of_alloc(a->n_frames) : packet_room(s->writer) + 1, id);
    if (status != MEMTRACE_OK)
        return status;
    encoded e;
    if (sure || !encode_tentatively(s, a, &e)) {
        if (!sure)
            cut(s, a);
        (void)encode(s, a, &e); /* cannot fail: there is room */
    }
    status = announce_misses(s, e.codewords, e.misses);
    if (status != MEMTRACE_OK)
        return status;
    s->events.id_end++;
    stream_commit(s, e.end);
    return MEMTRACE_OK;
}

static bool is_valid(const memtrace_stream *s, const allocation *a, size_t n, size_t promised) {
    return a->source <= MEMTRACE_EXTERNAL && a->length <= INT64_MAX &&
           a->samples <= a->length + 1 && promised <= n && promised <= s->n_previous;
}

static memtrace_status stream_alloc(memtrace_stream *s, uint64_t time, uint64_t id, allocation *a,
                                    const uint64_t *frames, size_t n, size_t promised) {
    memtrace_status status = hold_frames(s, n);
    if (status != MEMTRACE_OK)
        return stream_fail(s, status);
    set_time(s, time);
    const size_t shorter = n < s->n_previous ? n : s->n_previous;
    const size_t common = shared_prefix(s->previous, frames, promised, shorter);
    choose_frames(s, a, frames, n, common);
    status = write_alloc(s, id, a);
    if (status != MEMTRACE_OK)
        return stream_fail(s, status);
    if (n > common)
        memcpy(s->previous + common, frames + common, (n - common) * sizeof *frames);
    s->n_previous = n;
    s->next_id = id + 1;
    set_fast(s);
    return MEMTRACE_OK;
}

static void refill_ids(memtrace_stream *s) {
    if (s->chunk_left > 0)
        return;
    s->next_id = FORMAT_ID_CHUNK *
                 atomic_fetch_add_explicit(&s->writer->next_chunk, 1, memory_order_relaxed);
    s->chunk_left = FORMAT_ID_CHUNK;
}

uint64_t stream_next_id(memtrace_stream *s) {
    if (s->chunk_left == 0)
        s->fast_end = NULL; /* the packet's ids continue where the last chunk ends */
    refill_ids(s);
    return s->next_id;
}

/* Takes the next id of the stream. */
static uint64_t take_id(memtrace_stream *s) {
    refill_ids(s);
    s->chunk_left--;
    return s->next_id;
}

memtrace_status stream_put_frames_slow(memtrace_stream *s, uint8_t *p, bool short_form,
                                       const cache_cursor *c, uint64_t *id) {
    cache_tally tally;
    uint8_t *const codewords = p + (short_form ? 1 : 2);
    uint8_t *const end = cache_encode(&s->cache, c->last, c->frames, (size_t)(c->stop - c->frames),
                                      c->p, NULL, &tally);
    stream_put_codeword_count(p, short_form, c->codewords + tally.codewords);
    const memtrace_status status = announce_misses(s, codewords, tally.misses);
    if (status != MEMTRACE_OK)
        return stream_fail(s, status);
    *id = stream_use_next_id(s);
    stream_commit(s, end);
    return MEMTRACE_OK;
}

/* Whether an allocation has few new frames, and neither it nor the one before is a special case. */
static inline bool is_fast_alloc(const memtrace_stream *s, uint64_t now, const allocation *a,
                                 size_t n, size_t common) {
    return n - common <= STREAM_FAST_FRAMES && common <= n && common <= s->n_previous &&
           n <= s->previous_capacity && s->chunk_left > 0 && a->source <= MEMTRACE_EXTERNAL &&
           a->length <= INT64_MAX && a->samples <= a->length + 1 && is_fast(s, now);
}

/* Does what stream_alloc does, for an allocation that passed is_fast_alloc. */
static inline memtrace_status stream_alloc_fast(memtrace_stream *s, uint64_t now, allocation *a,
                                                const uint64_t *frames, size_t n, size_t common,
                                                uint64_t *id) {
    uint64_t *const previous = s->previous;
    const size_t shorter = n < s->n_previous ? n : s->n_previous;
    while (common < shorter && previous[common] == frames[common])
        common++;
    a->prefix = common;
    s->now = now;
    const bool short_form = is_short(a);
    uint8_t *const p = put_alloc_head(s->events.used, a, short_form, now);
    const cache_cursor c = stream_encode_frames(s, p, short_form, frames, n, common, false);
    if (__builtin_expect(c.frames < c.stop, 0)) {
        const cache_cursor rest = c;
        const memtrace_status status = stream_put_frames_slow(s, p, short_form, &rest, id);
        if (status != MEMTRACE_OK)
            return status;
    } else {
        stream_put_codeword_count(p, short_form, c.codewords);
        *id = stream_use_next_id(s);
        stream_commit(s, c.p);
    }
    for (size_t i = common; i < n; i++)
        previous[i] = frames[i];
    s->n_previous = n;
    return MEMTRACE_OK;
}

/* The first backtrace of a packet is written in full, so that after a loss it is right again. */
memtrace_status stream_alloc_block_slow(memtrace_stream *s, uint64_t time, uint64_t words,
                                        uint64_t samples, const uint64_t *frames, size_t n,
                                        size_t common, uint64_t *id) {
    allocation a = {.length = words - 1, .samples = samples, .source = MEMTRACE_EXTERNAL};
    if (s->status != MEMTRACE_OK)
        return s->status;
    if (s->writer->version < 3 || s->n_dropped || n > most_frames(s->writer) || words == 0 ||
        a.length > INT64_MAX)
        return memtrace_stream_alloc(s, time, MEMTRACE_EXTERNAL, a.length, samples, frames, n,
                                     common > s->n_previous ? 0 : common, id);
    set_time(s, time);
    refill_ids(s);
    const memtrace_status status = reserve(s, most_of_alloc(n - common), s->next_id);
    if (status != MEMTRACE_OK)
        return stream_fail(s, status);
    a.prefix = packet_is_empty(s->writer, &s->events) ? 0 : common;
    s->n_previous = 0;
    uint8_t *p = put_alloc_head(s->events.used, &a, false, s->now);
    const cache_cursor all = {.frames = n ? frames + a.prefix : NULL,
                              .stop = n ? frames + n : NULL,
                              .last = s->cache.buckets,
                              .p = p + 2};
    const memtrace_status written = stream_put_frames_slow(s, p, false, &all, id);
    if (written == MEMTRACE_OK)
        set_fast(s);
    return written;
}

memtrace_status memtrace_stream_alloc_block(memtrace_stream *s, uint64_t time, uint64_t words,
                                            uint64_t samples, const uint64_t *frames, size_t n,
                                            size_t common, uint64_t *id) {
    return samples > words ? MEMTRACE_USAGE
                           : stream_alloc_block(s, time, words, samples, frames, n, common, id);
}

static __attribute__((noinline)) memtrace_status
stream_alloc_slow(memtrace_stream *s, uint64_t time, const allocation *wanted,
                  const uint64_t *frames, size_t n_frames, size_t common_prefix, uint64_t *id) {
    allocation a = *wanted;
    if (s->status != MEMTRACE_OK)
        return s->status;
    if (!is_valid(s, &a, n_frames, common_prefix))
        return MEMTRACE_USAGE;
    *id = take_id(s);
    return stream_alloc(s, time, *id, &a, frames, n_frames, common_prefix);
}

bool memtrace_is_of_process(const void *bytes, size_t size, uint64_t pid) {
    _Static_assert(MEMTRACE_FRONT_SIZE == FORMAT_HEADER_FRONT, "the pid stands at its end");
    return size >= FORMAT_HEADER_FRONT && bytes_u32(bytes) == FORMAT_MAGIC &&
           bytes_u64((const uint8_t *)bytes + FORMAT_AT_PID) == pid;
}

memtrace_status memtrace_stream_alloc(memtrace_stream *stream, uint64_t time,
                                      memtrace_source source, uint64_t length, uint64_t samples,
                                      const uint64_t *frames, size_t n_frames, size_t common_prefix,
                                      uint64_t *id) {
    allocation a = {.length = length, .samples = samples, .source = source};
    const uint64_t now = stream->start_time + time;
    if (__builtin_expect(is_fast_alloc(stream, now, &a, n_frames, common_prefix), 1))
        return stream_alloc_fast(stream, now, &a, frames, n_frames, common_prefix, id);
    const allocation wanted = {.length = length, .samples = samples, .source = source};
    return stream_alloc_slow(stream, time, &wanted, frames, n_frames, common_prefix, id);
}

memtrace_status memtrace_stream_alloc_as(memtrace_stream *stream, uint64_t time, uint64_t id,
                                         memtrace_source source, uint64_t length, uint64_t samples,
                                         const uint64_t *frames, size_t n_frames,
                                         size_t common_prefix) {
    if (stream->status != MEMTRACE_OK)
        return stream->status;
    allocation a = {.length = length, .samples = samples, .source = source};
    if (!is_valid(stream, &a, n_frames, common_prefix))
        return MEMTRACE_USAGE;
    return stream_alloc(stream, time, id, &a, frames, n_frames, common_prefix);
}
