/* answer_tree.c: `/api/tree`: call paths, as many as fit the screen; and `/api/difftree`: the call
 * paths of two traces merged into one tree. */
#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>

#include "answers/endpoints.h"
#include "answers/write.h"
#include "base/map64.h"
#include "paths/picture.h"
#include "query/compare.h"
#include "query/diff.h"

/* indexed by callpaths_shape */
static const char *const modes[] = {"down", "inverted", "callees", "callers", NULL};

typedef struct tree_asked {
    asked question;
    int mode;
    bool collapse;
    call_site *focus; /* of callees and callers only */
    double width, least, share;
    uint64_t rows;
    id_list root;
    uint8_t *matches; /* by location; NULL: there is no search */
} tree_asked;

/* ---- parameters -------------------------------------------------------------------------- */

static bool parse_focus(request *r, tree_asked *t) {
    bool wanted = t->mode == CALLPATHS_CALLEES || t->mode == CALLPATHS_CALLERS;
    if (!wanted)
        return !request_text(r, "focus") ||
               request_refuse(r, "focus", 0, "is for callers, callees");
    return request_focus(r, &t->question.reading->profile, &t->focus);
}

static bool parse_view(request *r, tree_asked *t) {
    return request_choice(r, "mode", modes, &t->mode) && request_by_line(r, &t->question.by_line) &&
           request_flag(r, "collapse", &t->collapse) &&
           request_number(r, "width", 1, 16384, &t->width) &&
           request_number(r, "min", 0.1, 1000, &t->least) &&
           request_number(r, "share", 0, 100, &t->share) &&
           request_integer(r, "rows", 1, 1000, &t->rows) && request_ids(r, "root", &t->root);
}

static bool open_question(request *r, tree_asked *t) {
    t->question.collapses = t->collapse && t->mode == CALLPATHS_DOWN;
    return asked_open(r, &t->question);
}

static bool parse(request *r, tree_asked *t) {
    return parse_view(r, t) && open_question(r, t) && parse_focus(r, t) &&
           request_search(r, &t->question.reading->profile, &t->matches);
}

static void close_tree(request *r, tree_asked *t) {
    call_site_free(t->focus);
    vec_free(&t->root);
    free(t->matches);
    asked_close(r, &t->question);
}

/* ---- writing ----------------------------------------------------------------------------- */

static const profile_location *place_of(const profile *names, const picture_node *n) {
    return n->place == PATH_NOWHERE ? NULL : &names->locations.items[n->place];
}

static bool number_places(const profile *names, const picture *f, place_list *places) {
    for (size_t i = 0; i < f->nodes.count; i++)
        if (place_list_add(places, place_of(names, &f->nodes.items[i])) < -1)
            return false;
    return true;
}

/* Writes which of the places of the root were found. */
static void write_found(output *o, const tree_asked *t, const picture *f) {
    json_column c;
    column_start(&c, o, "found", false);
    for (size_t i = 0; i < f->n_found; i++)
        column_integer(&c, t->root.items[i]);
    column_end(&c);
    output_text(o, "},\n");
}

static void write_root(output *o, const tree_asked *t, const picture *f) {
    const picture_node *root = &f->nodes.items[0];
    output_format(o, ",\n\"mode\":\"%s\",\"root\":{", modes[t->mode]);
    write_cost(o, &t->question, &root->total);
    write_found(o, t, f);
}

static int64_t number_parent(const void *thing) {
    const picture_node *n = thing;
    return n->parent == PATH_NOWHERE ? -1 : (int64_t)n->parent;
}

static int64_t number_sites(const void *thing) {
    const picture_node *n = thing;
    return n->sites;
}

static int64_t number_more(const void *thing) {
    const picture_node *n = thing;
    return n->more;
}

static int64_t number_match(const void *thing) {
    const picture_node *n = thing;
    return n->match;
}

