/* json.c: documents as JSON. A table is an object, or an array of objects; the kind of a column
 * determines the form of its values. */
#include <inttypes.h>
#include <math.h>

#include "render/figures.h"
#include "render/render.h"

/* The fields of an object that is being written. `any`: there was one before. */
typedef struct fields {
    output *o;
    bool any;
} fields;

static void name_field(fields *f, const char *name) {
    output_text(f->o, f->any ? ",\"" : "\"");
    output_text(f->o, name);
    output_text(f->o, "\":");
    f->any = true;
}

static void put_number(output *o, double value, bool whole) {
    if (whole && isfinite(value))
        output_format(o, "%.0f", value);
    else
        figure_json_number(o, value);
}

static bool is_whole(const table *t, const table_column *c) {
    return c->kind == COLUMN_AMOUNT && t->form == AMOUNTS_WHOLE;
}

/* Writes the fields of an estimate. Rates and shares have decimals. */
static void put_estimate(output *o, estimate e, uint64_t samples, bool whole) {
    output_text(o, "\"value\":");
    put_number(o, e.value, whole);
    output_text(o, ",\"low\":");
    put_number(o, e.low, whole);
    output_text(o, ",\"high\":");
    put_number(o, e.high, whole);
    output_format(o, ",\"samples\":%" PRIu64, samples);
}

static void put_amount(fields *f, const table *t, const table_column *c, cell x) {
    const figure *a = &x.amount;
    const bool own = c->name[0] == '\0';
    if (own)
        output_text(f->o, f->any ? "," : "");
    else
        name_field(f, c->name);
    output_text(f->o, own ? "" : "{");
    put_estimate(f->o, (estimate){a->value, a->low, a->high}, a->samples, is_whole(t, c));
    output_text(f->o, own ? "" : "}");
    f->any = true;
}

/* Writes the place. Groups by function have no line, as a function has many. */
static void put_place(fields *f, const table *t, const profile_location *place) {
    name_field(f, "function");
    if (place)
        output_json(f->o, place->function);
    else
        output_text(f->o, "null");
    name_field(f, "file");
    if (place)
        output_json(f->o, place->file);
    else
        output_text(f->o, "null");
    if (place && t->by_line) {
        name_field(f, "line");
        output_u64(f->o, place->line, 0, ' ');
    }
}

static void put_line(output *o, cell x) {
    output_char(o, '[');
    for (size_t i = 0; i < x.line.n; i++) {
        output_text(o, i ? "," : "");
        figure_json_number(o, cell_line_point(x, i));
    }
    output_char(o, ']');
}

static void put_texts(output *o, cell x) {
    output_char(o, '[');
    for (size_t i = 0; i < x.texts.n; i++) {
        output_text(o, i ? "," : "");
        output_json(o, x.texts.items[i]);
    }
    output_char(o, ']');
}

static void put_value(output *o, const table_column *c, cell x) {
    switch (c->kind) {
    case COLUMN_SHARE:
        output_format(o, "%.6f", x.number);
        break;
    case COLUMN_NUMBER:
        figure_json_number(o, x.number);
        break;
    case COLUMN_COUNT:
    case COLUMN_DURATION:
        output_u64(o, x.count, 0, ' ');
        break;
    case COLUMN_FLAG:
        output_text(o, x.flag ? "true" : "false");
        break;
    case COLUMN_LINE:
        put_line(o, x);
        break;
    case COLUMN_TEXTS:
        put_texts(o, x);
        break;
    default:
        output_json(o, x.text);
    }
}

static void put_part(output *o, cell x) {
    output_char(o, '{');
    put_estimate(o, x.part.share, x.part.samples, false);
    output_format(o, ",\"of_samples\":%" PRIu64 "}", x.part.of_samples);
}

static void put_below(output *o, const table *t, const table_column *c, const void *row) {
    table below;
    const bool any = table_below(t, c, row, &below);
    if (c->kind == COLUMN_ROWS) {
        render_json_rows(o, &below);
    } else if (!any) {
        output_text(o, "null");
    } else {
        output_char(o, '{');
        render_json_fields(o, &below, table_row(&below, 0));
        output_char(o, '}');
    }
}

static void put_field(fields *f, const table *t, const table_column *c, const void *row) {
    if (c->kind == COLUMN_ROWS || c->kind == COLUMN_OBJECT) {
        if (c->get && c->get(t, row).absent)
            return;
        name_field(f, c->name);
        put_below(f->o, t, c, row);
        return;
    }
    const cell x = c->get(t, row);
    if (x.absent)
        return;
    if (c->kind == COLUMN_PLACE) {
        put_place(f, t, x.none ? NULL : x.place);
        return;
    }
    if (table_column_is_amount(c) && !x.none) {
        put_amount(f, t, c, x);
        return;
    }
    name_field(f, c->name);
    if (x.none)
        output_text(f->o, "null");
    else if (c->kind == COLUMN_PART)
        put_part(f->o, x);
    else
        put_value(f->o, c, x);
}

void render_json_fields(output *o, const table *t, const void *row) {
    fields f = {.o = o};
    for (size_t i = 0; i < t->n_columns && !o->error; i++)
        if (table_column_is_in(&t->columns[i], t, IN_JSON))
            put_field(&f, t, &t->columns[i], row);
}

static bool is_of_strings(const table *t) {
    return t->n_columns == 1 && t->columns->kind == COLUMN_TEXT && !t->columns->name[0];
}

static void put_row(output *o, const table *t, const void *row) {
    if (is_of_strings(t)) {
        const cell x = t->columns->get(t, row);
        output_json(o, x.none ? "" : x.text);
        return;
    }
    output_char(o, '{');
    render_json_fields(o, t, row);
    output_char(o, '}');
}

static void put_rows(output *o, const table *t, const char *between) {
    output_char(o, '[');
    for (size_t i = 0; i < t->n && !o->error; i++) {
        output_text(o, i ? "," : "");
        output_text(o, between);
        put_row(o, t, table_row(t, i));
    }
    output_char(o, ']');
}

void render_json_rows(output *o, const table *t) {
    put_rows(o, t, "");
}

static void put_part_of_document(output *o, const document_part *p, bool first) {
    const table *t = &p->table;
    output_text(o, first ? "" : ",\n ");
    if (t->name[0] == '\0') {
        render_json_fields(o, t, table_row(t, 0));
        return;
    }
    output_char(o, '"');
    output_text(o, t->name);
    output_text(o, "\":");
    if (p->kind == PART_ROWS) {
        put_rows(o, t, "\n  ");
        return;
    }
    output_char(o, '{');
    render_json_fields(o, t, table_row(t, 0));
    output_char(o, '}');
}

void render_json_object(output *o, const document *d) {
    bool first = true;
    output_char(o, '{');
    for (size_t i = 0; i < d->parts.count && !o->error; i++) {
        const document_part *p = &d->parts.items[i];
        if (!(p->in & IN_JSON) || p->kind > PART_OBJECT)
            continue;
        put_part_of_document(o, p, first);
        first = false;
    }
    output_char(o, '}');
}

void render_json(output *o, const document *d) {
    render_json_object(o, d);
    output_char(o, '\n');
}
