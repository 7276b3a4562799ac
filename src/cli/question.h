/* question.h: the common part of commands that show a profile: their options, the steps from a
 * trace file to the costs of a query, and the related messages. */
#ifndef CLI_QUESTION_H
#define CLI_QUESTION_H

#include "cli/command.h"
#include "cli/trace_profile.h"
#include "cli/traces.h"
#include "reports/hotspots.h"

typedef struct question_options {
    const char *filter, *at;
    uint64_t last;
    int measure, wrappers, color;
    bool json, csv, fields, markdown, strict, index, full_names;
    /* Not options: what the command needs beyond costs, see query_spec. */
    bool keep_rows;  /* which rows of the block table are selected */
    bool finds_peak; /* the peak of these rows, or anything else that depends on the order of
                        events */
    bool keep_order; /* the order of events */
    bool births;     /* it is about allocations, so in a window, blocks from before do not count */
    bool counts;     /* only rows that the measure counts */
} question_options;

extern const char *const question_wrappers[];
extern const char *const question_block_measures[]; /* without measures of a part of each block */

/* `field` of `type` is a text. */
#define OPTION_FILTER(type, field)                                                                 \
    {                                                                                              \
        .name = "filter", .letter = 'f', OPTION_TAKES(TEXT, type, field, "FILTER"),                \
        .help =                                                                                    \
            "count only blocks that match FILTER, such as 'alloc:10s..20s live:@peak size:>=1K "   \
            "life:<1ms heap:major fn:/Lwt/ -fn:Stdlib'; see FILTERS in allotrace(1)",              \
        .brief = "count only matching blocks: see `help filter`",                                  \
    }

#define OPTION_AT(type, field)                                                                     \
    {                                                                                              \
        .name = "at", OPTION_TAKES(TEXT, type, field, "TIME"),                                     \
        .help = "the time for --measure live since the start, such as 1.5s (default: the end)",    \
        .brief = "the time for --measure live (default: the end)",                                 \
    }

/* For commands whose options have a field `question_options question`. */
#define OPTION_WRAPPERS(type)                                                                      \
    {                                                                                              \
        .name = "wrappers", OPTION_CHOOSES(type, question.wrappers, question_wrappers),            \
        .help = "treat allocation wrappers such as xmalloc as sites (show), or their callers "     \
                "instead (skip, the default); the last line names skipped wrappers",               \
        .brief = "show functions such as xmalloc: see `help sites`",                               \
    }

/* What a site is. `type` has a field `int by`, a question_site. */
typedef enum question_site { QUESTION_BY_LINE, QUESTION_BY_FUNCTION } question_site;
extern const char *const question_sites[];
#define OPTION_SITES(type)                                                                         \
    {                                                                                              \
        .name = "by", OPTION_CHOOSES(type, by, question_sites),                                    \
        .help = "define a site as a source line (default) or a function",                          \
    }

/* The appearance of text. */
extern const char *const question_colors[];
#define OPTIONS_LOOK(type)                                                                         \
    {                                                                                              \
        .name = "color",                                                                           \
        OPTION_CHOOSES(type, question.color, question_colors),                                     \
        .help =                                                                                    \
            "colour the text; auto (default) colours it on a terminal, unless NO_COLOR is set",    \
        .brief = "colour the text (default: on a terminal)",                                       \
    },                                                                                             \
    {                                                                                              \
        .name = "full-names", OPTION_SETS(FLAG, type, question.full_names),                        \
        .help = "print long names in full instead of shortening them to fit the terminal",         \
        .brief = "do not shorten names",                                                           \
    }

#define OPTION_JSON(type)                                                                          \
    { .name = "json", OPTION_SETS(FLAG, type, question.json), .help = "write JSON instead of text" }

/* Alternatives to text output. */
#define OPTIONS_DATA(type)                                                                         \
    OPTION_JSON(type),                                                                             \
        {                                                                                          \
            .name = "csv",                                                                         \
            OPTION_SETS(FLAG, type, question.csv),                                                 \
            .help = "write CSV instead of text, one row per line",                                 \
        },                                                                                         \
    {                                                                                              \
        .name = "fields", OPTION_SETS(FLAG, type, question.fields),                                \
        .help = "instead of the report, list the fields of its JSON and the columns of its CSV, "  \
                "with what they mean",                                                             \
        .brief = "list the fields of JSON and the columns of CSV",                                 \
    }

/* The form of the result, and what it is made from. */
#define OPTIONS_FORM(type)                                                                         \
    OPTIONS_DATA(type), OPTION_LAST(type, question.last), OPTIONS_LOOK(type),                      \
        OPTION_INDEX(type, question.index), OPTION_STRICT(type, question.strict)

/* For commands whose results are discussed in pull requests. */
#define OPTION_MARKDOWN(type)                                                                      \
    {                                                                                              \
        .name = "markdown", OPTION_SETS(FLAG, type, question.markdown),                            \
        .help = "write GitHub-flavoured Markdown instead of text, for a pull request comment",     \
        .brief = "write Markdown, for a pull request comment"                                      \
    }

