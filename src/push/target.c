/* target.c: the three kinds of requests: OTLP as it is, Pyroscope's parameters in the URL, Parca's
 * JSON around a profile in base64. When a receiver has accepted a request, what was sent is noted
 * by row. A refusal is final; another failure is retried after a delay that doubles each time. */
#include "push/target.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/text.h"
#include "export/otlp.h"
#include "export/pprof.h"
#include "push/push.h"
#include "query/cost.h"

#define OTLP_PATH      "/v1development/profiles"
#define PYROSCOPE_PATH "/ingest"
#define PARCA_PATH     "/profiles/writeraw"

enum { MOST_WAIT_MS = 5 * 60 * 1000, MOST_SHIFT = 10 };
enum { /* after the end */
       FIRST_PAUSE_MS = 100,
       MOST_PAUSE_MS = 2000,
       ABSENT_MS = 1000, /* a receiver that is not there may appear */
};

/* The values of a stack: those that the receivers' pages know by these names, and the number of
 * samples behind each estimate, so that whoever sums them can tell how certain they are. */
enum { OBJECTS, SPACE, LIVE_OBJECTS, LIVE_SPACE, SAMPLES, LIVE_SAMPLES, N_VALUES };
static const pprof_value value_types[] = {
    [OBJECTS] = {"alloc_objects", "count"},      [SPACE] = {"alloc_space", "bytes"},
    [LIVE_OBJECTS] = {"inuse_objects", "count"}, [LIVE_SPACE] = {"inuse_space", "bytes"},
    [SAMPLES] = {"alloc_samples", "count"},      [LIVE_SAMPLES] = {"inuse_samples", "count"},
};

/* A selection of these values. */
typedef struct value_set {
    unsigned n, values[N_VALUES];
    bool at_once; /* the state at a moment, not the change since the last push */
} value_set;
static const value_set all_values = {N_VALUES,
                                     {OBJECTS, SPACE, LIVE_OBJECTS, LIVE_SPACE, SAMPLES,
                                      LIVE_SAMPLES},
                                     false},
                       allocated_values = {3, {OBJECTS, SPACE, SAMPLES}, false},
                       live_values = {3, {LIVE_OBJECTS, LIVE_SPACE, LIVE_SAMPLES}, true};

/* ---- addresses --------------------------------------------------------------------------- */

/* Refuses a URL with a password, which may be between the scheme and the first slash: `ps` would
 * show it. */
static const char *refuse_url(const char *url) {
    const char *host = strstr(url, "://");
    if (!host || (strncmp(url, "http://", 7) != 0 && strncmp(url, "https://", 8) != 0))
        return "it must begin with http:// or https://";
    host += strlen("://");
    const size_t n = strcspn(host, "/?#");
    if (n == 0)
        return "it names no host";
    if (memchr(host, '@', n))
        return "a password in a URL is visible to others; put a token into a file and use "
               "--token-file";
    return strlen(url) >= TARGET_URL_MAX - sizeof OTLP_PATH ? "it is too long" : NULL;
}

const char *target_begin(target *t, const char *url) {
    *t = (target){0};
    output_start(&t->body, OUTPUT_MEMORY);
    const char *why = refuse_url(url);
    if (why)
        return why;
    size_t size = strcspn(url, "?#");
    while (size > 0 && url[size - 1] == '/')
        size--;
    snprintf(t->url, sizeof t->url, "%.*s", (int)size, url);
    t->kind = text_ends_with(t->url, PYROSCOPE_PATH) ? TARGET_PYROSCOPE
              : text_ends_with(t->url, PARCA_PATH)   ? TARGET_PARCA
                                                     : TARGET_OTLP;
    if (t->kind == TARGET_OTLP && !text_ends_with(t->url, OTLP_PATH))
        snprintf(t->url + size, sizeof t->url - size, "%s", OTLP_PATH);
    return NULL;
}

void target_forget(target *t) {
    vec_clear(&t->sent);
    t->sent_until = 0;
}

bool target_has(const target *t, const tally *of, size_t row) {
    return row < t->sent.count &&
           t->sent.items[row].allocated_samples == of->rows.items[row].allocated_samples;
}

