/* report_sites.c: what each line of the program allocated, by type, and the call stacks that lead
 * there. In the table for people, one row has all allocations of a type by a line. In the JSON for
 * programs, rows also distinguish functions and classes. docs/interpreting.md documents the names,
 * which do not change. */
#include <string.h>

#include "guest/report.h"
#include "guest/text.h"

enum { MAX_STACKS = 20 }; /* shown to people for each row */

static bool is_for_people(const report *r) {
    return r->view->tracer->options->form != FORM_JSON;
}

static bool shows_stacks(const report *r) {
    return r->view->tracer->options->stacks;
}

static cell optional_text(const char *text) {
    return text ? (cell){.text = text} : cell_none();
}

/* ---- amounts --------------------------------------------------------------------------------- */

/* Rows with a tally begin with it, so a row may be passed as `sum`. */
static cell allocations(const table *t, const void *sum) {
    return report_allocations(report_behind(t), sum);
}

static cell size(const table *t, const void *sum) {
    return report_bytes(report_behind(t), sum);
}

static cell whole(double number) {
    return (cell){.count = (uint64_t)(number + 0.5)};
}

static cell count(const table *t, const void *sum) {
    return whole(allocations(t, sum).amount.value);
}

static cell bytes(const table *t, const void *sum) {
    return whole(size(t, sum).amount.value);
}

static cell count_error(const table *t, const void *sum) {
    return whole(allocations(t, sum).amount.margin);
}

static cell bytes_error(const table *t, const void *sum) {
    return whole(size(t, sum).amount.margin);
}

/* clang-format off */
#define AMOUNTS_FOR_PEOPLE                                                                         \
    {.name = "allocations", .title = "Count", .kind = COLUMN_AMOUNT, .in = IN_TEXT,                \
     .unit = "allocation", .get = allocations},                                                    \
    {.name = "size", .title = "Size", .kind = COLUMN_AMOUNT, .in = IN_TEXT, .get = size}

#define AMOUNTS_FOR_PROGRAMS                                                                       \
    {.name = "count", .kind = COLUMN_COUNT, .in = IN_JSON, .get = count},                          \
    {.name = "bytes", .kind = COLUMN_COUNT, .in = IN_JSON, .get = bytes},                          \
    {.name = "count_error", .kind = COLUMN_COUNT, .in = IN_JSON, .get = count_error,               \
     .has = report_is_sampled},                                                                    \
    {.name = "bytes_error", .kind = COLUMN_COUNT, .in = IN_JSON, .get = bytes_error,               \
     .has = report_is_sampled}
/* clang-format on */

/* ---- frames of a stack ----------------------------------------------------------------------- */

/* Only frames that were cut out of a stack have no file. */
static const element *element_of(const void *frame) {
    return ((const report_frame *)frame)->element;
}

static cell frame_text(const table *t, const void *row) {
    const report *r = report_behind(t);
    const report_frame *f = row;
    const element *e = f->element;
    output *o = report_text(r);
    output_text(o, e->name);
    if (e->file) {
        output_text(o, " (");
        output_text(o, view_file(r->view, e->file));
        output_format(o, ":%u)", e->extent.first_line);
    }
    if (f->times > 1)
        output_format(o, " × %zu", f->times);
    return report_text_cell(r);
}

TABLE_CELL(frame_function, optional_text(element_of(row)->file ? element_of(row)->name : NULL))
TABLE_CELL(frame_file, optional_text(element_of(row)->file))
TABLE_CELL(frame_line, (cell){.count = element_of(row)->extent.first_line})
TABLE_CELL(frame_times, (cell){.count = ((const report_frame *)row)->times})

static const table_column frame_columns[] = {
    {.name = "frame", .kind = COLUMN_TEXT, .in = IN_TEXT, .get = frame_text},
    {.name = "function", .kind = COLUMN_TEXT, .in = IN_JSON, .get = frame_function},
    {.name = "file", .kind = COLUMN_TEXT, .in = IN_JSON, .get = frame_file},
    {.name = "line", .kind = COLUMN_COUNT, .in = IN_JSON, .get = frame_line},
    {.name = "times", .kind = COLUMN_COUNT, .in = IN_JSON, .get = frame_times},
};

