/* fold.h: lines for people that are no longer than a terminal is wide. */
#ifndef RENDER_FOLD_H
#define RENDER_FOLD_H

#include "render/output.h"

/* The columns that text takes: commands to a terminal take none. */
size_t fold_columns(const char *text, size_t size);

/* Lines that are too long go on below, further in, from a word or better from a gap of several
 * blanks on. A word that is longer than a line stays whole: it may be a path. */
void fold_lines(output *o, const char *text, size_t size, size_t columns);

#endif
