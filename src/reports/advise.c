/* advise.c: a piece of advice answers, in this order: what is it, why is it there, what can be
 * done, what would that gain, how certain is it, and how to see whether it helped. */
#include "reports/advise.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/shell.h"

enum { SHOWN_PLACES = 4, DIFF = 1 };

static const char *const commands[ADVISE_COMMANDS] = {"hotspots", [DIFF] = "diff"};

static const char *const families[] = {
    [ADVISE_OCAML] = "ocaml", [ADVISE_NATIVE] = "native", [ADVISE_GUEST] = "guest"};

static const advise_report *report_of(const table *t) {
    return (const advise_report *)((const char *)t->context - offsetof(advise_report, rows));
}

static const advise_row *row_of(const void *row) {
    return row;
}

static const advice *item_of(const void *row) {
    return row_of(row)->item;
}

static const advise_place *places_of(const advise_report *r, const advice *item) {
    return &r->advise->places.items[item->first_place];
}

static const cost *cost_of_row(const void *row) {
    return &item_of(row)->cost;
}

static const advise_place *place_of(const void *row) {
    return row;
}

static const cost *cost_of_place(const void *row) {
    return &place_of(row)->cost;
}

static figure gain_of(const report *r, const advice *item) {
    figure f = report_figure(r, &item->cost);
    f.value *= item->gain;
    f.low *= item->gain;
    f.high *= item->gain;
    f.margin *= item->gain;
    return f;
}

/* ---- words ------------------------------------------------------------------------------- */

static figure_text bytes_of_words(const report *r, double words) {
    return figure_bytes(words * r->query->profile->info.word_size / 8);
}

static const char *amount_words(document *d, const report *r, const figure *f) {
    const measure_unit unit = report_unit(r);
    return document_text(d, "%s%s", figure_amount(unit, f->value).text,
                         figure_beside(figure_margin_in(unit, f)).text);
}

/* Returns the further lines of a function that allocates on several lines. */
static const char *line_words(document *d, const advise_place *p, uint32_t n) {
    char lines[SHOWN_PLACES * 12] = "";
    uint32_t i = 1;
    for (; i < n && i < SHOWN_PLACES && p[i].location->line; i++)
        snprintf(lines + strlen(lines), sizeof lines - strlen(lines), "%s%" PRIu32,
                 i > 1 ? ", " : "", p[i].location->line);
    return i > 1
               ? document_text(d, "(also line%s %s%s)", n > 2 ? "s" : "", lines, i < n ? ", …" : "")
               : NULL;
}

/* Returns the text after the place, or instead of one. */
static const char *head_words(document *d, const advise_report *r, const advice *item) {
    const advise_place *p = places_of(r, item);
    if (item->spreads)
        return document_text(d,
                             "in %s functions, each below %g%%:", figure_count(item->n_places).text,
                             r->view.min_share);
    return p->location ? line_words(d, p, item->n_places) : TABLE_NO_STACK;
}

/* Explains a place that is an address because its function has no name. */
static const char *where_words(document *d, const advise_report *r, const advice *item) {
    const profile_location *l = places_of(r, item)->location;
    return profile_is_address(l)
               ? document_text(d,
                               "an address, because %.*s has no symbol for it. Other addresses of "
                               "the same function may be counted separately.",
                               (int)strcspn(l->function, "+"), l->function)
               : NULL;
}

/* Returns an estimated number of blocks, rounded to as many digits as are meaningful. */
static figure_text number_words(const report *r, double number) {
    double unit = 1;
    while (r->query->profile->info.sample_rate < 1 && number / unit >= 1000)
        unit *= 10;
    return figure_count((uint64_t)(number / unit + 0.5) * (uint64_t)unit);
}

static const char *block_words(document *d, const report *r, double number) {
    if (report_unit(r) == UNIT_BLOCKS)
        return "";
    return document_text(d, " in %s%s block%s",
                         r->query->profile->info.sample_rate < 1 ? "about " : "",
                         number_words(r, number).text, number < 1.5 ? "" : "s");
}

