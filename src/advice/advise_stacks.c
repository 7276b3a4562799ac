/* advise_stacks.c: sorts the table's blocks into sets that rules cannot distinguish. Names are
 * matched once per distinct string. The way from a stack's site to its owner is found once per node
 * of the tree, so that recursion in a library costs nothing. What rules see of a stack is found
 * once per stack. */
#include "advice/advise_stacks.h"

#include <math.h>
#include <string.h>

#include "base/hash.h"
#include "base/text.h"

enum {
    SCOPE_DEPTH = 64, /* callers that are searched for the creator of a function */
    SMALL = 8,        /* words: each size up to this is a class of its own */
    MAX_CLASSES = 256,
};

#define LOOK_WANTED UINT32_MAX /* a look that is needed but not known yet */

/* The way from a place outward through the library. */
typedef struct way {
    /* The program's function. If there are only library functions, because the program's function
     * was inlined into what starts it, this is the outermost of these; LENS_NOWHERE: none. */
    lens_cursor owner;
    bool of_library;
    name_sets within;
} way;

/* The way from a node, as small as possible because there may be tens of millions. */
typedef struct known_way {
    lens_cursor owner;
    uint32_t of_library : 1, within : 31; /* a number of `within` */
} known_way;

/* What rules see of a stack. Equal looks are equal in all bytes. */
typedef struct look {
    name_sets within, at_owner, caller, type;
    const char *type_name;
    uint32_t owner, place, site, shape;
    advise_family family;
    uint32_t next; /* 1 + number of the next look with the same hash */
} look;

/* A size of a stack's blocks other than that of its first block. */
typedef struct other_size {
    uint32_t stack;
    advise_size size;
} other_size;

/* Sets of names that are too large for the values of a map, which have 32 bits. */
typedef VEC(name_sets) names_list;

/* Numbers sets of names. */
typedef struct names_table {
    map64 numbers;
    names_list sets;
} names_table;

typedef struct builder {
    const query_result *q;
    lens lens; /* does not hide what the query hides, because rules need to see it */
    const advise_asker *asker;
    advise_stacks *out;
    name_sets *names;          /* by location */
    bool *library, *anonymous; /* by location */
    known_way *ways; /* by node of the lens: from the first location that is visible there */
    names_table within;
    map64 functions, files, owners;
    map64 types; /* type → index into `type_names` */
    names_list type_names;
    map64 calls; /* anonymous functions with their callers, for those that call something themselves
                  */
    uint32_t *looks[2]; /* by whether blocks are external, and stack: number of the look */
    VEC(look) kinds;
    map64 hashes;                 /* hash of a look → its number */
    map64 stacks;                 /* look, size class → stack */
    uint64_t bounds[MAX_CLASSES]; /* words where classes begin, ascending */
    size_t n_bounds;
    map64 sizes, others; /* words → number of the size; number, stack → index into `more` */
    VEC(other_size) more;
    estimate_chances chances;
} builder;

/* ---- names ------------------------------------------------------------------------------- */

static bool names_of(map64 *known, names_list *list, const char *text, name_sets *names) {
    uint32_t at;
    if (!map64_number(known, (uintptr_t)text, &at) ||
        (at == list->count && !vec_push(list, name_sets_of(text))))
        return false;
    *names = list->items[at];
    return true;
}

static bool is_library_file(map64 *known, const char *file, bool *is) {
    uint32_t *at = map64_put(known, (uintptr_t)file);
    if (!at)
        return false;
    if (*at == MAP64_NONE)
        *at = name_is_library_file(file);
    *is = *at;
    return true;
}

/* Whether a function is anonymous: `M.f.(fun)` in OCaml's debug information, `M.fun_12` in its
 * symbols. */
static bool is_anonymous(const char *function) {
    return text_ends_with(function, ".(fun)") || strstr(function, ".fun_") ||
           strstr(function, "__fun_");
}

