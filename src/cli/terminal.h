/* terminal.h: how wide text for people may be. */
#ifndef CLI_TERMINAL_H
#define CLI_TERMINAL_H

#include "render/output.h"

/* Of the terminal that standard output is; 0: as wide as it gets, as in a file or a pipe. */
unsigned terminal_columns(void);

/* The same of any descriptor. */
unsigned terminal_columns_of(int fd);

/* Standard output: of text, lines are folded; of data, they are what they are. What is shown of
 * progress ends. */
void terminal_start(output *o, bool text);

#endif
