/* mcp_tools.c: a single table describes the tools and their parameters. The schemas for clients,
 * the check of arguments and the command lines are all made from it. Each path is resolved, and
 * must be below an allowed folder, before it becomes part of a command line. */
#include "cli/mcp/mcp_tools.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cli/mcp/mcp_source.h"

/* ---- the table --------------------------------------------------------------------------- */

typedef enum param_kind {
    PARAM_TEXT,
    PARAM_NUMBER,
    PARAM_COUNT,
    PARAM_TRACE, /* an existing file in the allowed folders */
    PARAM_FILE,  /* like PARAM_TRACE, but used only for the answer, not in the command line */
    PARAM_LINE,  /* the number of a line, used only for the answer */
    PARAM_LINES, /* how many lines, used only for the answer */
    PARAM_NEW,   /* a file to be written, in the allowed folders */
    PARAM_WORDS, /* a command line, which comes last */
} param_kind;

typedef struct param {
    const char *name;
    param_kind kind;
    const char *option; /* NULL: an operand */
    bool required;
    const char *help;
    const char *otherwise; /* value if it is not given; NULL: the command's default */
} param;

enum { MOST_PARAMS = 8 };

struct mcp_tool {
    const char *name, *command;
    const char *help;
    const char *always[4]; /* words before all others */
    bool runs, annotates;
    param params[MOST_PARAMS];
};

#define TRACE                                                                                      \
    { "trace", PARAM_TRACE, NULL, true, "the trace file", NULL }
#define FILTER                                                                                     \
    {                                                                                              \
        "filter", PARAM_TEXT, "--filter", false,                                                   \
            "which blocks to count, such as 'fn:parse size:>=1K life:<1ms'; `explain` with name "  \
            "`filter` lists all terms",                                                            \
            NULL                                                                                   \
    }
#define MEASURE                                                                                    \
    {                                                                                              \
        "measure", PARAM_TEXT, "--measure", false,                                                 \
            "what is summed: allocated (default), blocks, live, peak, promoted, survived, "        \
            "temporary, byteseconds, requested",                                                   \
            NULL                                                                                   \
    }
#define BY                                                                                         \
    { "by", PARAM_TEXT, "--by", false, "one row per line (default), function or type", NULL }
#define TOP(n)                                                                                     \
    { "top", PARAM_COUNT, "--top", false, "maximum number of rows (default " n ")", n }

