/* stats.c: numbers of the sample are exact, and are written so that they can be compared with
 * published ones digit by digit. Numbers of the program are estimates. */
#include "reports/stats.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

static const stats_report *report_at(const void *row) {
    return row;
}

static const stats_part *part_of(const void *row) {
    const stats_row *r = row;
    return r->part;
}

static double share(uint64_t part, uint64_t of) {
    return of ? (double)part / (double)of : 0;
}

static cell estimate_cell(estimate e, uint64_t samples) {
    return (cell){.amount = figure_of_estimate(e, samples)};
}

static cell part_cell(estimate e, uint64_t samples, uint64_t of) {
    return (cell){.part = {.share = e, .samples = samples, .of_samples = of}};
}

/* ---- lifetimes --------------------------------------------------------------------------- */

static const stats_lives *lives_of(const void *row) {
    return row;
}

TABLE_CELL(lives_mean, (cell){.number = lives_of(row)->mean})
TABLE_CELL(lives_median, (cell){.count = lives_of(row)->median})
TABLE_CELL(lives_most, (cell){.count = lives_of(row)->most})

/* A row is an element in the array of the decades' block counts. */
static cell decade_least(const table *t, const void *row) {
    const uint64_t *decade = row, *first = t->rows;
    return (cell){.count = stats_decade_least((unsigned)(decade - first))};
}

TABLE_CELL(decade_blocks, (cell){.count = *(const uint64_t *)row})

static const table_column decade_columns[] = {
    {.name = "least",
     .kind = COLUMN_COUNT,
     .get = decade_least,
     .help = "the shortest lifetime of the row; the longest is below ten times that"},
    {.name = "blocks", .kind = COLUMN_COUNT, .get = decade_blocks, .help = "sampled blocks"},
};

static const void *filled_decade(const table *t, size_t i) {
    const uint64_t *decade = t->rows;
    for (; *decade == 0 || i-- > 0; decade++)
        ;
    return decade;
}

static bool lives_histogram(const table *t, const void *row, table *below) {
    const stats_lives *l = row;
    (void)t;
    below->rows = l->decades;
    below->row = filled_decade;
    for (size_t i = 0; i < STATS_DECADES; i++)
        below->n += l->decades[i] > 0;
    return true;
}

static const table_column lives_columns[] = {
    {.name = "mean", .kind = COLUMN_NUMBER, .get = lives_mean, .help = "of the sampled blocks"},
    {.name = "median",
     .kind = COLUMN_COUNT,
     .get = lives_median,
     .help = "the least lifetime that half of the blocks do not exceed"},
    {.name = "maximum", .kind = COLUMN_COUNT, .get = lives_most, .help = "the longest"},
    {.name = "histogram",
     .kind = COLUMN_ROWS,
     TABLE_COLUMNS(decade_columns),
     .below = lives_histogram,
     .help = "by decades"},
};

static const void *part_events(const void *row) {
    return &part_of(row)->events;
}

static const void *part_micros(const void *row) {
    return &part_of(row)->micros;
}

/* ---- sizes ------------------------------------------------------------------------------- */

/* A row is an element in the array of a part's block counts by size class. The context is the
 * part. */
static size_t class_of(const table *t, const void *row) {
    const uint64_t *class = row, *first = t->rows;
    return (size_t)(class - first);
}

static cell size_above(const table *t, const void *row) {
    const size_t i = class_of(t, row);
    return i ? (cell){.count = stats_sizes[i - 1].most} : cell_none();
}

static cell size_share(const table *t, const void *row) {
    const stats_part *p = t->context;
    return (cell){.number = share(p->sizes[class_of(t, row)], p->n)};
}

static cell size_program(const table *t, const void *row) {
    const stats_part *p = t->context;
    const size_t i = class_of(t, row);
    return part_cell(p->size_shares[i], p->sizes[i], p->n);
}

static const table_column size_columns[] = {
    {.name = "above",
     .kind = COLUMN_COUNT,
     .get = size_above,
     .help = "in words; the first class has no limit below"},
    {.name = "blocks", .kind = COLUMN_COUNT, .get = decade_blocks, .help = "sampled blocks"},
    {.name = "share", .kind = COLUMN_NUMBER, .get = size_share, .help = "of the sampled, 0 to 1"},
    {.name = "program_share",
     .kind = COLUMN_PART,
     .get = size_program,
     .help = "of the program's blocks"},
};