void target_drop(target *t, size_t row) {
    if (row < t->sent.count)
        t->sent.items[row] = (target_sent){0};
}

void target_free(target *t) {
    vec_free(&t->sent);
    vec_free(&t->sending);
    output_finish(&t->body);
    free(t->request_url);
}

/* ---- what is new ------------------------------------------------------------------------- */

/* Rounds before it subtracts, so that the differences add up to the rounded sum. */
static uint64_t rounded_difference(double now, double before) {
    return (uint64_t)(round(now) - round(before));
}

static uint64_t bytes_of(const tally *of, uint64_t samples) {
    return (uint64_t)llround(cost_bytes(&of->profile, samples));
}

/* Sets the values of a row that are new; false: there are none. */
static bool row_values(const target *t, const tally *of, size_t i, uint64_t values[N_VALUES]) {
    const tally_row *row = &of->rows.items[i];
    const target_sent sent = i < t->sent.count ? t->sent.items[i] : (target_sent){0};
    values[OBJECTS] = rounded_difference(row->allocated_blocks, sent.allocated_blocks);
    values[SPACE] = bytes_of(of, row->allocated) - bytes_of(of, sent.allocated);
    values[LIVE_OBJECTS] = (uint64_t)llround(row->live_blocks);
    values[LIVE_SPACE] = bytes_of(of, row->live);
    values[SAMPLES] = row->allocated_samples - sent.allocated_samples;
    values[LIVE_SAMPLES] = row->live_samples;
    return values[SAMPLES] || values[LIVE_SAMPLES];
}

static bool note_sending(target *t, const tally *of) {
    vec_clear(&t->sending);
    if (!vec_reserve(&t->sending, of->rows.count))
        return false;
    for (size_t i = 0; i < of->rows.count; i++) {
        const tally_row *row = &of->rows.items[i];
        t->sending.items[i] =
            (target_sent){row->allocated, row->allocated_samples, row->allocated_blocks};
    }
    t->sending.count = of->rows.count;
    t->sending_until = of->profile.duration;
    return true;
}

static bool has_news(const target *t, const tally *of) {
    uint64_t values[N_VALUES];
    for (size_t i = 0; i < of->rows.count; i++)
        if (row_values(t, of, i, values))
            return true;
    return false;
}

static pprof_head head_of(const target *t, const tally *of) {
    return (pprof_head){.values = value_types,
                        .n_values = N_VALUES,
                        .time_us = of->profile.info.start_time + t->sent_until,
                        .duration_us = of->profile.duration - t->sent_until};
}

static void put_pprof_row(pprof *w, const tally_row *row, const uint64_t *values) {
    pprof_label by[2];
    size_t n = 0;
    if (row->thread)
        by[n++] = (pprof_label){PPROF_THREAD, row->thread};
    if (row->scope)
        by[n++] = (pprof_label){PPROF_SCOPE, row->scope};
    pprof_sample(w, row->node, values, by, n);
}

static void put_otlp_row(otlp *w, const tally *of, const tally_row *row, const uint64_t *values) {
    otlp_attribute by[OTLP_SAMPLE_ATTRIBUTES_MAX];
    size_t n = 0;
    if (row->thread)
        by[n++] = (otlp_attribute){OTLP_THREAD, row->thread};
    if (row->scope)
        by[n++] = (otlp_attribute){OTLP_SCOPE, row->scope};
    const otlp_link link = {row->span, row->span ? &of->spans.items[row->span - 1] : NULL};
    otlp_sample(w, row->node, values, by, n, row->span ? &link : NULL);
}

/* Selects some of the values; false: all of them are 0. */
static bool pick(const value_set *what, const uint64_t all[N_VALUES], uint64_t picked[N_VALUES]) {
    uint64_t any = 0;
    for (unsigned i = 0; i < what->n; i++)
        any |= picked[i] = all[what->values[i]];
    return any;
}

