/* export_rows.c: the sampled blocks, one per row, as CSV and as JSON. Many blocks have the same
 * stack, so its text is kept until another stack follows. */
#include <stdlib.h>
#include <string.h>

#include "export/exports.h"
#include "paths/path_tree.h"
#include "profile/parallel.h"
#include "profile/spans.h"
#include "query/cost.h"

typedef struct rows {
    const profile *profile;
    const lens *lens;
    path_tree *stacks;
    output place_texts;
    VEC(size_t) ends; /* ends of the places' texts, including the separators */
    output stack;     /* text of the latest stack */
    uint32_t node;    /* its node; CCT_NO_NODE: none */
    path_places path;
    char separator; /* between the places of a stack */
    span_cursor spans[SPAN_N_KINDS];
} rows;

typedef void place_text(output *o, const profile_location *l);

/* ---- texts ------------------------------------------------------------------------------- */

static void write_place(output *o, const profile_location *l,
                        void (*name)(output *, const char *)) {
    name(o, l->function);
    if (*l->file) {
        output_char(o, '@');
        name(o, l->file);
        output_char(o, ':');
        output_u64(o, l->line, 0, ' ');
    }
}

static void csv_place(output *o, const profile_location *l) {
    write_place(o, l, output_csv_inside);
}

static void json_place(output *o, const profile_location *l) {
    output plain;
    output_start(&plain, OUTPUT_MEMORY);
    write_place(&plain, l, output_text);
    output_char(&plain, '\0');
    output_json(o, plain.error ? "" : plain.buffer);
    output_finish(&plain);
}

static void put_place(rows *r, output *o, uint32_t place) {
    const size_t first = place ? r->ends.items[place - 1] : 0;
    output_bytes(o, r->place_texts.buffer + first, r->ends.items[place] - 1 - first);
}

static bool render_stack(rows *r, uint32_t node) {
    if (r->node == node)
        return true;
    if (!path_tree_walk(r->stacks, path_tree_end(r->stacks, node), &r->path))
        return false;
    r->stack.used = 0;
    for (size_t i = 0; i < r->path.count; i++) {
        if (i > 0)
            output_char(&r->stack, r->separator);
        put_place(r, &r->stack, r->path.items[i]);
    }
    r->node = node;
    return !r->stack.error;
}

static void rows_free(rows *r) {
    path_tree_free(r->stacks);
    output_finish(&r->place_texts);
    output_finish(&r->stack);
    vec_free(&r->ends);
    vec_free(&r->path);
}

static bool rows_start(rows *r, const lens *l, place_text *text, char separator) {
    *r = (rows){.profile = l->profile, .lens = l, .node = CCT_NO_NODE, .separator = separator};
    output_start(&r->place_texts, OUTPUT_MEMORY);
    output_start(&r->stack, OUTPUT_MEMORY);
    if (!(r->stacks = path_tree_see(l, PLACE_BY_LINE)))
        return false;
    for (uint32_t i = 0; i < r->stacks->places->locations.count; i++) {
        text(&r->place_texts, path_tree_location(r->stacks, i));
        output_char(&r->place_texts, separator);
        if (!vec_push(&r->ends, r->place_texts.used))
            return false;
    }
    return !r->place_texts.error && !r->stack.error;
}

/* ---- rows -------------------------------------------------------------------------------- */

static const char *const sources[] = {
    [MEMTRACE_MINOR] = "minor", [MEMTRACE_MAJOR] = "major", [MEMTRACE_EXTERNAL] = "external"};

/* The numbers of a row, in the order of both layouts. */
typedef struct numbers {
    uint64_t time, size, samples;
    uint64_t lifetime, promoted; /* microseconds; BLOCKS_NEVER: did not happen */
} numbers;