static const char *size_words(document *d, const report *r, const advise_blocks *b) {
    const figure_text common = bytes_of_words(r, (double)b->words);
    char most[80] = "";
    if (b->min_words == b->max_words)
        return document_text(d, " of %" PRIu64 " word%s (%s)", b->words, b->words == 1 ? "" : "s",
                             common.text);
    if (b->one_size >= 50)
        snprintf(most, sizeof most, ", %.0f%% of %s", b->one_size, common.text);
    return document_text(d, " of %s to %s, %" PRIu32 " sizes%s",
                         bytes_of_words(r, (double)b->min_words).text,
                         bytes_of_words(r, (double)b->max_words).text, b->sizes, most);
}

static bool grows(const advice *item) {
    return item->rule && item->rule->by_growth;
}

/* Returns the factor by which blocks grow; for a factor near 1 also the step, which says more. */
static const char *growth_words(document *d, const report *r, const advice *item) {
    const advise_growth *g = &item->growth;
    const double percent = 100 * (g->ratio - 1);
    if (!grows(item))
        return "";
    return percent < 10 ? document_text(d, "; they grow by about %s at a time (%.2g%%)",
                                        bytes_of_words(r, g->step).text, percent)
                        : document_text(d, "; they grow by a factor of %.3g", g->ratio);
}

static const char *life_words(document *d, const advice *item) {
    const advise_blocks *b = &item->blocks;
    char early[80] = "", alive[60] = "";
    if (b->alive >= 100)
        return "; none is freed";
    if (item->family == ADVISE_NATIVE)
        snprintf(early, sizeof early, "; %.0f%% are freed within 1 ms", b->brief);
    else if (b->young > 0 || b->promoted > 0)
        snprintf(early, sizeof early, "; %.0f%% die young, %.0f%% are promoted", b->young,
                 b->promoted);
    if (b->alive >= 1)
        snprintf(alive, sizeof alive, "; %.0f%% are never freed", b->alive);
    return document_text(d, "%s%s", early, alive);
}

static const char *what_words(document *d, const report *r, const advice *item) {
    const figure all = report_figure(r, &item->cost);
    const char *by = !item->type ? "" : item->family == ADVISE_NATIVE ? ", by " : ", ";
    return document_text(d, "%s%s%s%s%s%s%s", amount_words(d, r, &all),
                         block_words(d, r, item->blocks.number.value),
                         size_words(d, r, &item->blocks), by, item->type ? item->type : "",
                         growth_words(d, r, item), life_words(d, item));
}

static const char *most_words(document *d, const report *r, const advice *item) {
    const figure most = gain_of(r, item);
    if (item->rule->by_promotion)
        return document_text(d, "same allocations, but at most %s less to promote",
                             figure_bytes(cost_bytes(r->query->profile, item->cost.samples) *
                                          item->blocks.promoted / 100)
                                 .text);
    if (item->rule->by_calls)
        return document_text(d, "same bytes, but at most %s fewer calls of the allocator",
                             number_words(r, item->blocks.number.value).text);
    return document_text(d, "at most %s, %.1f%% of the total", amount_words(d, r, &most),
                         report_percent(r, &item->cost) * item->gain);
}

static const char *gain_words(document *d, const report *r, const advice *item) {
    if (!item->rule || !advise_rule_gains(item->rule))
        return NULL;
    return document_text(d, "%s%s", most_words(d, r, item),
                         !item->worth    ? ": not worth it"
                         : item->spreads ? ", from all these functions together"
                                         : "");
}

static const char *sure_words(document *d, const advice *item) {
    return item->rule
               ? document_text(
                     d, "%s: %s%s", advise_certainties[item->certainty], item->rule->evidence,
                     item->certainty < item->rule->certainty ? "; but there are few blocks" : "")
               : NULL;
}

/* ---- commands ---------------------------------------------------------------------------- */

static const char *word_of(document *d, const char *text) {
    char *word = shell_word(text);
    const char *kept = document_text(d, "%s", word ? word : text);
    free(word);
    return kept ? kept : "";
}

/* Combines the user's filter with that of the advice. */
static const char *filter_words(document *d, const report *r, const advice *item) {
    const char *asked = r->asked ? r->asked : r->filter ? r->filter : "";
    if (!*asked && !item->filter[0])
        return "";
    const char *both =
        document_text(d, "%s%s%s", asked, *asked && item->filter[0] ? " " : "", item->filter);
    return document_text(d, "--filter %s ", both ? word_of(d, both) : "");
}

