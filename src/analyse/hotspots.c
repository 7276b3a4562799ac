/* hotspots.c: see hotspots.h. One contribution for each pair of last frames that occurs, sorted so
 * that those of one site, and in it of one caller, are neighbours; then summed and ranked. */
#include "analyse/hotspots.h"

#include <string.h>

/* What was allocated with one pair of last frames, once under each of its names. */
typedef struct contribution {
    hotspots_entry site, caller;
} contribution;

typedef VEC(contribution) contributions;

static int compare_strings(const char *a, const char *b) {
    if (a == b)
        return 0;
    if (!a || !b)
        return a ? 1 : -1;
    return strcmp(a, b);
}

static int compare_places(const profile_location *a, const profile_location *b, hotspots_by by) {
    if (a == b)
        return 0;
    if (!a || !b)
        return a ? 1 : -1;
    int order = compare_strings(a->file, b->file);
    if (order == 0 && by != HOTSPOTS_BY_FUNCTION && a->line != b->line)
        order = a->line < b->line ? -1 : 1;
    return order ? order : compare_strings(a->function, b->function);
}

static int compare_names(const hotspots_entry *a, const hotspots_entry *b, hotspots_by by) {
    int order = compare_strings(a->type, b->type);
    return order ? order : compare_places(a->place, b->place, by);
}

static int compare_contributions(const void *a, const void *b, void *context) {
    const contribution *x = a, *y = b;
    hotspots_by by = *(const hotspots_by *)context;
    int order = compare_names(&x->site, &y->site, by);
    return order ? order : compare_names(&x->caller, &y->caller, by);
}

static int compare_entries(const hotspots_entry *a, const hotspots_entry *b, hotspots_by by) {
    if (a->samples != b->samples)
        return a->samples > b->samples ? -1 : 1;
    return compare_names(a, b, by); /* so that the order is always the same */
}

static int compare_callers(const void *a, const void *b, void *context) {
    return compare_entries(a, b, *(const hotspots_by *)context);
}

static int compare_sites(const void *a, const void *b, void *context) {
    const hotspots_site *x = a, *y = b;
    return compare_entries(&x->entry, &y->entry, *(const hotspots_by *)context);
}

static contribution name_contribution(const profile *p, hotspots_by by, uint32_t node) {
    if (by == HOTSPOTS_BY_TYPE)
        return (contribution){.site.type = profile_type(p, node),
                              .caller.place = profile_site(p, node)};
    return (contribution){.site.place = profile_site(p, node),
                          .caller.place = profile_caller(p, node)};
}

static void accumulate(hotspots_entry *sum, uint64_t samples, uint64_t blocks) {
    sum->samples += samples;
    sum->blocks += blocks;
}

/* Site and caller follow from the last two frames, of which there are few pairs. */
static bool gather(const profile *p, hotspots_by by, contributions *all) {
    map64 pairs = {0};
    bool ok = true;
    for (size_t i = 0; ok && i < p->tree.totals.count; i++) {
        const cct_totals *t = &p->tree.totals.items[i];
        const cct_node *node = &p->tree.nodes.items[t->node];
        uint32_t outer = p->tree.nodes.items[node->parent].frame;
        uint32_t *at = map64_put(&pairs, (uint64_t)node->frame << 32 | outer);
        if (at && *at == MAP64_NONE) {
            *at = (uint32_t)all->count;
            ok = vec_push(all, name_contribution(p, by, t->node));
        }
        ok = ok && at;
        if (!ok)
            break;
        accumulate(&all->items[*at].site, cct_sum(t->samples), cct_sum(t->blocks));
        accumulate(&all->items[*at].caller, cct_sum(t->samples), cct_sum(t->blocks));
    }
    map64_free(&pairs);
    return ok;
}

static bool sum_up(hotspots *h, const contributions *sorted) {
    const contribution *last = NULL;
    for (size_t i = 0; i < sorted->count; i++) {
        const contribution *c = &sorted->items[i];
        bool same_site = last && compare_names(&last->site, &c->site, h->by) == 0;
        bool same_caller = same_site && compare_names(&last->caller, &c->caller, h->by) == 0;
        h->samples += c->site.samples;
        if (!same_site) {
            if (!vec_push(&h->sites, ((hotspots_site){
                                         .entry = c->site,
                                         .first_caller = (uint32_t)h->callers.count,
                                     })))
                return false;
        } else {
            accumulate(&h->sites.items[h->sites.count - 1].entry, c->site.samples, c->site.blocks);
        }
        if (!same_caller) {
            if (!vec_push(&h->callers, c->caller))
                return false;
            h->sites.items[h->sites.count - 1].n_callers++;
        } else {
            accumulate(&h->callers.items[h->callers.count - 1], c->caller.samples,
                       c->caller.blocks);
        }
        last = c;
    }
    return true;
}

static void rank(hotspots *h) {
    for (size_t i = 0; i < h->sites.count; i++) {
        const hotspots_site *s = &h->sites.items[i];
        qsort_r(h->callers.items + s->first_caller, s->n_callers, sizeof *h->callers.items,
                compare_callers, &h->by);
    }
    if (h->sites.count)
        qsort_r(h->sites.items, h->sites.count, sizeof *h->sites.items, compare_sites, &h->by);
}

bool hotspots_query(const profile *p, hotspots_by by, hotspots *result) {
    *result = (hotspots){.by = by};
    contributions all = {0};
    bool ok = gather(p, by, &all);
    if (ok && all.count)
        qsort_r(all.items, all.count, sizeof *all.items, compare_contributions, &by);
    ok = ok && sum_up(result, &all);
    vec_free(&all);
    if (ok)
        rank(result);
    else
        hotspots_free(result);
    return ok;
}

void hotspots_free(hotspots *h) {
    vec_free(&h->sites);
    vec_free(&h->callers);
    *h = (hotspots){0};
}
