/* run_output.h: checks the output file of a trace before the program starts. */
#ifndef CLI_RUN_RUN_OUTPUT_H
#define CLI_RUN_RUN_OUTPUT_H

#include <stdint.h>
#include <sys/types.h>

/* Checks whether the trace of a process can be written, as far as that is possible without touching
 * the file. Returns 0 or an errno. */
int run_output_check(const char *pattern, pid_t pid);

/* Returns when the file that the trace will replace was written, in microseconds since the epoch;
 * 0: there is no such file. */
uint64_t run_output_replaces(const char *pattern);

#endif
