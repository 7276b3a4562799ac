/* advise.c: see advise.h. The text of a piece of advice answers, in this order: what is it, why is
 * it there, what can one do, what is that worth, how sure is it, how does one see whether it
 * helped. */
#include "present/advise.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/shell.h"
#include "base/utf8.h"

enum { WIDTH = 80, INDENT = 13, SHOWN_PLACES = 4 };

static size_t shown_items(const advise *a, const advise_view *view) {
    return view->top && view->top < a->items.count ? (size_t)view->top : a->items.count;
}

static const advise_place *places_of(const advise *a, const advice *item) {
    return &a->places.items[item->first_place];
}

static figure gain_of(const report *r, const advice *item) {
    figure f = report_figure(r, &item->cost);
    f.value *= item->gain;
    f.low *= item->gain;
    f.high *= item->gain;
    f.margin *= item->gain;
    return f;
}

bool advise_unsymbolized(const advise *a, const advise_view *view) {
    for (size_t i = 0; i < shown_items(a, view); i++) {
        const profile_location *l = places_of(a, &a->items.items[i])->location;
        if (l && profile_is_address(l))
            return true;
    }
    return false;
}

/* ---- pieces of text ---------------------------------------------------------------------- */

/* A label and a paragraph beside it. */
static void show_paragraph(output *o, const char *label, const char *text) {
    const size_t width = o->columns && o->columns < WIDTH ? o->columns : WIDTH;
    size_t column = INDENT;
    output_format(o, "       %-*s", INDENT - 7, label);
    for (bool first = true; *text; first = false) {
        const size_t size = strcspn(text, " "), wide = utf8_columns(text, size);
        if (!first && column + 1 + wide > width) {
            output_format(o, "\n%*s", INDENT, "");
            column = INDENT;
        } else if (!first) {
            output_char(o, ' ');
            column++;
        }
        output_bytes(o, text, size);
        column += wide;
        text += size;
        text += strspn(text, " ");
    }
    output_char(o, '\n');
}

/* One that was put together in memory. */
static void finish_paragraph(output *o, const char *label, output *text) {
    output_char(text, '\0');
    if (!text->error)
        show_paragraph(o, label, text->buffer);
    output_finish(text);
}

static void show_file(output *o, const profile_location *l) {
    if (l && report_has_file(l)) {
        output_text(o, " (");
        report_file(o, l, true);
        output_char(o, ')');
    }
}

static void show_place(output *o, const profile_location *l) {
    if (l)
        report_function(o, l);
    else
        output_text(o, "(no backtrace)");
}

/* FUNCTION (FILE:LINE, LINE, …) */
static void show_function(output *o, const report *r, const advise *a, const advice *item) {
    const advise_place *p = places_of(a, item);
    report_paint(o, r, REPORT_BOLD);
    show_place(o, p->location);
    report_paint(o, r, REPORT_PLAIN);
    if (!p->location || !report_has_file(p->location))
        return;
    output_text(o, " (");
    report_file(o, p->location, true);
    uint32_t i = 1;
    for (; i < item->n_places && i < SHOWN_PLACES && p[i].location->line; i++)
        output_format(o, ", %" PRIu32, p[i].location->line);
    output_text(o, i < item->n_places ? ", …)" : ")");
}

static void show_functions(output *o, const report *r, const advise *a, const advice *item,
                           const advise_view *view) {
    const advise_place *p = places_of(a, item);
    report_paint(o, r, REPORT_BOLD);
    output_format(o, "in %s functions", figure_count(item->n_places).text);
    report_paint(o, r, REPORT_PLAIN);
    output_format(o, ", each below %g%%:\n", view->min_share);
    for (uint32_t i = 0; i < item->n_places && i < SHOWN_PLACES; i++) {
        output_format(o, "%*s%4.1f%% ", 7, "", report_percent(r, &p[i].cost));
        show_place(o, p[i].location);
        show_file(o, p[i].location);
        output_text(o, i + 1 < item->n_places && i + 1 == SHOWN_PLACES ? ", …\n" : "\n");
    }
}

static void show_sizes(output *o, const report *r, const advise_blocks *b) {
    const double word = r->query->profile->info.word_size / 8.0;
    if (b->min_words == b->max_words)
        output_format(o, " of %" PRIu64 " word%s (%s)", b->words, b->words == 1 ? "" : "s",
                      figure_bytes((double)b->words * word).text);
    else
        output_format(o, " of %s to %s, %" PRIu32 " sizes",
                      figure_bytes((double)b->min_words * word).text,
                      figure_bytes((double)b->max_words * word).text, b->sizes);
    if (b->min_words != b->max_words && b->one_size >= 50)
        output_format(o, ", %.0f%% of %s", b->one_size, figure_bytes((double)b->words * word).text);
}

