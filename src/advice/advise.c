/* advise.c: stacks are sorted by owner. For each owner, the rules are tried in order: each takes
 * the stacks that match it and that no earlier rule took, if all of them together meet its
 * conditions. What is left is tried again line by line, because a line whose blocks are temporary
 * may be next to one whose blocks live. */
#include "advice/advise.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "advice/advise_stacks.h"

enum { NO_RULE = UINT8_MAX, UNDECIDED = UINT8_MAX - 1, MAX_FILTER = 2048, SURE_BLOCKS = 30 };

typedef struct range {
    size_t first, end; /* of stacks */
} range;

typedef struct finder {
    const query_result *q;
    const advise_asker *asker;
    double min_share;
    advice_list *out;
    advise_stacks stacks;
    uint8_t *rule_of; /* by stack */
    bool *shown;      /* by stack: it is in an item */
    bool *of_line;    /* by stack: it is of the line that is being tried */
    VEC(range) owners;
} finder;

static double percent(const finder *f, const cost *c) {
    return f->q->total.weight > 0 ? 100 * c->weight / f->q->total.weight : 0;
}

static const advise_stack *stack_at(const finder *f, size_t i) {
    return &f->stacks.items.items[i];
}

static const profile_location *location_at(const finder *f, uint32_t location) {
    return lens_location(&f->q->lens, location);
}

static bool same_place(const profile_location *a, const profile_location *b, bool by_line) {
    if (!a || !b)
        return a == b;
    return a->function == b->function && a->file == b->file && (!by_line || a->line == b->line);
}

/* ---- what blocks are like ---------------------------------------------------------------- */

typedef VEC(uint32_t) row_list;

/* Properties of a set of blocks. */
typedef struct facts {
    advise_blocks blocks;
    advise_growth growth; /* if the rule needs it */
    double largest;       /* share of the largest block in the measure */
} facts;

static bool add_rows(finder *f, const advise_stack *s, row_list *rows) {
    const uint32_t *of_stack = advise_stacks_rows(&f->stacks, f->q->profile->table.count, s);
    if (!of_stack || !vec_reserve(rows, s->n_rows))
        return false;
    memcpy(rows->items + rows->count, of_stack, s->n_rows * sizeof *rows->items);
    rows->count += s->n_rows;
    return true;
}

static bool is_meant(const finder *f, size_t i, uint8_t rule, const bool *only) {
    return f->rule_of[i] == rule && (!only || only[i]);
}

static bool find_blocks(const finder *f, range r, uint8_t rule, const bool *only,
                        advise_blocks *blocks) {
    advise_tally t = {.sizes = {0}};
    bool ok = true;
    for (size_t i = r.first; ok && i < r.end; i++) {
        const advise_stack *s = stack_at(f, i);
        if (!is_meant(f, i, rule, only))
            continue;
        advise_tally_sums(&t, &s->sums);
        ok = advise_tally_sizes(&t, &s->size, 1) &&
             advise_tally_sizes(&t, f->stacks.more + s->first_more, s->n_more);
    }
    *blocks = advise_tally_blocks(&t);
    advise_tally_free(&t);
    return ok;
}

static bool find_growth(finder *f, range r, uint8_t rule, const bool *only, advise_growth *growth) {
    row_list rows = {0};
    bool ok = true;
    for (size_t i = r.first; ok && i < r.end; i++)
        if (is_meant(f, i, rule, only))
            ok = add_rows(f, stack_at(f, i), &rows);
    ok = ok && advise_growth_of(f->q->profile, rows.items, rows.count, growth);
    vec_free(&rows);
    return ok;
}

static double find_largest(const finder *f, range r, uint8_t rule, const bool *only) {
    double heaviest = 0, all = 0;
    for (size_t i = r.first; i < r.end; i++)
        if (is_meant(f, i, rule, only)) {
            heaviest = fmax(heaviest, stack_at(f, i)->heaviest);
            all += stack_at(f, i)->cost.weight;
        }
    return all > 0 ? 100 * heaviest / all : 0;
}

/* Finds the facts of those stacks of a range that have this rule. */
static bool find_facts(finder *f, range r, uint8_t rule, const bool *only, facts *found) {
    *found = (facts){.growth.ratio = 1, .largest = find_largest(f, r, rule, only)};
    return find_blocks(f, r, rule, only, &found->blocks) &&
           (rule >= advise_n_rules || advise_rules[rule].min_grown <= 0 ||
            find_growth(f, r, rule, only, &found->growth));
}