/* For commands about single blocks: which blocks count, and whether by bytes or number. These
 * commands set `counts`. */
#define OPTION_COUNTED(type)                                                                       \
    {                                                                                              \
        .name = "measure", .letter = 'm',                                                          \
        OPTION_CHOOSES(type, question.measure, question_block_measures),                           \
        .help = "what to count: bytes allocated (default), live at the end, live at the peak, "    \
                "promoted, never freed or temporary; blocks; or bytes times lifetime in seconds "  \
                "(byteseconds)",                                                                   \
        .brief = "what to count: see `help measures`",                                             \
    }

/* All of these, for commands with any measure. */
#define OPTIONS_QUESTION(type)                                                                     \
    OPTION_FILTER(type, question.filter),                                                          \
        {                                                                                          \
            .name = "measure",                                                                     \
            .letter = 'm',                                                                         \
            OPTION_CHOOSES(type, question.measure, measure_names),                                 \
            .help = "what to sum: bytes allocated (default), blocks, bytes live --at a time or "   \
                    "at the peak of the whole trace, bytes promoted, bytes never freed, bytes "    \
                    "freed almost at once (temporary), bytes times lifetime in seconds, or bytes " \
                    "requested, without the blocks' headers",                                      \
            .brief = "what to sum: see `help measures`",                                           \
        },                                                                                         \
        OPTION_AT(type, question.at), OPTION_WRAPPERS(type), OPTIONS_FORM(type)

/* The answer to a question, as far as reports share it. */
typedef struct question {
    trace_file in;
    profile profile;
    query_result query;
    report report;
    filter *filter;    /* NULL: none */
    char *filter_text; /* text of `filter` if it is not the user's; NULL: it is */
} question;

/* Reads the trace and runs the query. Returns STATUS_OK, or another status after reporting what is
 * wrong. `*q` must be closed in any case. If the filter left nothing, question_close suggests
 * similar names; question_close_quietly does not. */
int question_ask(question *q, const command *cmd, const question_options *options,
                 const char *path);
void question_close(question *q);
void question_close_quietly(question *q);

/* Asks the question, lets `show` answer it, given the command's options, and closes it. Returns the
 * exit status. */
int question_answer(const command *cmd, const question_options *options, const char *path,
                    int (*show)(const question *q, const void *opts), const void *opts);

/* Returns whether the result is text. Such reports state at the beginning if the trace ends
 * early. */
bool question_is_text(const question_options *options);

/* Writes a report to standard output in the requested form. Returns the exit status. */
int question_show(const question_options *options, const document *d);

/* Checks that at most one form is requested. Returns STATUS_OK, or another status after reporting
 * what is wrong. */
int question_check_form(const command *cmd, const question_options *options);

/* Returns whether the filter left no block. */
bool question_has_nothing(const question *q);

/* If a filter, whose text is `text`, left no block, warns, and suggests similar names. */
void question_warn_nothing(const selection *s, const char *text, const filter *f, const profile *p);

/* Queries another measure of the same trace, restricted to blocks that the filter term `only`
 * matches as well. Returns STATUS_OK, and the caller must free `*result` before `q`; or another
 * status after reporting what is wrong. */
int question_ask_again(const question *q, const command *cmd, const question_options *options,
                       const char *only, measure m, query_result *result);

/* Parses a filter. If `text` is NULL, so is `*f`. Returns STATUS_OK, or another status after
 * reporting what is wrong. */
int question_parse_filter(const command *cmd, const char *text, filter **f);

/* The same for a measure and a trace: if the trace is a window of a longer one, and blocks from
 * before it do not count in the measure, adds that to the filter. The result is in *whole, which
 * the caller frees; NULL: `text` as it was. */
int question_parse_births(const command *cmd, const char *text, measure m, const char *path,
                          char **whole, filter **f);

/* Checks that the filter can be used with this trace. Returns as question_parse_filter does. */
int question_check_filter(const command *cmd, const char *text, const filter *f, const profile *p);

/* Reports what is wrong in the text of an option or operand, and where. Returns the exit status. */
int question_refuse(const command *cmd, const char *name, const char *text,
                    const filter_error *error);

/* If several traces were combined, says that growth shows only in each by itself. */
void question_hint_growth(const question *q);

/* Says how addresses can be resolved. */
void question_hint_symbolize(const question *q);

/* If most was allocated in libraries and there is no filter, says how to see the program
 * instead. */
void question_hint_libraries_of(const query_result *q, const question_options *o);

/* Says how to improve the sites in a report: by resolving addresses, by hiding libraries, or by
 * recording lines of code that was compiled at run time. */
void question_hint_sites(const question *q, const question_options *o,
                         const hotspots_report *sites);

#endif
