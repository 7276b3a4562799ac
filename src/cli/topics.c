/* topics.c: the table of topics and their texts. The settings of the recorder and the rules of
 * advice are described in their own modules. */
#include "cli/topics.h"

#include <string.h>

#include "advice/advise_rules.h"
#include "base/nearest.h"
#include "cli/help.h"
#include "contract/settings.h"

enum { MOST_ITEMS = 24, ITEM_COLUMN = 22 };

typedef struct topic {
    const char *name, *before; /* paragraphs */
    struct {
        const char *term, *text;
    } items[MOST_ITEMS];
    const char *after;       /* NULL: nothing */
    void (*more)(FILE *out); /* prints items that are described elsewhere; NULL: none */
} topic;

/* ---- texts from elsewhere -------------------------------------------------------------------- */

static void print_settings(FILE *out) {
    char text[512];
    for (size_t i = 0; i < N_SETTINGS; i++) {
        const struct setting_info *s = &setting_infos[i];
        snprintf(text, sizeof text, *s->value ? "%s (default: %s)" : "%s", s->meaning, s->value);
        help_item(out, ITEM_COLUMN, s->name, text);
    }
}

/* ---- the topics -------------------------------------------------------------------------- */

static const topic topics[] = {
    {"filter",
     "--filter FILTER restricts a report to the blocks that match. A filter is a list of terms, "
     "separated by blanks; a block matches if all terms apply. A leading - negates a term. Values "
     "separated by commas are alternatives.",
     {{"alloc:RANGE", "allocated within the range"},
      {"live:RANGE", "live at some moment in the range, or at one moment: live:3s"},
      {"life:RANGE", "lifetime"},
      {"size:RANGE", "size, without the header"},
      {"heap:HEAP", "minor, major (including promoted blocks), or external"},
      {"fn:PATTERN", "a matching function is anywhere in the call stack"},
      {"file:PATTERN", "a matching source file is in the call stack"},
      {"module:PATTERN", "allocated by a matching module: a library, program, or source folder"},
      {"type:PATTERN", "object type"},
      {"thread:PATTERN", "name of the allocating thread"},
      {"scope:PATTERN", "what the program called what it was doing"},
      {"trace:DIGITS", "in a distributed trace whose id begins so; trace:*: in any"},
      {"span:DIGITS", "in a span of one whose id begins so"},
      {"domain:RANGE", "allocating domain or thread"},
      {"promoted", "promoted from the minor heap"},
      {"survived", "never freed"},
      {"hide:PATTERN",
       "matches all blocks; removes matching functions from call stacks, so that their allocations "
       "count for their callers. hide:@library removes the language's library"},
      {"hide-file:PATTERN", "the same for the functions in matching files"},
      {"hide-module:PATTERN", "the same for the functions in matching modules"},
      {"below:PATTERN",
       "a matching function is in the call stack; stacks start at its outermost occurrence"},
      {"above:PATTERN", "the same; stacks end at its innermost occurrence"},
      {"path:F,G", "the call stack starts with these calls; stacks then start at the last of them"},
      {"recursion:PATTERN", "matches all blocks; if a matching function recurs in a stack, the "
                            "frames between are removed"},
      {"repeats:PATTERN",
       "matches all blocks; direct recursion of a matching function is shown as one call"}},
     "Ranges are a..b, a.., ..b, <a, <=a, >a, >=a, or one value. Times are 1.5s, 20ms, 300us, "
     "2min, @start, @peak, @end. Sizes are bytes, or end in K, M, G, or w (words). A pattern "
     "matches part of a name; with * or ?, it must match the whole name; /…/ is a regular "
     "expression.\n"
     "\n"
     "Example: --filter 'alloc:10s..20s size:>=1K life:<1ms -fn:Stdlib'",
     NULL},
    {"measures",
     "--measure MEASURE selects what to sum.",
     {{"allocated", "bytes allocated, freed or not (the default)"},
      {"blocks", "numbers of blocks"},
      {"live", "bytes live at the end, or --at a time"},
      {"peak", "bytes live at the peak"},
      {"promoted", "bytes promoted from the minor heap"},
      {"survived", "bytes never freed"},
      {"temporary", "bytes freed within 1 ms, and before their thread's next recorded "
                    "allocation with the same call stack: a buffer that a loop could keep"},
      {"byteseconds", "bytes times the seconds for which they were live"},
      {"requested", "bytes that the program requested, without the allocator's headers"}},
     "All other measures include the blocks' headers: 8 bytes each on 64-bit systems.",
     NULL},
    {"intervals",
     "At a rate below 1, a trace is a random sample: each allocated word is recorded with the same "
     "small probability, and amounts are estimates. ± is the 95% confidence interval; with few "
     "samples, both bounds are shown: 1.3 … 6.0. An amount smaller than its error is noise. The "
     "relative error of n samples is about 2/√n. A sample is a word, so a large block may have "
     "several. At rate 1, amounts are exact, and tables show numbers of blocks instead.",
     {{"q", "the false discovery rate in diff and leaks: on average, at most this share of the "
            "rows with this q or less is due to chance"}},
     NULL,
     NULL},
    {"sites",
     "A site is a place that allocates: a source line, or a function if there is no line "
     "information. Wrappers of malloc (xmalloc, operator new) are skipped: their callers are the "
     "sites, unless --wrappers show is given. The last line names the skipped wrappers.\n"
     "\n"
     "The callers that hotspots lists below a site are the nearest ones that are not in a "
     "language's library; with --wrappers show, they are the immediate ones. With --filter "
     "hide:@library, allocations in a library count for its callers.",
     {{0}},
     NULL,
     NULL},
    {"heaps",
     "The heap where a block is allocated:",
     {{"minor", "young blocks of OCaml and Lox; a minor collection frees or promotes them"},
      {"major", "blocks that were promoted, or too large for the minor heap; all objects of Java"},
      {"external", "memory outside these heaps: all of malloc, and so all of C, C++, Rust, Python "
                   "and Lua"}},
     NULL,
     NULL},
    {"statuses",
     "The exit status of a command:",
     {{"0", "success"},
      {"1", "an input cannot be used, or an output cannot be written"},
      {"2", "wrong usage"},
      {"3", "check: a check failed; doctor: the trace has defects"},
      {"4", "check: none failed, but at least one is undecided"}},
     "`run` ends as its program does: with its status, or by the same signal. Before the program "
     "starts, it ends with 1 if the trace cannot be written to the file named, with 2 after wrong "
     "usage, with 126 if the program cannot be executed, and with 127 if there is no such "
     "program.",
     NULL},
    {"index",
     "--index saves the parsed trace in FILE.idx, so that later commands open it instantly. An "
     "index is used only with the trace it was made from, and is verified. It can be deleted at "
     "any time.",
     {{0}},
     NULL,
     NULL},
    {"push",
     "While the program runs, --push URL[,URL] sends profiles of allocated and live memory to "
     "servers that collect profiles from many processes. The end of URL selects the protocol:",
     {{"/ingest", "Pyroscope"},
      {"/profiles/writeraw", "Parca, at HOST:7070/api/profiles/writeraw"},
      {"anything else", "OpenTelemetry's profiles (OTLP/HTTP)"},
      {"--every TIME", "the time between two pushes (default: 15s)"},
      {"--label K=V", "a label, such as service=NAME or version=1.2; more come from "
                      "$OTEL_SERVICE_NAME and $OTEL_RESOURCE_ATTRIBUTES"},
      {"--token-file F", "the first line of F is the bearer token (default: "
                         "$ALLOTRACE_PUSH_TOKEN)"}},
     "If a server is down, it gets the missed data later. The trace is always complete.",
     NULL},
    {.name = "environment",
     .before = "The recorder reads its settings from the environment of the program. `allotrace "
               "run` sets most of them by its options; a program that something else starts needs "
               "them, and LD_PRELOAD.",
     .more = print_settings},
    {"keep",
     "With these options, `run` and `attach` record continuously into a folder of segments, each "
     "of which is a trace. All commands can read the folder, and with --last TIME its latest part.",
     {{"--keep TIME", "keep the latest TIME, such as 60min, and remove what is older"},
      {"--max-size SIZE",
       "use at most SIZE of disk space, such as 200M (default: 1G; at least 4M)"},
      {"--overhead P%", "halve the rate as often as needed to keep the cost of sampling below "
                        "this share of CPU time"},
      {"-o FOLDER/%p", "run: record child processes, too, into FOLDER (--max-size: at least 64M)"}},
     NULL,
     NULL},
};