static const char *command_words(document *d, const advise_report *r, const advice *item, int i) {
    const measure m =
        item->rule && item->rule->by_promotion ? MEASURE_PROMOTED : r->report->query->measure;
    const bool by_measure = m != MEASURE_ALLOCATED;
    return document_text(d, "allotrace %s %s%s%s%s%s%s", commands[i],
                         by_measure ? "--measure " : "", by_measure ? measure_infos[m].name : "",
                         by_measure ? " " : "", filter_words(d, r->report, item),
                         word_of(d, strcmp(r->view.trace, "-") == 0 ? "BEFORE.ctf" : r->view.trace),
                         i == DIFF ? " AFTER.ctf" : "");
}

/* ---- rows -------------------------------------------------------------------------------- */

static bool is_known(const advice_list *a, const advice *item) {
    for (const advice *other = a->items.items; other < item; other++)
        if (item->rule && other->rule == item->rule)
            return true;
    return false;
}

static void make_row(document *d, const advise_report *r, const advice *item, advise_row *row) {
    const advise_rule *rule = item->rule;
    *row = (advise_row){
        .item = item,
        .is_known = is_known(r->advise, item),
        .head = head_words(d, r, item),
        .title = rule ? document_text(d, "%s: %s", rule->name, rule->title) : NULL,
        .where = where_words(d, r, item),
        .what = what_words(d, r->report, item),
        .gain = gain_words(d, r->report, item),
        .sure = sure_words(d, item),
    };
    for (int i = 0; i < ADVISE_COMMANDS; i++)
        row->check[i] = command_words(d, r, item, i);
}

static void make_rows(document *d, advise_report *r) {
    const size_t n = r->advise->items.count;
    r->shown = r->view.top && r->view.top < n ? (size_t)r->view.top : n;
    advise_row *rows = document_keep(d, r->shown * sizeof *rows);
    for (size_t i = 0; rows && i < r->shown; i++)
        make_row(d, r, &r->advise->items.items[i], &rows[i]);
    r->shown = rows ? r->shown : 0;
    r->made = rows;
    r->rows = (report_rows){.report = r->report, .cost = cost_of_row};
    r->places = (report_rows){.report = r->report, .cost = cost_of_place};
}

/* ---- places ------------------------------------------------------------------------------ */

TABLE_CELL(place_location, (cell){.place = place_of(row)->location})

static const table_column place_columns[] = {
    {.name = "place",
     .kind = COLUMN_PLACE,
     .in = IN_JSON,
     .get = place_location,
     .help = "a line of the function, or one of the functions"},
    REPORT_COLUMNS_COST,
};

static const table_column function_columns[] = {
    {.name = "share", .kind = COLUMN_SHARE, .get = report_cell_share, .help = "of the total"},
    {.name = "place",
     .kind = COLUMN_PLACE,
     .get = place_location,
     .help = "one of the functions, where it allocates most"},
};

static void fill_places(const advise_report *r, const advice *item, table *below) {
    below->rows = places_of(r, item);
    below->stride = sizeof(advise_place);
    below->n = item->n_places;
    below->context = &r->places;
    below->no_name = TABLE_NO_STACK;
}

static bool row_places(const table *t, const void *row, table *below) {
    fill_places(report_of(t), item_of(row), below);
    return true;
}

static bool row_functions(const table *t, const void *row, table *below) {
    if (!item_of(row)->spreads)
        return false;
    fill_places(report_of(t), item_of(row), below);
    below->omitted = below->n > SHOWN_PLACES ? below->n - SHOWN_PLACES : 0;
    below->n -= below->omitted;
    return true;
}

/* ---- what the blocks are ----------------------------------------------------------------- */

static const advise_blocks *blocks_of(const void *row) {
    return &item_of(row)->blocks;
}

TABLE_CELL(which_number,
           (cell){.amount = figure_of_estimate(blocks_of(row)->number, item_of(row)->cost.samples)})

