/* cmd_hotspots.c: `allotrace hotspots FILE`: shows which code allocates most; and `allotrace types
 * FILE`, which shows the same by type. */

#include <string.h>

#include "cli/message.h"
#include "cli/question.h"
#include "cli/rows.h"
#include "cli/terminal.h"
#include "query/hotspots.h"
#include "query/wrappers.h"
#include "reports/hotspots.h"

typedef struct hotspots_options {
    question_options question;
    uint64_t top;
    double min_share;
    uint64_t callers;
    int by;
} hotspots_options;

static const hotspots_options defaults = {
    .min_share = 0.5, .callers = 3, .question = {.births = true}};
static const hotspots_options type_defaults = {
    .min_share = 0.5, .callers = 3, .by = HOTSPOTS_BY_TYPE, .question = {.births = true}};

static const option options[] = {
    {.name = "by",
     OPTION_CHOOSES(hotspots_options, by, hotspots_groupings),
     .help = "one row per source line (default), function, object type, thread name, scope, or "
             "trace or span of distributed tracing",
     .brief = "one row per line (default), function, type, thread, scope, trace or span"},
    OPTIONS_ROWS(hotspots_options),
    OPTIONS_QUESTION(hotspots_options),
};

static const option type_options[] = {OPTIONS_ROWS(hotspots_options),
                                      OPTIONS_QUESTION(hotspots_options)};

/* Whether a type is that of blocks of which only the function that returned them is known. */
static bool is_allocator(const char *type) {
    return type && (wrapper_name(type) || strncmp(type, "operator new", 12) == 0 ||
                    strncmp(type, "__rust_", 7) == 0);
}

static bool allocators_hold_most(const hotspots *h) {
    double weight = 0;
    for (size_t i = 0; i < h->sites.count; i++)
        if (is_allocator(h->sites.items[i].entry.type))
            weight += h->sites.items[i].entry.cost.weight;
    return 2 * weight > h->total.weight;
}

static void hint_types(const hotspots *h) {
    if (h->by == HOTSPOTS_BY_TYPE && allocators_hold_most(h))
        message_hint("C, C++ and Rust do not tell their allocators which type of object they make, "
                     "so the type is the function that they call; to see which code makes them: "
                     "allotrace hotspots");
    if (h->by == HOTSPOTS_BY_TYPE && h->sites.count == 1 && !h->sites.items[0].entry.type)
        message_hint("the trace records no types for these blocks; traces of OCaml programs never "
                     "do; to see places: allotrace hotspots");
}

static int show(const question *q, const void *opts_) {
    const hotspots_options *opts = opts_;
    hotspots h;
    document d = {0};
    if (!hotspots_query(&q->query, (hotspots_by)opts->by, &h))
        return message_no_memory();
    hotspots_report shown = {
        .report = &q->report,
        .hotspots = &h,
        .view = {.top = opts->top, .min_share = opts->min_share, .callers = opts->callers}};
    hotspots_document(&d, &shown);
    const int status = question_show(&opts->question, &d);
    if (!opts->question.json && !opts->question.csv)
        hint_types(&h);
    question_hint_sites(q, &opts->question, &shown);
    document_free(&d);
    hotspots_free(&h);
    return status;
}

static int run_for(const command *cmd, const hotspots_options *opts, const char *path) {
    hotspots_options asked = *opts;
    asked.question.keep_rows = asked.question.counts = hotspots_by_span(opts->by);
    return question_answer(cmd, &asked.question, path, show, &asked);
}

static int run(const void *opts, char **operands) {
    return run_for(&command_hotspots, opts, operands[0]);
}

static int run_types(const void *opts, char **operands) {
    return run_for(&command_types, opts, operands[0]);
}

const command command_hotspots = {
    .name = "hotspots",
    .alias = "memtrace-hotspot",
    .group = GROUP_LOOK,
    .operand = OPERAND_TRACE,
    .usage = "FILE…",
    .summary = "show which code allocates most",
    .description =
        "Shows the total that the program allocated, then the sites that allocated it, largest "
        "first, each with the nearest callers outside of libraries. By default all allocations "
        "count, freed or not; --measure selects others.\n"
        "\n"
        "Amounts are estimates from samples; ± is the 95% confidence interval. 1 MB is 2^20 bytes.",
    .example = "allotrace hotspots out.ctf\n"
               "allotrace hotspots --by function --top 10 out.ctf\n"
               "allotrace hotspots --by thread --measure live out.ctf\n"
               "allotrace hotspots --measure peak --filter 'size:>=1M' out.ctf\n",
    OPTIONS_OF(options, defaults),
    .run = run,
};

const command command_types = {
    .name = "types",
    .group = GROUP_LOOK,
    .operand = OPERAND_TRACE,
    .usage = "FILE…",
    .summary = "show which object types use the most memory",
    .description = "Shows object types, largest first, each with the sites that allocate it, if "
                   "the recorder wrote types. For native programs, the type is the function that "
                   "returned the memory, such as malloc.\n"
                   "\n"
                   "Short for `allotrace hotspots --by type`.",
    .example = "allotrace types --measure blocks out.ctf\n",
    OPTIONS_OF(type_options, type_defaults),
    .run = run_types,
};
