/* color.h: decides whether standard output may be colored: as --color says, or by default if it is
 * a terminal, NO_COLOR (no-color.org) is unset or empty, and TERM is not dumb. */
#ifndef CLI_COLOR_H
#define CLI_COLOR_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef enum color_when { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER } color_when;

static inline bool color_wanted(color_when when) {
    if (when != COLOR_AUTO)
        return when == COLOR_ALWAYS;
    const char *no = getenv("NO_COLOR"), *term = getenv("TERM");
    return !(no && no[0]) && !(term && strcmp(term, "dumb") == 0) && isatty(STDOUT_FILENO);
}

#endif
