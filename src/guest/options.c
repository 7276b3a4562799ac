/* options.c: all options are listed in OPTIONS, and a value is parsed by its kind. An output file
 * is checked before the program starts, since a report that cannot be written would waste the
 * run. */
#include "guest/options.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/nearest.h"
#include "base/number.h"
#include "guest/text.h"

typedef enum kind { BOOL, BYTES, DEPTH, FORM, TEXT, RATE, EXPECT } kind;

/* X(name, kind, field, default, what a value is, meaning) */
#define OPTIONS(X)                                                                                 \
    X("TraceStackTraces", BOOL, stacks, "false", "true|false",                                     \
      "show the call stacks that lead to each site (table, json)")                                 \
    X("TraceMem", BYTES, min_bytes, "0", "BYTES",                                                  \
      "only sites, and stacks, that allocate at least this much")                                  \
    X("Output", FORM, form, "table", "table|json|histogram|typehistogram|calltree",                \
      "form of the report")                                                                        \
    X("OutputFile", TEXT, output_file, "standard output", "PATH",                                  \
      "write the report there; never half of one")                                                 \
    X("StackLimit", DEPTH, stack_limit, "10000", "N",                                              \
      "frames kept of a stack: of a deeper one the innermost, and the outermost")                  \
    X("TraceRoots", BOOL, roots, "true", "true|false",                                             \
      "functions are elements (histogram, calltree)")                                              \
    X("TraceStatements", BOOL, statements, "false", "true|false", "statements are elements")       \
    X("TraceCalls", BOOL, calls, "false", "true|false", "calls are elements")                      \
    X("TraceInternal", BOOL, internal, "false", "true|false",                                      \
      "count what compiling allocates, too; built-ins are elements")                               \
    X("FilterRootName", TEXT, functions, "*", "PATTERNS", "only these functions")                  \
    X("FilterFile", TEXT, files, "*", "PATTERNS", "only functions of these files")                 \
    X("Rate", RATE, rate, "1", "R",                                                                \
      "sample each word with this probability, and estimate; 1 counts exactly")                    \
    X("Expect", EXPECT, expect, "none", "[SITE=]N",                                                \
      "compare N with the true number; more than ten times off: exit status 3")

typedef struct option {
    const char *name;
    kind kind;
    size_t offset;
    const char *by_default, *value, *meaning;
} option;

static const option known[] = {
#define OPTION_ROW(name, kind, field, by_default, value, meaning)                                  \
    {name, kind, offsetof(memtracer_options, field), by_default, value, meaning},
    OPTIONS(OPTION_ROW)
#undef OPTION_ROW
};
enum { N_OPTIONS = sizeof known / sizeof *known };

static const char *const form_names[N_FORMS] = {
    [FORM_TABLE] = "table",         [FORM_JSON] = "json",
    [FORM_HISTOGRAM] = "histogram", [FORM_TYPEHISTOGRAM] = "typehistogram",
    [FORM_CALLTREE] = "calltree",
};

void options_init(memtracer_options *o) {
    *o = (memtracer_options){.stack_limit = 10000, .roots = true, .rate = 1};
}

void options_free(memtracer_options *o) {
    vec_free(&o->expect);
}

/* ---- values ---------------------------------------------------------------------------------- */

static bool parse_bool(const char *text, bool *value) {
    *value = strcmp(text, "true") == 0;
    return *value || strcmp(text, "false") == 0;
}

bool options_parse_whole(const char *text, uint64_t *value) {
    return number_parse_whole(text, value) == NUMBER_WHOLE;
}

/* Accepts a fraction and an exponent, but no sign. */
bool options_parse_real(const char *text, double *value) {
    return number_parse(text, value);
}

static bool parse_form(const char *text, memtracer_form *form) {
    for (int i = 0; i < N_FORMS; i++)
        if (strcmp(text, form_names[i]) == 0) {
            *form = (memtracer_form)i;
            return true;
        }
    return false;
}

static bool parse_expectation(memtracer_options *o, const char *text) {
    const char *equals = strrchr(text, '=');
    expectation e = {.text = text, .site_size = equals ? (size_t)(equals - text) : 0};
    if (equals == text || !options_parse_real(equals ? equals + 1 : text, &e.expected))
        return false;
    return vec_push(&o->expect, e);
}

