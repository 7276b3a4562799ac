/* calltree.h: a call tree as text for people, as JSON and as CSV. */
#ifndef PRESENT_CALLTREE_H
#define PRESENT_CALLTREE_H

#include "analyse/calltree.h"
#include "present/report.h"

#define CALLTREE_MAX_DEPTH 1000 /* calls: what is deeper is only counted */

typedef struct calltree_view {
    const char *focus; /* as given; NULL: none */
    double min_share;  /* in percent of the whole tree; smaller nodes are only counted */
    uint64_t top;      /* at most so many children of a node; 0: no limit */
    uint64_t depth;    /* at most so many calls, 1 … CALLTREE_MAX_DEPTH */
    bool by_line;
} calltree_view;

void calltree_text(output *o, const report *r, const calltree *t, const calltree_view *view);
void calltree_json(output *o, const report *r, const calltree *t, const calltree_view *view);
void calltree_csv(output *o, const report *r, const calltree *t, const calltree_view *view);

#endif