static bool write_pprof(const target *t, const tally *of, const lens *l, const value_set *what,
                        output *o) {
    pprof_head head = head_of(t, of);
    pprof_value types[N_VALUES];
    uint64_t values[N_VALUES], picked[N_VALUES];
    for (unsigned i = 0; i < what->n; i++)
        types[i] = value_types[what->values[i]];
    head.values = types;
    head.n_values = what->n;
    if (what->at_once) {
        head.time_us += head.duration_us;
        head.duration_us = 0;
        head.shown = value_types[LIVE_SPACE].type;
    }
    pprof *w = pprof_begin(o, l, &head);
    for (size_t i = 0; w && i < of->rows.count; i++)
        if (row_values(t, of, i, values) && pick(what, values, picked))
            put_pprof_row(w, &of->rows.items[i], picked);
    return w && pprof_end(w);
}

static bool write_otlp(const target *t, const tally *of, const lens *l, const labels *by,
                       output *o) {
    const pprof_head head = head_of(t, of);
    uint64_t values[N_VALUES];
    otlp_attribute *attributes = calloc(by->count + 1, sizeof *attributes);
    for (size_t i = 0; attributes && i < by->count; i++)
        attributes[i] = (otlp_attribute){by->items[i].key, by->items[i].value};
    otlp *w = attributes ? otlp_begin(l, &head, attributes, by->count) : NULL;
    for (size_t i = 0; w && i < of->rows.count; i++)
        if (row_values(t, of, i, values))
            put_otlp_row(w, of, &of->rows.items[i], values);
    free(attributes);
    return w && otlp_end(w, o);
}

/* ---- the forms of requests --------------------------------------------------------------- */

static bool compress_into(output *o, const output *from) {
    enum { WINDOW = 15 + 16 /* the largest window, with a gzip header */, MEMORY = 8, LEVEL = 3 };
    z_stream z = {0};
    if (from->error || deflateInit2(&z, LEVEL, Z_DEFLATED, WINDOW, MEMORY, Z_DEFAULT_STRATEGY))
        return false;
    const size_t room = deflateBound(&z, from->used);
    char *to = output_room(o, room);
    z.next_in = (Bytef *)from->buffer;
    z.avail_in = (uInt)from->used;
    z.next_out = (Bytef *)to;
    z.avail_out = (uInt)room;
    const bool ok = to && deflate(&z, Z_FINISH) == Z_STREAM_END;
    if (ok)
        o->used += room - z.avail_out;
    deflateEnd(&z);
    return ok;
}

static void put_base64(output *o, const unsigned char *bytes, size_t n) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < n; i += 3) {
        const size_t left = n - i;
        const unsigned group = (unsigned)bytes[i] << 16 | (left > 1 ? bytes[i + 1] << 8 : 0) |
                               (left > 2 ? bytes[i + 2] : 0);
        output_char(o, digits[group >> 18]);
        output_char(o, digits[group >> 12 & 63]);
        output_char(o, left > 1 ? digits[group >> 6 & 63] : '=');
        output_char(o, left > 2 ? digits[group & 63] : '=');
    }
}

/* Writes the key of a label, in letters, digits and underscores only. */
static void put_key(output *o, const char *key) {
    for (; *key; key++) {
        const char lower = (char)(*key | 0x20);
        const bool plain = (lower >= 'a' && lower <= 'z') || (*key >= '0' && *key <= '9');
        output_char(o, plain ? *key : '_');
    }
}

/* Writes an element of `samples` in
 * {"series":[{"labels":{"labels":[…]},"samples":[{"rawProfile":BASE64}]}]}. */
static void put_raw_profile(output *o, const output *raw) {
    output_text(o, "{\"rawProfile\":\"");
    put_base64(o, (const unsigned char *)raw->buffer, raw->used);
    output_text(o, "\"}");
}

/* Writes two profiles: for Parca, a profile is either the state at a moment or a change that adds
 * to earlier ones. */
static void write_parca(output *o, const output *allocated, const output *live, const labels *by) {
    output_text(
        o, "{\"series\":[{\"labels\":{\"labels\":[{\"name\":\"__name__\",\"value\":\"memory\"}");
    for (size_t i = 0; i < by->count; i++) {
        output_text(o, ",{\"name\":\"");
        put_key(o, by->items[i].key);
        output_text(o, "\",\"value\":");
        output_json(o, by->items[i].value);
        output_char(o, '}');
    }
    output_text(o, "]},\"samples\":[");
    put_raw_profile(o, allocated);
    output_char(o, ',');
    put_raw_profile(o, live);
    output_text(o, "]}],\"normalized\":false}");
}