static void show_lives(output *o, const advice *item) {
    const advise_blocks *b = &item->blocks;
    if (b->alive >= 100)
        output_text(o, "; none is freed");
    else if (item->family == ADVISE_NATIVE)
        output_format(o, "; %.0f%% are freed within 1 ms", b->brief);
    else if (b->young > 0 || b->promoted > 0)
        output_format(o, "; %.0f%% die young, %.0f%% are promoted", b->young, b->promoted);
    if (b->alive >= 1 && b->alive < 100)
        output_format(o, "; %.0f%% are never freed", b->alive);
}

/* A factor that is nearly 1 would tell little. */
static void show_growth(output *o, const report *r, const advise_growth *g) {
    const double word = r->query->profile->info.word_size / 8.0, percent = 100 * (g->ratio - 1);
    if (percent < 10)
        output_format(o, "; they grow by about %s at a time (%.2g%%)",
                      figure_bytes(g->step * word).text, percent);
    else
        output_format(o, "; they grow by %.3g times", g->ratio);
}

/* An estimate of blocks with as many digits as it deserves. */
static figure_text show_number(const report *r, double number) {
    double unit = 1;
    while (r->query->profile->info.sample_rate < 1 && number / unit >= 1000)
        unit *= 10;
    return figure_count((uint64_t)(number / unit + 0.5) * (uint64_t)unit);
}

/* What a `<` opens ends there. */
static const char *skip_arguments(const char *c) {
    int depth = 0;
    do {
        depth += (*c == '<') - (*c == '>');
    } while (*c && (c++, depth > 0));
    return c;
}

/* A native name without return type, template arguments and parameters, of which C++ names of
 * libraries mostly consist. */
static void show_short_name(output *o, const char *name) {
    static const char word[] = "operator", anonymous[] = "(anonymous";
    output short_name;
    output_start(&short_name, OUTPUT_MEMORY);
    const char *const bare = advise_bare_name(name);
    for (const char *c = bare;
         *c && (*c != '(' || strncmp(c, anonymous, strlen(anonymous)) == 0);) {
        size_t size = strncmp(c, word, strlen(word)) == 0
                          ? strlen(word) + strspn(c + strlen(word), "()<>=!+-*/%^&|~[],")
                          : 1;
        if (*c == '<' && c > bare) {
            output_text(&short_name, "<…>");
            c = skip_arguments(c);
            continue;
        }
        if (strncmp(c, anonymous, strlen(anonymous)) == 0)
            size = strcspn(c, ")");
        output_bytes(&short_name, c, size);
        c += size;
    }
    output_char(&short_name, '\0');
    output_shown(o, short_name.error ? name : short_name.buffer);
    output_finish(&short_name);
}

/* Of the library. */
static void show_allocator(output *o, const advice *item) {
    if (item->family == ADVISE_NATIVE && item->allocator->function[0])
        show_short_name(o, item->allocator->function);
    else
        report_function(o, item->allocator);
}

static void show_what(output *o, const report *r, const advice *item) {
    const advise_blocks *b = &item->blocks;
    figure all = report_figure(r, &item->cost);
    output memory;
    output_start(&memory, OUTPUT_MEMORY);
    output_format(&memory, "%s%s", report_amount(r, all.value).text, report_beside(r, &all).text);
    if (measure_infos[r->query->measure].unit != UNIT_BLOCKS)
        output_format(&memory, " in %s%s block%s",
                      r->query->profile->info.sample_rate < 1 ? "about " : "",
                      show_number(r, b->number.value).text, b->number.value < 1.5 ? "" : "s");
    show_sizes(&memory, r, b);
    if (item->type) {
        output_text(&memory, item->family == ADVISE_NATIVE ? ", by " : ", ");
        output_shown(&memory, item->type);
    }
    if (item->rule && item->rule->by_growth)
        show_growth(&memory, r, &item->growth);
    show_lives(&memory, item);
    if (item->allocator) {
        output_text(&memory, "; from ");
        show_allocator(&memory, item);
        show_file(&memory, item->allocator);
    }
    finish_paragraph(o, "what", &memory);
}

/* ---- gain, certainty, commands ----------------------------------------------------------- */

