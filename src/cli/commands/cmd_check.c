/* cmd_check.c: `allotrace check TRACE`: checks expectations and budgets, for people and for CI. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/number.h"
#include "cli/budget_file.h"
#include "cli/message.h"
#include "cli/origin.h"
#include "cli/question.h"
#include "cli/result_file.h"
#include "cli/similar.h"
#include "cli/trace_profile.h"
#include "export/budget_toml.h"
#include "export/junit.h"
#include "query/hotspots.h"
#include "query/libraries.h"
#include "reports/check.h"

typedef struct check_command {
    option_texts expect, max_allocated, max_peak, max_survived;
    uint64_t top;
    const char *within, *budget, *update, *junit;
    question_options question;
} check_command;

static const check_command defaults = {.within = "10x", .top = 10};

static const option options[] = {
    {.name = "expect",
     .letter = 'e',
     OPTION_TAKES(TEXTS, check_command, expect, "SITE=AMOUNT"),
     .help = "what SITE should allocate, such as 'parse=50000 blocks', 'a.c:10=12MB' or "
             "'total=3000 words'; may be repeated up to 16 times",
     .brief = "an expectation, as 'parse=9 blocks' or a.c:8=2MB"},
    {.name = "within",
     OPTION_TAKES(TEXT, check_command, within, "FACTOR"),
     .help =
         "the factor by which an amount may differ from its expectation, such as 2x (default 10x)",
     .brief = "the factor by which SITE may differ (default 10x)"},
    {.name = "max-allocated",
     OPTION_TAKES(TEXTS, check_command, max_allocated, "MAX"),
     .help =
         "what the program may allocate at most, such as 2GB or '50000 blocks', or a site, such "
         "as 'parse=12MB'; may be repeated up to 16 times",
     .brief = "most that it may allocate, as 2GB or parse=12MB"},
    {.name = "max-peak",
     OPTION_TAKES(TEXTS, check_command, max_peak, "MAX"),
     .help = "the same for what is live at the peak",
     .brief = "most that may be live at the peak"},
    {.name = "max-survived",
     OPTION_TAKES(TEXTS, check_command, max_survived, "MAX"),
     .help = "the same for what is never freed",
     .brief = "most that may never be freed"},
    {.name = "budget",
     .letter = 'b',
     OPTION_TAKES(FILE, check_command, budget, "FILE"),
     .help = "check the budgets in FILE (TOML)"},
    {.name = "update",
     OPTION_TAKES(FILE, check_command, update, "FILE"),
     .help = "write budgets that the program meets with room to spare, for the sites in FILE. If "
             "FILE does not exist, or has no budget of --measure, write such budgets for the "
             "total and for functions with 5% or more of it",
     .brief = "write budgets that the program meets to FILE"},
    {.name = "junit",
     OPTION_TAKES(FILE, check_command, junit, "FILE"),
     .help = "also write the results as JUnit XML"},
    {.name = "filter",
     .letter = 'f',
     OPTION_TAKES(TEXT, check_command, question.filter, "FILTER"),
     .help = "count only blocks that match FILTER, such as 'alloc:10s..20s size:>=1K heap:major "
             "-fn:startup', unless a budget has its own filter; see FILTERS in allotrace(1)",
     .brief = "count only matching blocks: see `help filter`"},
    {.name = "measure",
     .letter = 'm',
     OPTION_CHOOSES(check_command, question.measure, question_block_measures),
     .help = "what to count, unless a budget has its own measure: what was allocated (default), "
             "live at the end or at the peak, promoted, or never freed; in bytes or blocks",
     .brief = "what to count: see `help measures`"},
    {.name = "top",
     .letter = 'n',
     OPTION_TAKES(COUNT, check_command, top, "N"),
     .help = "number of sites for which --update writes budgets to a new file (default 10)",
     .brief = "sites in a new --update file (default 10)"},
    OPTION_MARKDOWN(check_command),
    OPTIONS_FORM(check_command),
};

/* The blocks that rules with the same filter and measure are about. */
typedef struct group {
    const char *text; /* text of the filter, interned; NULL: all blocks */
    char *whole;      /* with what a window adds; NULL: nothing */
    filter *filter;   /* NULL: all blocks */
    measure measure;
    lens lens;
    budget_tally tally; /* used if any group needs the table; otherwise job.tally counts blocks as
                           they are read */
} group;

