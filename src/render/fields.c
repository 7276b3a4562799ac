/* fields.c: makes a document of two tables: the fields of JSON and the columns of CSV. Each row
 * describes a column of the given document, or of a table below it. */
#include "render/fields.h"

#include <string.h>

#include "render/render.h"

enum { DEEPEST = 8, LOOKED_AT = 1000 /* rows that are searched for one with a table below */ };

typedef struct field {
    const char *name, *help;
} field;

typedef struct listing {
    document *to;
    VEC(field) fields;
    const table_column *around[DEEPEST]; /* columns of the enclosing tables, by depth */
} listing;

static void add(listing *l, const char *name, const table_column *c) {
    if (!name || !vec_push(&l->fields, ((field){.name = name, .help = c->help})))
        l->to->failed = true;
}

/* ---- JSON -------------------------------------------------------------------------------- */

static const char *name_in_json(document *to, const char *prefix, const table_column *c) {
    const char *parts = "";
    switch (c->kind) {
    case COLUMN_AMOUNT:
    case COLUMN_RATE:
        parts = "value, low, high, samples";
        break;
    case COLUMN_PART:
        parts = "value, low, high, samples, of_samples";
        break;
    case COLUMN_PLACE:
        return document_text(to, "%sfunction, file, line", prefix);
    case COLUMN_LINE:
    case COLUMN_TEXTS:
    case COLUMN_ROWS:
        parts = "[]";
        break;
    default:
        break;
    }
    const bool is_object = *c->name && *parts && *parts != '[';
    return document_text(to, "%s%s%s%s", prefix, c->name, is_object ? "." : "", parts);
}

static void list_columns(listing *l, const char *prefix, const table *t);

static bool is_around(const listing *l, const table *t) {
    for (size_t i = 0; i < DEEPEST && l->around[i]; i++)
        if (l->around[i] == t->columns)
            return true;
    return t->depth >= DEEPEST;
}

static void list_below(listing *l, const char *name, const table *t, const table_column *c) {
    table below;
    for (size_t i = 0; i < t->n && i < LOOKED_AT; i++)
        if (table_below(t, c, table_row(t, i), &below)) {
            if (!is_around(l, &below))
                list_columns(l, document_text(l->to, "%s.", name), &below);
            return;
        }
}

static void list_columns(listing *l, const char *prefix, const table *t) {
    if (!prefix)
        return;
    l->around[t->depth] = t->columns;
    for (size_t i = 0; i < t->n_columns; i++) {
        const table_column *c = &t->columns[i];
        if (!table_column_is_in(c, t, IN_JSON))
            continue;
        const char *name = name_in_json(l->to, prefix, c);
        add(l, name, c);
        if (name && (c->kind == COLUMN_ROWS || c->kind == COLUMN_OBJECT))
            list_below(l, name, t, c);
    }
    l->around[t->depth] = NULL;
}

static void list_json(listing *l, const document *of) {
    for (size_t i = 0; i < of->parts.count; i++) {
        const document_part *p = &of->parts.items[i];
        if (p->kind > PART_OBJECT || !(p->in & IN_JSON))
            continue;
        const char *name = p->table.name;
        const char *end = p->kind == PART_ROWS ? "[]." : *name ? "." : "";
        list_columns(l, document_text(l->to, "%s%s", name, end), &p->table);
    }
}

/* ---- CSV --------------------------------------------------------------------------------- */

/* Returns the column's name. The points of a line are columns with names from the trace, so the
 * first one and an ellipsis represent them all. */
static const char *name_in_csv(document *to, const table *t, const table_column *c) {
    if (c->kind == COLUMN_LINE)
        return document_text(to, "%s, …", c->point(t, 0));
    output o;
    output_start(&o, OUTPUT_MEMORY);
    render_csv_head(&o, t, c);
    char *name = output_take(&o);
    const char *kept = name ? document_text(to, "%s", name) : NULL;
    free(name);
    return kept;
}

static void list_csv(listing *l, const document *of) {
    const table *t = render_csv_table(of);
    for (size_t i = 0; t && i < t->n_columns; i++) {
        const table_column *c = &t->columns[i];
        if (render_csv_has(t, c) && (c->kind != COLUMN_LINE || c->point(t, 0)))
            add(l, name_in_csv(l->to, t, c), c);
    }
}

/* ---- the document ------------------------------------------------------------------------ */

static cell field_name(const table *t, const void *row) {
    (void)t;
    return (cell){.text = ((const field *)row)->name};
}

static cell field_help(const table *t, const void *row) {
    const char *help = ((const field *)row)->help;
    (void)t;
    return help ? (cell){.text = help} : cell_none();
}

static const table_column columns[] = {
    {.name = "name",
     .kind = COLUMN_TEXT,
     .get = field_name,
     .help = "a field or column, or several; [] stands for each item of an array"},
    {.name = "meaning", .kind = COLUMN_TEXT, .prose = true, .get = field_help, .help = "of these"},
};

static void put_table(listing *l, const char *name, unsigned in, const char *heading) {
    const size_t n = l->fields.count;
    field *rows = document_keep(l->to, n * sizeof *rows);
    if (rows && n > 0) {
        memcpy(rows, l->fields.items, n * sizeof *rows);
        const table t = {
            .name = name, TABLE_COLUMNS(columns), .rows = rows, .stride = sizeof *rows, .n = n};
        document_rows(l->to, &t, in, heading);
    }
    vec_clear(&l->fields);
}

void fields_document(document *to, const document *of) {
    listing l = {.to = to};
    list_json(&l, of);
    put_table(&l, "json", IN_TEXT | IN_JSON, "Fields of JSON");
    list_csv(&l, of);
    put_table(&l, "csv", IN_ALL, "Columns of CSV");
    to->failed |= of->failed;
    vec_free(&l.fields);
}
