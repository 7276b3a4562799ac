/* asked_tree.c: reads the parameters of a picture of call paths, paints it, and writes the columns
 * that pictures of one trace and of two share. */
#include "answers/asked_tree.h"

#include "answers/write.h"

const char *const asked_tree_modes[] = {"down", "inverted", "callees", "callers", NULL};

/* ---- parameters -------------------------------------------------------------------------- */

bool asked_tree_focus(request *r, asked_tree *t) {
    bool wanted = t->mode == CALLPATHS_CALLEES || t->mode == CALLPATHS_CALLERS;
    if (!wanted)
        return !request_text(r, "focus") ||
               request_refuse(r, "focus", 0, "is for callers, callees");
    return request_focus(r, &t->question.reading->profile, &t->focus);
}

bool asked_tree_read(request *r, asked_tree *t) {
    return request_choice(r, "mode", asked_tree_modes, &t->mode) &&
           request_by_line(r, &t->question.by_line) && request_flag(r, "collapse", &t->collapse) &&
           request_number(r, "width", 1, 16384, &t->width) &&
           request_number(r, "min", 0.1, 1000, &t->least) &&
           request_number(r, "share", 0, 100, &t->share) &&
           request_integer(r, "rows", 1, 1000, &t->rows) && request_ids(r, "root", &t->root);
}

void asked_tree_close(request *r, asked_tree *t) {
    call_site_free(t->focus);
    vec_free(&t->root);
    free(t->matches);
    asked_close(r, &t->question);
}

/* ---- the picture ------------------------------------------------------------------------- */

callpaths_spec asked_tree_view(const asked_tree *t) {
    return (callpaths_spec){.shape = (callpaths_shape)t->mode,
                            .by_line = t->question.by_line,
                            .collapse = t->collapse,
                            .focus = t->focus};
}

bool asked_tree_paint(request *r, const asked_tree *t, const callpaths *v, picture *f) {
    const double percent = 100 * t->least / t->width;
    const picture_spec spec = {.root = t->root.items,
                               .n_root = t->root.count,
                               .min_percent = percent > t->share ? percent : t->share,
                               .rows = (uint32_t)t->rows,
                               .matches = t->matches};
    return picture_query(v, &spec, f) || request_no_memory(r);
}

/* ---- writing ----------------------------------------------------------------------------- */

void asked_tree_write_found(output *o, const asked_tree *t, const picture *f) {
    json_column c;
    column_start(&c, o, "found", false);
    for (size_t i = 0; i < f->n_found; i++)
        column_integer(&c, t->root.items[i]);
    column_end(&c);
    output_text(o, "},\n");
}

static const profile_location *place_of(const profile *names, const void *thing) {
    const picture_node *n = thing;
    return n->place == PATH_NOWHERE ? NULL : &names->locations.items[n->place];
}

bool asked_tree_write_nodes(output *o, const asked_tree *t, const profile *names,
                            const picture *f) {
    const write_things all = WRITE_THINGS(f->nodes);
    const bool ok = write_node_places(o, names, t->question.by_line, t->matches, all, place_of);
    WRITE_COLUMN(o, "parent", f->nodes, n, n->parent == PATH_NOWHERE ? -1 : (int64_t)n->parent);
    return ok;
}

void asked_tree_write_rest(output *o, const asked_tree *t, const picture *f) {
    WRITE_COLUMN(o, "sites", f->nodes, n, n->sites);
    WRITE_COLUMN(o, "more", f->nodes, n, n->more);
    if (t->matches)
        WRITE_COLUMN(o, "match", f->nodes, n, n->match);
    output_char(o, '}');
}
