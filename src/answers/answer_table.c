/* answer_table.c: `/api/table`: rows that are sorted, searched and shown a page at a time. The
 * reports define the rows and their columns; this file gathers, sorts and cuts them. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "answers/asked_paths.h"
#include "answers/endpoints.h"
#include "answers/write.h"
#include "paths/picture.h"
#include "reports/hotspots.h"
#include "reports/leaks.h"
#include "reports/paths.h"

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

enum { BY_FUNCTION, BY_LINE, BY_THREAD, BY_SCOPE };
static const char *const groupings[] = {[BY_FUNCTION] = "function",
                                        [BY_LINE] = "line",
                                        [BY_THREAD] = "thread",
                                        [BY_SCOPE] = "scope",
                                        NULL};

enum { SORT_DEFAULT, SORT_VALUE, SORT_LOW, SORT_FUNCTION, SORT_FILE, SORT_COLUMN };
static const char *const sorts[] = {"default", "value", "low",   "function", "file", "samples",
                                    "blocks",  "self",  "slope", "type",     NULL};

enum { SHOWN_CALLERS = 3 };

typedef struct asked_table {
    asked question;
    int kind, by, sort;
    bool ascending, collapse;
    uint64_t offset, limit;
    double share;   /* of paths: percent */
    double warm_up; /* of leaks: percent */
    call_site *focus;
    id_list root;
    uint8_t *matches;
    hotspots hotspots;
    hotpaths paths;
    leaks leaks;
    hotspots_report sites;
    paths_report places;
    leaks_report stays;
    VEC(paths_row) rows; /* for the kinds that have no array of their own */
    VEC(double) explained;
    document kept; /* owns what the tables refer to */
    table table;
    VEC(uint32_t) order_of; /* the matching rows, sorted */
    size_t count;           /* of the matching rows */
} asked_table;

/* ---- parameters -------------------------------------------------------------------------- */

static bool needs_focus(const asked_table *t) {
    return t->kind == KIND_CALLERS || t->kind == KIND_CALLEES;
}

static bool parse_focus(request *r, asked_table *t) {
    if (needs_focus(t))
        return request_focus(r, &t->question.reading->profile, &t->focus);
    for (size_t i = 0; i < 3; i++) {
        static const char *const names[] = {"focus", "focus_ids", "root"};
        if (request_text(r, names[i]))
            return request_refuse(r, names[i], 0, "is for callers, callees");
    }
    return true;
}

static bool is_by_span(const asked_table *t) {
    return t->by == BY_THREAD || t->by == BY_SCOPE;
}

/* Reads how rows are grouped. Threads and scopes are only in the table of blocks. */
static bool parse_by(request *r, asked_table *t) {
    t->by = t->kind == KIND_HOTSPOTS || t->kind == KIND_LEAKS ? BY_LINE : BY_FUNCTION;
    if (!request_choice(r, "by", groupings, &t->by))
        return false;
    if (is_by_span(t) && t->kind != KIND_HOTSPOTS)
        return request_refuse(r, "by", 0, "%s is for hotspots", groupings[t->by]);
    t->question.needs_rows = t->question.needs_counted = is_by_span(t);
    return true;
}

static bool open_question(request *r, asked_table *t) {
    t->question.collapses = t->collapse && (t->kind == KIND_PATHS || t->kind == KIND_FUNCTIONS);
    t->question.by_line = t->by == BY_LINE;
    return asked_open(r, &t->question);
}

static bool parse(request *r, asked_table *t) {
    if (!request_choice(r, "kind", kinds, &t->kind))
        return false;
    t->question.needs_blocks = t->kind == KIND_LEAKS;
    t->collapse = t->kind == KIND_PATHS; /* otherwise recursion would fill the list of fragments */
    return parse_by(r, t) && request_choice(r, "sort", sorts, &t->sort) &&
           request_order(r, &t->ascending) && request_flag(r, "collapse", &t->collapse) &&
           request_integer(r, "offset", 0, UINT32_MAX, &t->offset) &&
           request_integer(r, "limit", 1, 1000, &t->limit) &&
           request_number(r, "share", 0.1, 100, &t->share) &&
           request_number(r, "warm_up", 0, 90, &t->warm_up) && request_ids(r, "root", &t->root) &&
           open_question(r, t) && parse_focus(r, t) &&
           request_search(r, &t->question.reading->profile, &t->matches);
}

