/* run_findings.c: uses the same queries as `allotrace FILE`, so the numbers are the same. */
#include "cli/run/run_findings.h"

#include "advice/advise.h"
#include "document/table.h"
#include "query/figure.h"
#include "query/leaks.h"
#include "query/libraries.h"
#include "query/peak.h"
#include "render/shorten.h"

enum {
    MOST_BLOCKS = 500000, /* a query of as many takes a tenth of a second */
    SHOWN_NAME = 56,      /* columns of a source location */
    TELLING_US = 100000,  /* microseconds; what grows for a shorter time is ordinary startup */
};

/* Parameters of all lines. */
typedef struct saying {
    output *o;
    const char *trace, *in, *hiding; /* each may be empty */
} saying;

static void say_command(const saying *s, const char *command, const char *hiding) {
    output_format(s->o, ": allotrace %s %s", command, hiding);
    output_shown(s->o, s->trace);
    output_char(s->o, '\n');
}

static void say_place(const saying *s, const profile_location *place) {
    if (place)
        shorten_place(s->o, place, true, SHOWN_NAME);
    else
        output_text(s->o, *s->hiding ? TABLE_ALL_LIBRARIES : TABLE_NO_STACK);
}

static bool say_peak(const saying *s, const profile *p) {
    peak found;
    if (!peak_query(p, NULL, &found) || found.own.samples == 0)
        return false;
    const figure most = figure_between(p, found.own.samples, found.own_spread);
    const figure end = figure_of(p, found.end_samples);
    output_format(s->o, "allotrace: peak%s: %s%s at %s; %s%s at the end", s->in,
                  figure_bytes(most.value).text, figure_beside(figure_margin(&most)).text,
                  figure_duration(found.at.time).text, figure_bytes(end.value).text,
                  figure_beside(figure_margin(&end)).text);
    say_command(s, "peak", "");
    return true;
}

/* Says the rate of growth in the same form as the report. */
static void say_growth(output *o, const leaks *l, const leaks_site *site) {
    if (leaks_tells_amounts(l))
        output_format(o, " by %s in %s", figure_bytes(site->grown.value).text,
                      figure_duration(l->to - l->from).text);
    else
        output_format(o, " by %s/s", figure_bytes(site->slope.value).text);
}

/* Growing sites are first in the result. */
static bool say_growing(const saying *s, const query_result *q) {
    const leaks_spec spec = {.may = q->may, .warm_up = 0.25};
    leaks found;
    size_t n = 0;
    if (!leaks_query(&q->lens, &spec, &found))
        return false;
    while (found.to - found.from >= TELLING_US && n < found.sites.count &&
           found.sites.items[n].class == LEAKS_GROWING)
        n++;
    if (n > 0) {
        const leaks_site *first = &found.sites.items[0];
        output_format(s->o, "allotrace: growing%s: ", s->in);
        say_place(s, first->place);
        say_growth(s->o, &found, first);
        if (n > 1)
            output_format(s->o, ", and %zu more site%s", n - 1, n == 2 ? "" : "s");
        say_command(s, "leaks", s->hiding);
    }
    leaks_free(&found);
    return n > 0;
}

static bool say_advice(const saying *s, const query_result *q) {
    advice_list found;
    const advice *best = NULL;
    if (!advise_query(q, ADVISE_WORTH, &found))
        return false;
    for (size_t i = 0; !best && i < found.items.count; i++)
        if (found.items.items[i].rule && found.items.items[i].worth)
            best = &found.items.items[i];
    if (best) {
        output_format(s->o, "allotrace: advice%s: %s: ", s->in, best->rule->title);
        say_place(s, found.places.items[best->first_place].location);
        say_command(s, "advise", s->hiding);
    }
    advise_free(&found);
    return best;
}

bool run_findings_say(output *o, const profile *p, const char *trace, bool is_largest, bool hides,
                      size_t lines) {
    const saying s = {.o = o,
                      .trace = trace,
                      .in = is_largest ? " in the largest" : "",
                      .hiding = hides ? "--filter " LIBRARIES_HIDDEN " " : ""};
    filter *hide = NULL;
    filter_error error;
    query_result q;
    if (!profile_has_times(p))
        return true;
    if (p->table.count == 0 || p->table.count > MOST_BLOCKS || lines == 0 ||
        (hides && !filter_parse(LIBRARIES_HIDDEN, &hide, &error)))
        return false;
    if (query_run(&q, p, &(query_spec){.filter = hide, .keep_rows = true, .finds_peak = true})) {
        lines -= say_peak(&s, p);
        lines -= lines > 0 && say_growing(&s, &q);
        if (lines > 0)
            (void)say_advice(&s, &q);
        query_free(&q);
    }
    filter_free(hide);
    return true;
}
