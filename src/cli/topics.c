/* topics.c: the table of topics and their texts; a name that is no topic may be a rule of advice,
 * of which the report's own texts are shown. */
#include "cli/topics.h"

#include <string.h>

#include "advice/advise_rules.h"
#include "base/nearest.h"
#include "cli/help.h"

enum { MOST_ITEMS = 20, ITEM_COLUMN = 22 };

typedef struct topic {
    const char *name, *before; /* paragraphs */
    struct {
        const char *term, *text;
    } items[MOST_ITEMS];
    const char *after; /* NULL: nothing */
} topic;

static const topic topics[] = {
    {"filter",
     "--filter FILTER keeps some blocks, and the report is about these. A filter is one line of "
     "terms, separated by blanks. A block is kept if all terms apply. A leading - negates a term. "
     "Values separated by commas are alternatives.",
     {{"alloc:RANGE", "allocated at a time in the range"},
      {"live:RANGE", "live at some moment of the range, or at one moment: live:3s"},
      {"life:RANGE", "lived so long"},
      {"size:RANGE", "of this size, without header"},
      {"heap:HEAP", "minor, major (promoted blocks, too), or external"},
      {"fn:PATTERN", "with such a function anywhere in the call stack"},
      {"file:PATTERN", "the same with a source file"},
      {"module:PATTERN", "allocated by such a module: a library, program, or folder of sources"},
      {"type:PATTERN", "of such a type"},
      {"domain:RANGE", "allocated by this domain or thread"},
      {"promoted", "promoted from the minor heap"},
      {"survived", "never freed"},
      {"hide:PATTERN", "all; such functions are left out of call stacks, and what they allocate "
                       "counts for their callers. hide:@library: what belongs to the language"},
      {"hide-file:PATTERN", "the same with the functions of such files"},
      {"hide-module:PATTERN", "the same with the functions of such modules"},
      {"below:PATTERN", "with such a function; call stacks begin with the outermost one"},
      {"above:PATTERN", "the same; they end with the innermost one"},
      {"path:F,G", "whose call stack begins with these calls; it then begins with the last"},
      {"recursion:PATTERN", "all; where such a function is in a stack again, what is between is "
                            "left out"},
      {"repeats:PATTERN", "all; where such a function calls itself, the calls are one"}},
     "Ranges are a..b, a.., ..b, <a, <=a, >a, >=a, or one value. Times are 1.5s, 20ms, 300us, "
     "2min, @start, @peak, @end. Sizes are bytes, or end in K, M, G, or w (words). As a pattern, a "
     "word matches a part of the name; with * or ?, the whole name; /…/ is a regular "
     "expression.\n\nExample: --filter 'alloc:10s..20s size:>=1K life:<1ms -fn:Stdlib'"},
    {"measures",
     "--measure MEASURE selects what is summed.",
     {{"allocated", "bytes allocated, freed or not (the default)"},
      {"blocks", "numbers of blocks"},
      {"live", "bytes live at the end, or --at a time"},
      {"peak", "bytes live at the peak"},
      {"promoted", "bytes promoted from the minor heap"},
      {"survived", "bytes never freed"},
      {"temporary", "bytes freed within 1 ms, and before the next recorded allocation with the "
                    "same call stack: a buffer that a loop could keep"},
      {"byteseconds", "bytes times the seconds for which they were held"},
      {"requested", "bytes that the program asked for, without the allocator's headers"}},
     "Bytes include the headers of blocks otherwise: 8 bytes each on 64-bit systems."},
    {"intervals",
     "A trace below rate 1 is a random sample: each allocated word is recorded with the same "
     "small probability. Amounts are therefore estimates. ± is the 95% confidence interval; with "
     "few samples, both bounds are shown: 1.3 … 6.0. What is smaller than its error is noise. n "
     "samples have a relative error of about 2/√n. At rate 1 amounts are exact.",
     {{"q", "of diff and leaks: the false discovery rate. Of all rows with this q or a lower one, "
            "at most that share is not what it is called"}},
     NULL},
    {"sites",
     "A site is the place that allocates: a line, or a function where there are no lines. "
     "Functions that merely pass on to malloc (xmalloc, operator new) are no sites; their callers "
     "are, unless --wrappers show is given. A last line names those that were skipped.\n\nWith "
     "--filter hide:@library, what a language's library allocates counts for its callers.",
     {{0}},
     NULL},
    {"heaps",
     "The heap in which a block is allocated:",
     {{"minor", "OCaml's young blocks; a minor collection frees or promotes them"},
      {"major", "blocks that were promoted, or that were too large for the minor heap"},
      {"external", "memory outside of a language's heap, and all that comes from malloc"}},
     NULL},
    {"index",
     "--index keeps what was read of a trace in FILE.idx, so that commands open it at once from "
     "then on. It is used only for the trace that it was made from, and is checked. Deleting it "
     "loses nothing.",
     {{0}},
     NULL},
    {"push",
     "--push URL[,URL] sends what is allocated and what is live, while the program runs, to "
     "receivers that keep profiles of many processes. What URL ends in says which protocol:",
     {{"/ingest", "Pyroscope"},
      {"/profiles/writeraw", "Parca"},
      {"anything else", "OpenTelemetry's profiles (OTLP/HTTP)"},
      {"--every TIME", "the time between two pushes (default: 15s)"},
      {"--label K=V", "a label, such as service=NAME or version=1.2; more come from "
                      "$OTEL_SERVICE_NAME and $OTEL_RESOURCE_ATTRIBUTES"},
      {"--token-file F", "the first line of F is the bearer token (default: "
                         "$ALLOTRACE_PUSH_TOKEN)"}},
     "A receiver that is down gets what it missed later. The trace has everything."},
    {"keep",
     "With these options, `run` and `attach` record without end into a folder of segments. Each is "
     "a trace; "
     "all commands read the folder, too, and --last TIME of it.",
     {{"--keep TIME", "keep the latest TIME, such as 60min, and remove what is older"},
      {"--max-size SIZE", "take at most SIZE on the disk, such as 200M (default: 1G; at least 4M)"},
      {"--overhead P%", "run: halve the rate while samples cost more than this part of the "
                        "program's processor time"}},
     NULL},
};

enum { N_TOPICS = sizeof topics / sizeof *topics };

static void print_topic(FILE *out, const topic *t) {
    help_text(out, t->before);
    if (t->items[0].term)
        fputc('\n', out);
    for (size_t i = 0; i < MOST_ITEMS && t->items[i].term; i++)
        help_item(out, ITEM_COLUMN, t->items[i].term, t->items[i].text);
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

/* Several rules may have one name. */
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
