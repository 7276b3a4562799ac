/* report.c: what all forms of a report share: its output, and the expectations at its end. */
#include "guest/report.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "guest/dialect.h"
#include "guest/text.h"
#include "render/render.h"
#include "trace/replacement.h"

/* ---- for columns ----------------------------------------------------------------------------- */

static double rate_of(const report *r) {
    return r->view->tracer->options->rate;
}

bool report_is_sampled(const table *t) {
    return rate_of(report_behind(t)) < 1;
}

cell report_allocations(const report *r, const tally *t) {
    return (cell){.amount = figure_of_estimate(tally_count(t, rate_of(r)), t->count)};
}

cell report_bytes(const report *r, const tally *t) {
    return (cell){.amount = figure_of_estimate(tally_bytes(t, rate_of(r)), t->samples)};
}

output *report_text(const report *r) {
    r->scratch->text.used = 0;
    return &r->scratch->text;
}

cell report_text_cell(const report *r) {
    output *o = &r->scratch->text;
    output_char(o, '\0');
    if (o->error) {
        r->view->tracer->failed = true;
        return cell_none();
    }
    return (cell){.text = o->buffer};
}

void report_put_location(output *o, const view *v, const site *s) {
    output_text(o, s ? view_file(v, s->place.file) : "<runtime>");
    if (s)
        output_format(o, ":%u", s->place.line);
}

/* ---- expectations ---------------------------------------------------------------------------- */

static const verdict *verdict_of(const void *row) {
    return row;
}

TABLE_CELL(verdict_expectation, (cell){.text = verdict_of(row)->expectation->text})
TABLE_CELL(verdict_expected, (cell){.number = verdict_of(row)->expectation->expected})
TABLE_CELL(verdict_actual, (cell){.count = (uint64_t)(verdict_of(row)->count.value + 0.5)})
TABLE_CELL(verdict_allocations, report_allocations(report_behind(t), &verdict_of(row)->actual))

/* The ratio may be infinite, which JSON cannot express. */
TABLE_CELL(verdict_times, (cell){.number = verdict_of(row)->ratio})
TABLE_CELL(verdict_ratio, isfinite(verdict_of(row)->ratio) ? verdict_times(t, row) : cell_none())
TABLE_CELL(verdict_pass, (cell){.text = verdict_of(row)->pass ? "PASS" : "FAIL"})

static const table_column verdict_columns[] = {
    {.name = "expectation",
     .title = "Expected",
     .kind = COLUMN_TEXT,
     .in = IN_TEXT | IN_JSON,
     .get = verdict_expectation},
    {.name = "expected", .kind = COLUMN_NUMBER, .in = IN_JSON, .get = verdict_expected},
    {.name = "actual", .kind = COLUMN_COUNT, .in = IN_JSON, .get = verdict_actual},
    {.name = "allocations",
     .title = "Actual",
     .kind = COLUMN_AMOUNT,
     .in = IN_TEXT,
     .unit = "allocation",
     .get = verdict_allocations},
    {.name = "ratio", .kind = COLUMN_NUMBER, .in = IN_JSON, .get = verdict_ratio},
    {.name = "times", .title = "Ratio", .kind = COLUMN_NUMBER, .in = IN_TEXT, .get = verdict_times},
    {.name = "verdict",
     .title = "Verdict",
     .kind = COLUMN_TEXT,
     .in = IN_TEXT | IN_JSON,
     .get = verdict_pass},
};

/* Adds the expectations, the last table in all forms. */
static void report_verdicts(document *d, report *r) {
    const table verdicts = {.name = "expect",
                            TABLE_COLUMNS(verdict_columns),
                            .rows = r->verdicts.items,
                            .stride = sizeof *r->verdicts.items,
                            .n = r->verdicts.count,
                            .context = r};
    document_rows(d, &verdicts, IN_JSON | (r->verdicts.count ? IN_TEXT : 0), NULL);
}

/* ---- the document ---------------------------------------------------------------------------- */

static bool is_ruled(const memtracer_options *o) {
    return o->form != FORM_TABLE;
}