static const mcp_tool tools[] = {
    {.name = "summary",
     .command = "summary",
     .help = "What a trace contains: its peak, the largest sites, the sites that grow, the best "
             "advice. Start here.",
     .params = {TRACE}},
    {.name = "hotspots",
     .command = "hotspots",
     .help = "The sites that allocate most, each with its callers and the 95% confidence interval "
             "of each amount.",
     .params = {TRACE, FILTER, MEASURE, BY, TOP("10")}},
    {.name = "callers",
     .command = "callers",
     .help = "Who calls a function, and what it allocates through each call path.",
     .params = {{"function", PARAM_TEXT, NULL, true, "its name, as the other tools print it", NULL},
                TRACE,
                FILTER,
                MEASURE}},
    {.name = "peak",
     .command = "peak",
     .help = "When memory use peaked, how certain that time is, and which sites held the memory.",
     .params = {TRACE, FILTER, BY, TOP("10")}},
    {.name = "leaks",
     .command = "leaks",
     .help = "The sites whose blocks remain until the end; those with certain growth first.",
     .params = {TRACE, FILTER, TOP("10")}},
    {.name = "lifetimes",
     .command = "lifetimes",
     .help = "How long blocks live, which die soon, and which are promoted prematurely.",
     .params = {TRACE, FILTER, TOP("10")}},
    {.name = "advise",
     .command = "advise",
     .help = "Why the functions that allocate most do so, what to change, the most that this can "
             "gain, and how certain the advice is.",
     .params = {TRACE, FILTER, MEASURE, TOP("5")}},
    {.name = "diff",
     .command = "diff",
     .help = "What changed between two traces of the same work, and which changes are significant: "
             "the proof of a fix.",
     .params = {{"before", PARAM_TRACE, NULL, true, "the trace before the change", NULL},
                {"after", PARAM_TRACE, NULL, true, "the trace after the change", NULL},
                FILTER,
                MEASURE,
                TOP("10")}},
    {.name = "source",
     .command = "hotspots",
     .help = "Lines of a source file, each with its share of the allocations.",
     .always = {"--json", "--min-share=0", "--callers=0"},
     .annotates = true,
     .params = {TRACE,
                {"file", PARAM_FILE, NULL, true, "the source file", NULL},
                {"line", PARAM_LINE, NULL, false,
                 "the line in the middle (default: the one that allocates most)", NULL},
                {"around", PARAM_LINES, NULL, false, "lines before and after it (default 10)",
                 NULL}}},
    {.name = "explain",
     .command = "help",
     .help = "Explains a command (its options), a topic (filter, measures, intervals, sites, "
             "heaps, index), or a rule of advise (such as string-concat).",
     .params = {{"topic", PARAM_TEXT, NULL, true, "the name", NULL}}},
    {.name = "record",
     .command = "run",
     .help = "Runs a program and records where it allocates. Returns the program's output and the "
             "name of the trace.",
     .runs = true,
     .params = {{"output", PARAM_NEW, "--output", true, "the trace to write, such as before.ctf",
                 NULL},
                {"rate", PARAM_NUMBER, "--rate", false,
                 "the sampling probability of a word, 0 to 1 (default 1e-5; 1e-3 for runs of "
                 "seconds; 1 records every allocation)",
                 NULL},
                {"command", PARAM_WORDS, NULL, true, "the program and its arguments", NULL}}},
};

static bool is_offered(const mcp_tool *t, const mcp_limits *limits) {
    return !t->runs || limits->allow_run;
}

const mcp_tool *mcp_tool_find(const mcp_limits *limits, const char *name) {
    for (size_t i = 0; i < sizeof tools / sizeof *tools; i++)
        if (strcmp(tools[i].name, name) == 0)
            return is_offered(&tools[i], limits) ? &tools[i] : NULL;
    return NULL;
}

/* ---- schemas ----------------------------------------------------------------------------- */

static bool is_whole(const param *p) {
    return p->kind == PARAM_COUNT || p->kind == PARAM_LINE || p->kind == PARAM_LINES;
}

static json_t *schema_of_param(const param *p) {
    const bool counts = is_whole(p);
    const char *type = p->kind == PARAM_WORDS    ? "array"
                       : p->kind == PARAM_NUMBER ? "number"
                       : counts                  ? "integer"
                                                 : "string";
    json_t *schema = json_pack("{s:s, s:s}", "type", type, "description", p->help);
    if (p->kind == PARAM_WORDS)
        json_object_set_new(schema, "items", json_pack("{s:s}", "type", "string"));
    if (counts)
        json_object_set_new(schema, "minimum", json_integer(p->kind == PARAM_LINE));
    return schema;
}

static json_t *schema_of(const mcp_tool *t) {
    json_t *properties = json_object(), *required = json_array();
    for (size_t i = 0; i < MOST_PARAMS && t->params[i].name; i++) {
        json_object_set_new(properties, t->params[i].name, schema_of_param(&t->params[i]));
        if (t->params[i].required)
            json_array_append_new(required, json_string(t->params[i].name));
    }
    return json_pack("{s:s, s:o, s:o, s:b}", "type", "object", "properties", properties, "required",
                     required, "additionalProperties", 0);
}

json_t *mcp_tools_list(const mcp_limits *limits) {
    json_t *list = json_array();
    for (size_t i = 0; i < sizeof tools / sizeof *tools; i++)
        if (is_offered(&tools[i], limits))
            json_array_append_new(list,
                                  json_pack("{s:s, s:s, s:o, s:{s:b, s:b}}", "name", tools[i].name,
                                            "description", tools[i].help, "inputSchema",
                                            schema_of(&tools[i]), "annotations", "readOnlyHint",
                                            !tools[i].runs, "openWorldHint", tools[i].runs));
    return list;
}

