/* report_json.c: everything that is known, as one JSON object. docs/interpreting.md documents its
 * names, which do not change. */
#include <math.h>

#include "guest/report.h"
#include "guest/text.h"

/* "count": 3, "bytes": 96; of estimates also half the width of their intervals. */
static void write_tally(const view *v, const tally *t, FILE *out) {
    double rate = v->tracer->options->rate;
    estimate count = tally_count(t, rate), bytes = tally_bytes(t, rate);
    fprintf(out, "\"count\": %.0f, \"bytes\": %.0f", count.value, bytes.value);
    if (rate < 1)
        fprintf(out, ", \"count_error\": %.0f, \"bytes_error\": %.0f", estimate_margin(count),
                estimate_margin(bytes));
}

static void write_name(FILE *out, const char *name, const char *value) {
    fprintf(out, "\"%s\": ", name);
    text_json(out, value);
    fputs(", ", out);
}

/* One frame a call, but successive ones that are the same are one. */
static void write_frames(const view *v, const projection *lines, uint32_t node, FILE *out) {
    const char *separator = "";
    fputs("\"frames\": [", out);
    while (node != TREE_ROOT) {
        const element *e;
        size_t times = projection_step(lines, v, &node, &e);
        fprintf(out, "%s{", separator);
        write_name(out, "function", e->file ? e->name : NULL);
        write_name(out, "file", e->file);
        fprintf(out, "\"line\": %u, \"times\": %zu}", e->extent.first_line, times);
        separator = ", ";
    }
    fputc(']', out);
}

static bool write_stacks(const view *v, const projection *lines, const row *r, FILE *out) {
    row_stack_list stacks = {0};
    bool good = row_stacks(&stacks, r, lines);
    const char *separator = "\n      ";
    for (size_t i = 0; good && i < stacks.count; i++) {
        const row_stack *s = &stacks.items[i];
        if (s->node == TREE_ROOT || !tally_shows(&s->tally, v->tracer->options))
            continue;
        fprintf(out, "%s{", separator);
        write_tally(v, &s->tally, out);
        fputs(", ", out);
        write_frames(v, lines, s->node, out);
        fputc('}', out);
        separator = ",\n      ";
    }
    vec_free(&stacks);
    return good;
}

static bool write_site(const view *v, const projection *lines, const row *r, FILE *out) {
    const site *s = r->entries->site;
    write_name(out, "file", s ? s->place.file : NULL);
    if (s)
        fprintf(out, "\"line\": %u, ", s->place.line);
    else
        fputs("\"line\": null, ", out);
    write_name(out, "function", s ? s->name : NULL);
    write_name(out, "type", r->entries->leaf->type);
    write_name(out, "class", r->entries->leaf->class_name);
    write_tally(v, &r->tally, out);
    fputs(", \"stacks\": [", out);
    return !v->tracer->options->stacks || write_stacks(v, lines, r, out);
}

static bool write_sites(view *v, FILE *out) {
    row_list rows = {0};
    projection lines = {0};
    bool good = rows_make(&rows, v, true) &&
                (!v->tracer->options->stacks || projection_init(&lines, v, 1u << ELEMENT_LINE));
    const char *separator = "\n    {";
    for (size_t i = 0; good && i < rows.count; i++) {
        if (!tally_shows(&rows.items[i].tally, v->tracer->options))
            continue;
        fputs(separator, out);
        good = write_site(v, &lines, &rows.items[i], out);
        fputs("]}", out);
        separator = ",\n    {";
    }
    vec_free(&rows);
    projection_free(&lines);
    return good;
}

static void write_verdicts(const verdict_list *verdicts, FILE *out) {
    for (size_t i = 0; i < verdicts->count; i++) {
        const verdict *r = &verdicts->items[i];
        fputs(i ? ", {" : "{", out);
        write_name(out, "expectation", r->expectation->text);
        fprintf(out, "\"expected\": %.17g, \"actual\": %.0f, \"ratio\": ", r->expectation->expected,
                r->count.value);
        if (isfinite(r->ratio))
            fprintf(out, "%.6g", r->ratio);
        else
            fputs("null", out);
        fprintf(out, ", \"verdict\": \"%s\"}", r->pass ? "PASS" : "FAIL");
    }
}

bool report_json(view *v, const verdict_list *verdicts, double elapsed, FILE *out) {
    double rate = v->tracer->options->rate;
    estimate count = tally_count(&v->total, rate), bytes = tally_bytes(&v->total, rate);
    fprintf(out, "{\n  \"total\": %.0f,\n  \"total_bytes\": %.0f,\n", count.value, bytes.value);
    if (rate < 1)
        fprintf(out, "  \"total_error\": %.0f,\n  \"total_bytes_error\": %.0f,\n",
                estimate_margin(count), estimate_margin(bytes));
    fprintf(out, "  \"elapsed\": %.6f,\n  \"cut_stacks\": %llu,\n  \"out_of_memory\": %s,\n",
            elapsed, (unsigned long long)v->tracer->cut, v->tracer->partial ? "true" : "false");
    fputs("  \"options\": ", out);
    options_json(v->tracer->options, out);
    fputs(",\n  \"sites\": [", out);
    bool good = write_sites(v, out);
    fputs("],\n  \"expect\": [", out);
    write_verdicts(verdicts, out);
    fputs("]\n}\n", out);
    return good;
}