/* Returns NULL, or what is wrong with the value. */
static const char *parse_value(memtracer_options *o, const option *opt, const char *text) {
    void *field = (char *)o + opt->offset;
    switch (opt->kind) {
    case BOOL:
        return parse_bool(text, field) ? NULL : "neither true nor false";
    case BYTES:
        return options_parse_whole(text, field) ? NULL : "not a whole number of bytes";
    case DEPTH:
        return options_parse_whole(text, field) && *(uint64_t *)field
                   ? NULL
                   : "not a whole number of at least 1";
    case FORM:
        return parse_form(text, field) ? NULL
                                       : "not table, json, histogram, typehistogram or calltree";
    case RATE:
        return options_parse_real(text, field) && *(double *)field > 0 && *(double *)field <= 1
                   ? NULL
                   : "not above 0 and at most 1";
    case TEXT:
        *(const char **)field = text;
        return *text ? NULL : "empty";
    default:
        return parse_expectation(o, text) ? NULL : "neither a number nor SITE=number";
    }
}

/* ---- the command line ------------------------------------------------------------------------ */

static bool begins(const char *text, const char *with) {
    return strncmp(text, with, strlen(with)) == 0;
}

static const option *find_option(const char *name, size_t size) {
    for (size_t i = 0; i < N_OPTIONS; i++)
        if (strlen(known[i].name) == size && memcmp(known[i].name, name, size) == 0)
            return &known[i];
    return NULL;
}

static const char *option_name(const void *context, size_t i) {
    (void)context;
    return known[i].name;
}

static memtracer_parsed unknown(const char *argument, size_t prefix, char *problem, size_t size) {
    size_t n = strcspn(argument + prefix, "=");
    const char *meant = nearest_name(argument + prefix, n, option_name, NULL, N_OPTIONS);
    snprintf(problem, size, "unknown option: %.*s%s%s%s", (int)(prefix + n), argument,
             meant ? "; did you mean --memtracer." : "", meant ? meant : "", meant ? "?" : "");
    return MEMTRACER_BAD;
}

static memtracer_parsed parse_switch(memtracer_options *o, const char *value, char *problem,
                                     size_t size) {
    o->given = true;
    if (parse_bool(value, &o->on))
        return MEMTRACER_TAKEN;
    snprintf(problem, size, "--memtracer is neither true nor false: %s", value);
    return MEMTRACER_BAD;
}

static memtracer_parsed parse_option(memtracer_options *o, const char *argument, size_t prefix,
                                     char *problem, size_t size) {
    const char *name = argument + prefix, *equals = strchr(name, '=');
    const option *opt = find_option(name, strcspn(name, "="));
    if (!opt)
        return unknown(argument, prefix, problem, size);
    if (!equals && opt->kind != BOOL) {
        snprintf(problem, size, "%s needs a value: %s=%s", argument, argument, opt->value);
        return MEMTRACER_BAD;
    }
    if (!o->unused)
        o->unused = opt->name;
    const char *fault = parse_value(o, opt, equals ? equals + 1 : "true");
    if (!fault)
        return MEMTRACER_TAKEN;
    snprintf(problem, size, "--memtracer.%s is %s: %s", opt->name, fault, equals + 1);
    return MEMTRACER_BAD;
}

memtracer_parsed options_take(memtracer_options *o, const char *argument, char *problem,
                              size_t size) {
    static const char name[] = "--memtracer", experimental[] = "--experimental-options";
    if (strcmp(argument, "--help:memtracer") == 0)
        return MEMTRACER_HELP;
    if (strcmp(argument, experimental) == 0 ||
        (begins(argument, experimental) && argument[sizeof experimental - 1] == '='))
        return MEMTRACER_TAKEN;
    if (!begins(argument, name))
        return MEMTRACER_NOT_MINE;
    switch (argument[sizeof name - 1]) {
    case '\0':
        return parse_switch(o, "true", problem, size);
    case '=':
        return parse_switch(o, argument + sizeof name, problem, size);
    case '.':
        return parse_option(o, argument, sizeof name, problem, size);
    default:
        return MEMTRACER_NOT_MINE;
    }
}

/* Sets `folder` to the folder of a path, with a trailing slash. */
static void folder_of(const char *path, char *folder, size_t size) {
    const char *slash = strrchr(path, '/');
    snprintf(folder, size, "%.*s", slash ? (int)(slash - path) + 1 : 2, slash ? path : "./");
}

/* Whether the report can be written; if not, errno says why. A regular file is replaced when the
 * report is complete, so its folder must be writable. Anything else is written in place. */
static bool can_write(const char *path, const char *folder) {
    struct stat s;
    bool exists = stat(path, &s) == 0;
    if (exists && S_ISDIR(s.st_mode))
        return errno = EISDIR, false;
    if (exists && (!S_ISREG(s.st_mode) || access(path, W_OK) != 0))
        return access(path, W_OK) == 0;
    return access(folder, W_OK | X_OK) == 0;
}

