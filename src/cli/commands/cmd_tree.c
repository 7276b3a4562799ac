/* cmd_tree.c: `allotrace tree`, `callers` and `callees`: show costs along call paths. */
#include <string.h>

#include "cli/message.h"
#include "cli/options.h"
#include "cli/question.h"
#include "cli/similar.h"
#include "reports/tree.h"

typedef struct tree_options {
    question_options question;
    uint64_t top, depth;
    double min_share;
    int by;
    bool inverted, collapse;
} tree_options;

static const tree_options tree_defaults = {
    .min_share = 1, .depth = 40, .question = {.births = true}};
static const tree_options site_defaults = {
    .min_share = 1, .depth = 6, .question = {.births = true}};

enum { BY_FUNCTION, BY_LINE };
static const char *const groupings[] = {[BY_FUNCTION] = "function", [BY_LINE] = "line", NULL};

#define OPTIONS_PATHS(default_depth, whole)                                                        \
    {                                                                                              \
        .name = "by",                                                                              \
        OPTION_CHOOSES(tree_options, by, groupings),                                               \
        .help = "one row per function (default) or per line",                                      \
    },                                                                                             \
        {                                                                                          \
            .name = "depth",                                                                       \
            .letter = 'd',                                                                         \
            OPTION_TAKES(COUNT, tree_options, depth, "N"),                                         \
            .help = "follow at most N calls, 1 to 1000 (default " default_depth ")",               \
        },                                                                                         \
        {                                                                                          \
            .name = "top",                                                                         \
            .letter = 'n',                                                                         \
            OPTION_TAKES(COUNT, tree_options, top, "N"),                                           \
            .help = "show at most N rows below each row (default 0: all that --min-share keeps)",  \
        },                                                                                         \
        {                                                                                          \
            .name = "min-share",                                                                   \
            OPTION_TAKES(PERCENT, tree_options, min_share, "P"),                                   \
            .help = "leave out rows below P percent of " whole                                     \
                    " (default 1); a last line counts them",                                       \
        },                                                                                         \
    {                                                                                              \
        .name = "collapse-recursion", OPTION_SETS(FLAG, tree_options, collapse),                   \
        .help = "show a recursive function as one row, even if the recursion is indirect",         \
    }

static const option tree_specs[] = {
    {.name = "inverted",
     .letter = 'i',
     OPTION_SETS(FLAG, tree_options, inverted),
     .help = "start from the sites, and show their callers below them"},
    OPTIONS_PATHS("40", "the total"),
    OPTIONS_QUESTION(tree_options),
};

static const option site_specs[] = {OPTIONS_PATHS("6", "FUNCTION's total"),
                                    OPTIONS_QUESTION(tree_options)};

/* Returns false if there is no memory. */
static bool paint(const question *q, const callpaths_spec *spec, const tree_view *shown,
                  picture *p) {
    const picture_spec how = tree_picture(shown);
    callpaths v;
    if (!callpaths_make(&v, &q->query, NULL, spec))
        return false;
    const bool ok = picture_query(&v, &how, p);
    callpaths_free(&v);
    return ok;
}

static int show(const question *q, const tree_options *opts, callpaths_shape shape,
                const call_site *site, const char *focus) {
    const bool by_line = opts->by == BY_LINE || (site && call_site_has_lines(site));
    const callpaths_spec spec = {
        .shape = shape, .by_line = by_line, .collapse = opts->collapse, .focus = site};
    picture p;
    document d = {0};
    tree_report shown = {.report = &q->report,
                         .picture = &p,
                         .view = {.focus = focus,
                                  .min_share = opts->min_share,
                                  .top = opts->top,
                                  .depth = opts->depth,
                                  .by_line = by_line}};
    if (!paint(q, &spec, &shown.view, &p))
        return message_no_memory();
    tree_document(&d, &shown);
    const int status = question_show(&opts->question, &d);
    if (focus && p.nodes.items[0].total.blocks == 0)
        similar_hint(&q->profile, focus);
    document_free(&d);
    picture_free(&p);
    return status;
}

/* ---- the commands -------------------------------------------------------------------------- */

static int run_for(const command *cmd, const tree_options *opts, callpaths_shape shape,
                   const char *focus, const char *path) {
    question q;
    call_site *site = NULL;
    filter_error error;
    if (opts->depth < 1 || opts->depth > TREE_MAX_DEPTH)
        return message_usage(cmd, "--depth must be from 1 to %d", TREE_MAX_DEPTH);
    int status = question_ask(&q, cmd, &opts->question, path);
    if (status == STATUS_OK && focus && !call_site_parse(focus, &q.profile, &site, &error))
        status = question_refuse(cmd, "FUNCTION", focus, &error);
    if (status == STATUS_OK)
        status = show(&q, opts, shape, site, focus);
    call_site_free(site);
    question_close(&q);
    return status;
}

static int run_tree(const void *opts_, char **operands) {
    const tree_options *opts = opts_;
    return run_for(&command_tree, opts, opts->inverted ? CALLPATHS_INVERTED : CALLPATHS_DOWN, NULL,
                   operands[0]);
}

static int run_callers(const void *opts, char **operands) {
    return run_for(&command_callers, opts, CALLPATHS_CALLERS, operands[0], operands[1]);
}

static int run_callees(const void *opts, char **operands) {
    return run_for(&command_callees, opts, CALLPATHS_CALLEES, operands[0], operands[1]);
}

const command command_tree = {
    .name = "tree",
    .group = GROUP_LOOK,
    .operand = OPERAND_TRACE,
    .usage = "FILE…",
    .summary = "show allocations along call paths",
    .description = "Shows the call tree, from the outermost function to those that allocate, or "
                   "with --inverted from those outward. Each row shows what was allocated in a "
                   "function and in everything it calls.\n"
                   "\n"
                   "A chain of calls without branches is not indented.",
    .example = "allotrace tree --min-share 5 out.ctf\n"
               "allotrace tree --inverted --measure peak out.ctf\n",
    OPTIONS_OF(tree_specs, tree_defaults),
    .run = run_tree,
};

const command command_callers = {
    .name = "callers",
    .group = GROUP_LOOK,
    .minor = true,
    .operand = OPERAND_SITE,
    .usage = "FUNCTION FILE…",
    .summary = "show what a function allocates, by caller",
    .description =
        "Shows what is allocated in a function and everything it calls, by caller. FUNCTION may be "
        "a name, part of a name, a wildcard, a regular expression between slashes, a line such as "
        "parse.c:10, or a call sequence: 'f > g' means g called by f.\n"
        "\n"
        "In a recursion, the innermost call counts, so the function can be its own caller.",
    .example = "allotrace callers List.map out.ctf\n"
               "allotrace callers 'Parser.* > List.map' out.ctf\n",
    OPTIONS_OF(site_specs, site_defaults),
    .run = run_callers,
};

const command command_callees = {
    .name = "callees",
    .group = GROUP_LOOK,
    .minor = true,
    .operand = OPERAND_SITE,
    .usage = "FUNCTION FILE…",
    .summary = "show what a function allocates, by what it calls",
    .description =
        "Shows what is allocated in a function and everything it calls, by callee. FUNCTION is "
        "given as for `allotrace callers`.\n"
        "\n"
        "In a recursion, the outermost call counts, so the function can be its own callee.",
    .example = "allotrace callees List.map out.ctf\n",
    OPTIONS_OF(site_specs, site_defaults),
    .run = run_callees,
};
