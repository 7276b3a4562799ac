/* ring_plan.h: what a ring is to be (`--keep`, `--max-size`, `--overhead`), and where: its folder,
 * and the spools that recorders write, which may be in a file system that only the recorded process
 * sees. */
#ifndef CLI_RING_RING_PLAN_H
#define CLI_RING_RING_PLAN_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "cli/options.h"
#include "cli/ring/ring_run.h"

/* What a user asks for. */
typedef struct ring_options {
    uint64_t keep;        /* microseconds; 0: for as long as there is room */
    const char *max_size; /* as written; NULL: not given */
    double overhead;      /* percent; 0: not given */
} ring_options;

/* `type` has a field `ring_options ring`. */
#define OPTIONS_RING(type)                                                                         \
    {.name = "keep",                                                                               \
     .kind = OPTION_TIME,                                                                          \
     .at = offsetof(type, ring.keep),                                                              \
     .argument = "TIME",                                                                           \
     .help = "record continuously into a folder, --output, and keep the latest TIME, such as "     \
             "60min, removing what is older (default with --max-size: no limit)",                  \
     .brief = "keep a ring of segments: see `help keep`"},                                         \
        {.name = "max-size",                                                                       \
         .kind = OPTION_TEXT,                                                                      \
         .at = offsetof(type, ring.max_size),                                                      \
         .argument = "SIZE",                                                                       \
         .help = "record continuously, using at most SIZE of disk space, such as 200M (default "   \
                 "with --keep: 1G; at least 4M)",                                                  \
         .brief = ""},                                                                             \
    {                                                                                              \
        .name = "overhead", .kind = OPTION_PERCENT, .at = offsetof(type, ring.overhead),           \
        .argument = "PERCENT",                                                                     \
        .help = "with --keep or --max-size, halve the rate as often as needed to keep the cost "   \
                "of sampling below P percent of the program's CPU time",                           \
        .brief = ""                                                                                \
    }

/* From this rate on, the recorder takes other ways, on which the rate cannot change. */
#define RING_RATE 0.01

/* What becomes of them. */
typedef struct ring_plan {
    bool on;
    uint64_t keep, max_size; /* microseconds and bytes */
    double overhead; /* what samples may cost, as a share of the program's time; 0: anything */
    char folder[PATH_MAX]; /* absolute */
    ring_run *run;         /* NULL: one process is recorded */
    int push_ends[2]; /* of the run's pusher, and of keepers, that send to it; 0: it is not there */

    /* Of a process that has its own file system: its root, and the folder there in which it writes
     * the spool, open. 0: it is where the segments are. */
    int files, spool_folder;
    const char *spool_there; /* that folder as the process sees it */

    /* Of a process that does not share its pace (contract/pace.h): its memory, and where the pace
     * is in it. 0: it shares that with the rescue memory, or has none. */
    int memory;
    uint64_t pace_at;
} ring_plan;

/* A status, after having said what is wrong with them, where the rate is `rate`; 0: not given. */
int ring_options_check(const command *cmd, const ring_options *options, double rate);

/* Whether child processes are to be recorded, too, as the name of a ring, FOLDER/%p, says;
 * `*output` becomes that of the folder, perhaps in `room`. A status, after having said what is
 * wrong. */
int ring_options_children(const command *cmd, const ring_options *options, const char **output,
                          char room[PATH_MAX], bool *children);

/* The options being checked: whether a ring is wanted, into `output`, or what `program` is called
 * by default; makes the folder. Returns STATUS_OK, or another status after having said what is
 * wrong. */
int ring_plan_make(ring_plan *plan, const command *cmd, const ring_options *options,
                   const char *output, const char *program);

/* What all spools of a run are called (contract/trace_name.h). False if it does not fit. */
bool ring_spool_pattern(const ring_plan *plan, char *pattern, size_t size);

/* Lets a process that has its own file system, whose root `files` is (attach.h), write its spool
 * there. False after having said that there is no place for it. */
bool ring_plan_elsewhere(ring_plan *plan, pid_t pid, int files);

/* The spool of process `pid`, as we see it, or as the process does. False if it does not fit. */
bool ring_spool_path(const ring_plan *plan, uint64_t pid, char *path, size_t size);
bool ring_spool_path_there(const ring_plan *plan, uint64_t pid, char *path, size_t size);

/* Its folder, as we see it; may be in `room`. */
const char *ring_spool_folder(const ring_plan *plan, char room[PATH_MAX]);

/* Whether the trace at a path is such a one, and then its folder. */
bool ring_is_spool(const char *path, char *folder, size_t size);

/* The bytes that a spool may take on the disk, and that a segment may. */
uint64_t ring_spool_space(const ring_plan *plan);
uint64_t ring_segment_space(const ring_plan *plan);

/* How far segments that are done are to be trimmed, as those that are being written grow. */
uint64_t ring_kept_space(const ring_plan *plan);

#endif
