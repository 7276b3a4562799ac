/* run_findings.c: the numbers are those of `allotrace FILE`, made by the same query. */
#include "cli/run/run_findings.h"

#include "advice/advise.h"
#include "query/figure.h"
#include "query/leaks.h"
#include "query/peak.h"
#include "render/shorten.h"

enum {
    MOST_BLOCKS = 500000, /* which takes a tenth of a second */
    SHOWN_NAME = 56,      /* columns of a place */
};

static void say_command(output *o, const char *command, const char *trace) {
    output_format(o, ": allotrace %s ", command);
    output_shown(o, trace);
    output_char(o, '\n');
}

static void say_place(output *o, const profile_location *place) {
    if (place)
        shorten_place(o, place, true, SHOWN_NAME);
    else
        output_text(o, "(no backtrace)");
}

static bool say_peak(output *o, const profile *p, const char *trace) {
    peak found;
    if (!peak_query(p, NULL, &found) || found.own.samples == 0)
        return false;
    const figure most = figure_of(p, found.own.samples), end = figure_of(p, found.end_samples);
    output_format(o, "allotrace: peak: %s%s at %s; %s%s at the end", figure_bytes(most.value).text,
                  figure_beside(figure_margin(&most)).text, figure_duration(found.at.time).text,
                  figure_bytes(end.value).text, figure_beside(figure_margin(&end)).text);
    say_command(o, "peak", trace);
    return true;
}

/* Sites that grow come first. */
static bool say_growing(output *o, const query_result *q, const char *trace) {
    const leaks_spec spec = {.may = q->may, .warm_up = 0.25};
    leaks found;
    size_t n = 0;
    if (!leaks_query(&q->lens, &spec, &found))
        return false;
    while (n < found.sites.count && found.sites.items[n].class == LEAKS_GROWING)
        n++;
    if (n > 0) {
        const leaks_site *first = &found.sites.items[0];
        output_text(o, "allotrace: growing: ");
        say_place(o, first->place);
        output_format(o, " by %s/s", figure_bytes(first->slope.value).text);
        if (n > 1)
            output_format(o, ", and %zu more site%s", n - 1, n == 2 ? "" : "s");
        say_command(o, "leaks", trace);
    }
    leaks_free(&found);
    return n > 0;
}

static bool say_advice(output *o, const query_result *q, const char *trace) {
    advise found;
    const advice *best = NULL;
    if (!advise_query(q, ADVISE_WORTH, &found))
        return false;
    for (size_t i = 0; !best && i < found.items.count; i++)
        if (found.items.items[i].rule && found.items.items[i].worth)
            best = &found.items.items[i];
    if (best) {
        output_format(o, "allotrace: advice: %s: ", best->rule->title);
        say_place(o, found.places.items[best->first_place].location);
        say_command(o, "advise", trace);
    }
    advise_free(&found);
    return best;
}

void run_findings_say(output *o, const profile *p, const char *trace, size_t lines) {
    query_result q;
    if (p->table.count == 0 || p->table.count > MOST_BLOCKS || lines == 0 ||
        !query_run(&q, p, &(query_spec){.keep_rows = true, .finds_peak = true}))
        return;
    lines -= say_peak(o, p, trace);
    lines -= lines > 0 && say_growing(o, &q, trace);
    if (lines > 0)
        (void)say_advice(o, &q, trace);
    query_free(&q);
}