/* Writes the columns that say where a node is. */
static void write_places(output *o, const profile *names, const picture *f, place_list *places) {
    json_column c;
    output_text(o, ",\n\"nodes\":{");
    column_start(&c, o, "place", true);
    for (size_t i = 0; i < f->nodes.count; i++)
        column_integer(&c, place_list_add(places, place_of(names, &f->nodes.items[i])));
    column_end(&c);
    write_column(o, "parent", WRITE_THINGS(f->nodes), number_parent);
}

/* Writes the columns that say what is not in the picture, and what was searched for. */
static void write_rest(output *o, const tree_asked *t, const picture *f) {
    const write_things all = WRITE_THINGS(f->nodes);
    write_column(o, "sites", all, number_sites);
    write_column(o, "more", all, number_more);
    if (t->matches)
        write_column(o, "match", all, number_match);
    output_char(o, '}');
}

static void write_nodes(output *o, const tree_asked *t, const picture *f, place_list *places) {
    const write_things all = WRITE_THINGS(f->nodes);
    write_places(o, &t->question.reading->profile, f, places);
    write_figures(o, &t->question, all, offsetof(picture_node, total), false);
    write_selves(o, &t->question, all, offsetof(picture_node, self));
    write_rest(o, t, f);
}

static void write_matched(output *o, const tree_asked *t, const picture *f) {
    double all = f->nodes.items[0].total.weight;
    output_text(o, ",\n\"matched\":{");
    write_cost(o, &t->question, &f->matched);
    output_format(o, ",\"share\":%.6f}", all > 0 ? f->matched.weight / all : 0);
}

static bool write_tree(request *r, const tree_asked *t, const picture *f) {
    const profile *names = &t->question.reading->profile;
    place_list places = {0};
    output *o = r->o;
    output_char(o, '{');
    write_head(o, &t->question);
    write_root(o, t, f);
    const bool ok = number_places(names, f, &places) &&
                    place_list_write(o, &places, names, t->question.by_line, t->matches);
    if (ok)
        write_nodes(o, t, f, &places);
    if (t->matches)
        write_matched(o, t, f);
    output_text(o, "}\n");
    place_list_free(&places);
    return ok;
}

/* ---- the picture ------------------------------------------------------------------------- */

static callpaths_spec view_of(const tree_asked *t) {
    return (callpaths_spec){.shape = (callpaths_shape)t->mode,
                            .by_line = t->question.by_line,
                            .collapse = t->collapse,
                            .focus = t->focus};
}

static bool paint(request *r, const tree_asked *t, const callpaths *v, picture *f) {
    const double percent = 100 * t->least / t->width;
    const picture_spec spec = {.root = t->root.items,
                               .n_root = t->root.count,
                               .min_percent = percent > t->share ? percent : t->share,
                               .rows = (uint32_t)t->rows,
                               .matches = t->matches};
    return picture_query(v, &spec, f) || request_no_memory(r);
}

static bool paint_one(request *r, const tree_asked *t, picture *f) {
    const callpaths_spec spec = view_of(t);
    asked_paths p;
    const bool ok = asked_paths_of(r, &t->question, NULL, &spec, &p) && paint(r, t, &p.view, f);
    asked_paths_release(r, &p);
    return ok;
}

bool answer_tree(request *r) {
    tree_asked t = {.width = 1200, .least = 1, .rows = 256};
    picture f = {0};
    bool ok = parse(r, &t) && paint_one(r, &t, &f) && write_tree(r, &t, &f);
    picture_free(&f);
    close_tree(r, &t);
    return ok;
}

/* ---- two traces -------------------------------------------------------------------------- */

typedef struct compared {
    comparison c;
    figure both; /* the sum of both traces */
    double q;
} compared;

/* A question that compares two traces, or two moments. `tree.question` is the side `after`. */
typedef struct diff_asked {
    tree_asked tree;
    asked before;
    asked_moments moments;
    asked_paths paths;
    const profile *names; /* names the places of both */
    picture picture;
    compared *nodes; /* by node of the picture */
} diff_asked;