/* State of the command. */
typedef struct job {
    const check_command *opts;
    const char *path;
    trace_file in;
    profile profile;
    budget_rule defaults; /* filter and measure of rules without any */
    VEC(group) groups;
    bool selects;         /* some group needs the table of blocks */
    budget_tally tally;   /* of all groups, if none needs the table */
    intern_table strings; /* of the rules */
    budget_rules rules;
    VEC(budget_result) results; /* with the same indices as `rules` */
    bool is_partial;            /* part of the trace is missing */
    bool makes_rules;           /* --update makes rules for the largest sites */
    unsigned covered;           /* percent of the total that these sites allocate */
} job;

/* ---- rules --------------------------------------------------------------------------------- */

static bool parse_factor(const char *text, double *factor) {
    const char *end = text + number_read(text, factor);
    if (end == text)
        return false;
    end += *end == 'x';
    return !*end && isfinite(*factor) && *factor > 1;
}

static int refuse_amount(const char *name, const char *text, const char *forms) {
    return message_usage(&command_check, "--%s: `%s` does not have the form %s", name, text, forms);
}

/* Adds a rule of the site that the text names. SITE may contain `=` (operator==), but an amount
 * does not. */
static int add_rule(job *j, const char *name, const char *text, budget_rule rule) {
    const char *equals = strrchr(text, '=');
    if (!budget_fits(rule.measure, rule.unit))
        return message_usage(&command_check, "--%s: `%s` is not an amount for the measure %s", name,
                             text, measure_infos[rule.measure].name);
    rule.site = equals ? intern(&j->strings, text, (size_t)(equals - text)) : "total";
    return rule.site && vec_push(&j->rules, rule) ? STATUS_OK : message_no_memory();
}

static int add_expectation(job *j, const char *text, double factor) {
    const char *equals = strrchr(text, '=');
    budget_rule rule = j->defaults;
    rule.within = factor;
    if (!equals || equals == text || !budget_parse_amount(equals + 1, &rule.amount, &rule.unit))
        return refuse_amount("expect", text, "'SITE=50000 blocks' or 'SITE=12MB'");
    if (rule.measure == MEASURE_ALLOCATED && !budget_fits(rule.measure, rule.unit))
        rule.measure = budget_measure_of(rule.unit);
    return add_rule(j, "expect", text, rule);
}

static int add_maxima(job *j, const char *name, const option_texts *texts, measure m) {
    int status = STATUS_OK;
    for (size_t i = 0; status == STATUS_OK && i < texts->n; i++) {
        const char *text = texts->items[i], *equals = strrchr(text, '=');
        budget_rule rule = j->defaults;
        rule.measure = m;
        status = equals != text &&
                         budget_parse_amount(equals ? equals + 1 : text, &rule.amount, &rule.unit)
                     ? add_rule(j, name, text, rule)
                     : refuse_amount(name, text, "'12MB', '50000 blocks' or 'SITE=12MB'");
    }
    return status;
}

/* Also the defaults for budgets in a file that --update maintains. */
static const budget_rule plain_defaults = {
    .site = "total", .measure = MEASURE_ALLOCATED, .unit = BUDGET_BYTES};

static bool set_defaults(job *j) {
    const char *text = j->opts->question.filter;
    j->defaults = plain_defaults;
    j->defaults.measure = (measure)j->opts->question.measure;
    j->defaults.filter = text && *text ? intern(&j->strings, text, strlen(text)) : NULL;
    j->defaults.unit = j->defaults.measure == MEASURE_BLOCKS        ? BUDGET_BLOCKS
                       : j->defaults.measure == MEASURE_BYTESECONDS ? BUDGET_BYTESECONDS
                                                                    : BUDGET_BYTES;
    return !text || !*text || j->defaults.filter;
}

