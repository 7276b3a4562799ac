/* top_view.h: the content of the screen of `allotrace top`, and the effects of its keys. */
#ifndef CLI_TOP_TOP_VIEW_H
#define CLI_TOP_TOP_VIEW_H

#include "answers/viewer.h"
#include "query/activity.h"

typedef struct top_options {
    int order;          /* an activity_order */
    const char *filter; /* a valid filter; NULL: none */
    bool color;
    const char *on_leave; /* message printed when the user leaves the table; NULL: none */
} top_options;

typedef struct top_view top_view;

/* Makes a view of the viewer's first trace. To be used by the thread that owns the screen. Returns
 * NULL if there is no memory. */
top_view *top_view_new(viewer *v, const top_options *options);
void top_view_free(top_view *t);

/* Draws what is new, and waits a moment for a key. Returns false if the user quits. */
bool top_view_step(top_view *t);

#endif