static bool part_sizes_below(const table *t, const void *row, table *below) {
    (void)t;
    below->rows = part_of(row)->sizes;
    below->stride = sizeof *part_of(row)->sizes;
    below->n = STATS_N_SIZES;
    below->context = part_of(row);
    return true;
}

/* ---- parts --------------------------------------------------------------------------- */

static cell held_size(const table *t, const void *row) {
    const estimate *e = row;
    const stats_part *p = t->context;
    return estimate_cell(*e, p->sizes[e - p->held.sizes]);
}

static bool has_held(const table *t) {
    return report_at(t->context)->spec->held;
}

/* In text, the sample is an object, and its segments are rows. */
static bool is_object(const table *t) {
    return t->stride == 0;
}

static bool is_rows(const table *t) {
    return !is_object(t);
}

/* X(name, kind, cell from the part p, in, has, title, help) */
#define PART_FIELDS(X)                                                                             \
    X(part, TEXT, ((cell){.text = ((const stats_row *)row)->name}), IN_CSV, NULL, NULL,            \
      "all, or the number of a segment")                                                           \
    X(first, COUNT, ((cell){.count = p->first}), IN_DATA, NULL, NULL,                              \
      "the number of its first block, from 0")                                                     \
    X(blocks, COUNT, ((cell){.count = p->n}), IN_DATA, NULL, NULL, "sampled blocks")               \
    X(sampled, COUNT, ((cell){.count = p->n}), IN_TEXT, is_object, "blocks", "sampled blocks")     \
    X(alive, COUNT, ((cell){.count = p->n_survived}), IN_TEXT, is_object, "alive at the end",      \
      "those alive at the end")                                                                    \
    X(words, COUNT, ((cell){.count = p->words}), IN_JSON, NULL, NULL,                              \
      "the sum of their sizes, without headers")                                                   \
    X(mean, NUMBER, ((cell){.number = p->mean}), IN_ALL, NULL, NULL, "of their sizes in words")    \
    X(variance, NUMBER, ((cell){.number = p->variance}), IN_DATA, NULL, NULL,                      \
      "the same, divided by the number of blocks")                                                 \
    X(text_variance, NUMBER, ((cell){.number = p->variance}), IN_TEXT, is_object, "variance",      \
      "the same")                                                                                  \
    X(standard_deviation, NUMBER, ((cell){.number = p->deviation}), IN_ALL, NULL,                  \
      "standard deviation", "its root")                                                            \
    X(maximum, COUNT, ((cell){.count = p->most}), IN_ALL, NULL, NULL, "the largest size")          \
    X(large, COUNT, ((cell){.count = p->n_large}), IN_ALL, NULL, NULL,                             \
      "blocks that are larger than --large")                                                       \
    X(large_share, NUMBER, ((cell){.number = share(p->n_large, p->n)}), IN_JSON, NULL, NULL,       \
      "their share, 0 to 1")                                                                       \
    X(share_large, NUMBER, ((cell){.number = share(p->n_large, p->n)}), IN_TEXT, is_object,        \
      "large share", "the same")                                                                   \
    X(large_percent, SHARE, ((cell){.number = share(p->n_large, p->n)}), IN_TEXT, is_rows,         \
      "large share", "the same")                                                                   \
    X(survived, COUNT, ((cell){.count = p->n_survived}), IN_DATA, NULL, NULL,                      \
      "blocks alive at the end")                                                                   \
    X(size_0_32, COUNT, ((cell){.count = p->sizes[0]}), IN_CSV | IN_TEXT, is_rows, "to 32",        \
      "blocks of such sizes in words")                                                             \
    X(size_32_256, COUNT, ((cell){.count = p->sizes[1]}), IN_CSV | IN_TEXT, is_rows, "to 256",     \
      "blocks of such sizes in words")                                                             \
    X(size_256_10000, COUNT, ((cell){.count = p->sizes[2]}), IN_CSV | IN_TEXT, is_rows,            \
      "to 10,000", "blocks of such sizes in words")                                                \
    X(size_above_10000, COUNT, ((cell){.count = p->sizes[3]}), IN_CSV | IN_TEXT, is_rows, "above", \
      "blocks of such sizes in words")                                                             \
    X(events_mean, NUMBER, ((cell){.number = p->events.mean}), IN_CSV | IN_TEXT, is_rows,          \
      "mean life", "lifetimes, in events")                                                         \
    X(events_median, COUNT, ((cell){.count = p->events.median}), IN_CSV | IN_TEXT, is_rows,        \
      "median life", "lifetimes, in events")                                                       \
    X(events_maximum, COUNT, ((cell){.count = p->events.most}), IN_CSV, NULL, NULL,                \
      "lifetimes, in events")                                                                      \
    X(us_mean, NUMBER, ((cell){.number = p->micros.mean}), IN_CSV, NULL, NULL,                     \
      "lifetimes, in microseconds")                                                                \
    X(us_median, COUNT, ((cell){.count = p->micros.median}), IN_CSV, NULL, NULL,                   \
      "lifetimes, in microseconds")                                                                \
    X(us_maximum, COUNT, ((cell){.count = p->micros.most}), IN_CSV, NULL, NULL,                    \
      "lifetimes, in microseconds")                                                                \
    X(program_blocks, AMOUNT, estimate_cell(p->blocks, p->n), IN_CSV, NULL, NULL,                  \
      "how many blocks the program allocated")                                                     \
    X(program_mean, RATE, estimate_cell(p->mean_words, p->n), IN_CSV, NULL, NULL,                  \
      "their mean size in words")                                                                  \
    X(program_large_share, PART, part_cell(p->large, p->n_large, p->n), IN_CSV, NULL, NULL,        \
      "the share of large ones")                                                                   \
    X(held_mean, NUMBER, ((cell){.number = p->held.mean}), IN_CSV, has_held, NULL,                 \
      "words times seconds of the sampled blocks")                                                 \
    X(held_variance, NUMBER, ((cell){.number = p->held.variance}), IN_CSV, has_held, NULL,         \
      "words times seconds of the sampled blocks")                                                 \
    X(held_standard_deviation, NUMBER, ((cell){.number = p->held.deviation}), IN_CSV, has_held,    \
      NULL, "words times seconds of the sampled blocks")                                           \
    X(held_maximum, NUMBER, ((cell){.number = p->held.most}), IN_CSV, has_held, NULL,              \
      "words times seconds of the sampled blocks")                                                 \
    X(held_0_32, PART, part_cell(p->held.sizes[0], p->sizes[0], p->n), IN_CSV, has_held, NULL,     \
      "the share that blocks of such sizes hold")                                                  \
    X(held_32_256, PART, part_cell(p->held.sizes[1], p->sizes[1], p->n), IN_CSV, has_held, NULL,   \
      "the share that blocks of such sizes hold")                                                  \
    X(held_256_10000, PART, part_cell(p->held.sizes[2], p->sizes[2], p->n), IN_CSV, has_held,      \
      NULL, "the share that blocks of such sizes hold")                                            \
    X(held_above_10000, PART, part_cell(p->held.sizes[3], p->sizes[3], p->n), IN_CSV, has_held,    \
      NULL, "the share that blocks of such sizes hold")                                            \
    X(range, TEXT, ((cell){.text = ((const stats_row *)row)->blocks}), IN_TEXT, is_rows, "blocks", \
      "which blocks, in the order of their births")

