/* ring_plan.h: the parameters of a ring (`--keep`, `--max-size`, `--overhead`), its folder, and the
 * spools that recorders write. A spool may be in a file system that only the recorded process
 * sees. */
#ifndef CLI_RING_RING_PLAN_H
#define CLI_RING_RING_PLAN_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "cli/options.h"
#include "cli/ring/ring_folder.h"
#include "cli/ring/ring_run.h"

/* What the user has requested. */
typedef struct ring_options {
    uint64_t keep;        /* microseconds; 0: as much as there is room for */
    const char *max_size; /* as given; NULL: not given */
    double overhead;      /* percent; 0: not given */
} ring_options;

/* The options of a ring. `type` has a field `ring_options ring`. */
#define OPTIONS_RING(type)                                                                         \
    {.name = "keep",                                                                               \
     OPTION_TAKES(TIME, type, ring.keep, "TIME"),                                                  \
     .help = "record continuously into a folder, --output, and keep the latest TIME, such as "     \
             "60min, removing what is older (default with --max-size: no limit)",                  \
     .brief = "keep a ring of segments: see `help keep`"},                                         \
        {.name = "max-size",                                                                       \
         OPTION_TAKES(TEXT, type, ring.max_size, "SIZE"),                                          \
         .help = "record continuously, using at most SIZE of disk space, such as 200M (default "   \
                 "with --keep: 1G; at least 4M)",                                                  \
         .brief = ""},                                                                             \
    {                                                                                              \
        .name = "overhead", OPTION_TAKES(PERCENT, type, ring.overhead, "PERCENT"),                 \
        .help = "with --keep or --max-size, halve the rate as often as needed to keep the cost "   \
                "of sampling below PERCENT of the program's CPU time",                             \
        .brief = ""                                                                                \
    }

/* From this sampling rate on, the recorder uses methods that do not allow the rate to change. */
#define RING_RATE 0.01

/* The checked parameters of a ring. */
typedef struct ring_plan {
    bool on;
    uint64_t keep, max_size; /* microseconds and bytes */
    double overhead;         /* maximum cost of samples, as a share of the program's CPU time; 0: no
                                limit */
    char folder[PATH_MAX];   /* absolute path */
    ring_clock clock;        /* as of the start of the run; keepers go on from there */
    ring_run *run;           /* shared by all keepers; NULL: only one process is recorded */
    int push_ends[2]; /* sockets: of the run's pusher, and of the keepers, which send to it; 0:
                         there is none */

    /* For a process with its own file system: descriptors of its root, and of the folder in it to
     * which it writes the spool. 0: the spool is in `folder`. */
    int files, spool_folder;
    const char *spool_there; /* path of that folder in the process's file system */

    /* For a process that does not share its pace (contract/pace.h): descriptor of its memory, and
     * the address of the pace in it. 0: the pace is in the rescue memory, or there is none. */
    int memory;
    uint64_t pace_at;
} ring_plan;

/* Checks the options. `rate` is the sampling rate, 0: not given. Returns an exit status, after
 * reporting what is wrong. */
int ring_options_check(const command *cmd, const ring_options *options, double rate);

/* Sets *children to whether child processes are to be recorded, too, which an output name FOLDER/%p
 * requests; then *output becomes the folder's name, stored in `room`. Returns an exit status, after
 * reporting what is wrong. */
int ring_options_children(const command *cmd, const ring_options *options, const char **output,
                          char room[PATH_MAX], bool *children);

/* Makes the plan from checked options, and creates the folder: `output`, or a default name made
 * from `program`. Returns STATUS_OK, or another status after reporting what is wrong. */
int ring_plan_make(ring_plan *plan, const command *cmd, const ring_options *options,
                   const char *output, const char *program);

/* Makes the pattern of the names of all spools of a run (contract/trace_name.h). Returns false if
 * it does not fit. */
bool ring_spool_pattern(const ring_plan *plan, char *pattern, size_t size);

/* Finds a folder for the spool of a process that has its own file system, whose root `files` is
 * (attach.h). Returns false after reporting that there is none. */
bool ring_plan_elsewhere(ring_plan *plan, pid_t pid, int files);

/* Makes the path of the spool of process `pid`, as we see it, or as the process sees it. Returns
 * false if it does not fit. */
bool ring_spool_path(const ring_plan *plan, uint64_t pid, char *path, size_t size);
bool ring_spool_path_there(const ring_plan *plan, uint64_t pid, char *path, size_t size);

/* Returns the folder of spools, as we see it; the result may be in `room`. */
const char *ring_spool_folder(const ring_plan *plan, char room[PATH_MAX]);

/* Returns whether a trace is a spool, and if so, its folder. */
bool ring_is_spool(const char *path, char *folder, size_t size);

/* Return the maximum size on the disk, in bytes, of a spool and of a segment. */
uint64_t ring_spool_space(const ring_plan *plan);
uint64_t ring_segment_space(const ring_plan *plan);

/* Returns the size, in bytes, to which to trim the folder, so that segments that are being written
 * can grow. */
uint64_t ring_kept_space(const ring_plan *plan);

#endif
