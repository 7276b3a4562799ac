/* answer_difftree.c: `/api/difftree`: the call paths of two traces, or of two moments of one trace,
 * merged into one tree. */
#include <inttypes.h>
#include <math.h>

#include "answers/asked_moments.h"
#include "answers/asked_tree.h"
#include "answers/endpoints.h"
#include "answers/write.h"
#include "base/map64.h"
#include "query/compare.h"
#include "query/diff.h"

typedef struct compared {
    comparison c;
    figure both; /* the sum of both traces */
    double q;
} compared;

/* A question that compares two traces, or two moments. `tree.question` is the side `after`. */
typedef struct diff_asked {
    asked_tree tree;
    asked before;
    asked_moments moments;
    asked_paths paths;
    const profile *names; /* names the places of both */
    picture picture;
    compared *nodes; /* by node of the picture */
} diff_asked;

static bool parse_diff(request *r, diff_asked *a) {
    asked_tree *t = &a->tree;
    return asked_tree_read(r, t) && asked_moments_read(r, &a->moments) &&
           (a->moments.given ? asked_moments_open_changes(r, &a->moments, &a->before, &t->question)
                             : asked_open_of(r, &a->before, "before", 0) &&
                                   asked_open_of(r, &t->question, "after", 1)) &&
           asked_tree_focus(r, t);
}

/* The side `after` comes first, as the change is seen from there. */
static bool find_paths(request *r, diff_asked *a) {
    const callpaths_spec spec = asked_tree_view(&a->tree);
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
    return diff_is_decided(&(diff_options){0}, &a->before.query, 1, &a->tree.question.query, 1);
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

static bool write_diff_nodes(output *o, const diff_asked *a) {
    const picture_node *nodes = a->picture.nodes.items;
    const size_t n = a->picture.nodes.count;
    json_column c;
    const bool ok = asked_tree_write_nodes(o, &a->tree, a->names, &a->picture);
#define DIFFTREE_COLUMN(name, expression)                                                          \
    column_start(&c, o, name, false);                                                              \
    for (size_t i = 0; i < n; i++)                                                                 \
        column_number(&c, expression);                                                             \
    column_end(&c);
    DIFFTREE_COLUMNS(DIFFTREE_COLUMN)
#undef DIFFTREE_COLUMN
    asked_tree_write_rest(o, &a->tree, &a->picture);
    return ok;
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
                  figure_unit(m->unit), m->name, asked_tree_modes[a->tree.mode],
                  is_decided(a) ? "true" : "false");
    if (a->moments.given)
        output_format(o, ",\"from\":%" PRIu64 ",\"to\":%" PRIu64, a->moments.from, a->moments.to);
    write_both(o, "total", both(a, before, after), before->blocks + after->blocks);
    output_char(o, '}');
    write_both(o, "root", a->nodes[0].both, first->total.blocks);
    asked_tree_write_found(o, &a->tree, &a->picture);
}

static bool write_diff(request *r, const diff_asked *a) {
    output *o = r->o;
    write_diff_head(o, a);
    const bool ok = write_diff_nodes(o, a);
    if (a->tree.matches) {
        double all = a->picture.nodes.items[0].total.weight;
        output_format(o, ",\n\"matched\":{\"value\":%.0f,\"samples\":%llu,\"share\":%.6f}",
                      a->picture.matched.weight, (unsigned long long)a->picture.matched.samples,
                      all > 0 ? a->picture.matched.weight / all : 0);
    }
    output_text(o, "}\n");
    return ok;
}

bool answer_difftree(request *r) {
    diff_asked a = {.tree = ASKED_TREE_DEFAULT};
    bool ok = parse_diff(r, &a) && find_paths(r, &a) &&
              request_search(r, a.names, &a.tree.matches) &&
              asked_tree_paint(r, &a.tree, &a.paths.view, &a.picture) && compare_picture(r, &a) &&
              write_diff(r, &a);
    free(a.nodes);
    picture_free(&a.picture);
    asked_paths_release(r, &a.paths);
    asked_close(r, &a.before);
    asked_tree_close(r, &a.tree);
    return ok;
}
