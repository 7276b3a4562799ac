/* answer_tree.c: `/api/tree`: call paths, as much of them as a screen shows. */
#include "analyse/flame.h"
#include "present/http/request.h"

enum { BY_FUNCTION, BY_LINE };
static const char *const groupings[] = {[BY_FUNCTION] = "function", [BY_LINE] = "line", NULL};

/* In the order of calltree_shape. */
static const char *const modes[] = {"down", "inverted", "callees", "callers", NULL};

/* What is asked for. */
typedef struct tree_asked {
    asked question;
    int mode, by;
    bool collapse;
    call_site *focus; /* of callees and callers */
    double width, least, share;
    uint64_t rows;
    id_list root;
    uint8_t *matches; /* by location; NULL: nothing is searched for */
} tree_asked;

/* ---- parameters -------------------------------------------------------------------------- */

static bool parse_focus(request *r, tree_asked *t) {
    bool wanted = t->mode == CALLTREE_CALLEES || t->mode == CALLTREE_CALLERS;
    if (!wanted)
        return !request_text(r, "focus") ||
               request_refuse(r, "focus", 0, "is for callers, callees");
    return request_focus(r, &t->question.reading->profile, &t->focus);
}

static bool parse(request *r, tree_asked *t) {
    return request_choice(r, "mode", modes, &t->mode) &&
           request_choice(r, "by", groupings, &t->by) &&
           request_flag(r, "collapse", &t->collapse) &&
           request_number(r, "width", 1, 16384, &t->width) &&
           request_number(r, "min", 0.1, 1000, &t->least) &&
           request_number(r, "share", 0, 100, &t->share) &&
           request_integer(r, "rows", 1, 1000, &t->rows) && request_ids(r, "root", &t->root) &&
           request_ask(r, &t->question) && parse_focus(r, t) &&
           request_search(r, &t->question.reading->profile, &t->matches);
}

static void close_tree(request *r, tree_asked *t) {
    call_site_free(t->focus);
    vec_free(&t->root);
    free(t->matches);
    asked_close(r, &t->question);
}

/* ---- writing ----------------------------------------------------------------------------- */

static const profile_location *place_of(const tree_asked *t, uint32_t place) {
    return place == FLAME_NOWHERE ? NULL : &t->question.reading->profile.locations.items[place];
}

static bool number_places(const tree_asked *t, const flame *f, place_list *places) {
    for (size_t i = 0; i < f->nodes.count; i++)
        if (place_list_add(places, place_of(t, f->nodes.items[i].place)) < -1)
            return false;
    return true;
}

static void write_root(output *o, const tree_asked *t, const flame *f) {
    const flame_node *root = &f->nodes.items[0];
    output_format(o, ",\n\"mode\":\"%s\",\"root\":{", modes[t->mode]);
    write_cost(o, &t->question, &root->total);
    json_column c;
    column_start(&c, o, "found", false);
    for (size_t i = 0; i < f->n_found; i++)
        column_integer(&c, t->root.items[i]);
    column_end(&c);
    output_text(o, "},\n");
}

static bool write_costs(output *o, const tree_asked *t, const flame *f) {
    const cost **costs = malloc((f->nodes.count + 1) * sizeof *costs);
    if (!costs)
        return false;
    for (size_t i = 0; i < f->nodes.count; i++)
        costs[i] = &f->nodes.items[i].total;
    write_figures(o, &t->question, costs, f->nodes.count, false);
    free(costs);
    return true;
}

static int64_t number_parent(const void *thing) {
    const flame_node *n = thing;
    return n->parent == FLAME_NOWHERE ? -1 : (int64_t)n->parent;
}

static int64_t number_sites(const void *thing) {
    const flame_node *n = thing;
    return n->sites;
}

static int64_t number_more(const void *thing) {
    const flame_node *n = thing;
    return n->more;
}

static int64_t number_match(const void *thing) {
    const flame_node *n = thing;
    return n->match;
}

static bool write_nodes(output *o, const tree_asked *t, const flame *f, place_list *places) {
    json_column c;
    output_text(o, ",\n\"nodes\":{");
    column_start(&c, o, "place", true);
    for (size_t i = 0; i < f->nodes.count; i++)
        column_integer(&c, place_list_add(places, place_of(t, f->nodes.items[i].place)));
    column_end(&c);
    write_column(o, "parent", f->nodes.items, sizeof *f->nodes.items, f->nodes.count,
                 number_parent);
    if (!write_costs(o, t, f))
        return false;
    column_start(&c, o, "self", false);
    for (size_t i = 0; i < f->nodes.count; i++)
        column_number(&c, asked_figure(&t->question, &f->nodes.items[i].self).value);
    column_end(&c);
    write_column(o, "sites", f->nodes.items, sizeof *f->nodes.items, f->nodes.count, number_sites);
    write_column(o, "more", f->nodes.items, sizeof *f->nodes.items, f->nodes.count, number_more);
    if (t->matches)
        write_column(o, "match", f->nodes.items, sizeof *f->nodes.items, f->nodes.count,
                     number_match);
    output_char(o, '}');
    return true;
}

static void write_matched(output *o, const tree_asked *t, const flame *f) {
    double all = f->nodes.items[0].total.weight;
    output_text(o, ",\n\"matched\":{");
    write_cost(o, &t->question, &f->matched);
    output_format(o, ",\"share\":%.6f}", all > 0 ? f->matched.weight / all : 0);
}

static bool write_tree(request *r, const tree_asked *t, const flame *f) {
    place_list places = {0};
    output *o = r->o;
    output_char(o, '{');
    write_head(o, &t->question);
    write_root(o, t, f);
    bool ok =
        number_places(t, f, &places) &&
        write_places(o, &places, &t->question.reading->profile, t->by == BY_LINE, t->matches) &&
        write_nodes(o, t, f, &places);
    if (t->matches)
        write_matched(o, t, f);
    output_text(o, "}\n");
    place_list_free(&places);
    return ok;
}

/* ---- the endpoint ------------------------------------------------------------------------ */

static bool show(request *r, const tree_asked *t, const calltree *tree) {
    flame f;
    double share = t->least / t->width;
    const flame_spec spec = {.root = t->root.items,
                             .n_root = t->root.count,
                             .min_share = share > t->share / 100 ? share : t->share / 100,
                             .rows = (uint32_t)t->rows,
                             .by_line = t->by == BY_LINE,
                             .outward = t->mode == CALLTREE_INVERTED || t->mode == CALLTREE_CALLERS,
                             .matches = t->matches};
    if (!flame_query(&t->question.reading->profile, tree, &spec, &f))
        return request_no_memory(r);
    bool ok = write_tree(r, t, &f);
    flame_free(&f);
    return ok;
}

bool answer_tree(request *r) {
    tree_asked t = {.width = 1200, .least = 1, .rows = 256};
    bool ok = parse(r, &t);
    const calltree_spec spec = {.shape = (calltree_shape)t.mode,
                                .by_line = t.by == BY_LINE,
                                .collapse_recursion = t.collapse,
                                .focus = t.focus};
    cache_entry *e = ok ? asked_tree(r, &t.question, &spec) : NULL;
    ok = e && show(r, &t, cache_entry_value(e));
    cache_release(r->viewer->cache, e);
    close_tree(r, &t);
    return ok;
}