/* A budget file without budgets is an error, since its check would always pass. */
static int read_budget(job *j, const char *path) {
    size_t n = j->rules.count;
    int status = budget_file_read(path, &j->defaults, &j->strings, &j->rules);
    if (status == STATUS_OK && j->rules.count == n)
        status = message_error("%s: contains no [[budget]]; to write one: allotrace check --update",
                               path);
    return status;
}

/* Returns whether --update must make rules: the file has none, or none of a given --measure. */
static bool needs_first(const job *j) {
    if (!j->opts->update)
        return false;
    for (size_t i = 0; i < j->rules.count; i++)
        if (j->rules.items[i].measure == j->defaults.measure)
            return false;
    return j->rules.count == 0 || j->defaults.measure != MEASURE_ALLOCATED;
}

static int read_rules(job *j) {
    const check_command *o = j->opts;
    double factor;
    if (!parse_factor(o->within, &factor))
        return message_usage(&command_check, "--within: `%s` is not a factor above 1, such as 2x",
                             o->within);
    if (!set_defaults(j))
        return message_no_memory();
    int status = STATUS_OK;
    for (size_t i = 0; status == STATUS_OK && i < o->expect.n; i++)
        status = add_expectation(j, o->expect.items[i], factor);
    if (status == STATUS_OK)
        status = add_maxima(j, "max-allocated", &o->max_allocated, MEASURE_ALLOCATED);
    if (status == STATUS_OK)
        status = add_maxima(j, "max-peak", &o->max_peak, MEASURE_PEAK);
    if (status == STATUS_OK)
        status = add_maxima(j, "max-survived", &o->max_survived, MEASURE_SURVIVED);
    if (status == STATUS_OK && o->budget)
        status = read_budget(j, o->budget);
    if (status == STATUS_OK && o->update && access(o->update, F_OK) == 0)
        status = budget_file_read(o->update, &plain_defaults, &j->strings, &j->rules);
    j->makes_rules = needs_first(j);
    return status;
}

/* ---- groups -------------------------------------------------------------------------------- */

static size_t find_group(const job *j, const budget_rule *r) {
    size_t i = 0;
    while (i < j->groups.count &&
           (j->groups.items[i].text != r->filter || j->groups.items[i].measure != r->measure))
        i++;
    return i;
}

static int add_group(job *j, const budget_rule *r) {
    if (find_group(j, r) < j->groups.count)
        return STATUS_OK;
    group g = {.text = r->filter, .measure = r->measure};
    int status =
        question_parse_births(&command_check, r->filter, r->measure, j->path, &g.whole, &g.filter);
    if (status == STATUS_OK && !vec_push(&j->groups, g))
        status = message_no_memory();
    if (status != STATUS_OK) {
        filter_free(g.filter);
        free(g.whole);
        return status;
    }
    bool all = g.measure == MEASURE_ALLOCATED || g.measure == MEASURE_BLOCKS;
    j->selects = j->selects || !all || filter_selects(g.filter);
    return STATUS_OK;
}

/* Makes the groups of all rules, including the group of rules that will be made. */
static int make_groups(job *j) {
    int status = j->makes_rules ? add_group(j, &j->defaults) : STATUS_OK;
    if (j->makes_rules) /* sites will be sorted by the measure */
        j->selects = j->selects || j->defaults.measure == MEASURE_BLOCKS;
    for (size_t i = 0; status == STATUS_OK && i < j->rules.count; i++)
        status = add_group(j, &j->rules.items[i]);
    return status;
}

static void free_groups(job *j) {
    for (size_t i = 0; i < j->groups.count; i++) {
        group *g = &j->groups.items[i];
        filter_free(g->filter);
        free(g->whole);
        lens_free(&g->lens);
        budget_tally_free(&g->tally);
    }
    vec_free(&j->groups);
}

/* ---- making a budget ------------------------------------------------------------------------- */

enum { FIRST_SHARE = 20 /* at least 1/20 of the total */ };

static bool is_listed(const job *j, const char *site) {
    for (size_t i = 0; i < j->rules.count; i++)
        if (strcmp(j->rules.items[i].site, site) == 0 &&
            j->rules.items[i].measure == j->defaults.measure)
            return true;
    return false;
}

