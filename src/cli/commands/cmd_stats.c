/* cmd_stats.c: `allotrace stats FILE`: shows sizes and lifetimes of the sampled blocks. */
#include <inttypes.h>

#include "cli/message.h"
#include "cli/question.h"
#include "cli/result_file.h"
#include "reports/stats.h"

typedef struct stats_options {
    question_options question;
    const char *export;
    uint64_t large, segments;
    bool major_only;
} stats_options;

static const stats_options defaults = {
    .large = 256,
    .question = {.keep_rows = true, .keep_order = true, .births = true, .counts = true}};

static const option options[] = {
    {.name = "major-only",
     OPTION_SETS(FLAG, stats_options, major_only),
     .help = "skip blocks that never left the minor heap, and count promoted blocks from their "
             "promotion on"},
    {.name = "large",
     OPTION_TAKES(COUNT, stats_options, large, "WORDS"),
     .help = "show the share of blocks larger than WORDS words (default 256)"},
    {.name = "segments",
     OPTION_TAKES(COUNT, stats_options, segments, "N"),
     .help = "also show N consecutive segments with equal numbers of blocks, to reveal phases"},
    {.name = "export",
     OPTION_TAKES(FILE, stats_options, export, "OUT"),
     .help = "also write the raw data as CSV, one row per block, to OUT, replacing it; `-` writes "
             "to standard output instead of the report"},
    OPTION_FILTER(stats_options, question.filter),
    OPTION_COUNTED(stats_options),
    OPTIONS_FORM(stats_options),
};

/* Writes CSV with one row per block, in the order of allocation. It is not a report, since there
 * may be millions of rows. */
static void put_vectors(output *o, const profile *p, const stats *s) {
    output_text(o, "words,samples,born_event,born_us,life_events,life_us,survived\n");
    stats_walk walk = {.stats = s};
    stats_block b;
    while (!o->error && stats_next(&walk, &b)) {
        output_format(
            o, "%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%d\n",
            b.words, blocks_samples(&p->table, b.row), b.born_at, b.born, b.events, b.micros,
            b.survived);
    }
}

static int write_vectors(const profile *p, const stats *s, const char *path) {
    result_file file;
    int status = result_file_begin(&file, &command_stats, path, false);
    if (status != STATUS_OK)
        return status;
    output out;
    output_start(&out, file.fd);
    put_vectors(&out, p, s);
    const memtrace_error error = {.status = MEMTRACE_IO, .os_error = output_finish(&out)};
    return result_file_end(&file, error.os_error ? result_file_say(&file, &error) : STATUS_OK);
}

static int print(const question *q, const stats_options *opts, const stats *s,
                 const stats_spec *spec) {
    stats_report r = {.report = &q->report, .stats = s, .spec = spec};
    document d = {0};
    stats_document(&d, &r);
    const int status = question_show(&opts->question, &d);
    document_free(&d);
    return status;
}

static int show(const question *q, const void *opts_) {
    const stats_options *opts = opts_;
    stats s;
    const stats_spec spec = {.kept = selection_rows(&q->query.selection),
                             .may = q->query.may,
                             .major_only = opts->major_only,
                             .large = opts->large,
                             .held = q->query.measure == MEASURE_BYTESECONDS,
                             .segments = opts->segments};
    trace_file_doing(&q->in, "sorting blocks");
    if (!stats_query(&q->profile, &spec, &s))
        return message_no_memory();
    int status = opts->export ? write_vectors(&q->profile, &s, opts->export) : STATUS_OK;
    bool instead = opts->export && opts->export[0] == '-' && !opts->export[1];
    if (status == STATUS_OK && !instead)
        status = print(q, opts, &s, &spec);
    stats_free(&s);
    return status;
}

static int run(const void *opts_, char **operands) {
    const stats_options *opts = opts_;
    return question_answer(&command_stats, &opts->question, operands[0], show, opts);
}

static const option_lack lacks[] = {
    {"top", "allotrace hotspots --measure blocks --top N"},
    {"min-share", "allotrace hotspots --measure blocks --min-share P"},
    {"by", "allotrace hotspots --measure blocks --by line"},
    {"at", "--filter live:TIME"},
    {0},
};

const command command_stats = {
    .name = "stats",
    .group = GROUP_LOOK,
    .minor = true,
    .operand = OPERAND_TRACE,
    .usage = "FILE…",
    .summary = "show distributions of sizes and lifetimes",
    .description =
        "Shows statistics for work on allocators: mean, variance, standard deviation and maximum "
        "of the sampled blocks' sizes, the share of large blocks, and histograms of sizes and "
        "lifetimes. Each sampled block has the same weight; sizes are in words without the header. "
        "Because large blocks are sampled more often than small ones, a second part estimates the "
        "distribution over all blocks of the program.\n"
        "\n"
        "Lifetimes are in events (births and deaths of the counted blocks) and in time. The "
        "lifetime of a block alive at the end extends to the end.",
    .example = "allotrace stats --major-only --segments 4 out.ctf\n"
               "allotrace stats --export sizes.csv out.ctf\n",
    OPTIONS_OF(options, defaults),
    .lacks = lacks,
    .run = run,
};