#define PART_CELL(name_, kind_, cell_, in_, has_, title_, help_)                                   \
    static cell part_##name_(const table *t, const void *row) {                                    \
        const stats_part *p = part_of(row);                                                        \
        (void)t;                                                                                   \
        (void)p;                                                                                   \
        return cell_;                                                                              \
    }
PART_FIELDS(PART_CELL)
#undef PART_CELL

#define PART_COLUMN(name_, kind_, cell_, in_, has_, title_, help_)                                 \
    {.name = #name_,                                                                               \
     .title = title_,                                                                              \
     .kind = COLUMN_##kind_,                                                                       \
     .in = in_,                                                                                    \
     .exact = COLUMN_##kind_ == COLUMN_NUMBER,                                                     \
     .get = part_##name_,                                                                          \
     .has = has_,                                                                                  \
     .help = help_},

/* Shares, not amounts. They are RATEs so that JSON writes all digits. */
static const table_column held_size_columns[] = {
    {.name = "", .kind = COLUMN_RATE, .get = held_size, .help = "a share of all, 0 to 1"},
};

static bool held_sizes_below(const table *t, const void *row, table *below) {
    (void)t;
    below->rows = part_of(row)->held.sizes;
    below->stride = sizeof *part_of(row)->held.sizes;
    below->n = STATS_N_SIZES;
    below->context = part_of(row);
    return true;
}

