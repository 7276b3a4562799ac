/* cmd_hotspots.c: `allotrace hotspots FILE`: which code allocates most. */
#include <unistd.h>

#include "analyse/hotspots.h"
#include "cli/color.h"
#include "cli/message.h"
#include "cli/trace_file.h"
#include "present/hotspots.h"

typedef struct hotspots_options {
    uint64_t top;
    double min_share;
    uint64_t callers;
    int by, wrappers;
    bool json, csv, strict;
} hotspots_options;

static const hotspots_options defaults = {.min_share = 0.5, .callers = 3};

static const char *const groupings[] = {
#define GROUPING_TEXT(name, text) text,
    HOTSPOTS_GROUPINGS(GROUPING_TEXT)
#undef GROUPING_TEXT
        NULL};

enum { WRAPPERS_SKIP };
static const char *const wrapper_choices[] = {[WRAPPERS_SKIP] = "skip", "show", NULL};

static const option options[] = {
    {.name = "by",
     .kind = OPTION_CHOICE,
     .at = offsetof(hotspots_options, by),
     .choices = groupings,
     .help = "what a row is: a line of the source (default), a function with all its lines, or a "
             "type of objects"},
    {.name = "wrappers",
     .kind = OPTION_CHOICE,
     .at = offsetof(hotspots_options, wrappers),
     .choices = wrapper_choices,
     .help = "whether functions that merely allocate, like xmalloc, are sites, or their callers "
             "(default); a last line names them"},
    {.name = "top",
     .letter = 'n',
     .kind = OPTION_COUNT,
     .at = offsetof(hotspots_options, top),
     .argument = "N",
     .help = "show at most N rows (0, the default: all that --min-share leaves)"},
    {.name = "min-share",
     .kind = OPTION_PERCENT,
     .at = offsetof(hotspots_options, min_share),
     .argument = "P",
     .help = "leave out rows below P percent of the total (default 0.5); a last line counts them"},
    {.name = "callers",
     .kind = OPTION_COUNT,
     .at = offsetof(hotspots_options, callers),
     .argument = "N",
     .help = "show at most N callers of each row (default 3)"},
    {.name = "json",
     .kind = OPTION_FLAG,
     .at = offsetof(hotspots_options, json),
     .help = "write JSON instead of text"},
    {.name = "csv",
     .kind = OPTION_FLAG,
     .at = offsetof(hotspots_options, csv),
     .help = "write CSV instead of text, a row a line, without callers"},
    OPTION_STRICT(hotspots_options),
};

static bool query(const profile *p, const hotspots_options *opts, hotspots *h) {
    lens l;
    cost_list costs = {0};
    bool ok = lens_init(&l, p, opts->wrappers == WRAPPERS_SKIP) && cost_of_tree(p, &costs) &&
              hotspots_query(&l, &costs, (hotspots_by)opts->by, h);
    vec_free(&costs);
    lens_free(&l);
    return ok;
}

static int show(const profile *p, const hotspots_options *opts, bool *addresses) {
    hotspots h;
    output out;
    if (!query(p, opts, &h)) {
        message_error("not enough memory");
        return STATUS_FAILED;
    }
    hotspots_view view = {.top = opts->top,
                          .min_share = opts->min_share,
                          .callers = opts->callers,
                          .color = color_wanted()};
    output_start(&out, STDOUT_FILENO);
    if (opts->json)
        hotspots_json(&out, p, &h, &view);
    else if (opts->csv)
        hotspots_csv(&out, p, &h, &view);
    else
        hotspots_text(&out, p, &h, &view);
    *addresses = hotspots_unsymbolized(&h, &view);
    hotspots_free(&h);
    return report_output(output_finish(&out));
}

static int run(const void *opts_, char **operands, size_t n_operands) {
    const hotspots_options *opts = opts_;
    (void)n_operands;
    if (opts->json && opts->csv)
        return message_usage(&command_hotspots, "hotspots: --json and --csv exclude each other");
    trace_file in;
    int status =
        trace_file_open(&in, operands[0], &(memtrace_reader_options){.strict = opts->strict});
    if (status != STATUS_OK)
        return status;
    profile p = {0};
    status = trace_file_report(
        &in,
        profile_read(&p, in.reader, &(profile_options){.tick = trace_file_tick, .context = &in}));
    bool addresses = false;
    if (status == STATUS_OK)
        status = show(&p, opts, &addresses);
    if (addresses)
        message_hint("functions shown as module+0x… have no names yet; they get them by: "
                     "allotrace symbolize %s",
                     in.path);
    profile_free(&p);
    trace_file_close(&in);
    return status;
}

const command command_hotspots = {
    .name = "hotspots",
    .alias = "memtrace-hotspot",
    .group = GROUP_LOOK,
    .operand = OPERAND_TRACE,
    .usage = "FILE",
    .summary = "show which code allocates most",
    .description =
        "Shows how much the program allocated in all, then the places that allocated it, largest "
        "share first, each with its immediate callers. It counts what was allocated while the "
        "program ran, freed or not.\n\n"
        "Amounts are estimates from samples; ± is the 95 % interval. 1 MB is 2^20 bytes.",
    .example = "allotrace hotspots out.ctf\n"
               "allotrace hotspots --by function --top 10 out.ctf\n",
    OPTIONS_OF(options, defaults),
    .run = run,
};
