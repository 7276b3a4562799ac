/* info.c: X-macros list the facts about a trace and its heaps; text, JSON and CSV are made from
 * them. Marks, gauges and warnings are tables of their own. */
#include "reports/info.h"

#include <stdio.h>
#include <string.h>

#include "languages/language.h"
#include "reports/ending.h"

static const info_report *report_at(const void *row) {
    return row;
}

static cell amount(const profile *p, uint64_t samples) {
    return (cell){.amount = figure_of(p, samples)};
}

static cell amount_in(const profile *p, int heap) {
    return p->samples[heap] ? amount(p, p->samples[heap]) : cell_none();
}

static const profile *profile_of(const void *row) {
    return report_at(row)->profile;
}

ENDING_FUNCTIONS(profile_of)

static const profile *profile_at(const table *t) {
    return profile_of(t->rows);
}

static bool has_heap(const table *t) {
    const uint64_t *samples = profile_at(t)->samples;
    return samples[MEMTRACE_MINOR] + samples[MEMTRACE_MAJOR] > 0;
}

static bool has_threads(const table *t) {
    return !has_heap(t) && profile_at(t)->n_domains > 1;
}

static bool has_spans(const table *t) {
    return profile_at(t)->n_traces > 0;
}

static bool has_minor(const table *t) {
    return profile_at(t)->samples[MEMTRACE_MINOR] > 0;
}

static bool has_context(const table *t) {
    const char *context = profile_at(t)->info.context;
    return context && *context;
}

static bool has_runtime(const table *t) {
    const char *runtime = report_at(t->rows)->runtime;
    return runtime && *runtime;
}

static bool has_size(const table *t) {
    return report_at(t->rows)->size > 0;
}

static bool has_early_said(const table *t) {
    return has_early_end(t) && report_at(t->rows)->end;
}

static bool has_end_said(const table *t) {
    return !has_early_end(t) && report_at(t->rows)->end;
}

static bool is_window(const table *t) {
    return report_at(t->rows)->is_window;
}

static uint64_t before_samples(const profile *p) {
    uint64_t sum = 0;
    for (size_t i = 0; i < p->table.count; i++)
        sum += blocks_born(&p->table, i) ? 0 : blocks_samples(&p->table, i);
    return sum;
}

static bool has_whole_end(const table *t) {
    return report_at(t->rows)->profile->end.how == MEMTRACE_END_WHOLE;
}

/* ---- amounts ----------------------------------------------------------------------------- */

/* X(name, samples, blocks), both from the profile p */
#define INFO_AMOUNTS(X)                                                                            \
    X(allocated, cct_sum(p->samples), cct_sum(p->blocks))                                          \
    X(minor, p->samples[MEMTRACE_MINOR], p->blocks[MEMTRACE_MINOR])                                \
    X(major, p->samples[MEMTRACE_MAJOR], p->blocks[MEMTRACE_MAJOR])                                \
    X(external, p->samples[MEMTRACE_EXTERNAL], p->blocks[MEMTRACE_EXTERNAL])                       \
    X(promoted, p->promoted_samples, p->promoted_blocks)

#define AMOUNT_CELLS(name_, samples_, blocks_)                                                     \
    static cell name_##_amount(const table *t, const void *row) {                                  \
        const profile *p = report_at(row)->profile;                                                \
        (void)t;                                                                                   \
        return amount(p, samples_);                                                                \
    }                                                                                              \
    static cell name_##_blocks(const table *t, const void *row) {                                  \
        const profile *p = report_at(row)->profile;                                                \
        (void)t;                                                                                   \
        return (cell){.count = blocks_};                                                           \
    }
INFO_AMOUNTS(AMOUNT_CELLS)
#undef AMOUNT_CELLS

static cell promoted_share(const table *t, const void *row) {
    const profile *p = report_at(row)->profile;
    (void)t;
    return (cell){.number = figure_percent(p->promoted_samples, p->samples[MEMTRACE_MINOR]) / 100};
}

static bool is_promoted(const table *t) {
    return t->name;
}

