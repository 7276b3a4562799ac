/* answer_table.c: `/api/table`: rows that are sorted, searched and shown a page at a time. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analyse/flame.h"
#include "analyse/functions.h"
#include "analyse/hotpaths.h"
#include "analyse/hotspots.h"
#include "analyse/leaks.h"
#include "present/http/request.h"

/* A row of any kind; what the kind does not have is zero. */
typedef struct row {
    const profile_location *place;
    const char *type;
    cost total, self;
    uint32_t first, n; /* callers of `hotspots`, frames of `paths` */
    double explained;  /* weight of this row and those before it */
    uint32_t index;    /* in the order of the query, which is by falling value */
    const leaks_site *leak;
    bool more;
    double key; /* by which it is sorted */
} row;

#define TABLE_KINDS(X)                                                                             \
    X(HOTSPOTS, "hotspots")                                                                        \
    X(TYPES, "types")                                                                              \
    X(FUNCTIONS, "functions")                                                                      \
    X(CALLERS, "callers")                                                                          \
    X(CALLEES, "callees")                                                                          \
    X(PATHS, "paths")                                                                              \
    X(LEAKS, "leaks")

enum table_kind {
#define KIND_NAME(name, text) KIND_##name,
    TABLE_KINDS(KIND_NAME)
#undef KIND_NAME
};

static const char *const kinds[] = {
#define KIND_TEXT(name, text) text,
    TABLE_KINDS(KIND_TEXT)
#undef KIND_TEXT
        NULL};

enum { BY_FUNCTION, BY_LINE };
static const char *const groupings[] = {[BY_FUNCTION] = "function", [BY_LINE] = "line", NULL};

enum {
    SORT_DEFAULT, /* as the query has it: by falling value, but for leaks */
    SORT_VALUE,
    SORT_LOW,
    SORT_SAMPLES,
    SORT_BLOCKS,
    SORT_SELF,
    SORT_SLOPE,
    SORT_FUNCTION,
    SORT_FILE,
    SORT_TYPE
};
static const char *const sorts[] = {"default", "value",    "low",  "samples", "blocks", "self",
                                    "slope",   "function", "file", "type",    NULL};

enum { DESCENDING, ASCENDING };
static const char *const orders[] = {"desc", "asc", NULL};

enum { SHOWN_CALLERS = 3 };

typedef struct table {
    asked question;
    int kind, by, sort, order;
    bool collapse;
    uint64_t offset, limit;
    double share;   /* of paths: per cent */
    double warm_up; /* of leaks: the same */
    call_site *focus;
    id_list root;
    uint8_t *matches;
    cache_entry *tree; /* keeps what rows of trees are made from */
    hotspots hotspots;
    hotpaths paths;
    leaks leaks;
    VEC(row) rows; /* all, then those that are shown first */
    size_t count;  /* of those that match */
} table;

/* ---- parameters -------------------------------------------------------------------------- */

static bool needs_focus(const table *t) {
    return t->kind == KIND_CALLERS || t->kind == KIND_CALLEES;
}

static bool parse_focus(request *r, table *t) {
    if (needs_focus(t))
        return request_focus(r, &t->question.reading->profile, &t->focus);
    for (size_t i = 0; i < 3; i++) {
        static const char *const names[] = {"focus", "focus_ids", "root"};
        if (request_text(r, names[i]))
            return request_refuse(r, names[i], 0, "is for callers, callees");
    }
    return true;
}

