/* check_trace.h: reads any bytes as a trace, with an eye on every promise of memtrace.h. Aborts
 * where one is broken. Shared by the fuzzer and the stress test. */
#ifndef CHECK_TRACE_H
#define CHECK_TRACE_H

#include <stdint.h>
#include <string.h>

#include "allotrace/memtrace.h"
#include "base/map64.h"
#include "base/vec.h"
#include "require.h"

/* The last backtrace and time that a caller saw of a domain. */
typedef struct seen_domain {
    VEC(uint32_t) frames;
    uint64_t time;
} seen_domain;

typedef struct checker {
    map64 index;
    VEC(seen_domain) domains;
    size_t n_touched; /* bytes of names, so that they are read */
    uint32_t n_frames_checked;
} checker;

static seen_domain *checker_domain(checker *c, uint16_t domain) {
    uint32_t *index = map64_put(&c->index, domain);
    REQUIRE(index);
    if (*index == MAP64_NONE) {
        *index = (uint32_t)c->domains.count;
        REQUIRE(vec_push(&c->domains, (seen_domain){0}));
    }
    return &c->domains.items[*index];
}

/* Looks at the frames that came up since the last call. */
static void check_frames(checker *c, memtrace_reader *r) {
    uint32_t n = memtrace_reader_n_frames(r);
    REQUIRE(n >= c->n_frames_checked);
    for (; c->n_frames_checked < n; c->n_frames_checked++) {
        const memtrace_frame *f = memtrace_reader_frame(r, c->n_frames_checked);
        REQUIRE(f->n_locations <= MEMTRACE_MAX_LOCATIONS);
        for (uint32_t i = 0; i < f->n_locations; i++)
            c->n_touched += strlen(f->locations[i].file) + strlen(f->locations[i].function);
        c->n_touched += f->type ? strlen(f->type) : 0;
    }
}

static void check_backtrace(checker *c, const memtrace_reader *r, const memtrace_event *e) {
    seen_domain *d = checker_domain(c, e->domain);
    uint32_t n_known = memtrace_reader_n_frames(r);
    REQUIRE(e->common_prefix <= e->n_frames && e->common_prefix <= d->frames.count);
    if (e->common_prefix > 0)
        REQUIRE(memcmp(d->frames.items, e->frames, e->common_prefix * sizeof *e->frames) == 0);
    for (uint32_t i = e->common_prefix; i < e->n_frames; i++)
        REQUIRE(e->frames[i] < n_known);
    d->frames.count = e->common_prefix;
    REQUIRE(vec_reserve(&d->frames, e->n_frames - e->common_prefix));
    if (e->n_frames > e->common_prefix)
        memcpy(d->frames.items + e->common_prefix, e->frames + e->common_prefix,
               (e->n_frames - e->common_prefix) * sizeof *e->frames);
    d->frames.count = e->n_frames;
}

static void check_event(checker *c, memtrace_reader *r, const memtrace_event *e) {
    seen_domain *d = checker_domain(c, e->domain);
    REQUIRE(e->time >= d->time);
    d->time = e->time;
    REQUIRE(e->kind <= MEMTRACE_THREAD);
    if (e->kind == MEMTRACE_PROMOTE || e->kind == MEMTRACE_COLLECT)
        return;
    REQUIRE(e->kind == MEMTRACE_ALLOC || e->samples == 0);
    REQUIRE(e->source <= MEMTRACE_EXTERNAL);
    REQUIRE(e->samples <= e->length + 1);
    check_backtrace(c, r, e);
    check_frames(c, r);
}

static void checker_free(checker *c) {
    for (size_t i = 0; i < c->domains.count; i++)
        vec_free(&c->domains.items[i].frames);
    vec_free(&c->domains);
    map64_free(&c->index);
}

static void check_error(const memtrace_error *error, memtrace_status status) {
    REQUIRE(error->status == status && status != MEMTRACE_NOMEM);
    REQUIRE(error->reason[0] != '\0' && !strchr(error->reason, '\n'));
    REQUIRE(strlen(error->reason) < sizeof error->reason);
}

static void check_warnings(const memtrace_reader *r) {
    size_t n;
    const memtrace_warning *w = memtrace_reader_warnings(r, &n);
    for (size_t i = 0; i < n; i++) {
        REQUIRE(w[i].count > 0 && w[i].text[0] != '\0');
        REQUIRE(i == 0 || w[i - 1].first_offset <= w[i].first_offset);
    }
}

/* Reads all events. Each takes a byte at least, unless the trace is compressed. */
static void check_trace(const uint8_t *bytes, size_t size, const memtrace_reader_options *options) {
    memtrace_reader *r = NULL;
    memtrace_error error = {0};
    memtrace_status status = memtrace_reader_open_memory(bytes, size, options, &r, &error);
    REQUIRE((status == MEMTRACE_OK) == (r != NULL));
    if (!r) {
        check_error(&error, status);
        return;
    }
    checker c = {0};
    memtrace_event event;
    while ((status = memtrace_reader_next(r, &event)) == MEMTRACE_OK)
        check_event(&c, r, &event);
    check_frames(&c, r);
    check_warnings(r);
    REQUIRE(memtrace_reader_next(r, &event) == status);
    if (status != MEMTRACE_END)
        check_error(memtrace_reader_error(r), status);
    REQUIRE(status == MEMTRACE_END || (options && options->strict));
    checker_free(&c);
    memtrace_reader_close(r);
}

#endif