static void close_table(request *r, asked_table *t) {
    hotspots_free(&t->hotspots);
    hotpaths_free(&t->paths);
    leaks_free(&t->leaks);
    call_site_free(t->focus);
    document_free(&t->kept);
    vec_free(&t->root);
    vec_free(&t->rows);
    vec_free(&t->explained);
    vec_free(&t->order_of);
    free(t->matches);
    asked_close(r, &t->question);
}

/* ---- rows of each kind ------------------------------------------------------------------- */

static bool gather_sites(asked_table *t) {
    static const hotspots_by of[] = {[BY_FUNCTION] = HOTSPOTS_BY_FUNCTION,
                                     [BY_LINE] = HOTSPOTS_BY_LINE,
                                     [BY_THREAD] = HOTSPOTS_BY_THREAD,
                                     [BY_SCOPE] = HOTSPOTS_BY_SCOPE};
    const hotspots_by by = t->kind == KIND_TYPES ? HOTSPOTS_BY_TYPE : of[t->by];
    if (!hotspots_query(t->question.query, by, &t->hotspots))
        return false;
    t->sites = (hotspots_report){.report = &t->question.report,
                                 .hotspots = &t->hotspots,
                                 .view = {.callers = SHOWN_CALLERS}};
    t->table = hotspots_table(&t->sites);
    return true;
}

static bool find_paths(request *r, asked_table *t, callpaths_shape shape, asked_paths *p) {
    const callpaths_spec spec = {
        .shape = shape, .by_line = t->by == BY_LINE, .collapse = t->collapse, .focus = t->focus};
    return asked_paths_of(r, &t->question, NULL, &spec, p);
}

/* Makes the order the same whatever gathered the places. */
static int compare_places(const void *a, const void *b) {
    const paths_row *x = a, *y = b;
    if (x->total.weight != y->total.weight)
        return x->total.weight > y->total.weight ? -1 : 1;
    return x->place < y->place ? -1 : x->place > y->place;
}

static bool take_places(asked_table *t) {
    t->places = (paths_report){.report = &t->question.report, .by_line = t->by == BY_LINE};
    if (t->kind == KIND_FUNCTIONS && t->rows.count > 0)
        qsort(t->rows.items, t->rows.count, sizeof *t->rows.items, compare_places);
    t->table = paths_places(&t->places, t->rows.items, t->rows.count, t->kind != KIND_FUNCTIONS);
    return true;
}

static bool gather_functions(request *r, asked_table *t) {
    functions_list list = {0};
    asked_paths p;
    bool ok = find_paths(r, t, CALLPATHS_DOWN, &p) && functions_query(&p.view, &list);
    asked_paths_release(r, &p);
    for (size_t i = 0; ok && i < list.count; i++) {
        const functions_entry *e = &list.items[i];
        ok = vec_push(&t->rows,
                      ((paths_row){.place = e->place, .total = e->total, .self = e->self}));
    }
    vec_free(&list);
    return ok && take_places(t);
}

/* Callers and callees are the second row of a picture in which nothing is left out. */
static bool gather_neighbours(request *r, asked_table *t) {
    const profile *p = &t->question.reading->profile;
    const picture_spec spec = {.root = t->root.items, .n_root = t->root.count, .rows = 2};
    picture f = {0};
    asked_paths around;
    bool ok = find_paths(r, t, t->kind == KIND_CALLERS ? CALLPATHS_CALLERS : CALLPATHS_CALLEES,
                         &around) &&
              picture_query(&around.view, &spec, &f);
    asked_paths_release(r, &around);
    for (size_t i = 1; ok && f.n_found == t->root.count && i < f.nodes.count; i++) {
        const picture_node *n = &f.nodes.items[i];
        ok = vec_push(&t->rows, ((paths_row){.place = &p->locations.items[n->place],
                                             .total = n->total,
                                             .self = n->self,
                                             .more = n->more}));
    }
    picture_free(&f);
    return ok && take_places(t);
}

static bool find_fragments(request *r, asked_table *t) {
    asked_paths p;
    const bool ok =
        find_paths(r, t, CALLPATHS_DOWN, &p) && hotpaths_query(&p.view, t->share / 100, &t->paths);
    asked_paths_release(r, &p);
    return ok;
}

