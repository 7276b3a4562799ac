/* stacks.c: see stacks.h. */
#include "query/stacks.h"

#include "query/place_table.h"

typedef struct building {
    const profile *profile;
    const lens *lens;
    stacks *result;
    map64 children; /* (parent, place) → node */
} building;

/* Takes the numbers over. */
static bool add_places(building *b, stacks_by by) {
    const bool lines = by == STACKS_BY_LINE;
    const profile *p = b->profile;
    place_table t;
    bool ok = place_table_make(&t, p->locations.items, p->locations.count,
                               lines ? PLACE_BY_LINE : PLACE_BY_NAME);
    for (size_t i = 0; ok && i < t.locations.count; i++) {
        profile_location shown = p->locations.items[t.locations.items[i]];
        if (!lines) {
            shown.file = "";
            shown.line = 0;
        }
        ok = vec_push(&b->result->places, shown);
    }
    b->result->place_of = t.of_location;
    t.of_location = NULL;
    place_table_free(&t);
    return ok;
}

static bool child_of(building *b, uint32_t parent, uint32_t place, uint32_t *child) {
    uint32_t *node = map64_put(&b->children, (uint64_t)parent << 32 | place);
    if (!node)
        return false;
    if (*node == MAP64_NONE) {
        *node = (uint32_t)b->result->nodes.count;
        if (!vec_push(&b->result->nodes, ((stacks_node){.parent = parent, .place = place})))
            return false;
    }
    *child = *node;
    return true;
}

/* Nodes of the profile come after their parents. */
static bool add_nodes(building *b) {
    const profile *p = b->profile;
    stacks *s = b->result;
    if (!vec_push(&s->nodes, ((stacks_node){.parent = STACKS_ROOT})))
        return false;
    for (uint32_t i = 1; i < cct_count(&p->tree); i++) {
        uint32_t at = s->node_of[cct_parent(&p->tree, i)];
        const profile_frame *f = &p->frames.items[cct_frame(&p->tree, i)];
        for (uint32_t j = 0; j < f->n; j++)
            if (!(b->lens->marks[f->first + j] & LENS_HIDDEN) &&
                !child_of(b, at, s->place_of[f->first + j], &at))
                return false;
        s->node_of[i] = at;
    }
    return true;
}

bool stacks_build(const lens *l, stacks_by by, stacks *s) {
    const profile *p = l->profile;
    *s = (stacks){.node_of = calloc(cct_count(&p->tree) + 1, sizeof *s->node_of)};
    building b = {.profile = p, .lens = l, .result = s};
    const bool ok = s->node_of && add_places(&b, by) && add_nodes(&b);
    map64_free(&b.children);
    if (!ok)
        stacks_free(s);
    return ok;
}

cost *stacks_costs(const stacks *s, const cost_list *list) {
    cost *costs = calloc(s->nodes.count, sizeof *costs);
    for (size_t i = 0; costs && i < list->count; i++)
        cost_add(&costs[s->node_of[list->items[i].node]], &list->items[i].cost);
    return costs;
}

uint64_t *stacks_lengths(const stacks *s, const size_t *ends) {
    uint64_t *lengths = malloc((s->nodes.count + 1) * sizeof *lengths);
    for (size_t i = 0; lengths && i < s->nodes.count; i++) {
        const stacks_node *n = &s->nodes.items[i];
        lengths[i] = i == STACKS_ROOT ? 0
                                      : lengths[n->parent] + ends[n->place] -
                                            (n->place ? ends[n->place - 1] : 0);
    }
    return lengths;
}

bool stacks_walk(const stacks *s, uint32_t node, stacks_path *places) {
    vec_clear(places);
    for (; node != STACKS_ROOT; node = s->nodes.items[node].parent)
        if (!vec_push(places, s->nodes.items[node].place))
            return false;
    for (size_t i = 0, j = places->count; i + 1 < j; i++) {
        const uint32_t outer = places->items[--j];
        places->items[j] = places->items[i];
        places->items[i] = outer;
    }
    return true;
}

void stacks_free(stacks *s) {
    vec_free(&s->places);
    vec_free(&s->nodes);
    free(s->place_of);
    free(s->node_of);
    *s = (stacks){0};
}