#define AMOUNT_BELOW(name_, samples_, blocks_)                                                     \
    static bool name_##_below(const table *t, const void *row, table *below) {                     \
        static const table_column columns[] = {                                                    \
            {.name = "", .kind = COLUMN_AMOUNT, .get = name_##_amount, .help = "in bytes"},        \
            {.name = "blocks", .kind = COLUMN_COUNT, .get = name_##_blocks, .help = "sampled"},    \
            {.name = "share",                                                                      \
             .kind = COLUMN_SHARE,                                                                 \
             .get = promoted_share,                                                                \
             .has = is_promoted,                                                                   \
             .help = "of the minor heap's"},                                                       \
        };                                                                                         \
        (void)t;                                                                                   \
        below->columns = columns;                                                                  \
        below->n_columns = sizeof columns / sizeof *columns;                                       \
        below->rows = row;                                                                         \
        below->n = 1;                                                                              \
        below->name = strcmp(#name_, "promoted") == 0 ? #name_ : NULL;                             \
        return below->name == NULL || !report_at(row)->promotion_unknown;                          \
    }
INFO_AMOUNTS(AMOUNT_BELOW)
#undef AMOUNT_BELOW

/* ---- the end ----------------------------------------------------------------------------- */

TABLE_CELL(whole_time, (cell){.count = report_at(row)->profile->end.time})
TABLE_CELL(whole_reason, (cell){.text = report_at(row)->profile->end.reason})

static const table_column whole_columns[] = {
    {.name = "time", .kind = COLUMN_DURATION, .get = whole_time, .help = "in microseconds"},
    {.name = "reason", .kind = COLUMN_TEXT, .get = whole_reason, .help = "why, if known"},
};

/* ---- the trace --------------------------------------------------------------------------- */

/* X(name, kind, cell from the profile p and the report r, in, has, title, help) */
#define INFO_FIELDS(X)                                                                             \
    X(file, TEXT, ((cell){.text = r->path}), IN_DATA, NULL, NULL, "as it was named")               \
    X(file_size, COUNT, ((cell){.count = r->size}), IN_DATA, has_size, NULL, "in bytes")           \
    X(program, TEXT, ((cell){.text = p->info.executable_name}), IN_ALL, NULL, NULL,                \
      "of the recording")                                                                          \
    X(host, TEXT, ((cell){.text = p->info.host_name}), IN_ALL, NULL, NULL, "of the recording")     \
    X(pid, NUMBER, ((cell){.number = (double)p->info.pid}), IN_ALL, NULL, NULL, "of the process")  \
    X(context, TEXT, ((cell){.text = p->info.context}), IN_DATA, NULL, NULL,                       \
      "as the recorder gave it")                                                                   \
    X(in_context, TEXT, ((cell){.text = p->info.context}), IN_TEXT, has_context, "context",        \
      "as the recorder gave it")                                                                   \
    X(runtime, TEXT, ((cell){.text = p->info.runtime_params}), IN_DATA, NULL, NULL,                \
      "as the recorder gave it")                                                                   \
    X(by_runtime, TEXT, ((cell){.text = r->runtime}), IN_TEXT, has_runtime, "runtime",             \
      "the languages of its frames, and what the recorder gave")                                   \
    X(started, TEXT, ((cell){.text = r->started}), IN_TEXT, NULL, NULL, "when")                    \
    X(version, COUNT, ((cell){.count = p->info.version}), IN_DATA, NULL, NULL, "of the format")    \
    X(word_size, COUNT, ((cell){.count = p->info.word_size}), IN_DATA, NULL, NULL, "in bits")      \
    X(rate, NUMBER, ((cell){.number = p->info.sample_rate}), IN_DATA, NULL, NULL,                  \
      "the chance of each word")                                                                   \
    X(start, COUNT, ((cell){.count = (uint64_t)p->info.start_time}), IN_DATA, NULL, NULL,          \
      "in microseconds since the epoch")                                                           \
    X(duration, DURATION, ((cell){.count = p->duration}), IN_ALL, NULL, NULL, "in microseconds")   \
    X(ends_at, TEXT, ((cell){.text = r->end}), IN_TEXT, has_early_said, "ends early",              \
      "when and why")                                                                              \
    X(ends, TEXT, ((cell){.text = r->end}), IN_TEXT, has_end_said, "end", "why it ends there")     \
    X(lost, TEXT, ((cell){.text = r->missing}), IN_TEXT, has_loss, "missing", "before its end")    \
    X(sampling, TEXT, ((cell){.text = r->rate}), IN_TEXT, NULL, "rate", "the chance of each word") \
    X(samples, COUNT, ((cell){.count = cct_sum(p->samples)}), IN_TEXT, NULL, "sampled words",      \
      "sampled words")                                                                             \
    X(blocks, COUNT, ((cell){.count = cct_sum(p->blocks)}), IN_TEXT, NULL, "sampled blocks",       \
      "sampled blocks")                                                                            \
    X(freed, COUNT, ((cell){.count = p->collected_blocks}), IN_TEXT, NULL, "  freed",              \
      "sampled blocks that were freed")                                                            \
    X(all, AMOUNT, amount(p, cct_sum(p->samples)), IN_TEXT, NULL, "allocated", "in all")           \
    X(before, AMOUNT, amount(p, before_samples(p)), IN_ALL, is_window, "  before it",              \
      "live at the start of a window of a longer trace, and in all amounts of what was allocated") \
    X(in_minor, AMOUNT, amount_in(p, MEMTRACE_MINOR), IN_TEXT, has_heap, "  minor",                \
      "in this heap")                                                                              \
    X(in_major, AMOUNT, amount_in(p, MEMTRACE_MAJOR), IN_TEXT, has_heap, "  major",                \
      "in this heap")                                                                              \
    X(in_external, AMOUNT, amount_in(p, MEMTRACE_EXTERNAL), IN_TEXT, has_heap, "  outside",        \
      "outside of the language's heap")                                                            \
    X(early, TEXT, ((cell){.text = r->promoted}), IN_TEXT, has_minor, "promoted",                  \
      "of the minor heap")                                                                         \
    X(collected_blocks, COUNT, ((cell){.count = p->collected_blocks}), IN_DATA, NULL, NULL,        \
      "sampled blocks that were freed")                                                            \
    X(domains, COUNT, ((cell){.count = p->n_domains}), IN_DATA, NULL, NULL, "threads at a time")   \
    X(in_domains, COUNT, ((cell){.count = p->n_domains}), IN_TEXT, has_heap, "domains",            \
      "threads at a time")                                                                         \
    X(threads, COUNT, ((cell){.count = p->n_domains}), IN_TEXT, has_threads, "threads",            \
      "threads that allocated, at a time")                                                         \
    X(n_traces, COUNT, ((cell){.count = p->n_traces}), IN_ALL, has_spans, "traced requests",       \
      "traces of distributed tracing in which something was sampled, if there are any")            \
    X(n_spans, COUNT, ((cell){.count = p->n_spans}), IN_ALL, has_spans, "  spans", "their spans")  \
    X(distinct_stacks, COUNT, ((cell){.count = p->tree.n_stacks}), IN_ALL, NULL,                   \
      "distinct stacks", "call stacks")                                                            \
    X(suspect_blocks, COUNT, ((cell){.count = p->suspect_blocks}), IN_DATA, NULL, NULL,            \
      "blocks whose backtrace may be wrong")                                                       \
    X(format, TEXT, ((cell){.text = r->format}), IN_TEXT, NULL, NULL, "of the file")               \
    X(on_disk, AMOUNT,                                                                             \
      ((cell){                                                                                     \
          .amount = {.value = (double)r->size, .low = (double)r->size, .high = (double)r->size}}), \
      IN_TEXT, has_size, "file", "its size")                                                       \
    X(n_warnings, COUNT, ((cell){.count = r->n_warnings}), IN_TEXT, NULL, "warnings",              \
      "what is wrong with the file")

#define INFO_CELL(name_, kind_, cell_, in_, has_, title_, help_)                                   \
    static cell info_##name_(const table *t, const void *row) {                                    \
        const info_report *r = row;                                                                \
        const profile *p = r->profile;                                                             \
        (void)t;                                                                                   \
        (void)p;                                                                                   \
        return cell_;                                                                              \
    }
INFO_FIELDS(INFO_CELL)
#undef INFO_CELL

#define INFO_COLUMN(name_, kind_, cell_, in_, has_, title_, help_)                                 \
    {.name = #name_,                                                                               \
     .title = title_,                                                                              \
     .kind = COLUMN_##kind_,                                                                       \
     .in = in_,                                                                                    \
     .exact = COLUMN_##kind_ == COLUMN_NUMBER,                                                     \
     .get = info_##name_,                                                                          \
     .has = has_,                                                                                  \
     .help = help_},
#define INFO_OBJECT(name_, samples_, blocks_)                                                      \
    {.name = #name_,                                                                               \
     .kind = COLUMN_OBJECT,                                                                        \
     .in = IN_JSON,                                                                                \
     .below = name_##_below,                                                                       \
     .help = "an estimate in bytes"},
static const table_column columns[] = {INFO_FIELDS(INFO_COLUMN) ENDING_FIELDS("it"),
                                       {.name = "end",
                                        .kind = COLUMN_OBJECT,
                                        .in = IN_JSON,
                                        TABLE_COLUMNS(whole_columns),
                                        .has = has_whole_end,
                                        .help = "if it is whole"},
                                       INFO_AMOUNTS(INFO_OBJECT)};
#undef INFO_COLUMN
#undef INFO_OBJECT

/* ---- marks, gauges, warnings ------------------------------------------------------------- */

static const profile_mark *mark_at(const void *row) {
    return row;
}

TABLE_CELL(mark_time, (cell){.count = mark_at(row)->time})
TABLE_CELL(mark_name, (cell){.text = mark_at(row)->name})

static const table_column mark_columns[] = {
    {.name = "time", .kind = COLUMN_DURATION, .get = mark_time, .help = "in microseconds"},
    {.name = "name", .kind = COLUMN_TEXT, .get = mark_name, .help = "as the program gave it"},
};

static const void *mark_of(const table *t, size_t i) {
    const profile_mark *m = t->rows;
    for (; m->is_gauge || i-- > 0; m++)
        ;
    return m;
}

static const gauge *gauge_of(const void *row) {
    return row;
}

static cell bytes(uint64_t n) {
    return (cell){.amount = {.value = (double)n, .low = (double)n, .high = (double)n}};
}

TABLE_CELL(gauge_readings, (cell){.count = gauge_of(row)->readings.count})
TABLE_CELL(gauge_high, (cell){.count = gauge_most(row, 0, UINT64_MAX)->bytes})
TABLE_CELL(gauge_high_bytes, bytes(gauge_high(t, row).count))
TABLE_CELL(gauge_time, (cell){.count = gauge_most(row, 0, UINT64_MAX)->time})
TABLE_CELL(gauge_end, (cell){.count = gauge_last(row)->bytes})
TABLE_CELL(gauge_end_bytes, bytes(gauge_end(t, row).count))
TABLE_CELL(gauge_name, (cell){.text = gauge_of(row)->name})

static const table_column gauge_columns[] = {
    {.name = "readings", .kind = COLUMN_COUNT, .get = gauge_readings, .help = "how many"},
    {.name = "most", .kind = COLUMN_COUNT, .in = IN_DATA, .get = gauge_high, .help = "in bytes"},
    {.name = "highest",
     .title = "most",
     .kind = COLUMN_AMOUNT,
     .in = IN_TEXT,
     .get = gauge_high_bytes,
     .help = "the same"},
    {.name = "time", .title = "at", .kind = COLUMN_DURATION, .get = gauge_time, .help = "when"},
    {.name = "last", .kind = COLUMN_COUNT, .in = IN_DATA, .get = gauge_end, .help = "in bytes"},
    {.name = "at_end",
     .title = "at the end",
     .kind = COLUMN_AMOUNT,
     .in = IN_TEXT,
     .get = gauge_end_bytes,
     .help = "the same"},
    {.name = "name", .kind = COLUMN_TEXT, .get = gauge_name, .help = "what was read"},
};

static const memtrace_warning *warning_of(const void *row) {
    return row;
}

TABLE_CELL(warning_offset, (cell){.count = warning_of(row)->first_offset})
TABLE_CELL(warning_count, (cell){.count = warning_of(row)->count})
TABLE_CELL(warning_text, (cell){.text = warning_of(row)->text})

static const table_column warning_columns[] = {
    {.name = "offset",
     .title = "first at byte",
     .kind = COLUMN_COUNT,
     .get = warning_offset,
     .help = "of the first"},
    {.name = "count",
     .title = "times",
     .kind = COLUMN_COUNT,
     .get = warning_count,
     .help = "how many"},
    {.name = "text",
     .title = "warning",
     .kind = COLUMN_TEXT,
     .get = warning_text,
     .help = "what is wrong"},
};

static void add_marks(document *d, const info_report *r) {
    table marks = {.name = "marks",
                   TABLE_COLUMNS(mark_columns),
                   .rows = r->profile->marks.items,
                   .row = mark_of};
    for (size_t i = 0; i < r->profile->marks.count; i++)
        marks.n += !r->profile->marks.items[i].is_gauge;
    document_rows(d, &marks, IN_JSON, NULL);
    const size_t more = marks.n > INFO_MARKS ? marks.n - INFO_MARKS : 0;
    marks.n -= more;
    document_rows(d, &marks, IN_TEXT, "Marks");
    if (more > 0)
        document_note(d, "  %s more; `--json` lists all", figure_count(more).text);
}

/* ---- the document ------------------------------------------------------------------------ */

/* Says until when the trace is complete, and why it ends then, if the trace tells. */
static void fill_end(document *d, info_report *r) {
    const profile *p = r->profile;
    const profile_end *end = &p->end;
    const bool early = profile_ends_early(p);
    char lost[100] = "";
    if (end->n_lost)
        snprintf(lost, sizeof lost, "; %s allocation%s could not be written, and all later ones",
                 figure_count(end->n_lost).text, end->n_lost == 1 ? "" : "s");
    if (end->how == MEMTRACE_END_UNSAID || (end->how == MEMTRACE_END_WHOLE && !end->reason[0]))
        return;
    r->end = document_text(d, "%s%s%s%.200s%s", early ? "at " : "",
                           early ? figure_duration(end->time).text : "",
                           early && end->reason[0] ? ": " : "", end->reason, lost);
}

static void fill_words(document *d, info_report *r) {
    const profile *p = r->profile;
    loss_words loss;
    if (ending_say_loss(p, &loss))
        r->missing = document_text(d, "%s", loss.phrase);
    const memtrace_info *i = &p->info;
    r->started = document_text(d, "%s", figure_date(i->start_time).text);
    r->rate = document_text(d, "%s (one sample represents %s)", figure_rate(i->sample_rate).text,
                            figure_bytes(profile_bytes_per_sample(p)).text);
    r->format = document_text(d, "version %u, %u-bit words", i->version, i->word_size);
    if (p->samples[MEMTRACE_MINOR])
        r->promoted =
            document_text(d, "%.1f%% of the minor heap's",
                          figure_percent(p->promoted_samples, p->samples[MEMTRACE_MINOR]));
    fill_end(d, r);
}

static bool has_file(const profile *p, const char *suffix) {
    const size_t n = strlen(suffix);
    for (size_t i = 0; i < p->locations.count; i++) {
        const char *const file = p->locations.items[i].file;
        const size_t size = file ? strlen(file) : 0;
        if (size > n && memcmp(file + size - n, suffix, n) == 0)
            return true;
    }
    return false;
}

/* Lists the languages of the frames, because the head of a trace may be written before the runtime
 * is known. */
static void fill_runtime(document *d, info_report *r) {
    const char *given = r->profile->info.runtime_params, *all = "";
    for (size_t i = 0; all && i < N_LANGUAGES; i++)
        if (languages[i]->source && has_file(r->profile, languages[i]->source))
            all = document_text(d, "%s%s%s", all, *all ? ", " : "", languages[i]->name);
    if (all && given && *given)
        all = document_text(d, "%s%s%s", all, *all ? ", " : "", given);
    r->runtime = all;
}

void info_document(document *d, info_report *r) {
    const table about = {.name = "", TABLE_COLUMNS(columns), .rows = r, .n = 1};
    if (!gauges_find(r->profile, &r->gauges))
        d->failed = true;
    const table gauges = {.name = "gauges",
                          TABLE_COLUMNS(gauge_columns),
                          .rows = r->gauges.items,
                          .stride = sizeof(gauge),
                          .n = r->gauges.count};
    const table warnings = {.name = "warnings",
                            TABLE_COLUMNS(warning_columns),
                            .rows = r->warnings,
                            .stride = sizeof *r->warnings,
                            .n = r->n_warnings};
    fill_words(d, r);
    fill_runtime(d, r);
    document_title(d, r->path, "");
    document_object(d, &about, IN_TEXT | IN_JSON);
    add_marks(d, r);
    const char *heading = document_text(d, "Reported by %s", gauges_source(&r->gauges));
    document_rows(d, &gauges, IN_TEXT | IN_JSON, heading ? heading : "Reported");
    document_rows(d, &warnings, IN_TEXT | IN_JSON, "Warnings");
}

void info_free(info_report *r) {
    gauges_free(&r->gauges);
}
