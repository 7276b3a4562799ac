/* export_html.c: a trace as a single file that a browser opens without a server. Sends the API the
 * requests of the page and embeds the answers in the page, as compressed JSON in base64 in one
 * element. The page's other files are those that the server embeds. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "answers/api.h"
#include "answers/assets.h"
#include "export/exports.h"
#include "paths/functions.h"

enum {
    N_FOCUSED = 24,      /* most functions whose callers and callees are included */
    NODES = 4 << 20,     /* most nodes of stacks to visit for these functions */
    MAX_PARAMETERS = 16, /* of a request */
    DEFLATED = 1 << 14,
    GZIP = 16 + MAX_WBITS,
};

/* Writes the embedded data: text → deflate → base64 → output. */
typedef struct packer {
    output *o;
    z_stream z;
    unsigned char pending[3]; /* bytes of an incomplete base64 group */
    unsigned n_pending;
    bool failed;
} packer;

/* ---- base64 ------------------------------------------------------------------------------ */

static void put_group(packer *p) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const unsigned char *b = p->pending;
    const unsigned bits = (unsigned)b[0] << 16 | (unsigned)b[1] << 8 | b[2];
    char text[4];
    for (unsigned i = 0; i < 4; i++)
        text[i] = i <= p->n_pending ? digits[bits >> (18 - 6 * i) & 63] : '=';
    output_bytes(p->o, text, sizeof text);
    memset(p->pending, 0, sizeof p->pending);
    p->n_pending = 0;
}

static void put_base64(packer *p, const unsigned char *bytes, size_t n) {
    for (size_t i = 0; i < n; i++) {
        p->pending[p->n_pending++] = bytes[i];
        if (p->n_pending == sizeof p->pending)
            put_group(p);
    }
}

/* ---- deflate ----------------------------------------------------------------------------- */

static bool pack_start(packer *p, output *o) {
    *p = (packer){.o = o};
    return deflateInit2(&p->z, Z_BEST_COMPRESSION, Z_DEFLATED, GZIP, 8, Z_DEFAULT_STRATEGY) == Z_OK;
}

static void deflate_on(packer *p, int flush) {
    unsigned char out[DEFLATED];
    do {
        p->z.next_out = out;
        p->z.avail_out = sizeof out;
        if (deflate(&p->z, flush) == Z_STREAM_ERROR)
            p->failed = true;
        put_base64(p, out, sizeof out - p->z.avail_out);
    } while (p->z.avail_out == 0 && !p->failed);
}

static void pack(packer *p, const char *bytes, size_t n) {
    while (n > 0) {
        const uInt part = n < (1u << 30) ? (uInt)n : 1u << 30;
        p->z.next_in = (unsigned char *)(uintptr_t)bytes;
        p->z.avail_in = part;
        deflate_on(p, Z_NO_FLUSH);
        bytes += part;
        n -= part;
    }
}

static void pack_text(packer *p, const char *text) {
    pack(p, text, strlen(text));
}

static void pack_end(packer *p) {
    deflate_on(p, Z_FINISH);
    deflateEnd(&p->z);
    if (p->n_pending)
        put_group(p);
}

/* ---- requests -------------------------------------------------------------------------- */

typedef struct asker {
    packer *packer;
    viewer *viewer;
    const char *filter;
    bool started;  /* the next answer needs a separator */
    output advice; /* the answer for all measures, once requested */
    bool is_large; /* requests take long, so fewer are made */
} asker;

static void pack_question(packer *p, const char *endpoint, const api_parameter *q, size_t n) {
    output o;
    output_start(&o, OUTPUT_MEMORY);
    output_text(&o, "{\"endpoint\":");
    output_json(&o, endpoint);
    output_text(&o, ",\"parameters\":{");
    for (size_t i = 0; i < n; i++) {
        output_text(&o, i ? "," : "");
        output_json(&o, q[i].name);
        output_char(&o, ':');
        output_json(&o, q[i].value);
    }
    output_text(&o, "},\"answer\":");
    p->failed |= o.error != 0;
    pack(p, o.buffer, o.used);
    output_finish(&o);
}

/* Whether the export was cancelled: there are many requests, and some take long. */
static bool nobody_waits(void *context) {
    return !output_goes_on(context);
}