static bool judge_locations(builder *b) {
    const profile *p = b->q->profile;
    map64 functions = {0}, files = {0};
    names_list list = {0};
    bool ok = true;
    for (size_t i = 0; ok && i < p->locations.count; i++) {
        const profile_location *l = &p->locations.items[i];
        bool of_file = false;
        ok = names_of(&functions, &list, l->function, &b->names[i]) &&
             is_library_file(&files, l->file, &of_file);
        b->anonymous[i] = is_anonymous(l->function);
        b->library[i] = of_file || (b->names[i] & NAMES(LIBRARY)) || name_is_copy(l->function) ||
                        (b->q->lens.marks[i] & LENS_HIDDEN);
    }
    map64_free(&functions);
    map64_free(&files);
    vec_free(&list);
    return ok;
}

static bool number_names(names_table *t, name_sets names, uint32_t *n) {
    return map64_number(&t->numbers, names, n) && (*n < t->sets.count || vec_push(&t->sets, names));
}

/* ---- ways -------------------------------------------------------------------------------- */

/* Whether OCaml's runtime, or what it calls, gets memory for its heap. That happens wherever the
 * last free memory happens to be used up, and is not caused by that place. */
static bool grows_ocaml_heap(const builder *b, lens_cursor at) {
    const lens_cursor caller = lens_outward(&b->lens, at);
    return b->names[at.location] & NAMES(OCAML_HEAP) ||
           (caller.location != LENS_NOWHERE && b->names[caller.location] & NAMES(OCAML_HEAP));
}

static way find_way(const builder *b, lens_cursor at) {
    const lens *l = &b->lens;
    way found = {.owner.location = LENS_NOWHERE, .of_library = true};
    const uint32_t node = at.node;
    while (at.location != LENS_NOWHERE && at.node == node) {
        const bool starts = b->names[at.location] & NAMES(START);
        if (grows_ocaml_heap(b, at))
            return (way){.owner = at, .within = NAMES(OCAML_HEAP)};
        if (!starts && !b->library[at.location])
            return (way){.owner = at, .within = found.within};
        if (!starts)
            found.owner = at;
        found.within |= b->names[at.location];
        at = lens_outward(l, at);
    }
    if (at.location == LENS_NOWHERE)
        return found;
    const known_way *rest = &b->ways[at.node];
    const bool ends = rest->of_library && rest->owner.location == LENS_NOWHERE;
    return (way){.owner = ends ? found.owner : rest->owner,
                 .of_library = rest->of_library,
                 .within = found.within | b->within.sets.items[rest->within]};
}

/* What is outward of a node comes before it, so its way is known. If a node is hidden as a whole,
 * its way is that of the next node outward. */
static bool find_ways(builder *b) {
    const size_t n = lens_nodes(&b->lens);
    for (uint32_t i = 0; i < n; i++) {
        if (advise_is_unwanted(b->asker, i))
            return false;
        const lens_cursor at = lens_from(&b->lens, i);
        if (at.node != i && at.location != LENS_NOWHERE) {
            b->ways[i] = b->ways[at.node];
            continue;
        }
        const way w = find_way(b, at);
        uint32_t within;
        if (!number_names(&b->within, w.within, &within))
            return false;
        b->ways[i] = (known_way){.owner = w.owner, .of_library = w.of_library, .within = within};
    }
    return true;
}

/* ---- shape ------------------------------------------------------------------------------- */

static const char *function_at(const builder *b, lens_cursor at) {
    return b->q->profile->locations.items[at.location].function;
}

/* Makes a key of a function and its caller. */
static bool number_call(builder *b, lens_cursor at, uint64_t *call) {
    const lens_cursor caller = lens_outward(&b->lens, at);
    uint32_t inner, outer = 0;
    if (!map64_number(&b->functions, (uintptr_t)function_at(b, at), &inner))
        return false;
    if (caller.location != LENS_NOWHERE &&
        !map64_number(&b->functions, (uintptr_t)function_at(b, caller), &outer))
        return false;
    *call = (uint64_t)inner << 32 | outer;
    return true;
}

/* A location that called something is running, so its caller did call it. */
static bool see_calls(builder *b, uint32_t node, bool has_callee) {
    const profile *p = b->q->profile;
    const profile_frame *f = &p->frames.items[cct_frame(&p->tree, node)];
    const uint32_t end = f->first + f->n - !has_callee;
    for (uint32_t l = f->first; l < end; l++) {
        const lens_cursor at = {.node = node, .location = l};
        uint64_t call;
        if (!b->anonymous[l])
            continue;
        uint32_t *known = number_call(b, at, &call) ? map64_put(&b->calls, call) : NULL;
        if (!known)
            return false;
        *known = 1;
    }
    return true;
}

