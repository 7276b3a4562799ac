/* color.h: whether standard output may carry colours: a terminal, and NO_COLOR (no-color.org) is
 * unset or empty. */
#ifndef CLI_COLOR_H
#define CLI_COLOR_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static inline bool color_wanted(void) {
    const char *no = getenv("NO_COLOR"), *term = getenv("TERM");
    return !(no && no[0]) && !(term && strcmp(term, "dumb") == 0) && isatty(STDOUT_FILENO);
}

#endif
