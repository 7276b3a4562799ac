/* question.h: what the commands that show a profile have in common: their options, the way from a
 * trace file to the costs of a query, and what is said on standard error around it. */
#ifndef CLI_QUESTION_H
#define CLI_QUESTION_H

#include "cli/command.h"
#include "cli/trace_profile.h"
#include "cli/traces.h"
#include "reports/report.h"

typedef struct question_options {
    const char *filter, *at;
    uint64_t last;
    int measure, wrappers, color;
    bool json, csv, markdown, strict, index, full_names;
    /* No options: what the command needs beyond costs. */
    bool keep_rows;  /* which rows of the table are selected */
    bool finds_peak; /* of these */
    bool keep_order; /* the order of events */
    bool births;     /* it is about allocations: in a window, those from before do not count */
    bool counts;     /* rows are those that the measure counts */
} question_options;

extern const char *const question_measures[], *const question_wrappers[];
extern const char *const question_block_measures[]; /* without what is a part of each block */

/* `field` of `type` is a text. */
#define OPTION_FILTER(type, field)                                                                 \
    {                                                                                              \
        .name = "filter", .letter = 'f', .kind = OPTION_TEXT, .at = offsetof(type, field),         \
        .argument = "FILTER",                                                                      \
        .help = "only blocks that FILTER keeps, like 'alloc:10s..20s live:@peak size:>=1K "        \
                "life:<1ms heap:major fn:/Lwt/ -fn:Stdlib'; see FILTERS in allotrace(1)",          \
        .brief = "only blocks that FILTER keeps: see `help filter`",                               \
    }

#define OPTION_AT(type, field)                                                                     \
    {                                                                                              \
        .name = "at", .kind = OPTION_TEXT, .at = offsetof(type, field), .argument = "TIME",        \
        .help = "the time of --measure live since the start, like 1.5s (default: the end)",        \
        .brief = "the time of --measure live (default: the end)",                                  \
    }

/* For commands whose options have a field `question_options question`. */
#define OPTION_WRAPPERS(type)                                                                      \
    {                                                                                              \
        .name = "wrappers", .kind = OPTION_CHOICE, .at = offsetof(type, question.wrappers),        \
        .choices = question_wrappers,                                                              \
        .help = "whether functions that merely allocate, like xmalloc, are sites, or their "       \
                "callers (default); a last line names them",                                       \
        .brief = "count functions like xmalloc: see `help sites`",                                 \
    }

/* What a site is; `type` has a field `int by`, one of these. */
typedef enum question_site { QUESTION_BY_LINE, QUESTION_BY_FUNCTION } question_site;
extern const char *const question_sites[];
#define OPTION_SITES(type)                                                                         \
    {                                                                                              \
        .name = "by", .kind = OPTION_CHOICE, .at = offsetof(type, by), .choices = question_sites,  \
        .help =                                                                                    \
            "what a site is: a line of the source (default), or a function with all its lines",    \
    }

/* How text looks. */
extern const char *const question_colors[];
#define OPTIONS_LOOK(type)                                                                         \
    {                                                                                              \
        .name = "color",                                                                           \
        .kind = OPTION_CHOICE,                                                                     \
        .at = offsetof(type, question.color),                                                      \
        .choices = question_colors,                                                                \
        .help = "whether text has colours; auto (default): on a terminal, unless NO_COLOR is set", \
        .brief = "colours (default: on a terminal)",                                               \
    },                                                                                             \
    {                                                                                              \
        .name = "full-names", .kind = OPTION_FLAG, .at = offsetof(type, question.full_names),      \
        .help = "write long names in full instead of shortening them to the terminal's width",     \
        .brief = "do not shorten names",                                                           \
    }

/* What the result looks like. */
#define OPTIONS_FORM(type)                                                                         \
    {                                                                                              \
        .name = "json",                                                                            \
        .kind = OPTION_FLAG,                                                                       \
        .at = offsetof(type, question.json),                                                       \
        .help = "write JSON instead of text",                                                      \
    },                                                                                             \
        {                                                                                          \
            .name = "csv",                                                                         \
            .kind = OPTION_FLAG,                                                                   \
            .at = offsetof(type, question.csv),                                                    \
            .help = "write CSV instead of text, one row per line",                                 \
        },                                                                                         \
        OPTION_LAST(type, question.last), OPTIONS_LOOK(type), OPTION_INDEX(type, question.index),  \
        OPTION_STRICT(type, question.strict)

