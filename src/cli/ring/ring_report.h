/* ring_report.h: what `run` and `attach` do with the segments when a recording has ended. */
#ifndef CLI_RING_RING_REPORT_H
#define CLI_RING_RING_REPORT_H

#include "cli/ring/keeper.h"
#include "symbolize/debug_file.h"

/* The segments that a recording has left. */
typedef struct ring_made {
    size_t n_segments;
    size_t n_processes; /* whose they are, if child processes were recorded, too */
    uint64_t size;      /* bytes on the disk, of all segments in the folder */
} ring_made;

/* Gives names to the places in segments of process `pid`, or of all processes of the plan's run,
 * that were written since `since`, seconds since the epoch, unless `debug_files` is NULL. Stops
 * early if `interrupted`, which may be NULL, says so. */
ring_made ring_complete(const ring_plan *plan, uint64_t pid, uint64_t since,
                        const debug_file_options *debug_files, bool (*interrupted)(void *context),
                        void *context);

/* Says where they are. */
void ring_report(const ring_plan *plan, const ring_made *made);

#endif