/* Requests an answer, which is empty on failure. `q` must have room for one more parameter. */
static void answer(const asker *a, const char *endpoint, api_parameter *q, size_t n, output *o) {
    if (a->filter && strcmp(endpoint, "info") != 0 && strcmp(endpoint, "explain") != 0)
        q[n++] = (api_parameter){.name = "filter", .value = a->filter};
    const api_client client = {nobody_waits, a->packer->o};
    api_reply reply;
    char path[40];
    if (nobody_waits(client.context)) {
        output_start(o, OUTPUT_MEMORY);
        return;
    }
    snprintf(path, sizeof path, "/api/%s", endpoint);
    api_answer(a->viewer, path, q, n, &client, &reply);
    *o = reply.body;
    if (reply.status != HTTP_OK || o->error)
        o->used = 0;
}

/* Embeds an answer, unless it is empty. */
static void put_answer(asker *a, const char *endpoint, const api_parameter *q, size_t n,
                       const output *o) {
    if (o->used == 0)
        return;
    pack_text(a->packer, a->started ? ",\n" : "");
    pack_question(a->packer, endpoint, q, n);
    pack(a->packer, o->buffer, o->used);
    pack_text(a->packer, "}");
    a->started = true;
}

/* Requests and embeds an answer. `named` are names and values of parameters, ended by NULL. A
 * parameter whose value is NULL is omitted. */
static void ask(asker *a, const char *endpoint, const char *const *named) {
    api_parameter q[MAX_PARAMETERS];
    size_t n = 0;
    for (size_t i = 0; named[i]; i += 2)
        if (named[i + 1])
            q[n++] = (api_parameter){.name = named[i], .value = named[i + 1]};
    output o;
    answer(a, endpoint, q, n, &o);
    put_answer(a, endpoint, q, n, &o);
    output_finish(&o);
}

#define ASK(a, endpoint, ...)                                                                      \
    ask(a, endpoint, (const char *const[]){__VA_ARGS__ __VA_OPT__(, ) NULL})

/* The advice is about what was allocated, whatever measure the page requests it with. */
static void ask_advice(asker *a, const char *by) {
    api_parameter q[2] = {{.name = "measure", .value = by}};
    if (!a->advice.buffer)
        answer(a, "advice", q, by != NULL, &a->advice);
    put_answer(a, "advice", q, by != NULL, &a->advice);
}

/* Makes the requests that every measure has. The tree is last: once its sums are cached, the cache
 * has no room for the tree of call paths of all measures next to what the other requests need. */
static void ask_measure(asker *a, measure m, const char *by) {
    if (m == MEASURE_ALLOCATED || m == MEASURE_BLOCKS)
        ASK(a, "lifetimes", "measure", by);
    if (m == MEASURE_ALLOCATED || m == MEASURE_BLOCKS || m == MEASURE_BYTESECONDS)
        ASK(a, "table", "measure", by, "kind", "leaks", "limit", "200");
    ASK(a, "table", "measure", by, "kind", "hotspots", "limit", "200");
    ASK(a, "explain", "measure", by);
    if (m != MEASURE_ALLOCATED)
        ask_advice(a, by);
    ASK(a, "tree", "measure", by, "width", "1200", "rows", "256");
}

/* Makes the further requests of the most common measures. */
static void ask_more(asker *a, const char *by) {
    ASK(a, "table", "measure", by, "kind", "hotspots", "by", "function", "limit", "200");
    ASK(a, "table", "measure", by, "kind", "types", "limit", "200");
    ASK(a, "table", "measure", by, "kind", "functions", "limit", "200");
    ASK(a, "tree", "measure", by, "width", "1200", "rows", "64", "mode", "inverted");
    ASK(a, "graph", "measure", by);
    ASK(a, "table", "measure", by, "kind", "paths", "limit", "200");
}

/* Makes all requests. Those that share data are adjacent, so that expensive data is still cached
 * for the next one. */
static void ask_all(asker *a, const reading *r) {
    ASK(a, "info");
    ASK(a, "timeline", "buckets", "500");
    ASK(a, "peaks", "n", "8");
    ask_advice(a, NULL);
    api_forget(a->viewer, 0, r, MEASURE_ALLOCATED);
    for (measure m = 0; m < N_MEASURES; m++) {
        const char *by = m == MEASURE_ALLOCATED ? NULL : measure_infos[m].name;
        if (m == MEASURE_REQUESTED)
            continue; /* the page does not have this measure */
        ask_measure(a, m, by);
        if (m == MEASURE_ALLOCATED)
            ASK(a, "timepaths", "width", "1200");
        if (m == MEASURE_ALLOCATED ||
            (!a->is_large && (m == MEASURE_PEAK || m == MEASURE_SURVIVED)))
            ask_more(a, by);
        if (m == MEASURE_ALLOCATED)
            ASK(a, "tree", "collapse", "1", "width", "1200", "rows", "256");
        api_forget(a->viewer, 0, r, m);
    }
}