static bool fill_form(document *d, report *r) {
    static bool (*const forms[N_FORMS])(document *, report *) = {
        [FORM_TABLE] = report_table,         [FORM_JSON] = report_json,
        [FORM_HISTOGRAM] = report_histogram, [FORM_TYPEHISTOGRAM] = report_typehistogram,
        [FORM_CALLTREE] = report_calltree,
    };
    return forms[r->view->tracer->options->form](d, r);
}

static void add_notes(document *d, const tracer *t) {
    if (t->partial)
        document_note(d, "The tracer ran out of memory: what the program allocated after that is "
                         "not counted.");
    if (t->cut)
        document_note(d,
                      "%llu %s had stacks deeper than StackLimit=%llu: of these the outermost "
                      "frames and the innermost are known.",
                      (unsigned long long)t->cut, t->options->rate < 1 ? "samples" : "allocations",
                      (unsigned long long)t->options->stack_limit);
}

static bool keep_expectations(report *r) {
    const memtracer_options *o = r->view->tracer->options;
    r->expectations = calloc(o->expect.count + 1, sizeof *r->expectations);
    for (size_t i = 0; r->expectations && i < o->expect.count; i++)
        r->expectations[i] = o->expect.items[i].text;
    return r->expectations && expect_judge(&r->verdicts, r->view);
}

static void render(output *o, const document *d, const memtracer_options *options) {
    if (options->form == FORM_JSON)
        render_json(o, d);
    else
        dialect_render(o, d, is_ruled(options));
}

/* If there is no memory, sets that error in the output. */
static void write_report(report *r, output *o) {
    tracer *t = r->view->tracer;
    document d = {0};
    const bool good = keep_expectations(r) && fill_form(&d, r);
    if (good) {
        add_notes(&d, t);
        report_verdicts(&d, r);
    }
    if (good && !d.failed)
        render(o, &d, t->options);
    if (!o->error && (!good || d.failed || t->failed))
        o->error = ENOMEM;
    document_free(&d);
}

static void report_free(report *r) {
    free(r->scratch->text.buffer);
    vec_free(&r->scratch->stacks);
    vec_free(&r->scratch->frames);
    vec_free(&r->verdicts);
    vec_free(&r->rows);
    vec_free(&r->lines);
    projection_free(&r->stacks);
    free(r->expectations);
}

/* ---- where it goes --------------------------------------------------------------------------- */

static tracer_status cannot_write(const char *path, int why, char *problem, size_t size) {
    snprintf(problem, size, "cannot write %s: %s", path ? path : "the report", strerror(why));
    return TRACER_CANNOT_WRITE;
}

/* Returns an errno. */
static int reason_of(const memtrace_error *error) {
    return error->os_error ? error->os_error : EIO;
}

/* Returns 0 or an errno. If anything fails, the file is unchanged. */
static int write_to_file(report *r, const char *path) {
    replacement file;
    memtrace_error error;
    output o;
    if (replacement_begin(&file, path, &error))
        return reason_of(&error);
    output_start(&o, file.fd);
    write_report(r, &o);
    const int why = output_finish(&o);
    if (why)
        replacement_abort(&file);
    else if (replacement_commit(&file, &error))
        return reason_of(&error);
    return why;
}

static int write_to_stdout(report *r) {
    output o;
    if (fflush(stdout))
        return errno;
    output_start(&o, STDOUT_FILENO);
    write_report(r, &o);
    return output_finish(&o);
}

tracer_status report_write(tracer *t, double elapsed, char *problem, size_t size) {
    const char *path = t->options->output_file;
    view v;
    report_scratch scratch = {0};
    report r = {.view = &v, .elapsed = elapsed, .scratch = &scratch};
    locale_t before = text_use_utf8();
    output_start(&scratch.text, OUTPUT_MEMORY);
    int why = view_init(&v, t) ? 0 : ENOMEM;
    if (!why)
        why = path ? write_to_file(&r, path) : write_to_stdout(&r);
    text_restore(before);
    const bool pass = expect_all_pass(&r.verdicts);
    report_free(&r);
    view_free(&v);
    if (why)
        return cannot_write(path, why, problem, size);
    return pass ? TRACER_OK : TRACER_EXPECT_FAILED;
}