static void show_bytes_gain(output *o, const report *r, const advice *item) {
    const double share = report_percent(r, &item->cost) * item->gain;
    figure f = gain_of(r, item);
    output_format(o, "at most %s%s, %.1f%% of all", report_amount(r, f.value).text,
                  report_beside(r, &f).text, share);
}

static void show_gain(output *o, const report *r, const advice *item) {
    if (!advise_rule_gains(item->rule))
        return;
    output memory;
    output_start(&memory, OUTPUT_MEMORY);
    if (item->rule->by_promotion)
        output_format(&memory, "no fewer allocations; at most %s less to promote",
                      figure_bytes(figure_of(r->query->profile, item->cost.samples).value *
                                   item->blocks.promoted / 100)
                          .text);
    else if (item->rule->by_calls)
        output_format(&memory, "no fewer bytes; at most %s fewer calls of the allocator",
                      show_number(r, item->blocks.number.value).text);
    else
        show_bytes_gain(&memory, r, item);
    output_text(&memory, !item->worth    ? ": not worth it"
                         : item->spreads ? ", from all these functions together"
                                         : "");
    finish_paragraph(o, "gain", &memory);
}

static void show_certainty(output *o, const advice *item) {
    output memory;
    output_start(&memory, OUTPUT_MEMORY);
    output_format(&memory, "%s: %s", advise_certainties[item->certainty], item->rule->evidence);
    if (item->certainty < item->rule->certainty)
        output_text(&memory, "; but there are few blocks");
    finish_paragraph(o, "sure", &memory);
}

static void show_word(output *o, const char *text) {
    char *word = shell_word(text);
    output_shown(o, word ? word : text);
    free(word);
}

static const char *const commands[] = {"hotspots", "diff"};
enum { N_COMMANDS = sizeof commands / sizeof *commands, DIFF = 1 };

/* Both what was asked for and what the advice is about. */
static void write_filter(output *o, const report *r, const advice *item) {
    output both;
    if (!r->filter && !item->filter[0])
        return;
    output_start(&both, OUTPUT_MEMORY);
    output_text(&both, r->filter ? r->filter : "");
    output_text(&both, r->filter && item->filter[0] ? " " : "");
    output_text(&both, item->filter);
    output_char(&both, '\0');
    output_text(o, "--filter ");
    if (!both.error)
        show_word(o, both.buffer);
    output_char(o, ' ');
    output_finish(&both);
}

static void write_command(output *o, const report *r, unsigned i, const advice *item,
                          const advise_view *view) {
    output_format(o, "allotrace %s ", commands[i]);
    const measure m = item->rule && item->rule->by_promotion ? MEASURE_PROMOTED : r->query->measure;
    if (m != MEASURE_ALLOCATED)
        output_format(o, "--measure %s ", measure_infos[m].name);
    write_filter(o, r, item);
    show_word(o, strcmp(view->trace, "-") == 0 ? "BEFORE.ctf" : view->trace);
    output_text(o, i == DIFF ? " AFTER.ctf" : "");
}

static void show_commands(output *o, const report *r, const advice *item, const advise_view *view) {
    for (unsigned i = 0; i < N_COMMANDS; i++) {
        output_format(o, "       %-*s", INDENT - 7, i ? "" : "check");
        report_paint(o, r, REPORT_FAINT);
        write_command(o, r, i, item, view);
        report_paint(o, r, REPORT_PLAIN);
        output_char(o, '\n');
    }
}

/* ---- text -------------------------------------------------------------------------------- */

/* Whether an item before this one has the same rule, so that the reader knows its words. */
static bool is_known(const advise *a, const advice *item) {
    for (const advice *other = a->items.items; other < item; other++)
        if (other->rule == item->rule)
            return true;
    return false;
}

static void show_reasons(output *o, const report *r, const advise *a, const advice *item) {
    if (item->few) {
        show_paragraph(o, "why", "Too few samples to say; record with a higher --rate.");
        return;
    }
    if (!item->rule) {
        show_paragraph(o, "why",
                       "No rule fits. Look at the place, and at who calls it (allotrace callers).");
        return;
    }
    const bool known = is_known(a, item);
    show_paragraph(o, "why", known ? "as above" : item->rule->why);
    if (!known)
        show_paragraph(o, "do", item->rule->what_to_do);
    show_gain(o, r, item);
    show_certainty(o, item);
}