/* Finds the largest functions by the default measure and filter. */
static bool find_functions(const job *j, hotspots *h) {
    query_result q;
    const query_spec spec = {.filter = j->groups.items[find_group(j, &j->defaults)].filter,
                             .measure = j->defaults.measure,
                             .moment = QUERY_END};
    if (!query_run(&q, &j->profile, &spec))
        return false;
    bool ok = hotspots_query(&q, HOTSPOTS_BY_FUNCTION, h);
    if (!j->defaults.filter && libraries_hold_most(&q))
        message_hint("most of it is allocated in libraries; --filter " LIBRARIES_HIDDEN
                     " writes budgets for the code that calls them");
    query_free(&q);
    return ok;
}

/* Makes rules for the whole program and its largest functions. Lines would change too often. */
static bool make_rules(job *j) {
    hotspots h;
    if (!find_functions(j, &h))
        return false;
    double covered = 0;
    bool ok = vec_push(&j->rules, j->defaults);
    for (size_t i = 0; ok && i < h.sites.count && i < j->opts->top; i++) {
        const hotspots_entry *e = &h.sites.items[i].entry;
        bool named = e->place && e->place->function[0] && e->place->function[0] != '$' &&
                     !profile_is_address(e->place);
        budget_rule rule = j->defaults;
        if (named && e->cost.weight * FIRST_SHARE >= h.total.weight &&
            !is_listed(j, e->place->function)) {
            rule.site = e->place->function;
            ok = vec_push(&j->rules, rule);
            covered += e->cost.weight;
        }
    }
    if (h.total.weight > 0)
        j->covered = (unsigned)(covered / h.total.weight * 100);
    hotspots_free(&h);
    return ok;
}

/* ---- the trace ----------------------------------------------------------------------------- */

static bool count_block(void *context, uint32_t node, const memtrace_event *event) {
    job *j = context;
    return budget_count(&j->tally, j->profile.info.sample_rate, node, event);
}

/* With a filter or another measure, blocks are counted after reading, when it is known which ones
 * count. */
static int count_kept(const job *j, group *g) {
    selection s;
    const char *text = g->whole ? g->whole : g->text;
    const int status = question_check_filter(&command_check, text, g->filter, &j->profile);
    if (status != STATUS_OK)
        return status;
    if (!filter_select(g->filter, &j->profile, &s))
        return message_no_memory();
    question_warn_nothing(&s, text, g->filter, &j->profile);
    g->tally.may = filter_bounds_of(g->filter, &j->profile);
    bool ok = budget_count_rows(&g->tally, &j->profile, g->measure, s.kept);
    selection_free(&s);
    return ok ? STATUS_OK : message_no_memory();
}

static int count_groups(job *j) {
    int status = STATUS_OK;
    for (size_t i = 0; status == STATUS_OK && i < j->groups.count; i++) {
        group *g = &j->groups.items[i];
        if (!lens_init(&g->lens, &j->profile, true, g->filter))
            status = message_no_memory();
        else if (j->selects)
            status = count_kept(j, g);
    }
    return status;
}

static int read_trace(job *j, const char *path) {
    const trace_profile_options from = {.strict = j->opts->question.strict,
                                        .index = j->opts->question.index,
                                        .says_end = !j->opts->update &&
                                                    question_is_text(&j->opts->question),
                                        .how = {.keep_blocks = j->selects,
                                                .block = j->selects ? NULL : count_block,
                                                .block_context = j}};
    int status = trace_profile_read(&j->in, &j->profile, path, &from);
    j->is_partial = status == STATUS_OK && profile_is_partial(&j->profile);
    trace_file_close(&j->in);
    if (status != STATUS_OK)
        return status;
    trace_file_doing(&j->in, "adding up");
    return count_groups(j);
}

/* If part of the trace is missing, a result stands only if the missing part cannot change it: an
 * excess can only grow. That does not apply to memory at the end, since missing frees could reduce
 * it. */
static void doubt(const budget_rule *r, budget_result *result) {
    const bool adds = r->measure != MEASURE_SURVIVED && r->measure != MEASURE_LIVE;
    if (adds && result->verdict == BUDGET_FAIL && result->actual.value > r->amount)
        return;
    result->verdict = BUDGET_UNDECIDED;
    result->deciding_rate = 0;
}