/* For those whose result is discussed where changes are. */
#define OPTION_MARKDOWN(type)                                                                      \
    {                                                                                              \
        .name = "markdown", .kind = OPTION_FLAG, .at = offsetof(type, question.markdown),          \
        .help =                                                                                    \
            "write GitHub-flavoured Markdown instead of text, for a comment on a pull request",    \
        .brief = "write Markdown, for a comment on a pull request"                                 \
    }

/* For those that look at single blocks: at which, and whether at their bytes or their number. They
 * set `counts`. */
#define OPTION_COUNTED(type)                                                                       \
    {                                                                                              \
        .name = "measure", .letter = 'm', .kind = OPTION_CHOICE,                                   \
        .at = offsetof(type, question.measure), .choices = question_block_measures,                \
        .help = "which blocks count: all that were allocated (default), those live at the end, "   \
                "or at the peak, those promoted, never freed, or temporary, each by its bytes; "   \
                "or all "                                                                          \
                "by their number (blocks), or by bytes times seconds of life (byteseconds)",       \
        .brief = "which blocks count, and how: see `help measures`",                               \
    }

/* All of it, for those that have a measure. */
#define OPTIONS_QUESTION(type)                                                                     \
    OPTION_FILTER(type, question.filter),                                                          \
        {                                                                                          \
            .name = "measure",                                                                     \
            .letter = 'm',                                                                         \
            .kind = OPTION_CHOICE,                                                                 \
            .at = offsetof(type, question.measure),                                                \
            .choices = question_measures,                                                          \
            .help = "what is added up: bytes allocated (default), numbers of blocks, bytes live "  \
                    "--at a time or at the peak of the whole trace, bytes promoted, bytes never "  \
                    "freed, bytes freed almost at once, bytes times "                              \
                    "seconds of life, or bytes requested, without the blocks' headers",            \
            .brief = "what is summed: see `help measures`",                                        \
        },                                                                                         \
        OPTION_AT(type, question.at), OPTION_WRAPPERS(type), OPTIONS_FORM(type)

/* An answer to a question, as far as reports share it. */
typedef struct question {
    trace_file in;
    profile profile;
    query_result query;
    report report;
    filter *filter;    /* NULL: there is none */
    char *filter_text; /* of that, where it is not the user's; NULL: it is */
} question;

/* Reads the trace and runs the query. Returns STATUS_OK, or another status after having said what
 * is wrong; `*q` is to be closed in any case, which says, where a filter left nothing, what may
 * have been meant. */
int question_ask(question *q, const command *cmd, const question_options *options,
                 const char *path);
void question_close(question *q);
void question_close_quietly(question *q);

/* Asks, has `show` answer, which gets the command's options, and closes. Returns the exit status.
 */
int question_answer(const command *cmd, const question_options *options, const char *path,
                    int (*show)(const question *q, const void *opts), const void *opts);

/* Whether it is for people at a terminal, whose report begins with how the trace ends. */
bool question_is_text(const question_options *options);

/* Writes a report to standard output in the form that the options ask for. Returns the exit status.
 */
int question_show(const question_options *options, const document *d);

/* Whether at most one form is asked for. Returns STATUS_OK, or another status after having said
 * what is wrong. */
int question_check_form(const command *cmd, const question_options *options);

/* Its filter left no block. */
bool question_has_nothing(const question *q);

/* Asks the same trace for another measure of those blocks that the filter term `only` keeps as
 * well. Returns STATUS_OK, and then `*result` is to be freed before `q`; or another status after
 * having said what is wrong. */
int question_ask_again(const question *q, const command *cmd, const question_options *options,
                       const char *only, measure m, query_result *result);

/* Parses `text`, which may be NULL, and so is `*f` then. Returns STATUS_OK, or another status after
 * having said what is wrong. */
int question_parse_filter(const command *cmd, const char *text, filter **f);

/* Whether it can be asked of this trace. The same. */
int question_check_filter(const command *cmd, const char *text, const filter *f, const profile *p);

/* Says what is wrong with an option's or operand's text, and where. Returns the exit status. */
int question_refuse(const command *cmd, const char *name, const char *text,
                    const filter_error *error);

/* Says that names can be found for addresses. */
void question_hint_symbolize(const question *q);

#endif