/* X(name, field, help): columns of counts and shares. */
#define BLOCKS_COUNTS(X)                                                                           \
    X(min_words, min_words, "words of the smallest, without header")                               \
    X(max_words, max_words, "of the largest")                                                      \
    X(words, words, "of the commonest size")
#define BLOCKS_SHARES(X)                                                                           \
    X(died_young, young, "of the samples: in blocks that died before they were promoted")          \
    X(promoted, promoted, "in blocks that were promoted")                                          \
    X(within_1ms, brief, "in blocks that were freed within 1 ms")                                  \
    X(never_freed, alive, "in blocks that are never freed")

#define BLOCKS_COUNT(name, field, help)                                                            \
    TABLE_CELL(which_##name, (cell){.count = blocks_of(row)->field})
#define BLOCKS_SHARE(name, field, help)                                                            \
    TABLE_CELL(which_##name, (cell){.number = blocks_of(row)->field / 100})
BLOCKS_COUNTS(BLOCKS_COUNT)
BLOCKS_COUNT(sizes, sizes, "")
BLOCKS_SHARE(one_size, one_size, "")
BLOCKS_SHARES(BLOCKS_SHARE)
#undef BLOCKS_COUNT
#undef BLOCKS_SHARE

TABLE_CELL(which_growth,
           grows(item_of(row)) ? (cell){.number = item_of(row)->growth.ratio} : cell_absent())

static cell words_or_none(const char *text) {
    return text ? (cell){.text = text} : cell_none();
}

TABLE_CELL(which_type, words_or_none(item_of(row)->type))
TABLE_CELL(row_allocator,
           item_of(row)->allocator ? (cell){.place = item_of(row)->allocator} : cell_none())

static const table_column allocator_columns[] = {
    {.name = "place", .kind = COLUMN_PLACE, .get = row_allocator, .help = "of the library"},
};

static const table_column blocks_columns[] = {
    {.name = "number",
     .kind = COLUMN_AMOUNT,
     .get = which_number,
     .help = "how many the program allocated"},
#define BLOCKS_COLUMN(kind_, name_, help_)                                                         \
    {.name = #name_, .kind = COLUMN_##kind_, .get = which_##name_, .help = help_},
#define BLOCKS_COUNT(name, field, help) BLOCKS_COLUMN(COUNT, name, help)
#define BLOCKS_SHARE(name, field, help) BLOCKS_COLUMN(SHARE, name, help)
    BLOCKS_COUNTS(BLOCKS_COUNT) BLOCKS_SHARE(one_size, one_size, "of the samples: of that size")
        BLOCKS_COUNT(sizes, sizes, "how many sizes there are") BLOCKS_SHARES(BLOCKS_SHARE)
#undef BLOCKS_COUNT
#undef BLOCKS_SHARE
#undef BLOCKS_COLUMN
            {.name = "grow_by",
             .kind = COLUMN_NUMBER,
             .get = which_growth,
             .help = "if they grow out of each other: by this factor"},
    {.name = "type", .kind = COLUMN_TEXT, .get = which_type, .help = "of most, if it is recorded"},
    {.name = "allocator",
     .kind = COLUMN_OBJECT,
     TABLE_COLUMNS(allocator_columns),
     .help = "the function of the library that allocates most of them"},
};

/* ---- columns ----------------------------------------------------------------------------- */

TABLE_CELL(row_family, (cell){.text = families[item_of(row)->family]})

static cell row_place(const table *t, const void *row) {
    const advice *item = item_of(row);
    const profile_location *l = places_of(report_of(t), item)->location;
    return item->spreads || !l ? cell_none() : (cell){.place = l};
}

TABLE_CELL(row_n_places, (cell){.count = item_of(row)->n_places})

#define ROW_FLAGS(X)                                                                               \
    X(spreads)                                                                                     \
    X(few)                                                                                         \
    X(worth)
#define ROW_FLAG(name) TABLE_CELL(row_##name, (cell){.flag = item_of(row)->name})
ROW_FLAGS(ROW_FLAG)
#undef ROW_FLAG

/* X(name, words): texts of the row, and of its rule, if it has one. */
#define ROW_TEXTS(X)                                                                               \
    X(head, row_of(row)->head)                                                                     \
    X(heading, row_of(row)->title)                                                                 \
    X(where, row_of(row)->where)                                                                   \
    X(what, row_of(row)->what)                                                                     \
    X(gain, row_of(row)->gain)                                                                     \
    X(sure, row_of(row)->sure)                                                                     \
    X(filter, item_of(row)->filter)                                                                \
    X(rule, item_of(row)->rule ? item_of(row)->rule->name : NULL)                                  \
    X(title, item_of(row)->rule ? item_of(row)->rule->title : NULL)                                \
    X(why, item_of(row)->rule ? item_of(row)->rule->why : NULL)                                    \
    X(do, item_of(row)->rule ? item_of(row)->rule->what_to_do : NULL)                              \
    X(evidence, item_of(row)->rule ? item_of(row)->rule->evidence : NULL)                          \
    X(certainty, item_of(row)->rule ? advise_certainties[item_of(row)->certainty] : NULL)
#define ROW_TEXT(name, words) TABLE_CELL(row_##name, words_or_none(words))
ROW_TEXTS(ROW_TEXT)
#undef ROW_TEXT

/* Returns the reason once for each rule, for readers of the whole list. */
static cell row_reason(const table *t, const void *row) {
    const advise_row *r = row;
    (void)t;
    return words_or_none(
        r->item->few ? "Too few samples to tell; record with a higher --rate."
        : !r->item->rule
            ? "No rule applies. Look at the code, and at its callers (allotrace callers)."
        : r->is_known ? "as above"
                      : r->item->rule->why);
}

TABLE_CELL(row_remedy, row_of(row)->is_known ? cell_none() : row_do(t, row))
TABLE_CELL(row_gain_share, (cell){.number = report_cell_share(t, row).number * item_of(row)->gain})
TABLE_CELL(row_gain_amount, (cell){.amount = gain_of(report_of(t)->report, item_of(row))})

static const table_column gain_columns[] = {
    {.name = "share", .kind = COLUMN_SHARE, .get = row_gain_share, .help = "of the total"},
    {.name = "", .kind = COLUMN_AMOUNT, .get = row_gain_amount, .help = "in the unit"},
};

TABLE_CELL(check_command, words_or_none(*(const char *const *)row))

static const table_column check_columns[] = {
    {.name = "", .kind = COLUMN_TEXT, .whole = true, .get = check_command, .help = "a command"},
};

static bool row_checks(const table *t, const void *row, table *below) {
    (void)t;
    below->rows = row_of(row)->check;
    below->stride = sizeof *row_of(row)->check;
    below->n = ADVISE_COMMANDS;
    return true;
}

static const table_column columns[] = {
    {.name = "family",
     .kind = COLUMN_TEXT,
     .in = IN_JSON,
     .get = row_family,
     .help = "ocaml, native or guest"},
    {.name = "spreads",
     .kind = COLUMN_FLAG,
     .in = IN_JSON | IN_PAGE,
     .get = row_spreads,
     .help = "whether it is about many functions, each of which is too small by itself"},
    {.name = "few_samples",
     .kind = COLUMN_FLAG,
     .in = IN_JSON,
     .get = row_few,
     .help = "whether there are too few samples to say more than where"},
    {.name = "share",
     .kind = COLUMN_SHARE,
     .get = report_cell_share,
     .help = "the part of the total, 0 to 1"},
    {.name = "",
     .kind = COLUMN_AMOUNT,
     .in = IN_DATA,
     .get = report_cell_amount,
     .help = "the estimate in the unit of the measure, and the ends of its 95% interval"},
    {.name = "blocks",
     .kind = COLUMN_COUNT,
     .in = IN_DATA,
     .get = report_cell_blocks,
     .help = "sampled blocks"},
    {.name = "place",
     .kind = COLUMN_PLACE,
     .in = IN_TEXT | IN_PAGE,
     .get = row_place,
     .help = "the function, and its line that allocates most; none if it is about many"},
    {.name = "head",
     .kind = COLUMN_TEXT,
     .in = IN_TEXT | IN_PAGE,
     .get = row_head,
     .help = "further lines, or how many functions it is about"},
    {.name = "functions",
     .title = "",
     .kind = COLUMN_ROWS,
     .in = IN_TEXT | IN_PAGE,
     .field = true,
     TABLE_COLUMNS(function_columns),
     .below = row_functions,
     .help = "of many functions, the largest"},
    {.name = "places",
     .kind = COLUMN_ROWS,
     .in = IN_JSON,
     TABLE_COLUMNS(place_columns),
     .below = row_places,
     .help = "the lines of the function, or the functions"},
    {.name = "what",
     .kind = COLUMN_OBJECT,
     .in = IN_JSON,
     TABLE_COLUMNS(blocks_columns),
     .help = "what the blocks are"},
    {.name = "rule",
     .kind = COLUMN_TEXT,
     .in = IN_DATA,
     .get = row_rule,
     .help = "the rule that fits; docs/advise.md lists them"},
    {.name = "title",
     .kind = COLUMN_TEXT,
     .in = IN_JSON | IN_PAGE,
     .get = row_title,
     .help = "what it says, in short"},
    {.name = "heading",
     .title = "",
     .kind = COLUMN_TEXT,
     .in = IN_TEXT,
     .field = true,
     .get = row_heading,
     .help = "both"},
    {.name = "where",
     .kind = COLUMN_TEXT,
     .in = IN_TEXT | IN_PAGE,
     .field = true,
     .get = row_where,
     .help = "what a place without a name is"},
    {.name = "what",
     .kind = COLUMN_TEXT,
     .in = IN_TEXT | IN_PAGE,
     .field = true,
     .get = row_what,
     .help = "what it allocates: amount, number, sizes, lifetimes"},
    {.name = "from",
     .kind = COLUMN_PLACE,
     .in = IN_TEXT | IN_PAGE,
     .field = true,
     .get = row_allocator,
     .help = "the function of the library that allocates most of it"},
    {.name = "why",
     .kind = COLUMN_TEXT,
     .in = IN_JSON | IN_PAGE,
     .get = row_why,
     .help = "why the function allocates"},
    {.name = "why",
     .kind = COLUMN_TEXT,
     .in = IN_TEXT,
     .field = true,
     .get = row_reason,
     .help = "the same, said once"},
    {.name = "do",
     .kind = COLUMN_TEXT,
     .in = IN_JSON | IN_PAGE,
     .get = row_do,
     .help = "what one can do about it"},
    {.name = "do",
     .kind = COLUMN_TEXT,
     .in = IN_TEXT,
     .field = true,
     .get = row_remedy,
     .help = "the same, said once"},
    {.name = "certainty",
     .kind = COLUMN_TEXT,
     .in = IN_DATA,
     .get = row_certainty,
     .help = "how sure the reason is: definite, likely or guess"},
    {.name = "evidence",
     .kind = COLUMN_TEXT,
     .in = IN_JSON,
     .get = row_evidence,
     .help = "what it rests on"},
    {.name = "worth",
     .kind = COLUMN_FLAG,
     .in = IN_DATA,
     .get = row_worth,
     .help = "whether it can gain 10% of the total or more"},
    {.name = "gain",
     .kind = COLUMN_OBJECT,
     .in = IN_JSON,
     TABLE_COLUMNS(gain_columns),
     .help = "the most that this can gain"},
    {.name = "gain_share",
     .kind = COLUMN_SHARE,
     .in = IN_CSV | IN_PAGE,
     .get = row_gain_share,
     .help = "the same as a share of the total"},
    {.name = "gain",
     .kind = COLUMN_TEXT,
     .in = IN_TEXT | IN_PAGE,
     .field = true,
     .get = row_gain,
     .help = "the same in words"},
    {.name = "sure",
     .kind = COLUMN_TEXT,
     .in = IN_TEXT | IN_PAGE,
     .field = true,
     .get = row_sure,
     .help = "certainty and evidence in words"},
    {.name = "place",
     .kind = COLUMN_PLACE,
     .in = IN_CSV,
     .get = row_place,
     .help = "the function; empty if it is about many"},
    {.name = "places",
     .kind = COLUMN_COUNT,
     .in = IN_CSV,
     .get = row_n_places,
     .help = "how many lines the function has, or how many functions there are"},
    {.name = "filter",
     .kind = COLUMN_TEXT,
     .in = IN_DATA,
     .get = row_filter,
     .help = "keeps these blocks, and few others"},
    {.name = "check",
     .kind = COLUMN_ROWS,
     .in = IN_TEXT | IN_JSON | IN_PAGE,
     .field = true,
     TABLE_COLUMNS(check_columns),
     .below = row_checks,
     .help = "commands that show the same blocks, and what became of them"},
};

table advise_table(document *d, advise_report *r) {
    make_rows(d, r);
    return (table){.name = "advice",
                   TABLE_COLUMNS(columns),
                   .rows = r->made,
                   .stride = sizeof *r->made,
                   .n = r->shown,
                   .context = &r->rows,
                   .unit = report_unit(r->report),
                   .by_line = true,
                   .is_records = true};
}

/* ---- the rest ------------------------------------------------------------------------------ */

static const advise_report *rest_of(const void *row) {
    return row;
}

TABLE_CELL(rest_omitted, (cell){.count = rest_of(row)->advise->items.count - rest_of(row)->shown})
TABLE_CELL(rest_functions, (cell){.count = rest_of(row)->advise->n_owners})

static bool rest_largest(const table *t, const void *row, table *below) {
    const advise_report *r = row;
    (void)t;
    below->rows = &r->advise->largest;
    below->n = 1;
    below->context = &r->places;
    return true;
}

static const table_column rest_columns[] = {
    {.name = "omitted",
     .kind = COLUMN_COUNT,
     .get = rest_omitted,
     .help = "pieces of advice that are not listed"},
    {.name = "functions",
     .kind = COLUMN_COUNT,
     .get = rest_functions,
     .help = "functions that allocate at all"},
    {.name = "largest",
     .kind = COLUMN_OBJECT,
     TABLE_COLUMNS(place_columns),
     .below = rest_largest,
     .help = "the function that allocates most, for whatever reason"},
};

static const char *place_words(document *d, const profile_location *l) {
    if (!l)
        return "without a call stack";
    const char *function = l->function[0] ? l->function : "(unknown function)";
    char line[16] = "";
    if (l->line)
        snprintf(line, sizeof line, ":%" PRIu32, l->line);
    return l->file[0] && !profile_is_address(l)
               ? document_text(d, "%s%s %s", l->file, line, function)
               : function;
}

static void say_none(document *d, const advise_report *r) {
    const advise_place *largest = &r->advise->largest;
    document_note(
        d, "No function allocates %g%% of the total for one reason. The largest, %s, has %.1f%%.",
        r->view.min_share, place_words(d, largest->location),
        report_percent(r->report, &largest->cost));
    if (r->view.min_share >= ADVISE_WORTH)
        document_note(d, "Nothing here is worth optimising.");
}

static void say_rest(document *d, const advise_report *r) {
    const size_t left = r->advise->items.count - r->shown;
    cost rest = r->report->query->total;
    for (size_t i = 0; i < r->shown; i++)
        rest.weight -= r->made[i].item->cost.weight;
    const double percent = report_percent(r->report, &rest);
    if (left > 0)
        document_note(
            d, "For the other %.1f%%, there %s %s more piece%s of advice above %g%% (--top).",
            percent, left == 1 ? "is" : "are", figure_count(left).text, left == 1 ? "" : "s",
            r->view.min_share);
    else if (percent >= 0.05)
        document_note(d, "The other %.1f%% is spread over functions and reasons below %g%% each.",
                      percent, r->view.min_share);
}

void advise_document(document *d, advise_report *r) {
    const table rows = advise_table(d, r);
    const table rest = {
        .name = "", TABLE_COLUMNS(rest_columns), .rows = r, .n = 1, .by_line = true};
    const bool any = report_head(d, r->report);
    document_rows(d, &rows, IN_ALL, NULL);
    document_object(d, &rest, IN_JSON);
    if (any && rows.n == 0)
        say_none(d, r);
    else if (any)
        say_rest(d, r);
}

bool advise_unsymbolized(const advise_report *r) {
    for (size_t i = 0; i < r->shown; i++)
        if (profile_is_address(places_of(r, r->made[i].item)->location))
            return true;
    return false;
}
