/* write.c: writes parts of answers as JSON. Figures are computed once, since their parts are in
 * separate columns. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "render/render.h"
#include "serve/write.h"

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

void write_column(output *o, const char *name, const void *things, size_t size, size_t n,
                  column_of *number) {
    json_column c;
    column_start(&c, o, name, false);
    for (size_t i = 0; i < n; i++)
        column_integer(&c, number((const char *)things + i * size));
    column_end(&c);
}

/* Writes each part of the figures as a column. */
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
        figures[i] = report_figure_within(&a->report, may ? may[i] : a->query->may, costs[i]);
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