/* ---- matching ---------------------------------------------------------------------------- */

static bool meets(name_sets wanted, name_sets got) {
    return wanted == 0 || (wanted & got);
}

static bool fits_stack(const advise_rule *r, const advise_stack *s) {
    return s->family == r->family && meets(r->within, s->within) && meets(r->owner, s->at_owner) &&
           meets(r->caller, s->caller) && meets(r->type, s->type) &&
           (s->shape & r->shape) == r->shape && s->min_words >= r->min_words &&
           (r->max_words == 0 || s->max_words <= r->max_words);
}

static bool has_limits(const advise_rule *r) {
    return r->min_sizes || r->min_blocks || r->min_young > 0 || r->min_brief > 0 ||
           r->max_brief > 0 || r->min_one_size > 0 || r->min_promoted > 0 || r->min_grown > 0 ||
           r->max_alive > 0 || r->max_largest > 0;
}

/* Whether the rule looks at lifetimes, for which each block counts as one piece of evidence,
 * however large it is. */
static bool judges_lives(const advise_rule *r) {
    return r->min_young > 0 || r->min_brief > 0 || r->max_brief > 0 || r->min_promoted > 0 ||
           r->max_alive > 0;
}

static bool fits_facts(const advise_rule *r, const facts *found) {
    const advise_blocks *b = &found->blocks;
    return b->sizes >= r->min_sizes && b->number.value >= (double)r->min_blocks &&
           b->known_young >= r->min_young && b->brief >= r->min_brief &&
           (r->max_brief <= 0 || b->brief <= r->max_brief) && b->one_size >= r->min_one_size &&
           b->promoted >= r->min_promoted && found->growth.share >= r->min_grown &&
           (r->max_alive <= 0 || b->alive <= r->max_alive) &&
           (r->max_largest <= 0 || found->largest <= r->max_largest);
}

/* Tries a rule on the undecided stacks in `only`; NULL: on all of them. */
static bool try_rule(finder *f, range owner, uint8_t rule, const bool *only) {
    const advise_rule *r = &advise_rules[rule];
    bool any = false;
    for (size_t i = owner.first; i < owner.end; i++)
        if (is_meant(f, i, UNDECIDED, only) && fits_stack(r, stack_at(f, i))) {
            f->rule_of[i] = rule;
            any = true;
        }
    if (!any || !has_limits(r))
        return true;
    facts found;
    if (!find_facts(f, owner, rule, only, &found))
        return false;
    for (size_t i = owner.first; i < owner.end && !fits_facts(r, &found); i++)
        if (is_meant(f, i, rule, only))
            f->rule_of[i] = UNDECIDED;
    return true;
}

static bool try_rules(finder *f, range owner, const bool *only) {
    for (size_t rule = 0; rule < advise_n_rules; rule++)
        if (!try_rule(f, owner, (uint8_t)rule, only))
            return false;
    return true;
}

static bool is_enough(const finder *f, const cost *c) {
    return percent(f, c) >= f->min_share &&
           (c->samples >= ADVISE_SAMPLES || f->q->profile->info.sample_rate >= 1);
}

/* Finds the undecided stacks of the same line as `place`, and returns their cost. */
static cost find_line(finder *f, range owner, uint32_t place) {
    const profile_location *const line = location_at(f, place);
    cost sum = {0};
    for (size_t i = owner.first; i < owner.end; i++) {
        f->of_line[i] = f->rule_of[i] == UNDECIDED &&
                        same_place(location_at(f, stack_at(f, i)->place), line, true);
        if (f->of_line[i])
            cost_add(&sum, &stack_at(f, i)->cost);
    }
    return sum;
}

static void leave_undecided(finder *f, range owner, const bool *only) {
    for (size_t i = owner.first; i < owner.end; i++)
        if (is_meant(f, i, UNDECIDED, only))
            f->rule_of[i] = NO_RULE;
}

/* A line that is large enough by itself may match a rule that its function as a whole does not
 * match. */
