/* top_output.h: holds back what the program under study, and we ourselves, write to the terminal
 * while a table is shown there. The output goes to an unnamed file, and to the terminal after the
 * table is closed. */
#ifndef CLI_TOP_TOP_OUTPUT_H
#define CLI_TOP_TOP_OUTPUT_H

#include <stdbool.h>
#include <sys/types.h>

typedef struct top_output {
    int file;     /* -1: nothing is held back */
    int saved[3]; /* duplicates of our standard streams; -1: not redirected */
    off_t shown;  /* bytes of the file that were already copied to the terminal */
} top_output;

/* Redirects those of our standard streams that are terminals. Programs that we start inherit the
 * redirection. With `input`, redirects standard input, too, to an empty file. Returns false with
 * errno set on failure. */
bool top_output_begin(top_output *o, bool input);

/* Restores our own streams. Programs keep the redirected ones. */
void top_output_restore(top_output *o);

/* Copies new output to the terminal. To be called only after top_output_restore. */
void top_output_show(top_output *o);

void top_output_end(top_output *o);

#endif