static void put_escaped(output *o, const char *text) {
    for (; *text; text++) {
        const unsigned char c = (unsigned char)*text;
        const bool plain = (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
        if (plain || (c >= '0' && c <= '9') || strchr("-_.~", c))
            output_char(o, (char)c);
        else
            output_format(o, "%%%02X", c);
    }
}

/* Writes ?name=SERVICE{key=value,…}&from=…&until=…&format=pprof, with times in seconds. */
static void write_pyroscope_url(output *o, const target *t, const tally *of, const labels *by) {
    output name;
    output_start(&name, OUTPUT_MEMORY);
    const char *service = labels_get(by, "service.name");
    output_text(&name, service ? service : "unknown_service");
    output_char(&name, '{');
    for (size_t i = 0, n = 0; i < by->count; i++) {
        if (strcmp(by->items[i].key, "service.name") == 0)
            continue;
        output_text(&name, n++ ? "," : "");
        put_key(&name, by->items[i].key);
        output_char(&name, '=');
        for (const char *c = by->items[i].value; *c; c++)
            output_char(&name, strchr("{},=\"", *c) ? '_' : *c);
    }
    output_char(&name, '}');
    output_char(&name, '\0');
    output_text(o, t->url);
    output_format(o, "?format=pprof&spyName=allotrace&from=%" PRIu64 "&until=%" PRIu64 "&name=",
                  (of->profile.info.start_time + t->sent_until) / 1000000,
                  (of->profile.info.start_time + of->profile.duration + 999999) / 1000000);
    put_escaped(o, name.error ? "" : name.buffer);
    output_finish(&name);
}

static bool write_body(target *t, const tally *of, const lens *l, const labels *by) {
    output content, live;
    output_start(&content, OUTPUT_MEMORY);
    output_start(&live, OUTPUT_MEMORY);
    t->body.used = 0;
    bool ok = false;
    switch (t->kind) {
    case TARGET_OTLP:
        ok = write_otlp(t, of, l, by, &content) && compress_into(&t->body, &content);
        break;
    case TARGET_PYROSCOPE:
        ok = write_pprof(t, of, l, &all_values, &t->body);
        break;
    case TARGET_PARCA:
        ok = write_pprof(t, of, l, &allocated_values, &content) &&
             write_pprof(t, of, l, &live_values, &live) && !content.error && !live.error;
        if (ok)
            write_parca(&t->body, &content, &live, by);
    }
    output_finish(&content);
    output_finish(&live);
    return ok && !t->body.error;
}

static bool write_request(target *t, const tally *of, const lens *l, const labels *by) {
    output url;
    output_start(&url, OUTPUT_MEMORY);
    bool ok = write_body(t, of, l, by);
    if (t->kind == TARGET_PYROSCOPE)
        write_pyroscope_url(&url, t, of, by);
    else
        output_text(&url, t->url);
    output_char(&url, '\0');
    free(t->request_url);
    t->request_url = url.error ? NULL : strdup(url.buffer);
    ok = ok && t->request_url;
    output_finish(&url);
    return ok;
}

bool target_prepare(target *t, const tally *of, const places *names, const labels *by) {
    lens l;
    if (!has_news(t, of) || !note_sending(t, of))
        return false;
    const bool ok = places_lens(names, &of->profile, &l) && write_request(t, of, &l, by);
    lens_free(&l);
    return ok;
}

/* ---- answers ----------------------------------------------------------------------------- */

enum { /* HTTP's status */
       UNAUTHORIZED = 401,
       FORBIDDEN = 403,
       MISSING = 404,
       TIMEOUT = 408,
       UNSTORED = 422,
       TOO_MANY = 429,
       SERVER_FAILURE = 500,
};

/* Whether the receiver will never accept this request, unlike after a failure of the network.
 * Pyroscope's /ingest (1.21) answers 422 for anything that it cannot store: what it cannot parse,
 * but also while it has no ingester ("empty ring"), as in its first seconds. */
static bool is_refusal(const target *t, const http_request *r) {
    if (r->status == UNSTORED && t->kind == TARGET_PYROSCOPE)
        return strstr(r->answer, "parsing ");
    return r->status >= 400 && r->status < 500 && r->status != UNAUTHORIZED &&
           r->status != FORBIDDEN && r->status != MISSING && r->status != TIMEOUT &&
           r->status != TOO_MANY;
}

static void take_sent(target *t) {
    typeof(t->sent) old = t->sent;
    t->sent.items = t->sending.items;
    t->sent.count = t->sending.count;
    t->sent.capacity = t->sending.capacity;
    t->sending.items = old.items;
    t->sending.count = 0;
    t->sending.capacity = old.capacity;
    t->sent_until = t->sending_until;
}

/* A web server that takes no profiles may answer any request with a page. A proxy also does so for
 * a server that is down for now (status 502 and the like), which is another matter. */
static bool is_page(const http_request *r) {
    return *r->answer == '<' && r->status < SERVER_FAILURE;
}

static bool is_taken(const http_request *r) {
    return r->status >= 200 && r->status < 300 && !is_page(r);
}

static void explain(target *t, const http_request *r) {
    const bool has_api = t->kind != TARGET_PARCA || strstr(t->url, "/api" PARCA_PATH);
    if (!r->status)
        snprintf(t->reason, sizeof t->reason, "%s%s", r->answer,
                 r->certificate ? " (certificates come from the package ca-certificates, or from "
                                  "$SSL_CERT_FILE)"
                                : "");
    else if (is_page(r))
        snprintf(t->reason, sizeof t->reason,
                 "status %ld with a web page: nothing takes profiles at this URL%s", r->status,
                 has_api ? "" : "; Parca does at /api" PARCA_PATH);
    else
        snprintf(t->reason, sizeof t->reason, "status %ld%s%s", r->status, *r->answer ? ": " : "",
                 r->answer);
}

/* Returns the pause after the nth failure, which doubles each time, and which the receiver may
 * prolong. */
static uint64_t pause_after(unsigned n, uint64_t first_ms, uint64_t most_ms,
                            const http_request *r) {
    const unsigned shift = n - 1 < MOST_SHIFT ? n - 1 : MOST_SHIFT;
    const uint64_t wait = first_ms << shift < most_ms ? first_ms << shift : most_ms;
    return wait > r->retry_after_ms ? wait : r->retry_after_ms;
}

void target_settle(target *t, const http_request *r, uint64_t now_ms, uint64_t every_ms) {
    const bool taken = is_taken(r);
    t->owed = !taken && !is_refusal(t, r);
    if (!t->owed)
        take_sent(t);
    if (taken) {
        t->n_taken++;
        t->failures = 0;
        t->next_ms = now_ms + every_ms;
        return;
    }
    t->n_failed++;
    t->n_refused += is_refusal(t, r);
    t->failures++;
    explain(t, r);
    const uint64_t wait = pause_after(t->failures, every_ms, MOST_WAIT_MS, r);
    t->next_ms = now_ms + (wait < MOST_WAIT_MS ? wait : MOST_WAIT_MS);
}

/* Whether a failure may be over in seconds. Of refusals, only those are that ask to come again. */
static bool may_pass(const target *t, const http_request *r) {
    const bool asks = r->status == TIMEOUT || r->status == TOO_MANY ||
                      (r->status == UNSTORED && !is_refusal(t, r));
    return r->status ? r->status >= SERVER_FAILURE || asks : !r->certificate;
}

unsigned target_again(target *t, const http_request *r, uint64_t gone_ms) {
    const uint64_t wait = pause_after(r->n_sent, FIRST_PAUSE_MS, MOST_PAUSE_MS, r);
    if (is_taken(r) || !may_pass(t, r) ||
        gone_ms + wait >= (r->unreached ? ABSENT_MS : PUSH_END_MS))
        return 0;
    explain(t, r);
    return (unsigned)wait;
}