static bool decide_lines(finder *f, range owner) {
    cost left = {0};
    for (size_t i = owner.first; i < owner.end; i++)
        if (is_meant(f, i, UNDECIDED, NULL))
            cost_add(&left, &stack_at(f, i)->cost);
    for (size_t i = owner.first; i < owner.end && is_enough(f, &left); i++) {
        if (f->rule_of[i] != UNDECIDED)
            continue;
        const cost line = find_line(f, owner, stack_at(f, i)->place);
        if (is_enough(f, &line) && !try_rules(f, owner, f->of_line))
            return false;
        leave_undecided(f, owner, f->of_line);
    }
    return true;
}

static bool decide(finder *f, range owner) {
    if (!try_rules(f, owner, NULL) || !decide_lines(f, owner))
        return false;
    leave_undecided(f, owner, NULL);
    return true;
}

/* ---- filters ----------------------------------------------------------------------------- */

/* Text in a fixed buffer; a part that does not fit is left out. */
typedef struct terms {
    char bytes[MAX_FILTER];
    size_t used;
    bool full;
} terms;

static void terms_add(terms *t, const char *s) {
    const size_t n = strlen(s);
    t->full = t->full || t->used + n >= sizeof t->bytes;
    if (t->full)
        return;
    memcpy(t->bytes + t->used, s, n + 1);
    t->used += n;
}

/* Adds a regular expression for exactly this text, with `.` for characters that would need
 * quotes. */
static void terms_regex(terms *t, const char *s) {
    terms_add(t, "/^");
    for (; *s; s++) {
        char c[3] = {*s};
        if (*s == '\'' || *s == '"')
            c[0] = '.';
        else if (strchr("\\^$.[]|()*+?{}/", *s)) {
            c[0] = '\\';
            c[1] = *s;
        }
        terms_add(t, c);
    }
    terms_add(t, "$/");
}

static void terms_size(terms *t, uint64_t words) {
    char term[64];
    snprintf(term, sizeof term, " size:%" PRIu64 "w", words);
    terms_add(t, term);
}

static void terms_function(terms *t, const profile_location *l) {
    if (!l || !l->function[0])
        return;
    terms_add(t, "fn:");
    terms_regex(t, l->function);
}

/* Makes a filter that keeps all blocks of the item. It may also keep what functions below this one
 * allocate for the same reason or, if the item spreads, blocks of functions with an item of their
 * own. */
static char *make_filter(finder *f, const advice *a) {
    terms t = {.used = 0};
    const advise_place *place = &f->out->places.items[a->first_place];
    if (!a->spreads)
        terms_function(&t, place->location);
    if (t.full)
        t = (terms){.used = 0};
    if (a->rule && a->rule->filter) {
        terms_add(&t, t.used ? " " : "");
        terms_add(&t, a->rule->filter);
    }
    const bool has_size = a->rule && a->rule->filter && strstr(a->rule->filter, "size:");
    if (a->rule && !a->spreads && !has_size && a->blocks.min_words == a->blocks.max_words)
        terms_size(&t, a->blocks.words);
    return arena_strndup(&f->out->strings, t.bytes, t.used);
}

/* ---- items ------------------------------------------------------------------------------- */

typedef VEC(advise_place) place_list;

typedef struct type_cost {
    const char *name;
    cost cost;
} type_cost;

/* Stacks of one function are adjacent, so the place is mostly near the end. */
static bool add_place(place_list *list, const profile_location *l, bool by_line, const cost *c) {
    for (size_t i = list->count; i-- > 0;)
        if (same_place(list->items[i].location, l, by_line)) {
            cost_add(&list->items[i].cost, c);
            return true;
        }
    return vec_push(list, ((advise_place){.location = l, .cost = *c}));
}

static int compare_text(const char *a, const char *b) {
    return strcmp(a ? a : "", b ? b : "");
}

static int compare_places(const void *a, const void *b) {
    const advise_place *x = a, *y = b;
    if (x->cost.weight != y->cost.weight)
        return x->cost.weight > y->cost.weight ? -1 : 1;
    if (!x->location || !y->location)
        return (x->location != NULL) - (y->location != NULL);
    const int order = compare_text(x->location->function, y->location->function);
    if (order || x->location->line == y->location->line)
        return order ? order : compare_text(x->location->file, y->location->file);
    return x->location->line < y->location->line ? -1 : 1;
}

static const advise_place *largest(const place_list *list) {
    const advise_place *most = &list->items[0];
    for (size_t i = 1; i < list->count; i++)
        if (compare_places(&list->items[i], most) < 0)
            most = &list->items[i];
    return most;
}