static bool check_output_file(const char *path, char *problem, size_t size) {
    char folder[4096];
    folder_of(path, folder, sizeof folder);
    if (can_write(path, folder))
        return true;
    int why = errno;
    int n = snprintf(problem, size, "--memtracer.OutputFile cannot be written: %s: ", path);
    if (n < 0 || (size_t)n >= size)
        return false;
    if (why == ENOENT && access(folder, F_OK) != 0)
        snprintf(problem + n, size - (size_t)n, "there is no folder %s", folder);
    else
        snprintf(problem + n, size - (size_t)n, "%s", strerror(why));
    return false;
}

bool options_check(const memtracer_options *o, char *problem, size_t size) {
    if (o->unused && !o->given)
        snprintf(problem, size, "--memtracer.%s has no effect without --memtracer", o->unused);
    else if (o->on && !o->roots && !o->statements && !o->calls)
        snprintf(problem, size,
                 "--memtracer: TraceRoots, TraceStatements and TraceCalls are all false");
    else
        return !o->on || !o->output_file || check_output_file(o->output_file, problem, size);
    return false;
}

bool options_want_stacks(const memtracer_options *o) {
    return o->stacks || o->form == FORM_HISTOGRAM || o->form == FORM_CALLTREE || o->functions ||
           o->files;
}

/* ---- help and JSON --------------------------------------------------------------------------- */

void options_help(FILE *out, const char *launcher) {
    fprintf(out,
            "Usage: %s --memtracer [--memtracer.OPTION=VALUE ...] FILE [ARGUMENTS]\n"
            "\n"
            "Counts the allocations of the program, and reports after its end which lines made\n"
            "them. Sizes are what the heap took, headers included.\n"
            "\n"
            "  --memtracer=true|false\n"
            "        count every allocation of the program (false)\n",
            launcher);
    for (size_t i = 0; i < N_OPTIONS; i++)
        fprintf(out, "  --memtracer.%s=%s\n        %s (%s)\n", known[i].name, known[i].value,
                known[i].meaning, known[i].by_default);
    fputs(
        "\n"
        "PATTERNS are separated by commas; * and ? are wildcards; a pattern has to match a whole\n"
        "name: of a function or Class.method, of a path or the last part of it. What other\n"
        "functions allocate is charged to the nearest caller that is left.\n"
        "SITE is FILE:LINE, where FILE is the end of a path, or the name of a function. Expect\n"
        "can be given more than once.\n"
        "--experimental-options is accepted and ignored.\n"
        "\n"
        "Exit status: that of the program; 3 if it succeeded but an expectation failed; 64 if an\n"
        "option is wrong, and nothing was run; 74 if the report cannot be written.\n",
        out);
}

/* ---- as a table ------------------------------------------------------------------------------ */

#define KIND_OF_BOOL   COLUMN_FLAG
#define KIND_OF_BYTES  COLUMN_COUNT
#define KIND_OF_DEPTH  COLUMN_COUNT
#define KIND_OF_FORM   COLUMN_TEXT
#define KIND_OF_TEXT   COLUMN_TEXT
#define KIND_OF_RATE   COLUMN_NUMBER
#define KIND_OF_EXPECT COLUMN_TEXTS

#define CELL_OF_BOOL(is)     ((cell){.flag = (is)})
#define CELL_OF_BYTES(n)     ((cell){.count = (n)})
#define CELL_OF_DEPTH(n)     ((cell){.count = (n)})
#define CELL_OF_FORM(form)   ((cell){.text = form_names[form]})
#define CELL_OF_TEXT(given)  ((given) ? (cell){.text = (given)} : cell_none())
#define CELL_OF_RATE(rate)   ((cell){.number = (rate)})
#define CELL_OF_EXPECT(list) ((cell){.texts = {.items = t->context, .n = (list).count}})

#define OPTION_CELL(name, kind, field, by_default, value, meaning)                                 \
    static cell cell_of_##field(const table *t, const void *row) {                                 \
        (void)t;                                                                                   \
        return CELL_OF_##kind(((const memtracer_options *)row)->field);                            \
    }
OPTIONS(OPTION_CELL)
#undef OPTION_CELL

static const table_column columns[] = {
#define OPTION_COLUMN(option, kind_, field, by_default, value, meaning)                            \
    {.name = option, .kind = KIND_OF_##kind_, .get = cell_of_##field},
    OPTIONS(OPTION_COLUMN)
#undef OPTION_COLUMN
};

table options_table(const memtracer_options *o, const char *const *expectations) {
    return (table){
        .name = "options", TABLE_COLUMNS(columns), .rows = o, .n = 1, .context = expectations};
}