static numbers numbers_of(const profile *p, size_t row) {
    const block_table *b = &p->table;
    const uint64_t born = blocks_born(b, row), died = blocks_died(b, row),
                   promoted = blocks_promoted(b, row);
    return (numbers){.time = born,
                     .size = blocks_length(b, row) * (p->info.word_size / 8),
                     .samples = blocks_samples(b, row),
                     .lifetime = died == BLOCKS_NEVER ? died : died - born,
                     .promoted = promoted == BLOCKS_NEVER ? promoted : promoted - born};
}

/* Writes a time, or `absent` for an event that did not happen. */
static void put_time(output *o, uint64_t time, const char *absent) {
    if (time == BLOCKS_NEVER)
        output_text(o, absent);
    else
        output_u64(o, time, 0, ' ');
}

/* Limits the digits to the reliable ones, since 1 / 2e-5 is not exactly 50,000. */
static void put_bytes(output *o, double bytes) {
    output_format(o, "%.15g", bytes);
}

static bool site_of(const rows *r, size_t row, uint32_t *place) {
    uint32_t wrapper;
    const block_table *b = &r->profile->table;
    const lens_cursor at =
        lens_site(r->lens, b->node[row], b->source[row] == MEMTRACE_EXTERNAL, &wrapper);
    if (at.location == LENS_NOWHERE)
        return false;
    *place = r->stacks->places->of_location[at.location];
    return true;
}

/* Returns NULL if it has no name. */
static const char *span_of(rows *r, span_kind kind, size_t row) {
    return spans_text(&r->profile->table, kind, row, &r->spans[kind]);
}

static void put_json_or_null(output *o, const char *text) {
    if (text)
        output_json(o, text);
    else
        output_text(o, "null");
}

static void csv_row(rows *r, output *o, size_t row) {
    const numbers n = numbers_of(r->profile, row);
    const block_table *b = &r->profile->table;
    const char *type = profile_type(r->profile, b->node[row]);
    uint32_t place;
    output_u64(o, n.time, 0, ' ');
    output_char(o, ',');
    put_time(o, n.lifetime, "");
    output_char(o, ',');
    put_time(o, n.promoted, "");
    output_char(o, ',');
    output_u64(o, n.size, 0, ' ');
    output_char(o, ',');
    output_u64(o, n.samples, 0, ' ');
    output_char(o, ',');
    put_bytes(o, cost_bytes(r->profile, n.samples));
    output_char(o, ',');
    output_text(o, sources[b->source[row]]);
    output_char(o, ',');
    output_u64(o, b->domain[row], 0, ' ');
    output_char(o, ',');
    const char *thread = span_of(r, SPAN_THREAD, row), *scope = span_of(r, SPAN_SCOPE, row);
    output_csv(o, thread ? thread : "");
    output_char(o, ',');
    output_csv(o, scope ? scope : "");
    output_char(o, ',');
    const char *trace = span_of(r, SPAN_TRACE_ID, row), *span = span_of(r, SPAN_SPAN_ID, row);
    output_text(o, trace ? trace : "");
    output_char(o, ',');
    output_text(o, span ? span : "");
    output_char(o, ',');
    output_csv(o, type ? type : "");
    output_text(o, ",\"");
    if (site_of(r, row, &place))
        put_place(r, o, place);
    output_text(o, "\",\"");
    output_bytes(o, r->stack.buffer, r->stack.used);
    output_text(o, "\"\n");
}

