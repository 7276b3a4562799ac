/* run_summary.h: a summary of the traces of a run for the user, in at most six lines. */
#ifndef CLI_RUN_RUN_SUMMARY_H
#define CLI_RUN_RUN_SUMMARY_H

#include "cli/run/run_traces.h"

typedef struct run_summary_how {
    bool quiet;           /* print only warnings */
    bool told;            /* the user already knows why a trace may be empty */
    bool from_start;      /* recorded from the start of the programs, not attached later */
    bool killed;          /* the user was told that the program was killed, which takes a line */
    bool mapped;          /* memory that programs mapped themselves is recorded, too */
    uint64_t n_silent;    /* programs that left no trace because they had no sample */
    const char *left_out; /* the -o name that would record the child processes that were left out;
                             NULL: none were */
    const char *counted_twice; /* the warning to print if there are blocks of a minor heap: that
                                  memory is counted twice, since malloc is recorded as well; NULL:
                                  it is not */
} run_summary_how;

/* Prints a summary on standard error. There is at least one trace. */
void run_summary_report(const run_traces *t, run_summary_how how);

#endif