/* ---- paths ------------------------------------------------------------------------------- */

static bool is_below(const char *path, const char *folder) {
    const size_t size = strlen(folder);
    return strncmp(path, folder, size) == 0 &&
           (path[size] == '/' || path[size] == '\0' || strcmp(folder, "/") == 0);
}

static bool is_allowed(const mcp_limits *limits, const char *path) {
    for (size_t i = 0; i < limits->n_folders; i++)
        if (is_below(path, limits->folders[i]))
            return true;
    return false;
}

/* Resolves links and dots. For a file to be written that does not exist yet, resolves its
 * folder. */
static char *real_path(const char *path, bool to_write) {
    char *whole = realpath(path, NULL), *copy;
    if (whole || !to_write || errno != ENOENT || !(copy = strdup(path)))
        return whole;
    char *slash = strrchr(copy, '/');
    const char *name = slash + 1;
    if (slash == copy) {
        free(copy);
        return NULL;
    }
    *slash = '\0';
    char *folder = *name && strcmp(name, "..") != 0 ? realpath(copy, NULL) : NULL;
    char *both = folder ? text_format("%s/%s", folder, name) : NULL;
    free(folder);
    free(copy);
    return both;
}

/* Resolves a path, and checks that it is in one of the allowed folders. The file must exist; one to
 * be written needs only an existing folder. The caller frees the result. Returns NULL with the
 * cause in `reason`. */
static char *confine(const mcp_limits *limits, const char *path, bool to_write,
                     char reason[MCP_REASON]) {
    char *absolute = path[0] == '/' ? strdup(path) : text_format("%s/%s", limits->folders[0], path);
    char *real = absolute ? real_path(absolute, to_write) : NULL;
    const int error = errno;
    free(absolute);
    if (real && is_allowed(limits, real))
        return real;
    if (real)
        snprintf(reason, MCP_REASON, "%.150s is outside the folders that may be read", path);
    else
        snprintf(reason, MCP_REASON, "%.150s: %s", path, strerror(error));
    free(real);
    return NULL;
}

/* ---- words ------------------------------------------------------------------------------- */

static bool add_word(mcp_words *w, char *word) {
    if (!word || w->n == MCP_WORDS) {
        free(word);
        return false;
    }
    w->items[w->n++] = word;
    return true;
}

static bool add_copy(mcp_words *w, const char *word) {
    return add_word(w, strdup(word));
}

void mcp_words_free(mcp_words *w) {
    for (size_t i = 0; i < w->n; i++)
        free(w->items[i]);
    *w = (mcp_words){.n = 0};
}

static bool refuse(char reason[MCP_REASON], const param *p, const char *what) {
    snprintf(reason, MCP_REASON, "`%s` %s", p->name, what);
    return false;
}

/* Returns the text of an argument, to be freed by the caller. Returns NULL if the argument has the
 * wrong type. */
static char *text_of(const param *p, const json_t *value) {
    const bool counts = is_whole(p);
    if (counts && json_is_integer(value) && json_integer_value(value) >= 0)
        return text_format("%lld", (long long)json_integer_value(value));
    if (p->kind == PARAM_NUMBER && json_is_number(value))
        return text_format("%.17g", json_number_value(value));
    if (counts || p->kind == PARAM_NUMBER || !json_is_string(value))
        return NULL;
    return strlen(json_string_value(value)) == json_string_length(value)
               ? strdup(json_string_value(value))
               : NULL;
}

/* Adds a word. An option and its value become one word, so that the value is never taken for an
 * option. Frees or takes `text`. */
static bool add_value(mcp_words *w, const param *p, char *text) {
    if (!p->option)
        return add_word(w, text);
    char *word = text_format("%s=%s", p->option, text);
    free(text);
    return add_word(w, word);
}

