/* run_rescue.h: completes the traces of programs that were killed, by what they had not written
 * yet: see base/rescue.h. */
#ifndef CLI_RUN_RESCUE_H
#define CLI_RUN_RESCUE_H

#include <stddef.h>

/* Makes the memory to be shared: a file descriptor, or -1 if there can be none. */
int run_rescue_open(void);

/* The name by which the program finds it. */
void run_rescue_name(int fd, char *name, size_t size);

/* Adds what is left in it to the traces, whose names follow `pattern` (see run_traces.h), if nobody
 * is recording to them any more. */
void run_rescue_finish(int fd, const char *pattern);

#endif