static bool parse_diff(request *r, diff_asked *a) {
    tree_asked *t = &a->tree;
    return parse_view(r, t) && asked_moments_read(r, &a->moments) &&
           (a->moments.given ? asked_open_moments(r, &a->moments, &a->before, &t->question)
                             : asked_open_of(r, &a->before, "before", 0) &&
                                   asked_open_of(r, &t->question, "after", 1)) &&
           parse_focus(r, t);
}

/* The side `after` comes first, as the change is seen from there. */
static bool find_paths(request *r, diff_asked *a) {
    const callpaths_spec spec = view_of(&a->tree);
    if (!asked_paths_of(r, &a->tree.question, &a->before, &spec, &a->paths))
        return false;
    a->names = callpaths_base(&a->paths.view)->names;
    return true;
}

static const cost *before_of(const diff_asked *a, size_t node) {
    return &a->picture.sides.items[node].of[1];
}

static const cost *after_of(const diff_asked *a, size_t node) {
    return &a->picture.sides.items[node].of[0];
}

static bool is_decided(const diff_asked *a) {
    return diff_is_decided(&(diff_options){0}, a->before.query, 1, a->tree.question.query, 1);
}

static figure both(const diff_asked *a, const cost *before, const cost *after) {
    figure x = asked_figure(&a->before, before);
    figure y = asked_figure(&a->tree.question, after);
    return (figure){.samples = before->samples + after->samples,
                    .value = x.value + y.value,
                    .low = x.low + y.low,
                    .high = x.high + y.high};
}

static compared compare_node(const diff_asked *a, size_t node) {
    const cost *before = before_of(a, node), *after = after_of(a, node);
    return (compared){.c = diff_costs(a->before.query, before, a->tree.question.query, after),
                      .both = both(a, before, after)};
}

/* Compares the two sides of each node. An amount of memory depends on the number of samples alone,
 * so nodes with equal counts share one comparison. Most nodes have a few samples only, so this
 * saves most of the work. */
static bool compare_all(diff_asked *a) {
    const bool is_memory = measure_infos[a->before.query->measure].unit == UNIT_BYTES;
    map64 known = {0}; /* (samples before, samples after) → first node with these counts */
    bool ok = true;
    for (size_t i = 0; ok && i < a->picture.nodes.count; i++) {
        const uint64_t before = before_of(a, i)->samples, after = after_of(a, i)->samples;
        const bool fits = is_memory && (before | after) <= UINT32_MAX;
        uint32_t *first = fits ? map64_put(&known, before << 32 | after) : NULL;
        ok = first || !fits;
        if (first && *first != MAP64_NONE) {
            a->nodes[i] = a->nodes[*first];
            continue;
        }
        a->nodes[i] = compare_node(a, i);
        if (first)
            *first = (uint32_t)i;
    }
    map64_free(&known);
    return ok;
}

/* Computes which changes are unlikely to be chance, with a bounded rate of false discoveries. */
static bool judge_all(diff_asked *a) {
    const size_t n = a->picture.nodes.count;
    compare_test *tests = malloc((n + 1) * sizeof *tests);
    for (size_t i = 0; tests && i < n; i++)
        tests[i] = (compare_test){.p = a->nodes[i].c.p, .least_p = a->nodes[i].c.least_p};
    const bool ok = tests && compare_q_values(tests, n);
    const bool decided = is_decided(a);
    for (size_t i = 0; ok && i < n; i++)
        a->nodes[i].q = decided ? tests[i].q : (double)NAN;
    free(tests);
    return ok;
}

static bool compare_picture(request *r, diff_asked *a) {
    a->nodes = calloc(a->picture.nodes.count + 1, sizeof *a->nodes);
    return (a->nodes && compare_all(a) && judge_all(a)) || request_no_memory(r);
}

