/* answer_tree.c: `/api/tree`: call paths, as many as fit the screen. */
#include <stddef.h>

#include "answers/asked_tree.h"
#include "answers/endpoints.h"
#include "answers/write.h"

static bool parse(request *r, asked_tree *t) {
    if (!asked_tree_read(r, t))
        return false;
    t->question.collapses = t->collapse && t->mode == CALLPATHS_DOWN;
    return asked_open(r, &t->question) && asked_tree_focus(r, t) &&
           request_search(r, &t->question.reading->profile, &t->matches);
}

static void write_root(output *o, const asked_tree *t, const picture *f) {
    const picture_node *root = &f->nodes.items[0];
    output_format(o, ",\n\"mode\":\"%s\",\"root\":{", asked_tree_modes[t->mode]);
    write_cost(o, &t->question, &root->total);
    asked_tree_write_found(o, t, f);
}

static void write_matched(output *o, const asked_tree *t, const picture *f) {
    double all = f->nodes.items[0].total.weight;
    output_text(o, ",\n\"matched\":{");
    write_cost(o, &t->question, &f->matched);
    output_format(o, ",\"share\":%.6f}", all > 0 ? f->matched.weight / all : 0);
}

static bool write_tree(request *r, const asked_tree *t, const picture *f) {
    const write_things all = WRITE_THINGS(f->nodes);
    output *o = r->o;
    output_char(o, '{');
    write_head(o, &t->question);
    write_root(o, t, f);
    const bool ok = asked_tree_write_nodes(o, t, &t->question.reading->profile, f);
    write_figures(o, &t->question, all, offsetof(picture_node, total), false);
    write_selves(o, &t->question, all, offsetof(picture_node, self));
    asked_tree_write_rest(o, t, f);
    if (t->matches)
        write_matched(o, t, f);
    output_text(o, "}\n");
    return ok;
}

static bool paint_one(request *r, const asked_tree *t, picture *f) {
    const callpaths_spec spec = asked_tree_view(t);
    asked_paths p;
    const bool ok =
        asked_paths_of(r, &t->question, NULL, &spec, &p) && asked_tree_paint(r, t, &p.view, f);
    asked_paths_release(r, &p);
    return ok;
}

bool answer_tree(request *r) {
    asked_tree t = ASKED_TREE_DEFAULT;
    picture f = {0};
    bool ok = parse(r, &t) && paint_one(r, &t, &f) && write_tree(r, &t, &f);
    picture_free(&f);
    asked_tree_close(r, &t);
    return ok;
}