static bool parse(request *r, table *t) {
    if (!request_choice(r, "kind", kinds, &t->kind))
        return false;
    t->by = t->kind == KIND_HOTSPOTS || t->kind == KIND_LEAKS ? BY_LINE : BY_FUNCTION;
    t->question.needs_blocks = t->kind == KIND_LEAKS;
    t->collapse = t->kind == KIND_PATHS; /* or recursion would fill the fragments */
    return request_choice(r, "by", groupings, &t->by) &&
           request_choice(r, "sort", sorts, &t->sort) &&
           request_choice(r, "order", orders, &t->order) &&
           request_flag(r, "collapse", &t->collapse) &&
           request_integer(r, "offset", 0, UINT32_MAX, &t->offset) &&
           request_integer(r, "limit", 1, 1000, &t->limit) &&
           request_number(r, "share", 0.1, 100, &t->share) &&
           request_number(r, "warm_up", 0, 90, &t->warm_up) && request_ids(r, "root", &t->root) &&
           request_ask(r, &t->question) && parse_focus(r, t) &&
           request_search(r, &t->question.reading->profile, &t->matches);
}

static void close_table(request *r, table *t) {
    cache_release(r->viewer->cache, t->tree);
    hotspots_free(&t->hotspots);
    hotpaths_free(&t->paths);
    leaks_free(&t->leaks);
    call_site_free(t->focus);
    vec_free(&t->root);
    vec_free(&t->rows);
    free(t->matches);
    asked_close(r, &t->question);
}

/* ---- rows of each kind ------------------------------------------------------------------- */

static bool add_row(table *t, row x) {
    x.index = (uint32_t)t->rows.count;
    return vec_push(&t->rows, x);
}

static bool gather_sites(table *t) {
    hotspots_by by = t->kind == KIND_TYPES ? HOTSPOTS_BY_TYPE
                     : t->by == BY_LINE    ? HOTSPOTS_BY_LINE
                                           : HOTSPOTS_BY_FUNCTION;
    if (!hotspots_query(t->question.query, by, &t->hotspots))
        return false;
    for (size_t i = 0; i < t->hotspots.sites.count; i++) {
        const hotspots_site *s = &t->hotspots.sites.items[i];
        if (!add_row(t, (row){.place = s->entry.place,
                              .type = s->entry.type,
                              .total = s->entry.cost,
                              .first = s->first_caller,
                              .n = s->n_callers}))
            return false;
    }
    return true;
}

static bool find_tree(request *r, table *t, calltree_shape shape, uint64_t max_depth) {
    const calltree_spec spec = {.shape = shape,
                                .by_line = t->by == BY_LINE,
                                .collapse_recursion = t->collapse,
                                .focus = t->focus,
                                .max_depth = t->collapse ? 0 : max_depth};
    t->tree = asked_tree(r, &t->question, &spec);
    return t->tree;
}

static bool gather_functions(request *r, table *t) {
    functions_list list = {0};
    const profile *p = &t->question.reading->profile;
    asked_sums s;
    bool ok;
    if (t->collapse) {
        ok = find_tree(r, t, CALLTREE_DOWN, 0) &&
             functions_query(p, cache_entry_value(t->tree), &list);
    } else {
        ok = asked_sums_of(r, &t->question, t->by == BY_LINE, &s) &&
             functions_of_sums(p, s.view, s.sums, &list);
        asked_sums_release(r, &s);
    }
    for (size_t i = 0; ok && i < list.count; i++) {
        const functions_entry *e = &list.items[i];
        ok = e->total.blocks == 0 ||
             add_row(t, (row){.place = e->place, .total = e->total, .self = e->self});
    }
    vec_free(&list);
    return ok;
}

/* Unrolled rows are a path below the focus. */
static bool gather_collapsed(request *r, table *t) {
    const profile *p = &t->question.reading->profile;
    if (!find_tree(r, t, t->kind == KIND_CALLERS ? CALLTREE_CALLERS : CALLTREE_CALLEES,
                   t->root.count + 2))
        return false;
    const calltree *tree = cache_entry_value(t->tree);
    uint32_t at = CALLTREE_ROOT;
    for (size_t i = 0; i < t->root.count; i++) {
        at = flame_child(p, tree, at, t->root.items[i], t->by == BY_LINE);
        if (at == CALLTREE_ROOT)
            return true; /* the filter leaves nothing of it */
    }
    const calltree_node *n = &tree->nodes.items[at];
    for (uint32_t i = 0; i < n->n_children; i++) {
        const calltree_node *c = &tree->nodes.items[tree->children.items[n->first + i]];
        if (!add_row(t, (row){.place = c->place,
                              .total = c->total,
                              .self = c->self,
                              .more = c->n_children > 0}))
            return false;
    }
    return true;
}

