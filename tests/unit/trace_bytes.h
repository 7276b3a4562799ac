/* trace_bytes.h: traces made byte by byte, for tests of the reader that owe nothing to the writer.
 *
 *     trace_bytes t = {.version = 3};
 *     trace_head(&t);
 *     trace_packet(&t, &(packet_fields){.begin = 100});
 *     trace_short_alloc(&t, 5, 2, 0, 1);
 *     trace_miss(&t, 7, 0x1234);
 *     trace_packet_end(&t);
 */
#ifndef TRACE_BYTES_TEST_H
#define TRACE_BYTES_TEST_H

#include <stdint.h>
#include <string.h>

#include "trace/format.h"

enum { TRACE_START = 1000000000, TRACE_PID = 77 };

typedef struct trace_bytes {
    uint8_t bytes[1 << 24];
    size_t size;
    unsigned version;
    size_t packet;  /* start of the current packet */
    uint64_t begin; /* its begin time, us since TRACE_START */
    uint64_t end;   /* its end time; follows from the events unless it was given */
} trace_bytes;

typedef struct packet_fields {
    uint64_t begin, end; /* us since TRACE_START */
    uint64_t pid;        /* 0: TRACE_PID */
    uint16_t domain;
    bool verify;
    uint16_t bucket, prediction;
    uint64_t code;
    uint64_t id_begin;
    uint64_t id_end; /* 0: id_begin */
} packet_fields;

static inline void put(trace_bytes *t, unsigned n, uint64_t value) {
    for (; n > 0; n--, value >>= 8)
        t->bytes[t->size++] = (uint8_t)value;
}

static inline void put_string(trace_bytes *t, const char *s) {
    memcpy(t->bytes + t->size, s, strlen(s) + 1);
    t->size += strlen(s) + 1;
}

static inline void put_vint(trace_bytes *t, int64_t value) {
    if (value >= 0 && value <= FORMAT_VINT_MAX_BYTE) {
        put(t, 1, (uint64_t)value);
    } else if (value >= 0 && value <= UINT16_MAX) {
        put(t, 1, FORMAT_VINT_16);
        put(t, 2, (uint64_t)value);
    } else if (value >= INT32_MIN && value <= INT32_MAX) {
        put(t, 1, FORMAT_VINT_32);
        put(t, 4, (uint64_t)value);
    } else {
        put(t, 1, FORMAT_VINT_64);
        put(t, 8, (uint64_t)value);
    }
}

static inline void trace_packet(trace_bytes *t, const packet_fields *f) {
    t->packet = t->size;
    t->begin = t->end = f->begin;
    put(t, 4, FORMAT_MAGIC);
    put(t, 4, 0);
    put(t, 8, TRACE_START + f->begin);
    put(t, 8, TRACE_START + (f->end ? f->end : f->begin));
    put(t, 4, 0);
    put(t, 2, t->version);
    put(t, 8, f->pid ? f->pid : TRACE_PID);
    if (t->version >= 3)
        put(t, 2, f->domain);
    put(t, 2, f->verify ? f->bucket : FORMAT_VERIFY_NOTHING);
    put(t, 2, f->prediction);
    put(t, 8, f->code);
    put(t, 8, f->id_begin);
    put(t, 8, f->id_end ? f->id_end : f->id_begin);
}

static inline void patch(trace_bytes *t, size_t at, unsigned n, uint64_t value) {
    size_t size = t->size;
    t->size = at;
    put(t, n, value);
    t->size = size;
}

static inline void trace_packet_end(trace_bytes *t) {
    patch(t, t->packet + FORMAT_AT_SIZE, 4, (t->size - t->packet) * 8);
    if (t->end > t->begin)
        patch(t, t->packet + FORMAT_AT_TIME_END, 8, TRACE_START + t->end);
}

static inline void trace_event(trace_bytes *t, unsigned kind, uint64_t time) {
    if (time > t->end)
        t->end = time;
    put(t, 4, ((TRACE_START + time) & 0x1FFFFFF) | (uint64_t)kind << FORMAT_TIME_BITS);
}

static inline void trace_info_event(trace_bytes *t, double rate) {
    uint64_t bits;
    memcpy(&bits, &rate, sizeof bits);
    trace_event(t, FORMAT_TRACE_INFO, 0);
    put(t, 8, bits);
    put(t, 1, 64);
    put_string(t, "/bin/program");
    put_string(t, "host");
    put_string(t, "v=0");
    put(t, 8, TRACE_PID);
    if (t->version >= 2)
        put_string(t, "context");
}

static inline void trace_head(trace_bytes *t) {
    trace_packet(t, &(packet_fields){0});
    trace_info_event(t, 0.01);
    trace_packet_end(t);
}

/* Puts an allocation of 1 … 16 words with `n` codewords, which the caller must add. */
static inline void trace_short_alloc(trace_bytes *t, uint64_t time, unsigned length,
                                     uint64_t prefix, unsigned n) {
    trace_event(t, FORMAT_SHORT_ALLOC + length, time);
    put_vint(t, (int64_t)prefix);
    put(t, 1, n);
}

static inline void trace_alloc(trace_bytes *t, uint64_t time, int64_t length, int64_t samples,
                               unsigned source, uint64_t prefix, unsigned n) {
    trace_event(t, FORMAT_ALLOC, time);
    put_vint(t, length);
    put_vint(t, samples);
    put(t, 1, source);
    put_vint(t, (int64_t)prefix);
    put(t, 2, n);
}

static inline void trace_miss(trace_bytes *t, unsigned bucket, uint64_t code) {
    put(t, 2, bucket << FORMAT_TAG_BITS | FORMAT_TAG_MISS);
    put(t, 8, code);
}

/* Puts a hit of the bucket's code and of `run` predicted ones. */
static inline void trace_hit(trace_bytes *t, unsigned bucket, unsigned run) {
    put(t, 2, bucket << FORMAT_TAG_BITS | (run < 2 ? run : FORMAT_TAG_HIT_N));
    if (run >= 2)
        put(t, 1, run);
}

static inline void trace_fate(trace_bytes *t, unsigned kind, uint64_t time, int64_t delta) {
    trace_event(t, kind, time);
    put_vint(t, delta);
}

static inline void trace_location_event(trace_bytes *t, uint64_t code, unsigned n_locations) {
    trace_event(t, FORMAT_LOCATION, t->begin);
    put(t, 8, code);
    put(t, 1, n_locations);
}

/* Puts a location of a location event. A name that is NULL is not written: its code refers to a
 * known name. Columns are OR-ed into place without a limit, as the overflow of memtrace 0.2.3
 * does. */
static inline void trace_location(trace_bytes *t, uint64_t line, uint64_t start, uint64_t end,
                                  uint64_t file, const char *file_name, uint64_t definition,
                                  const char *definition_name) {
    put(t, 6, line | start << 20 | end << 28 | file << 38 | definition << 43);
    if (file_name)
        put_string(t, file_name);
    if (definition_name)
        put_string(t, definition_name);
}

#endif
