/* topics.h: what several commands share, explained once: `allotrace help filter`. A rule of advice
 * is a topic, too. */
#ifndef CLI_TOPICS_H
#define CLI_TOPICS_H

#include <stdbool.h>
#include <stdio.h>

/* False: there is no such topic. */
bool topic_print(FILE *out, const char *name);

/* One that `name` may have been meant to be; NULL: none. */
const char *topic_nearest(const char *name);

#endif
