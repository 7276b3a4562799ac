/* topics.h: help topics that concern several commands, such as `allotrace help filter`. A rule of
 * advice is a topic, too. */
#ifndef CLI_TOPICS_H
#define CLI_TOPICS_H

#include <stdbool.h>
#include <stdio.h>

/* Prints a topic. Returns false if there is none with that name. */
bool topic_print(FILE *out, const char *name);

/* Returns the topic that `name` may stand for; NULL: none. */
const char *topic_nearest(const char *name);

#endif
