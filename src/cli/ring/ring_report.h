/* ring_report.h: completes and reports the segments when a recording of `run` or `attach` has
 * ended. */
#ifndef CLI_RING_RING_REPORT_H
#define CLI_RING_RING_REPORT_H

#include "cli/ring/keeper.h"
#include "symbolize/debug_file.h"

/* The segments of a recording. */
typedef struct ring_made {
    size_t n_segments;
    size_t n_processes; /* number of recorded processes; 0 if child processes are not recorded */
    uint64_t size;      /* bytes on the disk, of all segments in the folder */
} ring_made;

/* Symbolizes the segments, written since `since` (seconds since the epoch), of process `pid`, or of
 * all processes of plan->run. If `debug_files` is NULL, addresses are kept. Stops early if
 * `interrupted`, which may be NULL, returns true. */
ring_made ring_complete(const ring_plan *plan, uint64_t pid, uint64_t since,
                        const debug_file_options *debug_files, bool (*interrupted)(void *context),
                        void *context);

/* Prints how many segments there are, and where. */
void ring_report(const ring_plan *plan, const ring_made *made);

#endif