/* They are the second row of a picture that shows all of it. */
static bool gather_neighbours(request *r, table *t) {
    if (t->collapse)
        return gather_collapsed(r, t);
    const profile *p = &t->question.reading->profile;
    const bool outward = t->kind == KIND_CALLERS;
    const calltree_spec shape = {.shape = outward ? CALLTREE_CALLERS : CALLTREE_CALLEES,
                                 .by_line = t->by == BY_LINE,
                                 .focus = t->focus};
    const flame_spec spec = {.root = t->root.items,
                             .n_root = t->root.count,
                             .rows = 2,
                             .by_line = t->by == BY_LINE,
                             .outward = outward};
    flame f;
    if (!asked_picture(r, &t->question, &shape, &spec, &f))
        return false;
    bool ok = true;
    for (size_t i = 1; ok && f.n_found == t->root.count && i < f.nodes.count; i++) {
        const flame_node *n = &f.nodes.items[i];
        ok = add_row(t, (row){.place = &p->locations.items[n->place],
                              .total = n->total,
                              .self = n->self,
                              .more = n->more});
    }
    flame_free(&f);
    return ok;
}

static bool gather_whole_paths(request *r, table *t) {
    const profile *p = &t->question.reading->profile;
    asked_sums s;
    if (t->collapse)
        return find_tree(r, t, CALLTREE_DOWN, 0) &&
               hotpaths_query(p, cache_entry_value(t->tree), t->share / 100, &t->paths);
    const bool ok = asked_sums_of(r, &t->question, t->by == BY_LINE, &s) &&
                    hotpaths_of_sums(p, s.view, s.sums, t->share / 100, &t->paths);
    asked_sums_release(r, &s);
    return ok;
}

static bool gather_paths(request *r, table *t) {
    if (!gather_whole_paths(r, t))
        return false;
    double explained = 0;
    for (size_t i = 0; i < t->paths.fragments.count; i++) {
        const hotpaths_fragment *f = &t->paths.fragments.items[i];
        explained += f->cost.weight;
        if (!add_row(t, (row){.place = t->paths.frames.items[f->first + f->n - 1],
                              .total = f->cost,
                              .first = f->first,
                              .n = f->n,
                              .more = !f->ends_in_site,
                              .explained = explained}))
            return false;
    }
    return true;
}

static bool make_window(void *context, cache_value *value) {
    leaks_window *w = malloc(sizeof *w);
    if (!w || !leaks_find_window(context, w)) {
        free(w);
        return false;
    }
    *value = (cache_value){.value = w, .size = sizeof *w, .release = free};
    return true;
}

/* That of a trace, whatever the question. */
static cache_entry *find_window(request *r, asked *a) {
    char key[64];
    snprintf(key, sizeof key, "%zu %" PRIu64 " window of leaks", a->trace, a->reading->serial);
    return cache_get(r->viewer->cache, key, make_window, &a->reading->profile);
}

/* Its figure is what is live at the end, whatever is measured in bytes. */
static bool gather_leaks(request *r, table *t) {
    leaks_spec spec = {.may = t->question.query->may,
                       .by_function = t->by == BY_FUNCTION,
                       .warm_up = t->warm_up / 100,
                       .measure = t->question.query->measure};
    if (!asked_rows(r, &t->question, &spec.kept))
        return false;
    cache_entry *window = find_window(r, &t->question);
    spec.window = window ? cache_entry_value(window) : NULL;
    const bool ok = window && leaks_query(&t->question.query->lens, &spec, &t->leaks);
    cache_release(r->viewer->cache, window);
    if (!ok)
        return false;
    for (size_t i = 0; i < t->leaks.sites.count; i++) {
        const leaks_site *s = &t->leaks.sites.items[i];
        if (s->cost.blocks > 0 && /* else nothing stayed */
            !add_row(t, (row){.place = s->place, .total = s->cost, .leak = s}))
            return false;
    }
    return true;
}

