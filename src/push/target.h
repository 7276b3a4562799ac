/* target.h: a receiver of profiles: its protocol, what it was sent, and when it is tried next.
 *
 * A push contains what was allocated since the receiver last accepted one, and what is live now. So
 * nothing has to be kept for a receiver that is down: once it is back, it gets everything that it
 * missed as one longer interval. */
#ifndef PUSH_TARGET_H
#define PUSH_TARGET_H

#include "push/http.h"
#include "push/labels.h"
#include "push/places.h"
#include "push/tally.h"
#include "render/output.h"

typedef enum target_kind {
    TARGET_OTLP,      /* OpenTelemetry's protocol: all other URLs */
    TARGET_PYROSCOPE, /* …/ingest */
    TARGET_PARCA,     /* …/profiles/writeraw, which Parca has under /api */
} target_kind;

enum { TARGET_URL_MAX = 2048, TARGET_REASON = 320 };

/* What a receiver has got of a row. */
typedef struct target_sent {
    uint64_t allocated, allocated_samples;
    double allocated_blocks;
} target_sent;

typedef struct target {
    char url[TARGET_URL_MAX]; /* including the protocol's path */
    target_kind kind;
    VEC(target_sent) sent;    /* by row of the tally */
    VEC(target_sent) sending; /* becomes `sent` if the request is accepted */
    uint64_t sent_until;      /* microseconds since the start of the trace */
    uint64_t sending_until;
    uint64_t next_ms;  /* on the monotonic clock: earliest time of the next push */
    unsigned failures; /* consecutive ones */
    uint64_t n_taken, n_failed, n_refused;
    char reason[TARGET_REASON]; /* of the last failure; empty: there was none */
    bool told;                  /* the user was told of a failure */
    bool owed;                  /* the last push failed, and may succeed later */
    output body;
    char *request_url; /* `url`, with the protocol's parameters */
} target;

/* Determines the protocol of a URL. Returns NULL, or what is wrong with it. The target is valid for
 * target_free in any case. */
const char *target_begin(target *t, const char *url);

/* Makes the request for everything that is new. Returns false if there is nothing to send, or no
 * memory. */
bool target_prepare(target *t, const tally *of, const places *names, const labels *by);

/* Handles the response to the request. `every_ms` is the interval between pushes. */
void target_settle(target *t, const http_request *r, uint64_t now_ms, uint64_t every_ms);

/* Returns after how many milliseconds a request that failed after the end is sent again; 0: it is
 * not. Pauses grow. What nobody can wait for is given up: a refusal, a pause that lasts longer than
 * what is left of PUSH_END_MS, and soon a receiver that is not there. `gone_ms` is the time since
 * the end. */
unsigned target_again(target *t, const http_request *r, uint64_t gone_ms);

/* Whether the receiver accepts links to spans. */
static inline bool target_links(const target *t) {
    return t->kind == TARGET_OTLP;
}

/* target_has says whether the receiver has everything that was allocated in a row. target_drop
 * forgets what was sent of a row, whose index is then reused. */
bool target_has(const target *t, const tally *of, size_t row);
void target_drop(target *t, size_t row);

/* Begins another trace, of which the receiver has nothing. */
void target_forget(target *t);

void target_free(target *t);

#endif