static bool find_calls(builder *b) {
    const cct *tree = &b->q->profile->tree;
    const size_t n = cct_count(tree);
    bool *has_callee = calloc(n + 1, sizeof *has_callee), ok = has_callee;
    for (uint32_t i = 1; ok && i < n; i++)
        has_callee[cct_parent(tree, i)] = true;
    for (uint32_t i = 1; ok && i < n; i++)
        ok = !advise_is_unwanted(b->asker, i) && see_calls(b, i, has_callee[i]);
    free(has_callee);
    return ok;
}

/* Whether an anonymous function is on the stack although nothing there can have called it: neither
 * the library, nor the function around it, nor other parts of that one, nor a caller that called it
 * in another stack. */
static bool is_created(builder *b, lens_cursor owner) {
    const char *function = function_at(b, owner);
    uint64_t call;
    if (!text_ends_with(function, ".(fun)") || !number_call(b, owner, &call) ||
        map64_get(&b->calls, call) != MAP64_NONE)
        return false;
    const size_t scope = strlen(function) - strlen(".(fun)");
    lens_cursor at = lens_outward(&b->lens, owner);
    if (at.location == LENS_NOWHERE || b->library[at.location])
        return false;
    for (int i = 0; i < SCOPE_DEPTH && at.location != LENS_NOWHERE; i++) {
        const char *outer = function_at(b, at);
        if (strncmp(outer, function, scope) == 0 && (outer[scope] == '\0' || outer[scope] == '.'))
            return false;
        at = lens_outward(&b->lens, at);
    }
    return true;
}

/* ---- stacks ------------------------------------------------------------------------------ */

/* Numbers functions with all their lines. Equal strings of a profile have equal pointers. */
static bool number_owner(builder *b, uint32_t location, uint32_t *owner) {
    static const profile_location nowhere = {.file = NULL};
    const profile_location *l =
        location == LENS_NOWHERE ? &nowhere : &b->q->profile->locations.items[location];
    uint32_t function, file;
    return map64_number(&b->functions, (uintptr_t)l->function, &function) &&
           map64_number(&b->files, (uintptr_t)l->file, &file) &&
           map64_number(&b->owners, (uint64_t)function << 32 | file, owner);
}

static advise_family family_of(bool external, const char *type) {
    return external ? ADVISE_NATIVE : type ? ADVISE_GUEST : ADVISE_OCAML;
}

static void see_owner(builder *b, lens_cursor site, const way *w, look *l) {
    lens_cursor owner = w->owner.location == LENS_NOWHERE ? site : w->owner;
    l->place = owner.location;
    if (owner.location == LENS_NOWHERE)
        return;
    lens_cursor caller = lens_outward(&b->lens, owner);
    l->at_owner = b->names[owner.location];
    l->caller = caller.location == LENS_NOWHERE ? 0 : b->names[caller.location];
    if (owner.location == site.location && owner.node == site.node && w->within == 0)
        l->shape |= ADVISE_BARE;
    if (b->anonymous[owner.location])
        l->shape |= ADVISE_ANONYMOUS;
    if (l->family == ADVISE_OCAML && is_created(b, owner))
        l->shape |= ADVISE_CREATED;
}

static bool see_stack(builder *b, uint32_t node, bool external, look *l) {
    uint32_t wrapper;
    const lens_cursor site = lens_site(&b->lens, node, external, &wrapper);
    const way w = site.location == LENS_NOWHERE ? (way){.owner = site} : find_way(b, site);
    const char *type = profile_type(b->q->profile, node);
    name_sets type_names = 0;
    if (type && !names_of(&b->types, &b->type_names, type, &type_names))
        return false;
    memset(l, 0, sizeof *l);
    l->site = site.location;
    l->within = w.within;
    l->type_name = type;
    l->type = type_names | (wrapper == LENS_NOWHERE ? 0 : b->names[wrapper]);
    l->family = family_of(external, type);
    see_owner(b, site, &w, l);
    return number_owner(b, l->place, &l->owner);
}