static bool gather(request *r, table *t) {
    switch (t->kind) {
    case KIND_FUNCTIONS:
        return gather_functions(r, t);
    case KIND_CALLERS:
    case KIND_CALLEES:
        return gather_neighbours(r, t);
    case KIND_PATHS:
        return gather_paths(r, t);
    case KIND_LEAKS:
        return gather_leaks(r, t);
    default:
        return gather_sites(t);
    }
}

/* ---- searching and sorting --------------------------------------------------------------- */

static bool place_matches(const table *t, const profile_location *place) {
    return place && t->matches[place - t->question.reading->profile.locations.items];
}

static bool row_matches(const table *t, const row *x) {
    if (place_matches(t, x->place))
        return true;
    for (uint32_t i = 0; t->kind == KIND_PATHS && i < x->n; i++)
        if (place_matches(t, t->paths.frames.items[x->first + i]))
            return true;
    return false;
}

/* Types are no locations: the pattern is matched anew. */
static bool search_types(request *r, table *t) {
    call_site *s;
    filter_error error;
    size_t kept = 0;
    if (!call_site_search(request_text(r, "search"), &s, &error))
        return request_no_memory(r);
    for (size_t i = 0; i < t->rows.count; i++)
        if (t->rows.items[i].type && call_site_match(s, 0, t->rows.items[i].type))
            t->rows.items[kept++] = t->rows.items[i];
    t->rows.count = kept;
    call_site_free(s);
    return true;
}

static bool search(request *r, table *t) {
    size_t kept = 0;
    if (!t->matches)
        return true;
    if (t->kind == KIND_TYPES)
        return search_types(r, t);
    for (size_t i = 0; i < t->rows.count; i++)
        if (row_matches(t, &t->rows.items[i]))
            t->rows.items[kept++] = t->rows.items[i];
    t->rows.count = kept;
    return true;
}

static double key_of(const table *t, const row *x) {
    switch (t->sort) {
    case SORT_LOW:
        return asked_figure(&t->question, &x->total).low;
    case SORT_SAMPLES:
        return (double)x->total.samples;
    case SORT_BLOCKS:
        return (double)x->total.blocks;
    case SORT_SELF:
        return x->self.weight;
    case SORT_SLOPE:
        return x->leak ? x->leak->slope.value : 0;
    case SORT_DEFAULT:
        return -(double)x->index;
    default:
        return x->total.weight;
    }
}

static const char *text_of(const table *t, const row *x) {
    const char *text = t->sort == SORT_TYPE   ? x->type
                       : !x->place            ? NULL
                       : t->sort == SORT_FILE ? x->place->file
                                              : x->place->function;
    return text ? text : "";
}

static int compare_rows(const void *a, const void *b, void *context) {
    const row *x = a, *y = b;
    const table *t = context;
    int order = t->sort >= SORT_FUNCTION ? strcmp(text_of(t, y), text_of(t, x))
                                         : (x->key < y->key) - (x->key > y->key);
    if (order == 0)
        return (x->index > y->index) - (x->index < y->index);
    return t->order == DESCENDING ? order : -order;
}

/* Places in an order that is always the same, whatever gathered them. */
static int compare_places(const void *a, const void *b) {
    const row *x = a, *y = b;
    if (x->total.weight != y->total.weight)
        return x->total.weight > y->total.weight ? -1 : 1;
    return x->place < y->place ? -1 : x->place > y->place;
}