static const table_column held_columns[] = {
    {.name = "mean",
     .kind = COLUMN_NUMBER,
     .get = part_held_mean,
     .exact = true,
     .help = "words times seconds of the sampled blocks"},
    {.name = "variance",
     .kind = COLUMN_NUMBER,
     .get = part_held_variance,
     .exact = true,
     .help = "words times seconds of the sampled blocks"},
    {.name = "standard_deviation",
     .kind = COLUMN_NUMBER,
     .get = part_held_standard_deviation,
     .exact = true,
     .title = "standard deviation",
     .help = "words times seconds of the sampled blocks"},
    {.name = "maximum",
     .kind = COLUMN_NUMBER,
     .get = part_held_maximum,
     .exact = true,
     .help = "words times seconds of the sampled blocks"},
    {.name = "sizes",
     .kind = COLUMN_ROWS,
     TABLE_COLUMNS(held_size_columns),
     .below = held_sizes_below,
     .help = "by the classes of sizes: shares of what the program's blocks hold"},
};

static const table_column program_columns[] = {
    {.name = "blocks",
     .kind = COLUMN_AMOUNT,
     .get = part_program_blocks,
     .help = "how many the program allocated"},
    {.name = "mean",
     .kind = COLUMN_RATE,
     .get = part_program_mean,
     .help = "their mean size in words"},
    {.name = "large_share",
     .kind = COLUMN_PART,
     .get = part_program_large_share,
     .help = "the share of large ones"},
};

static const table_column part_columns[] = {
    PART_FIELDS(PART_COLUMN){.name = "sizes",
                             .kind = COLUMN_ROWS,
                             .in = IN_JSON,
                             TABLE_COLUMNS(size_columns),
                             .below = part_sizes_below,
                             .help = "by the classes of sizes"},
    {.name = "lifetimes_events",
     .kind = COLUMN_OBJECT,
     .in = IN_JSON,
     TABLE_COLUMNS(lives_columns),
     .of = part_events,
     .help = "in births and deaths"},
    {.name = "lifetimes_us",
     .kind = COLUMN_OBJECT,
     .in = IN_JSON,
     TABLE_COLUMNS(lives_columns),
     .of = part_micros,
     .help = "in microseconds"},
    {.name = "held",
     .kind = COLUMN_OBJECT,
     .in = IN_JSON,
     TABLE_COLUMNS(held_columns),
     .has = has_held,
     .help = "what blocks hold: words times seconds"},
    {.name = "program",
     .kind = COLUMN_OBJECT,
     .in = IN_JSON,
     TABLE_COLUMNS(program_columns),
     .help = "what the program's own blocks are like"},
};
#undef PART_COLUMN

/* ---- texts ------------------------------------------------------------------------------- */

static const stats_bin *bin_of(const void *row) {
    return row;
}

TABLE_CELL(bin_share, (cell){.number = share(bin_of(row)->blocks, bin_of(row)->of)})
TABLE_CELL(bin_blocks, (cell){.count = bin_of(row)->blocks})
TABLE_CELL(bin_name, (cell){.text = bin_of(row)->name})

#define BIN_COLUMNS(title_)                                                                        \
    {                                                                                              \
        {.name = "share", .kind = COLUMN_SHARE, .get = bin_share, .help = "of the sampled"},       \
            {.name = "blocks", .kind = COLUMN_COUNT, .get = bin_blocks, .help = "sampled"}, {      \
            .name = title_, .kind = COLUMN_TEXT, .get = bin_name, .help = "their class"            \
        }                                                                                          \
    }

static const table_column words_columns[] = BIN_COLUMNS("words");
static const table_column age_columns[] = BIN_COLUMNS("lifetime");

/* Returns 10^power in the unit of lifetimes, events or microseconds. */
static figure_text power_of_ten(unsigned power, bool micros) {
    static const char *const units[] = {" µs", " ms", " s"};
    const unsigned unit = power / 3 < 2 ? power / 3 : 2;
    if (!micros)
        return figure_count(stats_decade_least(power + 1));
    figure_text t;
    snprintf(t.text, sizeof t.text, "%.30s%s",
             figure_count(stats_decade_least(power - 3 * unit + 1)).text, units[unit]);
    return t;
}

static void name_decade(char *name, size_t size, unsigned decade, bool micros) {
    if (decade == 0)
        snprintf(name, size, "0");
    else
        snprintf(name, size, "%.17s … %.17s", power_of_ten(decade - 1, micros).text,
                 power_of_ten(decade, micros).text);
}

