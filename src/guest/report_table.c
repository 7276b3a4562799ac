/* report_table.c: the default form, and the table of expectations. */
#include <math.h>
#include <string.h>

#include "guest/report.h"
#include "guest/text.h"

enum { N_COLUMNS = 4, MAX_STACKS = 20 }; /* stacks shown of a site */

/* Columns are this wide, or as wide as they need to be. The last one ends the line. */
static const int least_width[N_COLUMNS] = {25, 7, 9, 0};

typedef struct line {
    char *location; /* owned */
    char count[TEXT_NUMBER], bytes[TEXT_NUMBER];
} line;

static void write_line(FILE *out, const int *width, const char *const *cells) {
    for (int c = 0; c < N_COLUMNS - 1; c++) {
        text_left(out, cells[c], width[c]);
        fputs(" || ", out);
    }
    fprintf(out, "%s\n", cells[N_COLUMNS - 1]);
}

static void widen(int *width, const char *const *cells) {
    for (int c = 0; c < N_COLUMNS - 1; c++) {
        int w = text_width(cells[c]);
        width[c] = w > width[c] ? w : width[c];
    }
}

/* ---- stacks ---------------------------------------------------------------------------------- */

/* Innermost frame first; one that calls itself over and over is shown once. */
static void write_frames(const view *v, const projection *lines, uint32_t node, FILE *out) {
    while (node != TREE_ROOT) {
        const element *e;
        size_t times = projection_step(lines, v, &node, &e);
        fprintf(out, "        %s", e->name);
        if (e->file)
            fprintf(out, " (%s:%u)", view_file(v, e->file), e->extent.first_line);
        if (times > 1)
            fprintf(out, " × %zu", times);
        fputc('\n', out);
    }
}

static void write_stack(const view *v, const projection *lines, const row_stack *s, FILE *out) {
    double rate = v->tracer->options->rate;
    char count[TEXT_NUMBER], bytes[TEXT_NUMBER];
    estimate n = tally_count(&s->tally, rate);
    text_count(count, n);
    text_bytes(bytes, tally_bytes(&s->tally, rate));
    fprintf(out, "    %s allocation%s, %s\n", count, n.value == 1 && n.high == 1 ? "" : "s", bytes);
    write_frames(v, lines, s->node, out);
}

static bool write_stacks(const view *v, const projection *lines, const row *r, FILE *out) {
    row_stack_list stacks = {0};
    bool good = row_stacks(&stacks, r, lines);
    size_t shown = 0, more = 0;
    for (size_t i = 0; good && i < stacks.count; i++) {
        const row_stack *s = &stacks.items[i];
        if (s->node == TREE_ROOT || !tally_shows(&s->tally, v->tracer->options))
            continue;
        if (shown == MAX_STACKS) {
            more++;
            continue;
        }
        write_stack(v, lines, s, out);
        shown++;
    }
    if (more)
        fprintf(out, "    … and %zu more stacks (Output=json has all)\n", more);
    vec_free(&stacks);
    return good;
}

/* ---- the table ------------------------------------------------------------------------------- */

static bool make_line(line *l, const view *v, const row *r) {
    double rate = v->tracer->options->rate;
    text_count(l->count, tally_count(&r->tally, rate));
    text_bytes(l->bytes, tally_bytes(&r->tally, rate));
    return view_location(v, r->entries->site, &l->location);
}

static void write_head(const view *v, FILE *out) {
    const memtracer_options *o = v->tracer->options;
    char total[TEXT_NUMBER];
    text_count(total, tally_count(&v->total, o->rate));
    if (o->rate < 1)
        fprintf(out, "Memory Tracer. Recorded about %s allocations (%llu sampled at rate %g).\n\n",
                total, (unsigned long long)v->total.count, o->rate);
    else
        fprintf(out, "Memory Tracer. Recorded %s allocations.\n\n", total);
}

static bool write_rows(const view *v, const row_list *rows, const line *lines,
                       const projection *stacks, FILE *out) {
    static const char *const head[N_COLUMNS] = {"Source Location", "Count", "Size", "Type"};
    int width[N_COLUMNS];
    memcpy(width, least_width, sizeof width);
    for (size_t i = 0; i < rows->count; i++)
        widen(width, (const char *[]){lines[i].location, lines[i].count, lines[i].bytes});
    write_line(out, width, head);
    for (size_t i = 0; i < rows->count; i++) {
        const row *r = &rows->items[i];
        write_line(out, width,
                   (const char *[]){lines[i].location, lines[i].count, lines[i].bytes,
                                    r->entries->leaf->type});
        if (v->tracer->options->stacks && !write_stacks(v, stacks, r, out))
            return false;
    }
    return true;
}

/* Drops the rows that TraceMem leaves out; they are added up in `hidden`. */
static size_t hide_rows(row_list *rows, const memtracer_options *o, tally *hidden) {
    size_t n = 0, all = rows->count;
    for (size_t i = 0; i < all; i++) {
        if (tally_shows(&rows->items[i].tally, o))
            rows->items[n++] = rows->items[i];
        else
            tally_add(hidden, &rows->items[i].tally);
    }
    rows->count = n;
    return all - n;
}

static void write_hidden(const view *v, size_t n, const tally *hidden, FILE *out) {
    char count[TEXT_NUMBER], least[TEXT_NUMBER];
    text_count(count, tally_count(hidden, v->tracer->options->rate));
    text_size(least, (double)v->tracer->options->min_bytes);
    if (n)
        fprintf(out, "\nNot shown: %zu site%s of less than %s, with %s allocations.\n", n,
                n == 1 ? "" : "s", least, count);
}

bool report_table(view *v, FILE *out) {
    row_list rows = {0};
    tally hidden = {0};
    projection stacks = {0};
    bool good = rows_make(&rows, v, false) &&
                (!v->tracer->options->stacks || projection_init(&stacks, v, 1u << ELEMENT_LINE));
    size_t n_hidden = good ? hide_rows(&rows, v->tracer->options, &hidden) : 0;
    line *lines = calloc(rows.count + 1, sizeof *lines);
    good &= lines != NULL;
    for (size_t i = 0; good && i < rows.count; i++)
        good = make_line(&lines[i], v, &rows.items[i]);
    if (good) {
        write_head(v, out);
        good = write_rows(v, &rows, lines, &stacks, out);
        write_hidden(v, n_hidden, &hidden, out);
    }
    for (size_t i = 0; lines && i < rows.count; i++)
        free(lines[i].location);
    free(lines);
    vec_free(&rows);
    projection_free(&stacks);
    return good;
}

/* ---- expectations ---------------------------------------------------------------------------- */

void report_verdicts(const verdict_list *verdicts, FILE *out) {
    static const char *const head[N_COLUMNS] = {"Expected", "Actual", "Ratio", "Verdict"};
    int width[N_COLUMNS];
    char actual[TEXT_NUMBER], ratio[TEXT_NUMBER];
    memcpy(width, least_width, sizeof width);
    for (int pass = 0; pass < 2; pass++) {
        if (pass) {
            fputc('\n', out);
            write_line(out, width, head);
        }
        for (size_t i = 0; i < verdicts->count; i++) {
            const verdict *r = &verdicts->items[i];
            text_count(actual, r->count);
            snprintf(ratio, sizeof ratio, "%.3g", r->ratio);
            const char *const cells[] = {r->expectation->text, actual, ratio,
                                         r->pass ? "PASS" : "FAIL"};
            if (pass)
                write_line(out, width, cells);
            else
                widen(width, cells);
        }
    }
}