static void sort(table *t) {
    row *rows = t->rows.items;
    size_t n = t->rows.count;
    t->count = n;
    if (n == 0)
        return;
    if (t->kind == KIND_FUNCTIONS) {
        qsort(rows, n, sizeof *rows, compare_places);
        for (size_t i = 0; i < n; i++)
            rows[i].index = (uint32_t)i;
    }
    for (size_t i = 0; i < n; i++)
        rows[i].key = key_of(t, &rows[i]);
    qsort_r(rows, n, sizeof *rows, compare_rows, t);
}

/* Only what is shown is left. */
static void cut(table *t) {
    size_t n = t->rows.count;
    size_t from = t->offset < n ? (size_t)t->offset : n;
    size_t shown = n - from < t->limit ? n - from : (size_t)t->limit;
    if (shown > 0) /* where there are no rows there are no items either */
        memmove(t->rows.items, t->rows.items + from, shown * sizeof *t->rows.items);
    t->rows.count = shown;
}

/* ---- writing ----------------------------------------------------------------------------- */

static double share_of(const table *t, double weight) {
    double all =
        t->kind == KIND_LEAKS ? t->leaks.total.cost.weight : t->question.query->total.weight;
    return all > 0 ? weight / all : 0;
}

static bool is_in_bytes(const table *t) {
    return measure_infos[t->question.query->measure].unit == UNIT_BYTES;
}

static bool has_callers(const table *t) {
    return t->kind == KIND_HOTSPOTS || t->kind == KIND_TYPES;
}

static uint32_t shown_callers(const row *x) {
    return x->n < SHOWN_CALLERS ? x->n : SHOWN_CALLERS;
}

static bool number_places(const table *t, place_list *places) {
    bool ok = true;
    for (size_t i = 0; i < t->rows.count; i++) {
        const row *x = &t->rows.items[i];
        const char *class = x->leak ? leaks_class_infos[x->leak->class].name : NULL;
        ok = ok && place_list_add(places, x->place) >= -1 &&
             place_list_string(places, x->type) >= 0 && place_list_string(places, class) >= 0;
        for (uint32_t k = 0; has_callers(t) && k < shown_callers(x); k++)
            ok = ok && place_list_add(places, t->hotspots.callers.items[x->first + k].place) >= -1;
        for (uint32_t k = 0; t->kind == KIND_PATHS && k < x->n; k++)
            ok = ok && place_list_add(places, t->paths.frames.items[x->first + k]) >= -1;
    }
    for (size_t i = 0; i < t->hotspots.wrappers.count; i++)
        ok = ok && place_list_add(places, t->hotspots.wrappers.items[i].place) >= -1;
    return ok;
}

static void write_callers(output *o, const table *t, const row *x, place_list *places) {
    output_char(o, '[');
    for (uint32_t k = 0; k < shown_callers(x); k++) {
        const hotspots_entry *e = &t->hotspots.callers.items[x->first + k];
        output_format(o, "%s{\"place\":%lld,\"share\":%.6f}", k ? "," : "",
                      (long long)place_list_add(places, e->place), share_of(t, e->cost.weight));
    }
    output_char(o, ']');
}

static void write_frames(output *o, const table *t, const row *x, place_list *places) {
    output_char(o, '[');
    for (uint32_t k = 0; k < x->n; k++)
        output_format(o, "%s%lld", k ? "," : "",
                      (long long)place_list_add(places, t->paths.frames.items[x->first + k]));
    output_char(o, ']');
}

/* `callers` or `frames`: an array of arrays. */
static void write_lists(output *o, const table *t, const char *name, place_list *places) {
    output_format(o, ",\n\"%s\":[", name);
    for (size_t i = 0; i < t->rows.count; i++) {
        output_text(o, i ? "," : "");
        (has_callers(t) ? write_callers : write_frames)(o, t, &t->rows.items[i], places);
    }
    output_char(o, ']');
}