/* A maximum for a site that is gone is kept, but not one for a site that has changed its name or
 * line, or is misspelt. budget_judge knows sites that may not be symbolized. */
static void doubt_name(const profile *p, const budget_rule *r, budget_result *result) {
    result->is_renamed =
        result->is_unknown && result->verdict == BUDGET_PASS &&
        (budget_is_line(r->site) ? budget_knows_file(p, r->site)
                                 : similar_function(p, budget_site_name(r->site)) != NULL);
    if (result->is_renamed)
        result->verdict = BUDGET_UNDECIDED;
}

static int judge_rules(job *j) {
    bool ok = vec_reserve(&j->results, j->rules.count);
    for (size_t i = 0; ok && i < j->rules.count; i++) {
        const budget_rule *r = &j->rules.items[i];
        const group *g = &j->groups.items[find_group(j, r)];
        budget_result *result = &j->results.items[j->results.count++];
        ok = budget_judge(&g->lens, j->selects ? &g->tally : &j->tally, r, result);
        if (ok && j->is_partial)
            doubt(r, result);
        if (ok)
            doubt_name(&j->profile, r, result);
    }
    return ok ? STATUS_OK : message_no_memory();
}

/* ---- results ------------------------------------------------------------------------------- */

static check_report report_of(const job *j) {
    return (check_report){.rules = j->rules.items,
                          .results = j->results.items,
                          .n = j->rules.count,
                          .profile = &j->profile};
}

static int write_file(const job *j, const char *path,
                      void (*write)(output *, const check_report *)) {
    result_file file;
    const check_report c = report_of(j);
    int status = result_file_begin(&file, &command_check, path, false);
    if (status != STATUS_OK)
        return status;
    output out;
    output_start(&out, file.fd);
    write(&out, &c);
    int error = output_finish(&out);
    if (error)
        status = message_error("%s: %s", path, strerror(error));
    return result_file_end(&file, status);
}

static int show(const job *j) {
    const check_report c = report_of(j);
    document d = {0};
    check_document(&d, &c);
    const int status = question_show(&j->opts->question, &d);
    document_free(&d);
    return status;
}

/* Returns whether a measure counts all allocations. By other measures, a function may allocate and
 * still have no sample. */
static bool counts_all(measure m) {
    return m == MEASURE_ALLOCATED || m == MEASURE_BLOCKS || m == MEASURE_BYTESECONDS;
}

/* Warns about rules without samples. A limit for a function that only calls others is always
 * kept. */
static void say_unknown(const job *j) {
    for (size_t i = 0; i < j->rules.count; i++) {
        const budget_rule *rule = &j->rules.items[i];
        const char *site = rule->site;
        if (j->results.items[i].samples > 0)
            continue;
        if (j->results.items[i].is_unknown) {
            message_warning("nothing in the trace is called `%s`: it allocates %s, or %s", site,
                            j->profile.info.sample_rate < 1 ? "too little to be sampled"
                                                            : "nothing",
                            budget_is_line(site) ? "its line has moved" : "has a different name");
            similar_hint(&j->profile, budget_site_name(site));
        } else if (!rule->filter && counts_all(rule->measure) && !budget_is_under(site) &&
                   strcmp(site, "total") != 0)
            message_warning(
                "`%s` itself has no samples; `under:%s` also counts the functions that it calls",
                site, site);
    }
}

static int verdict(const job *j) {
    int status = STATUS_OK;
    for (size_t i = 0; i < j->results.count; i++) {
        if (j->results.items[i].verdict == BUDGET_FAIL)
            return STATUS_BEYOND;
        if (j->results.items[i].verdict == BUDGET_UNDECIDED)
            status = STATUS_UNSURE;
    }
    return status;
}

