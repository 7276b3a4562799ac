/* fold.h: folds lines of text to the width of a terminal. */
#ifndef RENDER_FOLD_H
#define RENDER_FOLD_H

#include "render/output.h"

/* Returns the width of a text in columns. Escape sequences have none. */
size_t fold_columns(const char *text, size_t size);

/* Writes text with lines that are too long broken at a blank, or better at a gap of several blanks,
 * and continued below with more indentation. A word that is longer than a line stays whole, as it
 * may be a path. */
void fold_lines(output *o, const char *text, size_t size, size_t columns);

#endif