static bool add_words(mcp_words *w, const param *p, const json_t *value, char reason[MCP_REASON]) {
    size_t i;
    json_t *word;
    if (!json_is_array(value) || json_array_size(value) == 0)
        return refuse(reason, p, "must be an array of strings that starts with the program");
    json_array_foreach(value, i, word) {
        if (!json_is_string(word) || strlen(json_string_value(word)) != json_string_length(word))
            return refuse(reason, p, "must be an array of strings");
        if (!add_copy(w, json_string_value(word)))
            return refuse(reason, p, "has too many words");
    }
    return true;
}

static bool add_param(mcp_words *w, const param *p, const mcp_limits *limits, const json_t *value,
                      char reason[MCP_REASON]) {
    if (p->kind == PARAM_WORDS)
        return add_words(w, p, value, reason);
    char *text = text_of(p, value);
    if (!text)
        return refuse(reason, p, "has the wrong type");
    if (p->kind == PARAM_TRACE || p->kind == PARAM_FILE || p->kind == PARAM_NEW) {
        char *path = confine(limits, text, p->kind == PARAM_NEW, reason);
        free(text);
        if (!path)
            return false;
        text = path;
    }
    if (p->kind == PARAM_FILE || p->kind == PARAM_LINE || p->kind == PARAM_LINES) {
        free(text);
        return true;
    }
    return add_value(w, p, text) || refuse(reason, p, "is one word too many");
}

/* Adds either the options or the operands, in the order of the table. */
static bool add_params(mcp_words *w, const mcp_tool *t, const mcp_limits *limits, json_t *arguments,
                       bool options, char reason[MCP_REASON]) {
    for (size_t i = 0; i < MOST_PARAMS && t->params[i].name; i++) {
        const param *p = &t->params[i];
        const json_t *value = json_object_get(arguments, p->name);
        if ((p->option != NULL) != options)
            continue;
        if (value && !json_is_null(value)) {
            if (!add_param(w, p, limits, value, reason))
                return false;
        } else if (p->required) {
            return refuse(reason, p, "is missing");
        } else if (p->otherwise && !add_value(w, p, strdup(p->otherwise))) {
            return refuse(reason, p, "is one word too many");
        }
    }
    return true;
}

static bool knows_all(const mcp_tool *t, json_t *arguments, char reason[MCP_REASON]) {
    const char *name;
    json_t *value;
    json_object_foreach(arguments, name, value) {
        size_t i = 0;
        while (i < MOST_PARAMS && t->params[i].name && strcmp(t->params[i].name, name) != 0)
            i++;
        if (i == MOST_PARAMS || !t->params[i].name) {
            snprintf(reason, MCP_REASON, "%s has no argument `%.100s`", t->name, name);
            return false;
        }
    }
    return true;
}

bool mcp_tool_words(const mcp_tool *t, const mcp_limits *limits, json_t *arguments,
                    mcp_words *words, char reason[MCP_REASON]) {
    *words = (mcp_words){.n = 0};
    snprintf(reason, MCP_REASON, "not enough memory");
    bool ok = knows_all(t, arguments, reason) && add_copy(words, "allotrace") &&
              add_copy(words, t->command);
    for (size_t i = 0; ok && i < 4 && t->always[i]; i++)
        ok = add_copy(words, t->always[i]);
    return ok && add_params(words, t, limits, arguments, true, reason) && add_copy(words, "--") &&
           add_params(words, t, limits, arguments, false, reason);
}

/* ---- answers ----------------------------------------------------------------------------- */

static long long line_of(json_t *arguments, const char *name, long long otherwise) {
    const json_t *value = json_object_get(arguments, name);
    return json_is_integer(value) ? json_integer_value(value) : otherwise;
}

char *mcp_tool_answer(const mcp_tool *t, const mcp_limits *limits, json_t *arguments,
                      const char *printed) {
    char reason[MCP_REASON];
    if (!t->annotates)
        return NULL;
    const char *file = json_string_value(json_object_get(arguments, "file"));
    char *path = confine(limits, file, false, reason);
    char *answer = path ? mcp_source(path, printed, line_of(arguments, "line", 0),
                                     line_of(arguments, "around", 10))
                        : NULL;
    free(path);
    return answer;
}