/* Finds the number of a look, or gives it a new one. */
static bool number_look(builder *b, look *wanted, uint32_t *number) {
    uint32_t *first = map64_put(&b->hashes, hash_bytes(wanted, sizeof *wanted));
    if (!first)
        return false;
    for (uint32_t at = *first == MAP64_NONE ? 0 : *first + 1; at > 0;) {
        look *known = &b->kinds.items[at - 1];
        wanted->next = known->next;
        if (memcmp(known, wanted, sizeof *known) == 0) {
            *number = at - 1;
            return true;
        }
        at = known->next;
    }
    wanted->next = *first == MAP64_NONE ? 0 : *first + 1;
    *number = *first = (uint32_t)b->kinds.count;
    return vec_push(&b->kinds, *wanted);
}

static uint32_t *look_at(const builder *b, size_t row) {
    const block_table *t = &b->q->profile->table;
    return &b->looks[t->source[row] == MEMTRACE_EXTERNAL]
                    [cct_stack(&b->q->profile->tree, t->node[row])];
}

/* Marks the stacks of the rows that are kept. */
static void find_stacks(builder *b) {
    const uint8_t *kept = b->q->selection.kept;
    for (size_t i = 0; i < b->q->profile->table.count; i++)
        if (!kept || kept[i])
            *look_at(b, i) = LOOK_WANTED;
}

/* Goes in the order of the tree, so that stacks with common frames are adjacent. */
static bool see_stacks(builder *b) {
    const cct *tree = &b->q->profile->tree;
    for (uint32_t node = 0, stack = 0; node < cct_count(tree); node++) {
        if (advise_is_unwanted(b->asker, node))
            return false;
        if (!bits_has(tree->stacks, node))
            continue;
        for (int external = 0; external < 2; external++) {
            uint32_t *at = &b->looks[external][stack], number;
            look l;
            if (*at != LOOK_WANTED)
                continue;
            if (!see_stack(b, node, external, &l) || !number_look(b, &l, &number))
                return false;
            *at = number;
        }
        stack++;
    }
    return true;
}

static bool add_stack(builder *b, uint32_t number) {
    const look *l = &b->kinds.items[number];
    const advise_stack s = {.owner = l->owner,
                            .place = l->place,
                            .site = l->site,
                            .within = l->within,
                            .at_owner = l->at_owner,
                            .caller = l->caller,
                            .type = l->type,
                            .shape = l->shape,
                            .family = l->family,
                            .type_name = l->type_name,
                            .number = (uint32_t)b->out->items.count,
                            .min_words = UINT64_MAX};
    return vec_push(&b->out->items, s);
}

/* ---- rows -------------------------------------------------------------------------------- */

static void add_bound(builder *b, uint64_t words) {
    size_t at = b->n_bounds;
    while (at > 0 && b->bounds[at - 1] > words)
        at--;
    if (words == 0 || (at > 0 && b->bounds[at - 1] == words) || b->n_bounds == MAX_CLASSES)
        return;
    memmove(b->bounds + at + 1, b->bounds + at, (b->n_bounds++ - at) * sizeof *b->bounds);
    b->bounds[at] = words;
}

/* Finds the bounds of size classes, such that no rule matches only part of a class. */
static void find_bounds(builder *b) {
    for (uint64_t words = 1; words <= SMALL + 1; words++)
        add_bound(b, words);
    for (size_t i = 0; i < advise_n_rules; i++) {
        add_bound(b, advise_rules[i].min_words);
        if (advise_rules[i].max_words > 0)
            add_bound(b, advise_rules[i].max_words + 1);
    }
}

static uint32_t size_class(const builder *b, uint64_t words) {
    uint32_t class = 0;
    while (class < b->n_bounds && b->bounds[class] <= words)
        class ++;
    return class;
}

/* Most stacks have blocks of a single size. */
static bool add_size(builder *b, uint64_t words, uint64_t samples, advise_stack *s) {
    if (s->n_rows == 0)
        s->size.words = words;
    if (s->size.words == words) {
        s->size.samples += samples;
        return true;
    }
    uint32_t size, *at = NULL;
    if (map64_number(&b->sizes, words, &size))
        at = map64_put(&b->others, (uint64_t)size << 32 | s->number);
    if (at && *at == MAP64_NONE) {
        *at = (uint32_t)b->more.count;
        if (!vec_push(&b->more, ((other_size){.stack = s->number, .size.words = words})))
            return false;
        s->n_more++;
    }
    if (at)
        b->more.items[*at].size.samples += samples;
    return at;
}