/* What a place without a name is not: a function. */
static void show_addresses(output *o, const advise *a, const advice *item) {
    const profile_location *l = places_of(a, item)->location;
    output memory;
    if (!l || !profile_is_address(l))
        return;
    output_start(&memory, OUTPUT_MEMORY);
    output_format(&memory,
                  "an address, not a function: %.*s has no name for it. Other places of the same "
                  "function may count apart.",
                  (int)strcspn(l->function, "+"), l->function);
    finish_paragraph(o, "where", &memory);
}

static void show_item(output *o, const report *r, const advise *a, const advice *item,
                      const advise_view *view) {
    output_format(o, "\n%5.1f%% ", report_percent(r, &item->cost));
    if (item->spreads) {
        show_functions(o, r, a, item, view);
    } else {
        show_function(o, r, a, item);
        output_char(o, '\n');
    }
    if (item->rule)
        output_format(o, "       %s: %s\n", item->rule->name, item->rule->title);
    show_addresses(o, a, item);
    show_what(o, r, item);
    show_reasons(o, r, a, item);
    show_commands(o, r, item, view);
}

static void show_none(output *o, const report *r, const advise *a, const advise_view *view) {
    output_format(o, "\nNo function allocates %g%% of all in one way. The largest, ",
                  view->min_share);
    show_place(o, a->largest.location);
    show_file(o, a->largest.location);
    output_format(o, ", has %.1f%%.\n", report_percent(r, &a->largest.cost));
    output_text(o, view->min_share >= ADVISE_WORTH
                       ? "What can gain so little is not worth the work.\n"
                       : "");
}

static void show_rest(output *o, const report *r, const advise *a, size_t shown,
                      const advise_view *view) {
    cost rest = r->query->total;
    for (size_t i = 0; i < shown; i++)
        rest.weight -= a->items.items[i].cost.weight;
    if (shown == 0 || rest.weight <= 0)
        return;
    output_format(o, "\n%5.1f%% is allocated elsewhere or otherwise", report_percent(r, &rest));
    if (shown < a->items.count)
        output_format(o, "; %zu more above %g%% (--top)", a->items.count - shown, view->min_share);
    else
        output_format(o, ", each function and reason below %g%%", view->min_share);
    output_text(o, ".\n");
}

void advise_text(output *o, const report *r, const advise *a, const advise_view *view) {
    const size_t shown = shown_items(a, view);
    if (!report_text_head(o, r))
        return;
    if (a->items.count == 0)
        show_none(o, r, a, view);
    for (size_t i = 0; i < shown; i++)
        show_item(o, r, a, &a->items.items[i], view);
    show_rest(o, r, a, shown, view);
}

/* ---- JSON -------------------------------------------------------------------------------- */

static const char *const families[] = {
    [ADVISE_OCAML] = "ocaml", [ADVISE_NATIVE] = "native", [ADVISE_GUEST] = "guest"};

static void json_string(output *o, const char *text) {
    if (text)
        output_json(o, text);
    else
        output_text(o, "null");
}

static void json_text(output *o, const char *name, const char *text) {
    output_format(o, ",\"%s\":", name);
    json_string(o, text);
}

static void json_place(output *o, const profile_location *l) {
    output_text(o, "\"function\":");
    if (!l) {
        output_text(o, "null,\"file\":null,\"line\":0");
        return;
    }
    output_json(o, l->function);
    output_text(o, ",\"file\":");
    output_json(o, l->file);
    output_format(o, ",\"line\":%" PRIu32, l->line);
}

static void json_places(output *o, const report *r, const advise *a, const advice *item) {
    const advise_place *p = places_of(a, item);
    output_text(o, ",\n   \"places\":[");
    for (uint32_t i = 0; i < item->n_places; i++) {
        output_text(o, i ? ",{" : "{");
        json_place(o, p[i].location);
        output_char(o, ',');
        report_json_cost(o, r, &p[i].cost);
        output_char(o, '}');
    }
    output_char(o, ']');
}

static void json_blocks(output *o, const advice *item) {
    const advise_blocks *b = &item->blocks;
    output_format(o,
                  ",\n   \"what\":{\"number\":{\"value\":%.0f,\"low\":%.0f,\"high\":%.0f,"
                  "\"samples\":%" PRIu64 "}",
                  b->number.value, b->number.low, b->number.high, item->cost.samples);
    output_format(o, ",\"min_words\":%" PRIu64 ",\"max_words\":%" PRIu64 ",\"words\":%" PRIu64,
                  b->min_words, b->max_words, b->words);
    output_format(o, ",\"one_size\":%.4f,\"sizes\":%" PRIu32, b->one_size / 100, b->sizes);
    output_format(o, ",\"died_young\":%.4f,\"promoted\":%.4f,\"within_1ms\":%.4f", b->young / 100,
                  b->promoted / 100, b->brief / 100);
    output_format(o, ",\"never_freed\":%.4f", b->alive / 100);
    if (item->rule && item->rule->by_growth)
        output_format(o, ",\"grow_by\":%.4f", item->growth.ratio);
    json_text(o, "type", item->type);
    output_text(o, ",\"allocator\":{");
    json_place(o, item->allocator);
    output_text(o, "}}");
}