/* Fills the bins from the first to the last decade with blocks. Returns their number. */
static size_t fill_decades(stats_bin *bins, const stats_lives *l, uint64_t of, bool micros) {
    unsigned first = 0, last = STATS_DECADES - 1;
    while (first < last && l->decades[first] == 0)
        first++;
    while (last > first && l->decades[last] == 0)
        last--;
    for (unsigned i = first; i <= last; i++) {
        bins[i - first] = (stats_bin){.blocks = l->decades[i], .of = of};
        name_decade(bins[i - first].name, sizeof bins->name, i, micros);
    }
    return last - first + 1;
}

static void add_sizes(document *d, stats_report *r) {
    const stats_part *p = &r->stats->whole;
    const table rows = {.name = "size_bins",
                        TABLE_COLUMNS(words_columns),
                        .rows = r->sizes,
                        .stride = sizeof *r->sizes,
                        .n = STATS_N_SIZES};
    for (int i = 0; i < STATS_N_SIZES; i++) {
        r->sizes[i] = (stats_bin){.blocks = p->sizes[i], .of = p->n};
        snprintf(r->sizes[i].name, sizeof r->sizes->name, "%s", stats_sizes[i].name);
    }
    document_rows(d, &rows, IN_TEXT, "Sizes");
}

static void add_events(document *d, stats_report *r) {
    const stats_lives *l = &r->stats->whole.events;
    const table rows = {.name = "event_bins",
                        TABLE_COLUMNS(age_columns),
                        .rows = r->events,
                        .stride = sizeof *r->events,
                        .n = fill_decades(r->events, l, r->stats->whole.n, false)};
    document_rows(d, &rows, IN_TEXT,
                  document_text(d, "Lifetimes in events (mean %s, median %s, maximum %s)",
                                figure_count((uint64_t)llround(l->mean)).text,
                                figure_count(l->median).text, figure_count(l->most).text));
}

static void add_micros(document *d, stats_report *r) {
    const stats_lives *l = &r->stats->whole.micros;
    const table rows = {.name = "time_bins",
                        TABLE_COLUMNS(age_columns),
                        .rows = r->micros,
                        .stride = sizeof *r->micros,
                        .n = fill_decades(r->micros, l, r->stats->whole.n, true)};
    document_rows(d, &rows, IN_TEXT,
                  document_text(d, "Lifetimes (mean %s, median %s, maximum %s)",
                                figure_duration((uint64_t)llround(l->mean)).text,
                                figure_duration(l->median).text, figure_duration(l->most).text));
    report_say_tick(d, r->report);
}

/* ---- estimates in words ------------------------------------------------------------------ */

static const stats_line *line_of(const void *row) {
    return row;
}

TABLE_CELL(line_value, (cell){.text = line_of(row)->value})
TABLE_CELL(line_ends, (cell){.text = line_of(row)->ends})
TABLE_CELL(line_name, (cell){.text = line_of(row)->name})

static const table_column line_columns[] = {
    {.name = "estimate", .kind = COLUMN_TEXT, .get = line_value, .help = "in the row's unit"},
    {.name = "95% interval", .kind = COLUMN_TEXT, .get = line_ends, .help = "its ends"},
    {.name = "of", .kind = COLUMN_TEXT, .get = line_name, .help = "what it is"},
};

/* Returns a percentage; near 100%, with three digits of the difference to 100%. */
static figure_text percent(double of) {
    figure_text t;
    snprintf(t.text, sizeof t.text, "%.*g%%", of < 0.9 ? 3 : 6, 100 * of);
    return t;
}

static figure_text count(double x) {
    return figure_count((uint64_t)llround(x));
}

static figure_text words(double x) {
    figure_text t;
    snprintf(t.text, sizeof t.text, "%.4g", x);
    return t;
}

static void fill_line(stats_line *l, const char *name, estimate e, figure_text say(double)) {
    *l = (stats_line){0};
    snprintf(l->name, sizeof l->name, "%s", name);
    snprintf(l->value, sizeof l->value, "%s", say(e.value).text);
    if (e.low < e.high)
        snprintf(l->ends, sizeof l->ends, "%s … %s", say(e.low).text, say(e.high).text);
}

static void fill_sizes(stats_line *lines, const estimate *shares) {
    for (int i = 0; i < STATS_N_SIZES; i++) {
        char name[64];
        snprintf(name, sizeof name, "%s words", stats_sizes[i].name);
        fill_line(&lines[i], name, shares[i], percent);
    }
}

