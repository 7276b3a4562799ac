/* answer_lifetimes.c: `/api/lifetimes`: blocks by lifetime and size. */
#include <stddef.h>

#include "answers/endpoints.h"
#include "answers/write.h"
#include "query/lifemap.h"

/* The classes that are shown: from the first to the last one that is not empty. */
typedef struct span {
    unsigned from, to; /* `to` is exclusive */
} span;

static void widen(span *s, unsigned class) {
    if (s->from == s->to)
        *s = (span){.from = class, .to = class + 1};
    s->from = class < s->from ? class : s->from;
    s->to = class >= s->to ? class + 1 : s->to;
}

static void write_classes(output *o, const char *name, span s, uint64_t least_of(unsigned)) {
    json_column c;
    output_format(o, ",\n\"%s\":{", name);
    column_start(&c, o, "low", true);
    for (unsigned i = s.from; i < s.to; i++)
        column_integer(&c, (int64_t)least_of(i));
    column_end(&c);
    column_start(&c, o, "high", false);
    for (unsigned i = s.from; i < s.to; i++)
        column_number(&c, (double)least_of(i + 1));
    column_end(&c);
    output_char(o, '}');
}

static void write_histogram(output *o, const asked *a, const lifemap *l, span lives) {
    const write_things shown = {l->lives + lives.from, sizeof *l->lives, lives.to - lives.from};
    output_text(o, ",\n\"histogram\":{");
    write_figures(o, a, shown, 0, true);
    output_text(o, "},\n\"survivors\":{");
    write_cost(o, a, &l->lives[LIFEMAP_ALIVE]);
    output_char(o, '}');
}

/* Returns the filter's bounds, narrowed by the least size in the class. */
static filter_bounds bounds_of(const asked *a, unsigned size) {
    const uint64_t word = a->query->profile->info.word_size / 8;
    const uint64_t words = (lifemap_size(size) + word - 1) / word;
    filter_bounds may = a->query->may;
    if (words > 0 && words + 1 > may.least_words)
        may.least_words = words + 1;
    return may;
}

static bool write_map(output *o, const asked *a, const lifemap *l, span lives, span sizes) {
    filter_bounds *may = malloc((l->cells.count + 1) * sizeof *may);
    json_column c;
    if (!may)
        return false;
    for (size_t i = 0; i < l->cells.count; i++)
        may[i] = bounds_of(a, l->cells.items[i].size);
    output_text(o, ",\n\"map\":{");
    column_start(&c, o, "size", true);
    for (size_t i = 0; i < l->cells.count; i++)
        column_integer(&c, (int64_t)l->cells.items[i].size - (int64_t)sizes.from);
    column_end(&c);
    WRITE_COLUMN(o, "lifetime", l->cells, x,
                 x->life == LIFEMAP_ALIVE ? -1 : (int64_t)x->life - (int64_t)lives.from);
    write_figures_within(o, a, may, WRITE_THINGS(l->cells), offsetof(lifemap_cell, cost), false);
    output_char(o, '}');
    free(may);
    return true;
}

static bool write_lives(request *r, const asked *a, const lifemap *l) {
    span lives = {0}, sizes = {0};
    output *o = r->o;
    for (size_t i = 0; i < l->cells.count; i++) {
        widen(&sizes, l->cells.items[i].size);
        if (l->cells.items[i].life != LIFEMAP_ALIVE)
            widen(&lives, l->cells.items[i].life);
    }
    output_char(o, '{');
    write_head(o, a);
    write_classes(o, "lifetime", lives, lifemap_life);
    write_classes(o, "size", sizes, lifemap_size);
    write_histogram(o, a, l, lives);
    bool ok = write_map(o, a, l, lives, sizes);
    output_text(o, "}\n");
    return ok;
}

bool answer_lifetimes(request *r) {
    asked a = {.needs_blocks = true};
    const uint8_t *kept;
    lifemap l;
    bool ok = asked_open(r, &a);
    if (ok && a.query->measure != MEASURE_ALLOCATED && a.query->measure != MEASURE_BLOCKS)
        ok = request_refuse(r, "measure", 0, "is allocated or blocks here");
    ok = ok && asked_rows(r, &a, &kept);
    if (ok) {
        ok = lifemap_query(&a.reading->profile, kept, a.query->measure, &l);
        ok = ok && write_lives(r, &a, &l);
        lifemap_free(&l);
    }
    asked_close(r, &a);
    return ok;
}