/* ---- callers and callees ----------------------------------------------------------------- */

static int by_total(const void *a_, const void *b_) {
    const functions_entry *a = a_, *b = b_;
    return (a->total.weight < b->total.weight) - (a->total.weight > b->total.weight);
}

/* Whether the name, used as a focus, matches only itself. */
static bool is_plain(const char *name) {
    return *name && *name != '/' && *name != ' ' && !strstr(name, " > ") &&
           name[strspn(name, "0123456789.")];
}

static void ask_around(asker *a, const reading *r, const functions_list *list, size_t n_wanted) {
    for (size_t i = 0, asked = 0; i < list->count && asked < n_wanted; i++) {
        const char *name = list->items[i].place->function;
        if (!is_plain(name))
            continue;
        for (int callees = 0; callees < 2; callees++) {
            const char *kind = callees ? "callees" : "callers";
            ASK(a, "tree", "mode", kind, "focus", name, "width", "500", "rows", "64");
            ASK(a, "table", "kind", kind, "focus", name, "limit", "40");
            api_forget(a->viewer, 0, r, MEASURE_ALLOCATED);
        }
        asked++;
    }
}

static bool find_functions(const profile *p, functions_list *list) {
    query_result q;
    if (!query_run(&q, p, &(query_spec){.measure = MEASURE_ALLOCATED}))
        return false;
    callpaths v;
    bool ok = callpaths_make(&v, &q, NULL, &(callpaths_spec){.shape = CALLPATHS_DOWN});
    if (ok) {
        ok = functions_query(&v, list);
        callpaths_free(&v);
    }
    query_free(&q);
    if (ok && list->count)
        qsort(list->items, list->count, sizeof *list->items, by_total);
    return ok;
}

static bool ask_functions(asker *a, reading *r) {
    functions_list list = {0};
    const bool ok = find_functions(&r->profile, &list);
    const size_t affordable = NODES / (cct_count(&r->profile.tree) + 1);
    if (ok)
        ask_around(a, r, &list, affordable < N_FOCUSED ? affordable : N_FOCUSED);
    vec_free(&list);
    return ok;
}

/* ---- the page ---------------------------------------------------------------------------- */

static bool put_asset(output *o, const char *path) {
    const asset *a = assets_find(path);
    if (!a)
        return true; /* built without the page */
    unsigned char *plain = assets_unpack(a);
    if (plain)
        output_bytes(o, (const char *)plain, a->size);
    free(plain);
    return plain;
}

static bool put_data(output *o, viewer *v, const char *kept) {
    packer p;
    if (!pack_start(&p, o))
        return false;
    asker a = {.packer = &p, .viewer = v, .filter = kept};
    output head;
    output_start(&head, OUTPUT_MEMORY);
    output_text(&head, "{\"filter\":");
    output_json(&head, kept ? kept : "");
    output_text(&head, ",\"answers\":[\n");
    pack(&p, head.buffer, head.used);
    bool ok = !head.error;
    output_finish(&head);
    reading *r = viewer_take(v, 0, false);
    a.is_large = cct_count(&r->profile.tree) > NODES;
    ask_all(&a, r);
    ok = (a.is_large || ask_functions(&a, r)) && ok;
    output_finish(&a.advice);
    reading_release(r);
    pack_text(&p, "]}\n");
    pack_end(&p);
    return ok && !p.failed;
}

bool export_html(output *o, export_subject *s) {
    output_text(o, "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                   "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
                   "script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:\">\n"
                   "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                   "<title>allotrace</title>\n<style>");
    bool ok = put_asset(o, "/page.css");
    output_text(o, "</style>\n</head>\n<body>\n"
                   "<noscript>This page needs JavaScript.</noscript>\n"
                   "<div id=\"app\" aria-busy=\"true\"></div>\n"
                   "<script type=\"text/plain\" id=\"allotrace-data\">\n");
    ok = put_data(o, s->viewer, s->filter) && ok;
    output_text(o, "\n</script>\n<script type=\"module\">");
    ok = put_asset(o, "/page.js") && ok;
    output_text(o, "</script>\n</body>\n</html>\n");
    return ok;
}