static void add_lines(document *d, const stats_line *lines, size_t n, const char *heading) {
    const table rows = {.name = "estimates",
                        TABLE_COLUMNS(line_columns),
                        .rows = lines,
                        .stride = sizeof *lines,
                        .n = n};
    document_rows(d, &rows, IN_TEXT, heading);
}

static void add_program(document *d, stats_report *r) {
    const stats_part *p = &r->stats->whole;
    char large[64];
    snprintf(large, sizeof large, "above %s words", figure_count(r->spec->large).text);
    fill_line(&r->program[0], "blocks", p->blocks, count);
    fill_line(&r->program[1], "mean words per block", p->mean_words, words);
    fill_line(&r->program[2], large, p->large, percent);
    fill_sizes(&r->program[3], p->size_shares);
    add_lines(d, r->program, STATS_N_SIZES + 3,
              "The program's blocks, estimated by weighting each sampled block by its sampling "
              "probability");
}

static void add_held(document *d, stats_report *r, const stats_row *row) {
    const table held = {
        .name = "held", TABLE_COLUMNS(held_columns), .rows = row, .n = 1, .context = r};
    document_section(d, &held, IN_TEXT, "Held by a sampled block, in words times seconds");
    fill_sizes(r->held, r->stats->whole.held.sizes);
    add_lines(d, r->held, STATS_N_SIZES, "Shares of held bytes times seconds");
}

/* ---- the document ------------------------------------------------------------------------ */

TABLE_CELL(about_major, (cell){.flag = report_at(row)->spec->major_only})
TABLE_CELL(about_large, (cell){.count = report_at(row)->spec->large})
TABLE_CELL(about_events, (cell){.count = report_at(row)->stats->n_events})

static const table_column about_columns[] = {
    {.name = "major_only", .kind = COLUMN_FLAG, .get = about_major, .help = "--major-only"},
    {.name = "large_above_words", .kind = COLUMN_COUNT, .get = about_large, .help = "--large"},
    {.name = "events",
     .kind = COLUMN_COUNT,
     .get = about_events,
     .help = "births and deaths of the blocks"},
};

/* Returns a row for all blocks, then one for each segment; NULL: out of memory. */
static stats_row *part_rows(document *d, const stats *s) {
    stats_row *rows = document_keep(d, (s->segments.count + 1) * sizeof *rows);
    for (size_t i = 0; rows && i <= s->segments.count; i++) {
        const stats_part *p = i ? &s->segments.items[i - 1] : &s->whole;
        rows[i].part = p;
        snprintf(rows[i].name, sizeof rows->name, i ? "%zu" : "all", i);
        snprintf(rows[i].blocks, sizeof rows->blocks, "%zu–%zu", p->first + 1, p->first + p->n);
    }
    return rows;
}

static void add_texts(document *d, stats_report *r, const stats_row *rows) {
    add_sizes(d, r);
    add_events(d, r);
    add_micros(d, r);
    if (r->spec->held)
        add_held(d, r, rows);
    if (r->report->query->profile->info.sample_rate < 1)
        add_program(d, r);
}

static void add_parts(document *d, stats_report *r, unsigned text) {
    const stats_row *rows = part_rows(d, r->stats);
    table parts = {.name = "parts",
                   TABLE_COLUMNS(part_columns),
                   .rows = rows,
                   .stride = sizeof *rows,
                   .n = r->stats->segments.count + 1,
                   .context = r};
    if (!rows)
        return;
    document_rows(d, &parts, IN_CSV, NULL);
    parts.name = "segments";
    parts.rows = rows + 1;
    parts.n--;
    const table segments = parts;
    parts.name = "sample";
    parts.rows = rows;
    parts.n = 1;
    parts.stride = 0; /* shown as an object */
    document_section(
        d, &parts, text | IN_JSON,
        document_text(
            d, "Sampled blocks%s, equally weighted; sizes in words without header, large: above %s",
            r->spec->major_only ? " outside the minor heap" : "",
            figure_count(r->spec->large).text));
    if (text)
        add_texts(d, r, rows);
    document_rows(d, &segments, text | IN_JSON,
                  "Segments in order of birth; sizes in words, lifetimes in events");
}

void stats_document(document *d, stats_report *r) {
    const table about = {.name = "", TABLE_COLUMNS(about_columns), .rows = r, .n = 1};
    const bool any = report_head(d, r->report), some = r->stats->whole.n > 0;
    document_object(d, &about, IN_JSON);
    if (any && !some)
        document_note(d, "None of these blocks was in the major heap.");
    add_parts(d, r, any && some ? IN_TEXT : 0);
}