static void write_names(output *o, const table *t, place_list *places) {
    json_column c;
    bool type = t->kind == KIND_TYPES;
    column_start(&c, o, type ? "type" : "place", true);
    for (size_t i = 0; i < t->rows.count; i++) {
        const row *x = &t->rows.items[i];
        column_integer(&c, type ? place_list_string(places, x->type)
                                : place_list_add(places, x->place));
    }
    column_end(&c);
}

static bool write_costs(output *o, const table *t) {
    const cost **costs = malloc((t->rows.count + 1) * sizeof *costs);
    json_column c;
    if (!costs)
        return false;
    for (size_t i = 0; i < t->rows.count; i++)
        costs[i] = &t->rows.items[i].total;
    /* Where bytes count, how many blocks stay is not what leaks are about. */
    (t->kind == KIND_LEAKS && is_in_bytes(t) ? write_amounts : write_figures)(
        o, &t->question, costs, t->rows.count, false);
    free(costs);
    column_start(&c, o, "share", false);
    for (size_t i = 0; i < t->rows.count; i++)
        column_exact(&c, round(share_of(t, t->rows.items[i].total.weight) * 1e6) / 1e6);
    column_end(&c);
    return true;
}

static void write_self(output *o, const table *t) {
    static const char *const names[] = {"self", "self_low", "self_high"};
    for (int k = 0; k < 3; k++) {
        json_column c;
        column_start(&c, o, names[k], false);
        for (size_t i = 0; i < t->rows.count; i++) {
            figure f = asked_figure(&t->question, &t->rows.items[i].self);
            column_number(&c, k == 0 ? f.value : k == 1 ? f.low : f.high);
        }
        column_end(&c);
    }
}

static int64_t number_callers(const void *thing) {
    const row *x = thing;
    return x->n;
}

static int64_t number_more(const void *thing) {
    const row *x = thing;
    return x->more;
}

static int64_t number_self_samples(const void *thing) {
    const row *x = thing;
    return (int64_t)x->self.samples;
}

/* X(name, expression of `s`): columns of leaks */
#define LEAK_COLUMNS(X)                                                                            \
    X("slope", s->slope.value)                                                                     \
    X("slope_low", s->slope.low)                                                                   \
    X("slope_high", s->slope.high)                                                                 \
    X("late", s->late)                                                                             \
    X("p", s->p)                                                                                   \
    X("q", s->q)                                                                                   \
    X("startup", cost_bytes(&t->question.reading->profile, s->startup))                            \
    X("at_exit", cost_bytes(&t->question.reading->profile, s->at_exit))

/* Blocks, if these are counted; else bytes. */
static void write_leak_line(output *o, const table *t, const leaks_site *s) {
    const bool blocks = t->leaks.measure == MEASURE_BLOCKS;
    const double each = blocks ? 1 : cost_bytes(&t->question.reading->profile, 1);
    output_char(o, '[');
    for (int i = 0; i < LEAKS_POINTS; i++)
        output_format(o, "%s%.0f", i ? "," : "", s->line[i] * each);
    output_char(o, ']');
}

static void write_leaks(output *o, const table *t, place_list *places) {
    json_column c;
#define LEAK_COLUMN(name, expression)                                                              \
    column_start(&c, o, name, false);                                                              \
    for (size_t i = 0; i < t->rows.count; i++) {                                                   \
        const leaks_site *s = t->rows.items[i].leak;                                               \
        column_exact(&c, expression);                                                              \
    }                                                                                              \
    column_end(&c);
    LEAK_COLUMNS(LEAK_COLUMN)
#undef LEAK_COLUMN
    column_start(&c, o, "class", false);
    for (size_t i = 0; i < t->rows.count; i++)
        column_integer(
            &c, place_list_string(places, leaks_class_infos[t->rows.items[i].leak->class].name));
    column_end(&c);
    output_text(o, ",\n\"line\":[");
    for (size_t i = 0; i < t->rows.count; i++) {
        output_text(o, i ? "," : "");
        write_leak_line(o, t, t->rows.items[i].leak);
    }
    output_char(o, ']');
}