static bool add_row(builder *b, size_t row, uint64_t words, advise_stack *s) {
    const cost c = cost_of_block(b->q->profile, b->q->measure, row);
    if (!add_size(b, words, blocks_samples(&b->q->profile->table, row), s))
        return false;
    cost_add(&s->cost, &c);
    s->heaviest = fmax(s->heaviest, c.weight);
    advise_sums_row(&s->sums, b->q->profile, &b->chances, row, words);
    s->n_rows++;
    s->min_words = words < s->min_words ? words : s->min_words;
    s->max_words = words > s->max_words ? words : s->max_words;
    return true;
}

enum { AHEAD = 128 /* rows: far enough to be in the cache when they are needed */ };

/* Some of the kept rows, with what leads to their stacks. */
typedef struct row_piece {
    size_t n, rows[AHEAD];
    uint64_t keys[AHEAD];
    uint32_t stacks[AHEAD];
} row_piece;

static void find_keys(const builder *b, row_piece *p) {
    const profile *of = b->q->profile;
    for (size_t i = 0; i < p->n; i++)
        __builtin_prefetch(&of->tree.stacks[of->table.node[p->rows[i]] / BITS_WORD]);
    for (size_t i = 0; i < p->n; i++)
        __builtin_prefetch(look_at(b, p->rows[i]));
    for (size_t i = 0; i < p->n; i++) {
        const uint32_t class = size_class(b, blocks_length(&of->table, p->rows[i]));
        p->keys[i] = (uint64_t)*look_at(b, p->rows[i]) * (MAX_CLASSES + 1) + class;
        map64_expect(&b->stacks, p->keys[i]);
    }
}

static bool find_stack(builder *b, uint64_t key, uint32_t *stack) {
    return map64_number(&b->stacks, key, stack) &&
           (*stack < b->out->items.count || add_stack(b, (uint32_t)(key / (MAX_CLASSES + 1))));
}

/* Prefetches all cache lines of a stack. */
static void expect_stack(const builder *b, uint32_t stack) {
    const char *s = (const char *)&b->out->items.items[stack];
    for (size_t i = 0; i < sizeof(advise_stack); i += 64)
        __builtin_prefetch(s + i, 1);
}

static bool see_piece(builder *b, row_piece *p) {
    find_keys(b, p);
    for (size_t i = 0; i < p->n; i++) {
        if (!find_stack(b, p->keys[i], &p->stacks[i]))
            return false;
        expect_stack(b, p->stacks[i]);
    }
    for (size_t i = 0; i < p->n; i++) {
        const size_t row = p->rows[i];
        b->out->stack_of[row] = p->stacks[i];
        if (!add_row(b, row, blocks_length(&b->q->profile->table, row),
                     &b->out->items.items[p->stacks[i]]))
            return false;
    }
    p->n = 0;
    return true;
}

static bool see_rows(builder *b) {
    const uint8_t *kept = b->q->selection.kept;
    row_piece p = {.n = 0};
    for (size_t i = 0; i < b->q->profile->table.count; i++) {
        b->out->stack_of[i] = ADVISE_NO_STACK;
        if (!kept || kept[i])
            p.rows[p.n++] = i;
        if (advise_is_unwanted(b->asker, i) || (p.n == AHEAD && !see_piece(b, &p)))
            return false;
    }
    return see_piece(b, &p);
}

/* Puts the sizes of each stack next to each other. */
static bool sort_sizes(builder *b) {
    size_t first = 0;
    advise_stack *stacks = b->out->items.items;
    b->out->more = malloc((b->more.count + 1) * sizeof *b->out->more);
    for (size_t i = 0; b->out->more && i < b->out->items.count; i++) {
        stacks[i].first_more = first;
        first += stacks[i].n_more;
        stacks[i].n_more = 0;
    }
    for (size_t i = 0; b->out->more && i < b->more.count; i++) {
        advise_stack *s = &stacks[b->more.items[i].stack];
        b->out->more[s->first_more + s->n_more++] = b->more.items[i].size;
    }
    return b->out->more;
}

