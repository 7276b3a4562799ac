/* terminal.h: the width of the terminal. */
#ifndef CLI_TERMINAL_H
#define CLI_TERMINAL_H

#include "render/output.h"

/* Returns the columns of the terminal on standard output; 0: no limit, as for a file or a pipe. */
unsigned terminal_columns(void);

/* Like terminal_columns, for any descriptor. */
unsigned terminal_columns_of(int fd);

/* Starts output to standard output, and ends the progress line. Lines of text are folded to the
 * terminal's width, those of data are not. */
void terminal_start(output *o, bool text);

#endif