static void json_row(rows *r, output *o, size_t row) {
    const numbers n = numbers_of(r->profile, row);
    const block_table *b = &r->profile->table;
    const char *type = profile_type(r->profile, b->node[row]);
    uint32_t place;
    output_number(o, "{\"time\":", n.time);
    output_text(o, ",\"lifetime\":");
    put_time(o, n.lifetime, "null");
    output_text(o, ",\"promoted\":");
    put_time(o, n.promoted, "null");
    output_number(o, ",\"size\":", n.size);
    output_number(o, ",\"samples\":", n.samples);
    output_text(o, ",\"bytes\":");
    put_bytes(o, cost_bytes(r->profile, n.samples));
    output_format(o, ",\"source\":\"%s\",\"domain\":%u,\"thread\":", sources[b->source[row]],
                  b->domain[row]);
    put_json_or_null(o, span_of(r, SPAN_THREAD, row));
    output_text(o, ",\"scope\":");
    put_json_or_null(o, span_of(r, SPAN_SCOPE, row));
    output_text(o, ",\"trace_id\":");
    put_json_or_null(o, span_of(r, SPAN_TRACE_ID, row));
    output_text(o, ",\"span_id\":");
    put_json_or_null(o, span_of(r, SPAN_SPAN_ID, row));
    output_text(o, ",\"type\":");
    put_json_or_null(o, type);
    output_text(o, ",\"site\":");
    if (site_of(r, row, &place))
        put_place(r, o, place);
    else
        output_text(o, "null");
    output_text(o, ",\"stack\":[");
    output_bytes(o, r->stack.buffer, r->stack.used);
    output_text(o, "]}\n");
}

typedef void put_row(rows *r, output *o, size_t row);

/* ---- size estimate -------------------------------------------------------------------- */

enum { MEASURED_ROWS = 1000 };

/* Returns the mean size of a row without its stack, measured on rows spread over the whole
 * table. */
static double measure_rows(rows *r, put_row *put) {
    const size_t count = r->profile->table.count;
    size_t n = 0;
    output o;
    output_start(&o, OUTPUT_MEMORY);
    for (size_t row; n < MEASURED_ROWS; n++) {
        if ((row = parallel_begin(count, MEASURED_ROWS, n)) >= count)
            break;
        put(r, &o, row);
    }
    const double size = n ? (double)o.used / (double)n : 0;
    output_finish(&o);
    return size;
}

/* Computes the size of all rows. The texts of stacks, which are most of it, are summed exactly.
 * Returns false when out of memory. */
static bool measure_all(rows *r, const uint8_t *kept, put_row *put, uint64_t *bytes) {
    const block_table *b = &r->profile->table;
    uint64_t *lengths = path_tree_lengths(r->stacks, r->ends.items), sum = 0, n = 0;
    for (size_t i = 0; lengths && i < b->count; i++)
        if (!kept || kept[i]) {
            sum += lengths[path_tree_end(r->stacks, b->node[i])];
            n++;
        }
    *bytes = sum + (uint64_t)((double)n * measure_rows(r, put));
    free(lengths);
    return lengths;
}

/* ---- all rows ---------------------------------------------------------------------------- */

static bool put_rows(rows *r, output *o, const uint8_t *kept, put_row *put) {
    const block_table *b = &r->profile->table;
    for (size_t i = 0; i < b->count && !o->error; i++) {
        if (kept && !kept[i])
            continue;
        if (!render_stack(r, b->node[i]))
            return false;
        put(r, o, i);
    }
    return true;
}

static bool put_all(rows *r, output *o, const uint8_t *kept, put_row *put, const char *head) {
    uint64_t bytes;
    if (!measure_all(r, kept, put, &bytes))
        return false;
    if (!output_expect(o, strlen(head) + bytes))
        return true;
    output_text(o, head);
    return put_rows(r, o, kept, put);
}

bool export_csv(output *o, export_subject *s) {
    static const char head[] = "time,lifetime,promoted,size,samples,bytes,source,domain,thread,"
                               "scope,trace_id,span_id,type,"
                               "site,stack\n";
    rows r;
    const bool ok =
        rows_start(&r, s->lens, csv_place, ';') && put_all(&r, o, s->kept, csv_row, head);
    rows_free(&r);
    return ok;
}

bool export_json(output *o, export_subject *s) {
    rows r;
    const bool ok =
        rows_start(&r, s->lens, json_place, ',') && put_all(&r, o, s->kept, json_row, "");
    rows_free(&r);
    return ok;
}