static int compare_owners(const void *a, const void *b) {
    const advise_stack *x = a, *y = b;
    if (x->owner != y->owner)
        return x->owner < y->owner ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

static bool build(builder *b) {
    if (!b->names || !b->library || !b->anonymous || !b->ways || !b->looks[0] || !b->looks[1] ||
        !b->out->stack_of)
        return false;
    find_bounds(b);
    if (!judge_locations(b))
        return false;
    find_stacks(b);
    if (!find_ways(b) || !find_calls(b) || !see_stacks(b) || !see_rows(b) || !sort_sizes(b))
        return false;
    b->out->n_owners = b->owners.count;
    if (b->out->items.count)
        qsort(b->out->items.items, b->out->items.count, sizeof *b->out->items.items,
              compare_owners);
    return true;
}

/* A shape already leaves out what is hidden, so the query's lens is the only possible one. */
static bool make_lens(builder *b) {
    const lens *asked = &b->q->lens;
    b->lens = *asked;
    return asked->shape || lens_init(&b->lens, b->q->profile, asked->skip_wrappers, NULL);
}

bool advise_stacks_build(const query_result *q, const advise_asker *asker, advise_stacks *s) {
    const profile *p = q->profile;
    *s = (advise_stacks){.stack_of = malloc((p->table.count + 1) * sizeof *s->stack_of)};
    builder b = {
        .q = q,
        .asker = asker,
        .out = s,
        .names = calloc(p->locations.count + 1, sizeof *b.names),
        .library = calloc(p->locations.count + 1, sizeof *b.library),
        .anonymous = calloc(p->locations.count + 1, sizeof *b.anonymous),
        .ways = calloc(lens_nodes(&q->lens) + 1, sizeof *b.ways),
        .looks = {calloc(p->tree.n_stacks + 1, sizeof(uint32_t)),
                  calloc(p->tree.n_stacks + 1, sizeof(uint32_t))},
    };
    estimate_chances_init(&b.chances, p->info.sample_rate);
    const bool ok = make_lens(&b) && build(&b);
    if (!q->lens.shape)
        lens_free(&b.lens);
    free(b.names);
    free(b.library);
    free(b.anonymous);
    free(b.ways);
    free(b.looks[0]);
    free(b.looks[1]);
    vec_free(&b.within.sets);
    map64_free(&b.within.numbers);
    vec_free(&b.kinds);
    map64_free(&b.hashes);
    vec_free(&b.more);
    map64_free(&b.sizes);
    map64_free(&b.others);
    map64_free(&b.stacks);
    map64_free(&b.calls);
    map64_free(&b.functions);
    map64_free(&b.files);
    map64_free(&b.owners);
    map64_free(&b.types);
    vec_free(&b.type_names);
    if (!ok)
        advise_stacks_free(s);
    return ok;
}

static bool sort_rows(advise_stacks *s, size_t n_table) {
    const size_t n = s->items.count;
    advise_rows *r = &s->rows;
    r->rows = malloc((n_table + 1) * sizeof *r->rows);
    r->first = calloc(n + 1, sizeof *r->first);
    if (!r->rows || !r->first) {
        free(r->rows);
        free(r->first);
        *r = (advise_rows){0};
        return false;
    }
    for (size_t i = 0; i < n; i++)
        r->first[s->items.items[i].number + 1] = s->items.items[i].n_rows;
    for (size_t i = 1; i <= n; i++)
        r->first[i] += r->first[i - 1];
    for (size_t row = 0; row < n_table; row++)
        if (s->stack_of[row] != ADVISE_NO_STACK)
            r->rows[r->first[s->stack_of[row]]++] = (uint32_t)row;
    for (size_t i = n; i > 0; i--) /* each entry has come to where the next one began */
        r->first[i] = r->first[i - 1];
    r->first[0] = 0;
    return true;
}

const uint32_t *advise_stacks_rows(advise_stacks *s, size_t n_table, const advise_stack *stack) {
    if (!s->rows.rows && !sort_rows(s, n_table))
        return NULL;
    return s->rows.rows + s->rows.first[stack->number];
}

void advise_stacks_free(advise_stacks *s) {
    vec_free(&s->items);
    free(s->more);
    free(s->stack_of);
    free(s->rows.rows);
    free(s->rows.first);
    *s = (advise_stacks){0};
}