enum { N_TOPICS = sizeof topics / sizeof *topics };

static void print_topic(FILE *out, const topic *t) {
    help_text(out, t->before);
    if (t->items[0].term || t->more)
        fputc('\n', out);
    for (size_t i = 0; i < MOST_ITEMS && t->items[i].term; i++)
        help_item(out, ITEM_COLUMN, t->items[i].term, t->items[i].text);
    if (t->more)
        t->more(out);
    if (!t->after)
        return;
    fputc('\n', out);
    help_text(out, t->after);
}

static const advise_rule *find_rule(const char *name) {
    for (size_t i = 0; i < advise_n_rules; i++)
        if (strcmp(advise_rules[i].name, name) == 0)
            return &advise_rules[i];
    return NULL;
}

/* Several rules may have the same name. */
static void print_rules(FILE *out, const char *name) {
    for (size_t i = 0; i < advise_n_rules; i++) {
        const advise_rule *r = &advise_rules[i];
        if (strcmp(r->name, name) != 0)
            continue;
        fprintf(out, "%s: %s (%s)\n", r->name, r->title, advise_certainties[r->certainty]);
        help_text(out, r->why);
        help_text(out, r->what_to_do);
        fprintf(out, "Known by: %s\n", r->evidence);
    }
}

bool topic_print(FILE *out, const char *name) {
    for (size_t i = 0; i < N_TOPICS; i++)
        if (strcmp(topics[i].name, name) == 0) {
            print_topic(out, &topics[i]);
            return true;
        }
    if (!find_rule(name))
        return false;
    print_rules(out, name);
    return true;
}

static const char *name_of(const void *context, size_t i) {
    (void)context;
    return topics[i].name;
}

const char *topic_nearest(const char *name) {
    return nearest_name(name, strlen(name), name_of, NULL, N_TOPICS);
}
