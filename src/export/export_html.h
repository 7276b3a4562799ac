/* export_html.h: a trace as one file that a browser opens without a server: the viewer's page, and
 * the answers to the questions that people begin with. It holds summaries, so that its size follows
 * the screen and not the trace; the page says what is not in it. */
#ifndef EXPORT_EXPORT_HTML_H
#define EXPORT_EXPORT_HTML_H

#include "render/output.h"
#include "serve/viewer.h"

/* Of the first trace, which must be there. `kept`, a filter (NULL: none), is known to be right.
 * False when there is no memory. */
bool export_html(output *o, viewer *v, const char *kept);

#endif
