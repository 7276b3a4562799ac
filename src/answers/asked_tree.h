/* asked_tree.h: the parameters of a picture of call paths, and what its answers share. */
#ifndef ANSWERS_ASKED_TREE_H
#define ANSWERS_ASKED_TREE_H

#include "answers/asked_paths.h"
#include "paths/picture.h"

typedef struct asked_tree {
    asked question;
    int mode; /* a callpaths_shape */
    bool collapse;
    call_site *focus; /* of callees and callers only */
    double width, least, share;
    uint64_t rows;
    id_list root;
    uint8_t *matches; /* by location; NULL: there is no search */
} asked_tree;

#define ASKED_TREE_DEFAULT                                                                         \
    { .width = 1200, .least = 1, .rows = 256 }

extern const char *const asked_tree_modes[]; /* indexed by callpaths_shape */

/* Reads the parameters that need no trace. */
bool asked_tree_read(request *r, asked_tree *t);

/* Reads the focus, once the question is open. */
bool asked_tree_focus(request *r, asked_tree *t);
void asked_tree_close(request *r, asked_tree *t);

callpaths_spec asked_tree_view(const asked_tree *t);
bool asked_tree_paint(request *r, const asked_tree *t, const callpaths *v, picture *f);

/* Ends an object with which of the places of the root were found. */
void asked_tree_write_found(output *o, const asked_tree *t, const picture *f);

/* Writes the names of the nodes, and begins the object `nodes` with the columns that say where they
 * are. Returns false when there is no memory. */
bool asked_tree_write_nodes(output *o, const asked_tree *t, const profile *names, const picture *f);

/* Ends that object with the columns that say what is not in the picture, and what was searched
 * for. */
void asked_tree_write_rest(output *o, const asked_tree *t, const picture *f);

#endif
