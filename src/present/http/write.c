/* write.c: what answers are made of: the head, figures, columns, names; see request.h. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "present/http/request.h"

/* ---- figures ----------------------------------------------------------------------------- */

static figure figure_within(const asked *a, filter_bounds may, const cost *c) {
    bool bytes = measure_infos[a->query->measure].unit == UNIT_BYTES;
    return bytes ? reading_figure(a->reading, c->samples)
                 : report_figure_within(&a->report, may, c);
}

figure asked_figure(const asked *a, const cost *c) {
    return figure_within(a, a->query->may, c);
}

void write_figure(output *o, const figure *f, uint64_t blocks) {
    figure_json(o, f);
    output_format(o, ",\"blocks\":%" PRIu64, blocks);
}

void write_cost(output *o, const asked *a, const cost *c) {
    figure f = asked_figure(a, c);
    write_figure(o, &f, c->blocks);
}

void write_head(output *o, const asked *a) {
    output_format(o, "\"trace\":%zu,\"generation\":%" PRIu64 ",", a->trace, a->reading->generation);
    report_json_about(o, &a->report);
    output_text(o, ",\n\"total\":{");
    const query_result *q = a->query;
    if (q->spread.low < q->spread.high) {
        const figure f = report_total(&a->report);
        write_figure(o, &f, q->total.blocks);
    } else {
        write_cost(o, a, &q->total);
    }
    output_char(o, '}');
}

/* ---- columns ----------------------------------------------------------------------------- */

void column_start(json_column *c, output *o, const char *name, bool first) {
    *c = (json_column){.o = o};
    output_text(o, first ? "\"" : ",\n\"");
    output_text(o, name);
    output_text(o, "\":[");
}

static void column_next(json_column *c) {
    if (c->started)
        output_char(c->o, ',');
    c->started = true;
}

void column_integer(json_column *c, int64_t value) {
    column_next(c);
    if (value < 0)
        output_char(c->o, '-');
    output_u64(c->o, value < 0 ? (uint64_t)-value : (uint64_t)value, 0, ' ');
}

/* Most are small enough for the fast way. */
void column_number(json_column *c, double value) {
    double whole = nearbyint(value);
    if (fabs(whole) < 0x1p62) {
        column_integer(c, (int64_t)whole);
        return;
    }
    column_next(c);
    output_format(c->o, "%.0f", value);
}

void column_exact(json_column *c, double value) {
    column_next(c);
    figure_json_number(c->o, value);
}

void column_null(json_column *c) {
    column_next(c);
    output_text(c->o, "null");
}

void column_end(json_column *c) {
    output_char(c->o, ']');
}

void write_column(output *o, const char *name, const void *things, size_t size, size_t n,
                  column_of *number) {
    json_column c;
    column_start(&c, o, name, false);
    for (size_t i = 0; i < n; i++)
        column_integer(&c, number((const char *)things + i * size));
    column_end(&c);
}

/* Columns of one array each, from figures computed once. */
static void write_amounts_within(output *o, const asked *a, const filter_bounds *may,
                                 const cost *const *costs, size_t n, bool first) {
    static const char *const names[] = {"value", "low", "high"};
    figure *figures = malloc((n + 1) * sizeof *figures);
    json_column c;
    if (!figures) {
        o->error = ENOMEM;
        return;
    }
    for (size_t i = 0; i < n; i++)
        figures[i] = figure_within(a, may ? may[i] : a->query->may, costs[i]);
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        column_start(&c, o, names[k], first && k == 0);
        for (size_t i = 0; i < n; i++)
            column_number(&c, k == 0   ? figures[i].value
                              : k == 1 ? figures[i].low
                                       : figures[i].high);
        column_end(&c);
    }
    column_start(&c, o, "samples", false);
    for (size_t i = 0; i < n; i++)
        column_integer(&c, (int64_t)costs[i]->samples);
    column_end(&c);
    free(figures);
}

void write_amounts(output *o, const asked *a, const cost *const *costs, size_t n, bool first) {
    write_amounts_within(o, a, NULL, costs, n, first);
}

void write_figures(output *o, const asked *a, const cost *const *costs, size_t n, bool first) {
    write_figures_within(o, a, NULL, costs, n, first);
}

void write_figures_within(output *o, const asked *a, const filter_bounds *may,
                          const cost *const *costs, size_t n, bool first) {
    json_column c;
    write_amounts_within(o, a, may, costs, n, first);
    column_start(&c, o, "blocks", false);
    for (size_t i = 0; i < n; i++)
        column_integer(&c, (int64_t)costs[i]->blocks);
    column_end(&c);
}

/* ---- names ------------------------------------------------------------------------------- */

/* The number of a pointer; -2 when there is no memory. */
static int64_t number(map64 *map, const void *pointer, bool *is_new) {
    uint32_t *value = map64_put(map, (uintptr_t)pointer);
    if (!value)
        return -2;
    *is_new = *value == MAP64_NONE;
    if (*is_new)
        *value = map->count - 1;
    return *value;
}

int64_t place_list_add(place_list *l, const profile_location *place) {
    bool is_new;
    if (!place)
        return -1;
    int64_t n = number(&l->index, place, &is_new);
    return n >= 0 && is_new && !vec_push(&l->places, place) ? -2 : n;
}

int64_t place_list_string(place_list *l, const char *text) {
    bool is_new;
    if (!text || !*text)
        return 0;
    int64_t n = number(&l->string_index, text, &is_new);
    return n < 0 || (is_new && !vec_push(&l->strings, text)) ? -2 : n + 1;
}

/* Numbers the strings of the places, which are written first. */
static bool write_strings(output *o, place_list *l) {
    for (size_t i = 0; i < l->places.count; i++)
        if (place_list_string(l, l->places.items[i]->function) < 0 ||
            place_list_string(l, l->places.items[i]->file) < 0)
            return false;
    output_text(o, "\"strings\":[\"\"");
    for (size_t i = 0; i < l->strings.count; i++) {
        output_char(o, ',');
        output_json(o, l->strings.items[i]);
    }
    output_char(o, ']');
    return true;
}

bool write_places(output *o, place_list *l, const profile *p, bool by_line,
                  const uint8_t *matches) {
    enum { ID, FUNCTION, FILE_NAME, LINE, MATCH };
    static const char *const names[] = {"id", "function", "file", "line", "match"};
    if (!write_strings(o, l))
        return false;
    output_text(o, ",\n\"places\":{");
    for (int k = ID; k <= (matches ? MATCH : LINE); k++) {
        json_column c;
        column_start(&c, o, names[k], k == ID);
        for (size_t i = 0; i < l->places.count; i++) {
            const profile_location *place = l->places.items[i];
            size_t id = (size_t)(place - p->locations.items);
            column_integer(&c, k == ID          ? (int64_t)id
                               : k == FUNCTION  ? place_list_string(l, place->function)
                               : k == FILE_NAME ? place_list_string(l, place->file)
                               : k == LINE      ? (by_line ? place->line : 0)
                                                : matches[id]);
        }
        column_end(&c);
    }
    output_char(o, '}');
    return true;
}

void place_list_free(place_list *l) {
    map64_free(&l->index);
    map64_free(&l->string_index);
    vec_free(&l->places);
    vec_free(&l->strings);
}