static void write_window(output *o, const table *t) {
    const leaks *l = &t->leaks;
    output_format(o, ",\n\"leaks\":{\"from\":%llu,\"to\":%llu,\"cleaned_up\":%s,\"class\":\"%s\",",
                  (unsigned long long)l->from, (unsigned long long)l->to,
                  l->cleaned_up ? "true" : "false", leaks_class_infos[l->total.class].name);
    figure f = asked_figure(&t->question, &l->total.cost);
    if (is_in_bytes(t))
        figure_json(o, &f);
    else
        write_figure(o, &f, l->total.cost.blocks);
    output_text(o, ",\"classes\":{");
    for (int i = 0; i < LEAKS_N_CLASSES; i++)
        output_format(o, "%s\"%s\":\"%s\"", i ? "," : "", leaks_class_infos[i].name,
                      leaks_class_infos[i].meaning);
    output_text(o, "}}");
}

static void write_kind(output *o, const table *t, place_list *places) {
    json_column c;
    const row *rows = t->rows.items;
    if (has_callers(t)) {
        write_lists(o, t, "callers", places);
        write_column(o, "n_callers", rows, sizeof *rows, t->rows.count, number_callers);
        return;
    }
    if (t->kind == KIND_LEAKS) {
        write_leaks(o, t, places);
        return;
    }
    if (t->kind == KIND_PATHS) {
        write_lists(o, t, "frames", places);
        column_start(&c, o, "explained", false);
        for (size_t i = 0; i < t->rows.count; i++)
            column_exact(&c, round(share_of(t, rows[i].explained) * 1e6) / 1e6);
        column_end(&c);
    } else {
        write_self(o, t);
        write_column(o, "self_samples", rows, sizeof *rows, t->rows.count, number_self_samples);
    }
    if (t->kind != KIND_FUNCTIONS)
        write_column(o, "more", rows, sizeof *rows, t->rows.count, number_more);
}

static void write_wrappers(output *o, const table *t, place_list *places) {
    output_text(o, ",\n\"wrappers\":[");
    for (size_t i = 0; i < t->hotspots.wrappers.count; i++) {
        const hotspots_entry *e = &t->hotspots.wrappers.items[i];
        output_format(o, "%s{\"place\":%lld,", i ? "," : "",
                      (long long)place_list_add(places, e->place));
        write_cost(o, &t->question, &e->cost);
        output_char(o, '}');
    }
    output_char(o, ']');
}

static bool write_table(request *r, const table *t) {
    output *o = r->o;
    place_list places = {0};
    output_char(o, '{');
    write_head(o, &t->question);
    output_format(o, ",\n\"kind\":\"%s\",\"count\":%zu,\"offset\":%llu,\n", kinds[t->kind],
                  t->count, (unsigned long long)t->offset);
    bool ok = number_places(t, &places) &&
              write_places(o, &places, &t->question.reading->profile, t->by == BY_LINE, t->matches);
    output_text(o, ",\n\"rows\":{");
    write_names(o, t, &places);
    ok = ok && write_costs(o, t);
    write_kind(o, t, &places);
    output_char(o, '}');
    if (has_callers(t))
        write_wrappers(o, t, &places);
    if (t->kind == KIND_LEAKS)
        write_window(o, t);
    output_text(o, "}\n");
    place_list_free(&places);
    return ok;
}

bool answer_table(request *r) {
    table t = {.limit = 100, .share = 1, .warm_up = 25};
    bool ok = parse(r, &t) && gather(r, &t) && search(r, &t);
    if (ok) {
        sort(&t);
        cut(&t);
        ok = write_table(r, &t);
    }
    close_table(r, &t);
    return ok;
}