/* Finds the library function that allocates most, and the type of most blocks. */
static bool find_names(const finder *f, range r, uint8_t rule, const bool *only, advice *a) {
    place_list sites = {0};
    VEC(type_cost) types = {0};
    bool ok = true;
    for (size_t i = r.first; ok && i < r.end; i++) {
        const advise_stack *s = stack_at(f, i);
        if (!is_meant(f, i, rule, only))
            continue;
        const bool bare = s->shape & ADVISE_BARE;
        ok = add_place(&sites, bare ? NULL : location_at(f, s->site), true, &s->cost);
        size_t at = 0;
        while (at < types.count && types.items[at].name != s->type_name)
            at++;
        ok = ok && (at < types.count || vec_push(&types, ((type_cost){.name = s->type_name})));
        if (ok)
            cost_add(&types.items[at].cost, &s->cost);
    }
    a->allocator = ok && sites.count ? largest(&sites)->location : NULL;
    for (size_t i = 0, most = 0; i < types.count; i++)
        if (i == 0 || types.items[i].cost.weight > types.items[most].cost.weight) {
            most = i;
            a->type = types.items[i].name;
        }
    vec_free(&sites);
    vec_free(&types);
    return ok;
}

/* Finds the lines of one function, or the functions that share a rule. */
static bool find_places(finder *f, range r, uint8_t rule, const bool *only, advice *a) {
    place_list places = {0};
    bool ok = true;
    for (size_t i = r.first; ok && i < r.end; i++)
        if (is_meant(f, i, rule, only))
            ok = add_place(&places, location_at(f, stack_at(f, i)->place), !a->spreads,
                           &stack_at(f, i)->cost);
    if (ok && places.count)
        qsort(places.items, places.count, sizeof *places.items, compare_places);
    a->first_place = (uint32_t)f->out->places.count;
    a->n_places = (uint32_t)places.count;
    for (size_t i = 0; ok && i < places.count; i++)
        ok = vec_push(&f->out->places, places.items[i]);
    vec_free(&places);
    return ok;
}

/* If sizes grow by a factor, all but the last make up 1 / factor of their sum. For numbers of
 * blocks and bytes times lifetime, no rule knows how much must remain. */
static double gain_of(const finder *f, const advice *a) {
    if (measure_infos[f->q->measure].unit != UNIT_BYTES)
        return advise_rule_gains(a->rule);
    return a->rule->by_growth ? 1 / a->growth.ratio : a->rule->most;
}

static void conclude(const finder *f, advice *a) {
    const advise_rule *r = a->rule;
    a->few = a->cost.samples < ADVISE_SAMPLES && f->q->profile->info.sample_rate < 1;
    if (a->few)
        a->rule = r = NULL;
    if (!r)
        return;
    a->certainty = r->certainty;
    if (a->cost.blocks < SURE_BLOCKS && judges_lives(r) && a->certainty > ADVISE_GUESS)
        a->certainty--;
    a->gain = gain_of(f, a);
    const bool bytes = !r->by_calls && !r->by_promotion;
    a->worth = percent(f, &a->cost) * (bytes ? a->gain : 1) >= ADVISE_WORTH;
}

static bool add_item(finder *f, range r, uint8_t rule, const bool *only, const cost *c) {
    advice a = {
        .rule = rule == NO_RULE ? NULL : &advise_rules[rule], .cost = *c, .spreads = only != NULL};
    for (size_t i = r.first; i < r.end; i++)
        if (is_meant(f, i, rule, only)) {
            a.family = stack_at(f, i)->family;
            f->shown[i] = true;
        }
    facts found;
    if (!find_facts(f, r, rule, only, &found) || !find_names(f, r, rule, only, &a) ||
        !find_places(f, r, rule, only, &a))
        return false;
    a.blocks = found.blocks;
    a.growth = found.growth;
    conclude(f, &a);
    a.filter = make_filter(f, &a);
    return a.filter && vec_push(&f->out->items, a);
}

/* ---- who is looked at -------------------------------------------------------------------- */

static bool find_owners(finder *f) {
    const size_t n = f->stacks.items.count;
    for (size_t i = 0; i < n;) {
        range r = {.first = i, .end = i};
        while (r.end < n && stack_at(f, r.end)->owner == stack_at(f, i)->owner)
            r.end++;
        if (!vec_push(&f->owners, r))
            return false;
        i = r.end;
    }
    return true;
}

