/* run_summary.h: what the traces of a run amount to, for the user, in at most six lines. */
#ifndef CLI_RUN_RUN_SUMMARY_H
#define CLI_RUN_RUN_SUMMARY_H

#include "cli/run/run_traces.h"

typedef struct run_summary_how {
    bool quiet;           /* say nothing but warnings */
    bool told;            /* if there is nothing in the traces, the user knows why */
    bool from_start;      /* they were recorded from the start of their programs */
    bool killed;          /* the user was told so: a line less */
    bool mapped;          /* what they mapped themselves, too */
    uint64_t n_silent;    /* programs that left no trace, since nothing of theirs was sampled */
    const char *left_out; /* by which name child processes, which were not recorded, would be; NULL:
                             there were none */
    const char *counted_twice; /* if there are blocks of a minor heap: that memory is counted in two
                                  ways, since malloc is recorded as well; NULL: it is not */
} run_summary_how;

/* Says on standard error what was recorded. There is at least one trace. */
void run_summary_report(const run_traces *t, run_summary_how how);

#endif
