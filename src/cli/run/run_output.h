/* run_output.h: the file that a trace is to go to, looked at before the program starts. */
#ifndef CLI_RUN_RUN_OUTPUT_H
#define CLI_RUN_RUN_OUTPUT_H

#include <stdint.h>
#include <sys/types.h>

/* Whether the file of a process can be written, as far as that can be told without touching it: 0,
 * or an errno. */
int run_output_check(const char *pattern, pid_t pid);

/* When the file was written that the trace will replace, in microseconds since the epoch; 0: there
 * is none. */
uint64_t run_output_replaces(const char *pattern);

#endif
