/* target.h: a receiver of profiles: which protocol it speaks, what it was sent, and when it is
 * tried next.
 *
 * What is sent is what was allocated since the last time that it took something, and what is live
 * now. So nothing has to be kept for a receiver that is down: once it is back, it gets all that it
 * missed as one longer interval. */
#ifndef PUSH_TARGET_H
#define PUSH_TARGET_H

#include "push/http.h"
#include "push/labels.h"
#include "push/places.h"
#include "push/tally.h"
#include "render/output.h"

typedef enum target_kind {
    TARGET_OTLP,      /* OpenTelemetry's protocol: all other addresses */
    TARGET_PYROSCOPE, /* …/ingest */
    TARGET_PARCA,     /* …/profiles/writeraw, which Parca has below /api */
} target_kind;

enum { TARGET_URL_MAX = 2048, TARGET_REASON = 320 };

/* What a receiver has of a row. */
typedef struct target_sent {
    uint64_t allocated, allocated_samples;
    double allocated_blocks;
} target_sent;

typedef struct target {
    char url[TARGET_URL_MAX]; /* with the path of the protocol */
    target_kind kind;
    VEC(target_sent) sent;    /* by row of the tally */
    VEC(target_sent) sending; /* the same, as it will be if this is taken */
    uint64_t sent_until;      /* us from the start of the trace */
    uint64_t sending_until;
    uint64_t next_ms;  /* of the monotonic clock: not before */
    unsigned failures; /* since it took something */
    uint64_t n_taken, n_failed, n_refused;
    char reason[TARGET_REASON]; /* of the last failure; empty: there was none */
    bool told;                  /* the user knows */
    bool owed;                  /* the last try failed, and may yet succeed */
    output body;
    char *request_url; /* with what the protocol says there */
} target;

/* Which protocol a URL means. NULL, or what is wrong with it. The target is legal for target_free
 * in any case. */
const char *target_begin(target *t, const char *url);

/* Makes the request of all that is new. False: there is nothing to send, or no memory. `token`
 * NULL: none; `header` has room for it. */
bool target_prepare(target *t, const tally *of, const places *names, const labels *by);

/* What became of the request; `every_ms` is how often it is sent. */
void target_settle(target *t, const http_request *r, uint64_t now_ms, uint64_t every_ms);

/* Whether it takes spans. */
static inline bool target_links(const target *t) {
    return t->kind == TARGET_OTLP;
}

/* Whether it has all that was allocated of a row; and that the row is another one from now on. */
bool target_has(const target *t, const tally *of, size_t row);
void target_drop(target *t, size_t row);

/* What comes next is of another trace, of which it has nothing. */
void target_forget(target *t);

void target_free(target *t);

#endif
