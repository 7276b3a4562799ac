/* top_output.h: what is written to the terminal while a table is shown there: by the program under
 * study, and by ourselves. It goes to a file without a name, and from there to the terminal when
 * the table is gone. */
#ifndef CLI_TOP_TOP_OUTPUT_H
#define CLI_TOP_TOP_OUTPUT_H

#include <stdbool.h>
#include <sys/types.h>

typedef struct top_output {
    int file;     /* -1: nothing is held back */
    int saved[3]; /* our standard streams as they were; -1: it stayed */
    off_t shown;  /* bytes of the file that are on the terminal already */
} top_output;

/* From here on: of our standard streams those that are the terminal are others, and programs that
 * we start inherit them. With `input`, standard input too, which is then empty. False, with errno,
 * if that cannot be. */
bool top_output_begin(top_output *o, bool input);

/* Our streams are the terminal again; programs keep theirs. */
void top_output_restore(top_output *o);

/* Writes to the terminal what came since. Only after top_output_restore. */
void top_output_show(top_output *o);

void top_output_end(top_output *o);

#endif