/* Lists the frames, innermost first. Direct recursion is one frame. */
static bool frames_of_stack(const table *t, const void *row, table *below) {
    const report *r = report_behind(t);
    report_scratch *s = r->scratch;
    s->frames.count = 0;
    for (uint32_t node = ((const row_stack *)row)->node; node != TREE_ROOT;) {
        report_frame f;
        f.times = projection_step(&r->stacks, r->view, &node, &f.element);
        if (!vec_push(&s->frames, f))
            return !(r->view->tracer->failed = true);
    }
    *below = (table){.name = "frames",
                     TABLE_COLUMNS(frame_columns),
                     .rows = s->frames.items,
                     .stride = sizeof *s->frames.items,
                     .n = s->frames.count,
                     .context = r};
    return true;
}

/* ---- stacks of a site ------------------------------------------------------------------------ */

static const table_column stack_columns[] = {
    AMOUNTS_FOR_PEOPLE,
    AMOUNTS_FOR_PROGRAMS,
    {.name = "frames", .kind = COLUMN_ROWS, .below = frames_of_stack},
};

static void keep_shown(row_stack_list *stacks, const memtracer_options *o) {
    size_t n = 0;
    for (size_t i = 0; i < stacks->count; i++)
        if (stacks->items[i].node != TREE_ROOT && rows_shows(&stacks->items[i].tally, o))
            stacks->items[n++] = stacks->items[i];
    stacks->count = n;
}

static bool stacks_of_site(const table *t, const void *row, table *below) {
    const report *r = report_behind(t);
    row_stack_list *stacks = &r->scratch->stacks;
    if (!shows_stacks(r))
        return false;
    stacks->count = 0;
    if (!row_stacks(stacks, row, &r->stacks))
        return !(r->view->tracer->failed = true);
    keep_shown(stacks, r->view->tracer->options);
    const bool cuts = is_for_people(r) && stacks->count > MAX_STACKS;
    *below = (table){.name = "stacks",
                     TABLE_COLUMNS(stack_columns),
                     .rows = stacks->items,
                     .stride = sizeof *stacks->items,
                     .n = cuts ? MAX_STACKS : stacks->count,
                     .omitted = cuts ? stacks->count - MAX_STACKS : 0,
                     .context = r};
    return true;
}

/* ---- sites ----------------------------------------------------------------------------------- */

static const entry *entry_of(const void *row) {
    return ((const site_row *)row)->entries;
}

static cell site_location(const table *t, const void *row) {
    const report *r = report_behind(t);
    report_put_location(report_text(r), r->view, entry_of(row)->site);
    return report_text_cell(r);
}

TABLE_CELL(site_file, optional_text(entry_of(row)->site ? entry_of(row)->site->place.file : NULL))
TABLE_CELL(site_line,
           entry_of(row)->site ? (cell){.count = entry_of(row)->site->place.line} : cell_none())
TABLE_CELL(site_function, optional_text(entry_of(row)->site ? entry_of(row)->site->name : NULL))
TABLE_CELL(site_type, (cell){.text = entry_of(row)->leaf->type})
TABLE_CELL(site_class, optional_text(entry_of(row)->leaf->class_name))

static const table_column site_columns[] = {
    {.name = "location",
     .title = "Source Location",
     .kind = COLUMN_TEXT,
     .in = IN_TEXT,
     .get = site_location},
    {.name = "file", .kind = COLUMN_TEXT, .in = IN_JSON, .get = site_file},
    {.name = "line", .kind = COLUMN_COUNT, .in = IN_JSON, .get = site_line},
    {.name = "function", .kind = COLUMN_TEXT, .in = IN_JSON, .get = site_function},
    AMOUNTS_FOR_PEOPLE,
    {.name = "type",
     .title = "Type",
     .kind = COLUMN_TEXT,
     .in = IN_TEXT | IN_JSON,
     .get = site_type},
    {.name = "class", .kind = COLUMN_TEXT, .in = IN_JSON, .get = site_class},
    AMOUNTS_FOR_PROGRAMS,
    {.name = "stacks", .kind = COLUMN_ROWS, .below = stacks_of_site},
};