/* Says which part of the total the budgets cover, since nobody looks at the rest later. */
static void say_written(const job *j, size_t n_before, const char *trace) {
    const size_t n = j->rules.count, n_functions = j->makes_rules ? n - n_before - 1 : 0;
    const char *path = j->opts->update;
    if (!j->makes_rules)
        message_note("updated %zu limit%s in %s", n, n == 1 ? "" : "s", path);
    else if (n_functions > 0)
        message_note("%s %s: limits (%s) for the total, and for %zu function%s with %u%% of it",
                     n_before ? "added to" : "wrote", path, measure_infos[j->defaults.measure].name,
                     n_functions, n_functions == 1 ? "" : "s", j->covered);
    else
        message_note("%s %s: a limit (%s) for the total alone: no function has 5%% of it",
                     n_before ? "added to" : "wrote", path,
                     measure_infos[j->defaults.measure].name);
    if (j->makes_rules && n_before == 0 && j->defaults.measure == MEASURE_ALLOCATED)
        message_hint("to limit what is never freed, too: allotrace check --update %s --measure "
                     "survived %s",
                     path, origin_command_words(trace));
}

static int update(job *j, const char *trace) {
    const size_t n_before = j->rules.count;
    if (j->makes_rules && !make_rules(j))
        return message_no_memory();
    for (size_t i = 0; i < j->rules.count; i++)
        if (j->rules.items[i].within > 0)
            return message_error("%s: contains expectations; only limits can be updated",
                                 j->opts->update);
    int status = judge_rules(j);
    if (status == STATUS_OK)
        status = write_file(j, j->opts->update, budget_toml_write);
    if (status == STATUS_OK)
        say_written(j, n_before, trace);
    return status;
}

static int check(job *j) {
    int status = judge_rules(j);
    if (status == STATUS_OK)
        status = show(j);
    if (status == STATUS_OK)
        say_unknown(j);
    if (status == STATUS_OK && j->opts->junit)
        status = write_file(j, j->opts->junit, junit_write);
    return status == STATUS_OK ? verdict(j) : status;
}

static int check_usage(const check_command *o) {
    const question_options *form = &o->question;
    const bool limits = o->expect.n || o->max_allocated.n || o->max_peak.n || o->max_survived.n;
    const int status = question_check_form(&command_check, form);
    if (status != STATUS_OK)
        return status;
    if (o->update && (o->budget || limits || o->junit || form->json || form->csv || form->markdown))
        return message_usage(&command_check,
                             "check: --update writes a budget file: it cannot be combined with "
                             "limits, --budget or a form of output");
    if (!o->update && !o->budget && !limits)
        return message_usage(
            &command_check,
            "check needs a limit, such as --max-peak 100MB, or --budget or --update");
    return STATUS_OK;
}

static int run(const void *opts, char **operands) {
    job j = {.opts = opts, .path = operands[0]};
    int status = check_usage(opts);
    if (status == STATUS_OK)
        status = read_rules(&j);
    if (status == STATUS_OK)
        status = make_groups(&j);
    if (status == STATUS_OK)
        status = read_trace(&j, operands[0]);
    if (status == STATUS_OK)
        status = j.opts->update ? update(&j, operands[0]) : check(&j);
    vec_free(&j.results);
    vec_free(&j.rules);
    intern_free(&j.strings);
    budget_tally_free(&j.tally);
    free_groups(&j);
    profile_free(&j.profile);
    return status;
}

const command command_check = {
    .name = "check",
    .group = GROUP_LOOK,
    .operand = OPERAND_TRACE,
    .usage = "FILE…",
    .summary = "check a trace against budgets",
    .description =
        "Compares what sites allocated with limits. A check passes or fails if its whole 95% "
        "interval does; else it is undecided, and allotrace names a deciding rate.\n"
        "\n"
        "A site is a function, FILE:LINE (FILE may be the end of a path), or `total`. `under:SITE` "
        "counts everything allocated while SITE is on the stack.",
    .example = "allotrace check --max-peak 100MB --max-allocated 2GB out.ctf\n"
               "allotrace check --update budget.toml out.ctf\n"
               "allotrace check --budget budget.toml --junit verdicts.xml out.ctf\n",
    .statuses = "  3  a check failed\n"
                "  4  none failed, but at least one is undecided\n",
    OPTIONS_OF(options, defaults),
    .run = run,
};