static void see_largest(finder *f, range owner) {
    cost sum = {0};
    const advise_stack *most = stack_at(f, owner.first);
    for (size_t i = owner.first; i < owner.end; i++) {
        cost_add(&sum, &stack_at(f, i)->cost);
        if (stack_at(f, i)->cost.weight > most->cost.weight)
            most = stack_at(f, i);
    }
    if (sum.weight > f->out->largest.cost.weight)
        f->out->largest = (advise_place){.location = location_at(f, most->place), .cost = sum};
}

/* Adds an item for each rule that takes enough of one function, and for what no rule explains. */
static bool advise_owner(finder *f, range owner) {
    cost sums[UINT8_MAX + 1] = {{0}};
    see_largest(f, owner);
    if (!decide(f, owner))
        return false;
    for (size_t i = owner.first; i < owner.end; i++)
        cost_add(&sums[f->rule_of[i]], &stack_at(f, i)->cost);
    for (size_t rule = 0; rule <= NO_RULE; rule++)
        if (sums[rule].blocks && percent(f, &sums[rule]) >= f->min_share &&
            !add_item(f, owner, (uint8_t)rule, NULL, &sums[rule]))
            return false;
    return true;
}

/* Adds an item for a rule that matches many functions which are each too small. */
static bool advise_all(finder *f, uint8_t rule, bool *only) {
    const range all = {.first = 0, .end = f->stacks.items.count};
    cost sum = {0};
    for (size_t i = 0; i < all.end; i++) {
        only[i] = f->rule_of[i] == rule && !f->shown[i];
        if (only[i])
            cost_add(&sum, &stack_at(f, i)->cost);
    }
    return sum.blocks == 0 || percent(f, &sum) < f->min_share || add_item(f, all, rule, only, &sum);
}

static int compare_items(const void *a, const void *b) {
    const advice *x = a, *y = b;
    if (x->cost.weight != y->cost.weight)
        return x->cost.weight > y->cost.weight ? -1 : 1;
    return compare_text(x->filter, y->filter);
}

static bool find_items(finder *f) {
    const size_t n = f->stacks.items.count;
    bool *only = calloc(n + 1, sizeof *only);
    bool ok = only && f->rule_of && f->shown && f->of_line && find_owners(f);
    if (ok)
        memset(f->rule_of, UNDECIDED, n);
    for (size_t i = 0; ok && i < f->owners.count; i++)
        ok = !advise_is_unwanted(f->asker, 0) && advise_owner(f, f->owners.items[i]);
    for (size_t rule = 0; ok && rule < advise_n_rules; rule++)
        if (advise_rules[rule].spreads)
            ok = !advise_is_unwanted(f->asker, 0) && advise_all(f, (uint8_t)rule, only);
    free(only);
    if (ok && f->out->items.count)
        qsort(f->out->items.items, f->out->items.count, sizeof *f->out->items.items, compare_items);
    return ok;
}

bool advise_query(const query_result *q, double min_share, advice_list *result) {
    const advise_asker stays = {0};
    return advise_query_for(&stays, q, min_share, result);
}

bool advise_query_for(const advise_asker *asker, const query_result *q, double min_share,
                      advice_list *result) {
    *result = (advice_list){.n_owners = 0};
    finder f = {.q = q, .asker = asker, .min_share = min_share, .out = result};
    bool ok = advise_stacks_build(q, asker, &f.stacks);
    if (ok) {
        f.rule_of = malloc(f.stacks.items.count + 1);
        f.shown = calloc(f.stacks.items.count + 1, sizeof *f.shown);
        f.of_line = calloc(f.stacks.items.count + 1, sizeof *f.of_line);
        result->n_owners = f.stacks.n_owners;
        ok = find_items(&f);
    }
    advise_stacks_free(&f.stacks);
    free(f.rule_of);
    free(f.shown);
    free(f.of_line);
    vec_free(&f.owners);
    if (!ok)
        advise_free(result);
    return ok;
}

void advise_free(advice_list *a) {
    vec_free(&a->items);
    vec_free(&a->places);
    arena_free(&a->strings);
    *a = (advice_list){.n_owners = 0};
}