static void json_rule(output *o, const report *r, const advice *item) {
    const advise_rule *rule = item->rule;
    output_text(o, ",\n   \"rule\":");
    json_string(o, rule ? rule->name : NULL);
    json_text(o, "title", rule ? rule->title : NULL);
    json_text(o, "why", rule ? rule->why : NULL);
    json_text(o, "do", rule ? rule->what_to_do : NULL);
    json_text(o, "certainty", rule ? advise_certainties[item->certainty] : NULL);
    json_text(o, "evidence", rule ? rule->evidence : NULL);
    figure gain = gain_of(r, item);
    output_format(o, ",\"worth\":%s,\"gain\":{\"share\":%.6f,", item->worth ? "true" : "false",
                  report_percent(r, &item->cost) * item->gain / 100);
    figure_json(o, &gain);
    output_char(o, '}');
}

static void json_command(output *o, const report *r, unsigned i, const advice *item,
                         const advise_view *view) {
    output memory;
    output_start(&memory, OUTPUT_MEMORY);
    write_command(&memory, r, i, item, view);
    output_char(&memory, '\0');
    if (!memory.error)
        output_json(o, memory.buffer);
    output_finish(&memory);
}

static void json_item(output *o, const report *r, const advise *a, const advice *item,
                      const advise_view *view) {
    output_format(o, "{\"family\":\"%s\",\"spreads\":%s,\"few_samples\":%s,",
                  families[item->family], item->spreads ? "true" : "false",
                  item->few ? "true" : "false");
    report_json_cost(o, r, &item->cost);
    json_places(o, r, a, item);
    json_blocks(o, item);
    json_rule(o, r, item);
    json_text(o, "filter", item->filter);
    output_text(o, ",\"check\":[");
    for (unsigned i = 0; i < N_COMMANDS; i++) {
        output_text(o, i ? "," : "");
        json_command(o, r, i, item, view);
    }
    output_text(o, "]}");
}

void advise_json(output *o, const report *r, const advise *a, const advise_view *view) {
    const size_t shown = shown_items(a, view);
    output_char(o, '{');
    report_json_head(o, r);
    output_text(o, ",\n \"advice\":[");
    for (size_t i = 0; i < shown; i++) {
        output_text(o, i ? ",\n  " : "\n  ");
        json_item(o, r, a, &a->items.items[i], view);
    }
    output_format(o, "],\n \"omitted\":%zu,\"functions\":%" PRIu64 ",\"largest\":{",
                  a->items.count - shown, a->n_owners);
    json_place(o, a->largest.location);
    output_char(o, ',');
    report_json_cost(o, r, &a->largest.cost);
    output_text(o, "}}\n");
}

/* ---- CSV --------------------------------------------------------------------------------- */

static void csv_item(output *o, const report *r, const advise *a, const advice *item) {
    const profile_location *l = item->spreads ? NULL : places_of(a, item)->location;
    report_csv_cost(o, r, &item->cost);
    output_format(o, ",%s,%s,%s,%.6f,", item->rule ? item->rule->name : "",
                  item->rule ? advise_certainties[item->certainty] : "", item->worth ? "yes" : "no",
                  report_percent(r, &item->cost) * item->gain / 100);
    output_csv(o, l ? l->function : "");
    output_char(o, ',');
    output_csv(o, l ? l->file : "");
    output_char(o, ',');
    if (l && l->line)
        output_u64(o, l->line, 0, ' ');
    output_format(o, ",%" PRIu32 ",", item->n_places);
    output_csv(o, item->filter);
    output_char(o, '\n');
}

void advise_csv(output *o, const report *r, const advise *a, const advise_view *view) {
    output_text(o, REPORT_CSV_COLUMNS
                ",rule,certainty,worth,gain_share,function,file,line,places,filter\n");
    for (size_t i = 0; i < shown_items(a, view); i++)
        csv_item(o, r, a, &a->items.items[i]);
}
