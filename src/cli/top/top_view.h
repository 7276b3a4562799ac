/* top_view.h: what stands on the screen of `allotrace top`, and what keys do to it. */
#ifndef CLI_TOP_TOP_VIEW_H
#define CLI_TOP_TOP_VIEW_H

#include "query/activity.h"
#include "serve/viewer.h"

typedef struct top_options {
    int order;          /* an activity_order */
    const char *filter; /* that can be parsed; NULL: none */
    bool color;
    const char *on_leave; /* said when the user leaves the table; NULL: nothing */
} top_options;

typedef struct top_view top_view;

/* Shows the first trace of the viewer, from the thread that has the screen. NULL: no memory. */
top_view *top_view_new(viewer *v, const top_options *options);
void top_view_free(top_view *t);

/* Shows what there is, and waits a moment for a key. False: the user has seen enough. */
bool top_view_step(top_view *t);

#endif