/* X(name, expression for node `i`) */
#define DIFFTREE_COLUMNS(X)                                                                        \
    X("value", a->nodes[i].both.value)                                                             \
    X("low", a->nodes[i].both.low)                                                                 \
    X("high", a->nodes[i].both.high)                                                               \
    X("samples", (double)(before_of(a, i)->samples + after_of(a, i)->samples))                     \
    X("blocks", (double)nodes[i].total.blocks)                                                     \
    X("self", nodes[i].self.weight)                                                                \
    X("before", a->nodes[i].c.before.value)                                                        \
    X("after", a->nodes[i].c.after.value)                                                          \
    X("change", a->nodes[i].c.change.value)                                                        \
    X("change_low", a->nodes[i].c.change.low)                                                      \
    X("change_high", a->nodes[i].c.change.high)                                                    \
    X("sure", a->nodes[i].q <= COMPARE_FALSE_DISCOVERIES ? 1.0 : 0.0)

static void write_diff_nodes(output *o, const diff_asked *a, place_list *places) {
    const picture_node *nodes = a->picture.nodes.items;
    const size_t n = a->picture.nodes.count;
    json_column c;
    write_places(o, a->names, &a->picture, places);
#define DIFFTREE_COLUMN(name, expression)                                                          \
    column_start(&c, o, name, false);                                                              \
    for (size_t i = 0; i < n; i++)                                                                 \
        column_number(&c, expression);                                                             \
    column_end(&c);
    DIFFTREE_COLUMNS(DIFFTREE_COLUMN)
#undef DIFFTREE_COLUMN
    write_rest(o, &a->tree, &a->picture);
}

static void write_both(output *o, const char *name, figure f, uint64_t blocks) {
    output_format(o, ",\n\"%s\":{", name);
    write_figure(o, &f, blocks);
}

static void write_diff_head(output *o, const diff_asked *a) {
    const cost *after = &a->picture.whole.of[0], *before = &a->picture.whole.of[1];
    const picture_node *first = &a->picture.nodes.items[0];
    output_text(o, "{\"before\":{");
    write_head(o, &a->before);
    output_text(o, "},\n\"after\":{");
    write_head(o, &a->tree.question);
    const measure_info *m = &measure_infos[a->before.query->measure];
    output_format(o, "},\n\"unit\":\"%s\",\"measure\":\"%s\",\"mode\":\"%s\",\"decided\":%s",
                  figure_unit(m->unit), m->name, modes[a->tree.mode],
                  is_decided(a) ? "true" : "false");
    if (a->moments.given)
        output_format(o, ",\"from\":%" PRIu64 ",\"to\":%" PRIu64, a->moments.from, a->moments.to);
    write_both(o, "total", both(a, before, after), before->blocks + after->blocks);
    output_char(o, '}');
    write_both(o, "root", a->nodes[0].both, first->total.blocks);
    write_found(o, &a->tree, &a->picture);
}

static bool write_diff(request *r, const diff_asked *a) {
    place_list places = {0};
    output *o = r->o;
    write_diff_head(o, a);
    const bool ok =
        number_places(a->names, &a->picture, &places) &&
        place_list_write(o, &places, a->names, a->tree.question.by_line, a->tree.matches);
    write_diff_nodes(o, a, &places);
    if (a->tree.matches) {
        double all = a->picture.nodes.items[0].total.weight;
        output_format(o, ",\n\"matched\":{\"value\":%.0f,\"samples\":%llu,\"share\":%.6f}",
                      a->picture.matched.weight, (unsigned long long)a->picture.matched.samples,
                      all > 0 ? a->picture.matched.weight / all : 0);
    }
    output_text(o, "}\n");
    place_list_free(&places);
    return ok;
}

bool answer_difftree(request *r) {
    diff_asked a = {.tree = {.width = 1200, .least = 1, .rows = 256}};
    bool ok =
        parse_diff(r, &a) && find_paths(r, &a) && request_search(r, a.names, &a.tree.matches) &&
        paint(r, &a.tree, &a.paths.view, &a.picture) && compare_picture(r, &a) && write_diff(r, &a);
    free(a.nodes);
    picture_free(&a.picture);
    asked_paths_release(r, &a.paths);
    asked_close(r, &a.before);
    close_tree(r, &a.tree);
    return ok;
}