/* Removes the rows that TraceMem hides. Returns their number, and adds their counts to `hidden`. */
static size_t hide_rows(row_list *rows, const memtracer_options *o, tally *hidden) {
    const size_t all = rows->count;
    size_t n = 0;
    for (size_t i = 0; i < all; i++) {
        if (rows_shows(&rows->items[i].tally, o))
            rows->items[n++] = rows->items[i];
        else
            tally_add(hidden, &rows->items[i].tally);
    }
    rows->count = n;
    return all - n;
}

static bool make_rows(report *r, bool fine, size_t *n_hidden, tally *hidden) {
    if (!rows_make(&r->rows, r->view, fine) ||
        (shows_stacks(r) && !projection_init(&r->stacks, r->view, 1u << ELEMENT_LINE)))
        return false;
    *n_hidden = hide_rows(&r->rows, r->view->tracer->options, hidden);
    return true;
}

static table sites_table(const report *r) {
    return (table){.name = "sites",
                   TABLE_COLUMNS(site_columns),
                   .rows = r->rows.items,
                   .stride = sizeof *r->rows.items,
                   .n = r->rows.count,
                   .context = r};
}

static void add_title(document *d, const view *v) {
    const memtracer_options *o = v->tracer->options;
    char total[TEXT_NUMBER], how[TEXT_NUMBER] = "";
    text_count(total, tally_count(&v->total, o->rate));
    if (o->rate < 1)
        snprintf(how, sizeof how, " (%llu sampled at rate %g)", (unsigned long long)v->total.count,
                 o->rate);
    const char *title = document_text(d, "Memory Tracer. Recorded %s%s allocations%s.",
                                      o->rate < 1 ? "about " : "", total, how);
    document_title(d, title ? title : "", "");
}

static void add_hidden(document *d, const view *v, size_t n, const tally *hidden) {
    char number[TEXT_NUMBER], least[TEXT_NUMBER];
    text_count(number, tally_count(hidden, v->tracer->options->rate));
    text_size(least, (double)v->tracer->options->min_bytes);
    document_note(d, "Not shown: %zu site%s of less than %s, with %s allocations.", n,
                  n == 1 ? "" : "s", least, number);
}

bool report_table(document *d, report *r) {
    tally hidden = {0};
    size_t n_hidden;
    if (!make_rows(r, false, &n_hidden, &hidden))
        return false;
    const table sites = sites_table(r);
    add_title(d, r->view);
    document_rows(d, &sites, IN_TEXT, NULL);
    if (n_hidden)
        add_hidden(d, r->view, n_hidden, &hidden);
    return true;
}

/* ---- for programs ---------------------------------------------------------------------------- */

static cell run_elapsed(const table *t, const void *sum) {
    (void)sum;
    return (cell){.number = report_behind(t)->elapsed};
}

static cell run_cut(const table *t, const void *sum) {
    (void)sum;
    return (cell){.count = report_behind(t)->view->tracer->cut};
}

static cell run_partial(const table *t, const void *sum) {
    (void)sum;
    return (cell){.flag = report_behind(t)->view->tracer->partial};
}

/* The single row of this table is the run's total. */
static const table_column run_columns[] = {
    {.name = "total", .kind = COLUMN_COUNT, .get = count},
    {.name = "total_bytes", .kind = COLUMN_COUNT, .get = bytes},
    {.name = "total_error", .kind = COLUMN_COUNT, .get = count_error, .has = report_is_sampled},
    {.name = "total_bytes_error",
     .kind = COLUMN_COUNT,
     .get = bytes_error,
     .has = report_is_sampled},
    {.name = "elapsed", .kind = COLUMN_NUMBER, .get = run_elapsed},
    {.name = "cut_stacks", .kind = COLUMN_COUNT, .get = run_cut},
    {.name = "out_of_memory", .kind = COLUMN_FLAG, .get = run_partial},
};

bool report_json(document *d, report *r) {
    tally hidden = {0};
    size_t n_hidden;
    const memtracer_options *o = r->view->tracer->options;
    if (!make_rows(r, true, &n_hidden, &hidden))
        return false;
    const table run = {
        .name = "", TABLE_COLUMNS(run_columns), .rows = &r->view->total, .n = 1, .context = r};
    const table options = options_table(o, r->expectations), sites = sites_table(r);
    document_object(d, &run, IN_JSON);
    document_object(d, &options, IN_JSON);
    document_rows(d, &sites, IN_JSON, NULL);
    return true;
}