static bool gather_paths(request *r, asked_table *t) {
    double explained = 0;
    if (!find_fragments(r, t))
        return false;
    for (size_t i = 0; i < t->paths.fragments.count; i++) {
        explained += t->paths.fragments.items[i].cost.weight;
        if (!vec_push(&t->explained, explained))
            return false;
    }
    t->places = (paths_report){.report = &t->question.report,
                               .paths = &t->paths,
                               .explained = t->explained.items,
                               .by_line = t->by == BY_LINE};
    t->table = paths_fragments(&t->places);
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

/* The window depends on the trace alone, so all questions share it. */
static cache_entry *find_window(request *r, asked *a) {
    char key[64];
    snprintf(key, sizeof key, "%zu %" PRIu64 " window of leaks", a->trace, a->reading->serial);
    const cache_maker maker = {.make = make_window, .context = &a->reading->profile};
    return cache_get(r->viewer->cache, key, maker);
}

/* The figure of a leak is what is live at the end, whichever measure in bytes was asked for. */
static bool gather_leaks(request *r, asked_table *t) {
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
    t->stays = (leaks_report){.report = &t->question.report,
                              .leaks = &t->leaks,
                              .view = {.by_function = t->by == BY_FUNCTION}};
    t->table = leaks_table(&t->kept, &t->stays);
    return !t->kept.failed;
}

static bool gather(request *r, asked_table *t) {
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

static bool place_matches(const asked_table *t, const profile_location *place) {
    return place && t->matches[place - t->question.reading->profile.locations.items];
}

/* Whether a place in the row, or in the frames below it, matches. */
static bool row_matches(const asked_table *t, const table *of, const void *row) {
    for (size_t i = 0; i < of->n_columns; i++) {
        const table_column *c = &of->columns[i];
        table frames;
        if (c->kind == COLUMN_PLACE && (!c->has || c->has(of)) &&
            place_matches(t, c->get(of, row).place))
            return true;
        if (t->kind != KIND_PATHS || !table_below(of, c, row, &frames))
            continue;
        for (size_t k = 0; k < frames.n; k++)
            if (row_matches(t, &frames, table_row(&frames, k)))
                return true;
    }
    return false;
}

/* Returns the column that names the rows; NULL if places name them. */
static const table_column *named_by(const asked_table *t) {
    return t->kind == KIND_TYPES ? table_find(&t->table, "type")
           : is_by_span(t)       ? table_find(&t->table, groupings[t->by])
                                 : NULL;
}

/* Matches the pattern against names that are not locations. */
static bool search_names(request *r, asked_table *t, const table_column *name) {
    call_site *s;
    filter_error error;
    bool ok = true;
    if (!call_site_search(request_text(r, "search"), &s, &error))
        return request_no_memory(r);
    for (uint32_t i = 0; ok && i < t->table.n; i++) {
        const cell x = name->get(&t->table, table_row(&t->table, i));
        if (!x.none && call_site_match(s, 0, x.text))
            ok = vec_push(&t->order_of, i);
    }
    call_site_free(s);
    return ok;
}

static bool search(request *r, asked_table *t) {
    const table_column *name = named_by(t);
    if (t->matches && name)
        return search_names(r, t, name);
    for (uint32_t i = 0; i < t->table.n; i++)
        if ((!t->matches || row_matches(t, &t->table, table_row(&t->table, i))) &&
            !vec_push(&t->order_of, i))
            return false;
    return true;
}

/* Returns the column to sort by; NULL for the table's own order, or if it has no such column. */
static const table_column *sorted_by(const asked_table *t) {
    return t->sort == SORT_DEFAULT                        ? NULL
           : t->sort == SORT_VALUE || t->sort == SORT_LOW ? table_find(&t->table, "")
           : is_by_span(t) && t->sort == SORT_FUNCTION    ? named_by(t)
           : t->sort == SORT_FUNCTION || t->sort == SORT_FILE
               ? table_find(&t->table, "place")
               : table_find(&t->table, sorts[t->sort]);
}

typedef struct sort_key {
    double number;
    const char *text;
    uint32_t row;
} sort_key;

static sort_key key_of(const asked_table *t, const table_column *c, uint32_t i) {
    const void *row = table_row(&t->table, i);
    sort_key k = {.row = i, .text = ""};
    if (!c)
        return k;
    const cell x = c->get(&t->table, row);
    if (c->kind == COLUMN_PLACE && x.place)
        k.text = t->sort == SORT_FILE ? x.place->file : x.place->function;
    else if (c->kind == COLUMN_TEXT && !x.none)
        k.text = x.text;
    else if (c->kind == COLUMN_AMOUNT && t->sort == SORT_LOW)
        k.number = x.amount.low;
    else
        k.number = table_key(&t->table, c, row);
    return k;
}

/* Orders numbers descending and names ascending; ties keep the table's order. */
static int compare_keys(const void *a, const void *b, void *context) {
    const sort_key *x = a, *y = b;
    const asked_table *t = context;
    const int names = strcmp(y->text, x->text);
    int order = names ? names : (x->number < y->number) - (x->number > y->number);
    if (order == 0 && t->sort != SORT_DEFAULT)
        return (x->row > y->row) - (x->row < y->row);
    if (order == 0)
        order = (x->row > y->row) - (x->row < y->row);
    return t->ascending ? -order : order;
}

static bool sort(asked_table *t) {
    const size_t n = t->count = t->order_of.count;
    const table_column *c = sorted_by(t);
    if (n == 0 || (t->sort == SORT_DEFAULT && !t->ascending))
        return true;
    sort_key *keys = malloc(n * sizeof *keys);
    if (!keys)
        return false;
    for (size_t i = 0; i < n; i++)
        keys[i] = key_of(t, c, t->order_of.items[i]);
    qsort_r(keys, n, sizeof *keys, compare_keys, t);
    for (size_t i = 0; i < n; i++)
        t->order_of.items[i] = keys[i].row;
    free(keys);
    return true;
}

/* ---- writing ----------------------------------------------------------------------------- */

static bool has_callers(const asked_table *t) {
    return t->kind == KIND_HOTSPOTS || t->kind == KIND_TYPES;
}

static bool number_wrappers(const asked_table *t, place_list *places) {
    bool ok = true;
    for (size_t i = 0; ok && i < t->hotspots.wrappers.count; i++)
        ok = place_list_add(places, t->hotspots.wrappers.items[i].place) >= -1;
    return ok;
}

static void write_window(output *o, const asked_table *t) {
    const leaks *l = &t->leaks;
    output_format(o, ",\n\"leaks\":{\"from\":%llu,\"to\":%llu,\"cleaned_up\":%s,\"class\":\"%s\",",
                  (unsigned long long)l->from, (unsigned long long)l->to,
                  l->cleaned_up ? "true" : "false", leaks_class_infos[l->total.class].name);
    figure f = asked_figure(&t->question, &l->total.cost);
    write_figure(o, &f, l->total.cost.blocks);
    output_text(o, ",\"classes\":{");
    for (int i = 0; i < LEAKS_N_CLASSES; i++)
        output_format(o, "%s\"%s\":\"%s\"", i ? "," : "", leaks_class_infos[i].name,
                      leaks_class_infos[i].meaning);
    output_text(o, "}}");
}

static void write_wrappers(output *o, const asked_table *t, place_list *places) {
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

static bool write_table(request *r, const asked_table *t) {
    output *o = r->o;
    place_list places = {0};
    const page_rows rows =
        page_rows_from(&t->table, t->order_of.items, t->count, t->offset, t->limit);
    output_char(o, '{');
    write_head(o, &t->question);
    output_format(o, ",\n\"kind\":\"%s\",\"count\":%zu,\"offset\":%llu,\n", kinds[t->kind],
                  t->count, (unsigned long long)t->offset);
    const bool ok = page_names(&places, &rows) && number_wrappers(t, &places) &&
                    place_list_write(o, &places, &t->question.reading->profile,
                                     t->by != BY_FUNCTION, t->matches);
    output_text(o, ",\n");
    page_columns(o, &places, &rows, "rows");
    if (has_callers(t))
        write_wrappers(o, t, &places);
    if (t->kind == KIND_LEAKS)
        write_window(o, t);
    output_text(o, "}\n");
    place_list_free(&places);
    return ok;
}

bool answer_table(request *r) {
    asked_table t = {.limit = 100, .share = 1, .warm_up = 25};
    const bool ok =
        parse(r, &t) && gather(r, &t) && search(r, &t) && sort(&t) && write_table(r, &t);
    close_table(r, &t);
    return ok;
}
