/* diff_moments.c: see diff_moments in diff.h. Sites and amounts are from a diff of what is live at
 * the two moments; the changes are from a diff of what went and what came. */
#include <math.h>
#include <stdlib.h>

#include "query/diff.h"

/* Equal strings of a profile have equal pointers. */
static int order_pointers(const void *a, const void *b) {
    return ((uintptr_t)a > (uintptr_t)b) - ((uintptr_t)a < (uintptr_t)b);
}

static int order_places(const profile_location *a, const profile_location *b, bool by_line) {
    if (!a || !b)
        return (a != NULL) - (b != NULL);
    int order = order_pointers(a->function, b->function);
    if (order == 0)
        order = order_pointers(a->file, b->file);
    return order || !by_line ? order : (a->line > b->line) - (a->line < b->line);
}

static int order_names(const void *a, const void *b, void *context) {
    const diff *d = context;
    const diff_name *x = diff_name_of(a), *y = diff_name_of(b);
    int order = order_pointers(x->type, y->type);
    return order ? order : order_places(x->place, y->place, d->options.by == HOTSPOTS_BY_LINE);
}

/* Marks a site where nothing went or came, which is certain. */
static void stay(diff_site *s) {
    s->c.change = s->went = s->came = (estimate){0};
    s->c.p = s->q = 1;
    s->sure = false;
    s->sure_change = 0;
}

static void move(diff_site *s, const diff_site *moved) {
    s->went = moved->c.before;
    s->came = moved->c.after;
    s->c.change = moved->c.change;
    s->c.p = moved->c.p;
    s->q = moved->q;
    s->sure = moved->sure;
    s->sure_change = moved->sure_change;
}

static void forget_ratio(comparison *c) {
    c->ratio.low = c->ratio.high = (double)NAN; /* the amounts have blocks in common */
}

static void take_changes(diff *d, diff *moved) {
    d->n_sure = moved->n_sure;
    if (moved->sites.count)
        qsort_r(moved->sites.items, moved->sites.count, sizeof *moved->sites.items, order_names,
                moved);
    for (size_t i = 0; i < d->sites.count; i++) {
        diff_site *s = &d->sites.items[i], *found = NULL;
        for (size_t low = 0, high = moved->sites.count; low < high && !found;) {
            size_t middle = (low + high) / 2;
            int order = order_names(&moved->sites.items[middle], s, moved);
            if (order == 0)
                found = &moved->sites.items[middle];
            else
                *(order < 0 ? &low : &high) = order < 0 ? middle + 1 : middle;
        }
        forget_ratio(&s->c);
        if (found)
            move(s, found);
        else
            stay(s);
    }
}

bool diff_moments(const diff_moments_of *of, const diff_options *options, diff *result) {
    diff moved;
    if (!diff_query(&of->before, 1, &of->after, 1, options, result))
        return false;
    if (!diff_query(&of->went, 1, &of->came, 1, options, &moved)) {
        diff_free(result);
        return false;
    }
    take_changes(result, &moved);
    result->total.change = moved.total.change;
    result->total.p = moved.total.p;
    result->total_sure = moved.total_sure;
    forget_ratio(&result->total);
    diff_sort(result);
    diff_free(&moved);
    return true;
}
