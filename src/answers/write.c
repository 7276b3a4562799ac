/* write.c: writes parts of answers as JSON. Figures are computed once, since their parts are in
 * separate columns. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "answers/write.h"
#include "render/place_list.h"
#include "render/render.h"

/* ---- figures ----------------------------------------------------------------------------- */

void write_figure(output *o, const figure *f, uint64_t blocks) {
    figure_json(o, f);
    output_format(o, ",\"blocks\":%" PRIu64, blocks);
}

void write_cost(output *o, const asked *a, const cost *c) {
    figure f = asked_figure(a, c);
    write_figure(o, &f, c->blocks);
}

void write_head(output *o, const asked *a) {
    document kept = {0};
    const table about = report_about(&kept, &a->report);
    output_format(o, "\"trace\":%zu,\"generation\":%" PRIu64 ",", a->trace, a->reading->generation);
    render_json_fields(o, &about, about.rows);
    document_free(&kept);
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

static const void *thing_at(const write_things *all, size_t i, size_t at) {
    return (const char *)all->first + i * all->size + at;
}

static const cost *cost_at(const write_things *all, size_t i, size_t at) {
    return thing_at(all, i, at);
}

/* Writes each part of the figures as a column. */
static void write_amounts(output *o, const asked *a, const filter_bounds *may,
                          const write_things *all, size_t at, bool first) {
    static const char *const names[] = {"value", "low", "high"};
    figure *figures = malloc((all->n + 1) * sizeof *figures);
    json_column c;
    if (!figures) {
        o->error = ENOMEM;
        return;
    }
    for (size_t i = 0; i < all->n; i++)
        figures[i] =
            report_figure_within(&a->report, may ? may[i] : a->query->may, cost_at(all, i, at));
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        column_start(&c, o, names[k], first && k == 0);
        for (size_t i = 0; i < all->n; i++)
            column_number(&c, k == 0   ? figures[i].value
                              : k == 1 ? figures[i].low
                                       : figures[i].high);
        column_end(&c);
    }
    free(figures);
}

void write_figures(output *o, const asked *a, write_things all, size_t at, bool first) {
    write_figures_within(o, a, NULL, all, at, first);
}

void write_figures_within(output *o, const asked *a, const filter_bounds *may, write_things all,
                          size_t at, bool first) {
    json_column c;
    write_amounts(o, a, may, &all, at, first);
    column_start(&c, o, "samples", false);
    for (size_t i = 0; i < all.n; i++)
        column_integer(&c, (int64_t)cost_at(&all, i, at)->samples);
    column_end(&c);
    column_start(&c, o, "blocks", false);
    for (size_t i = 0; i < all.n; i++)
        column_integer(&c, (int64_t)cost_at(&all, i, at)->blocks);
    column_end(&c);
}

void write_selves(output *o, const asked *a, write_things all, size_t at) {
    json_column c;
    column_start(&c, o, "self", false);
    for (size_t i = 0; i < all.n; i++)
        column_number(&c, asked_figure(a, cost_at(&all, i, at)).value);
    column_end(&c);
}

/* ---- rows and nodes ---------------------------------------------------------------------- */

bool write_table_rows(output *o, const char *name, const page_rows *rows, const profile *p,
                      bool by_line) {
    place_list names = {0};
    bool ok = true;
    if (p) {
        output_text(o, ",\n");
        ok = page_names(&names, rows) && place_list_write(o, &names, p, by_line, NULL);
    }
    output_text(o, ",\n");
    page_columns(o, p ? &names : NULL, rows, name);
    place_list_free(&names);
    return ok;
}

static bool number_places(place_list *places, const profile *names, const write_things *all,
                          write_place *place_of) {
    for (size_t i = 0; i < all->n; i++)
        if (place_list_add(places, place_of(names, thing_at(all, i, 0))) < -1)
            return false;
    return true;
}

bool write_node_places(output *o, const profile *names, bool by_line, const uint8_t *matches,
                       write_things all, write_place *place_of) {
    place_list places = {0};
    json_column c;
    const bool ok = number_places(&places, names, &all, place_of) &&
                    place_list_write(o, &places, names, by_line, matches);
    output_text(o, ",\n\"nodes\":{");
    column_start(&c, o, "place", true);
    for (size_t i = 0; ok && i < all.n; i++)
        column_integer(&c, place_list_add(&places, place_of(names, thing_at(&all, i, 0))));
    column_end(&c);
    place_list_free(&places);
    return ok;
}
