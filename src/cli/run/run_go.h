/* run_go.h: records the heap profile that the Go runtime keeps, of a program that `run` starts or
 * of a running process. attach/follow.h stops the process, import/import_go.h reads the profile
 * from its memory; this module combines both and writes a trace. */
#ifndef CLI_RUN_RUN_GO_H
#define CLI_RUN_RUN_GO_H

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

#include "attach/remote.h"
#include "cli/command.h"
#include "cli/run/run_go_feed.h"
#include "import/import_go.h"

typedef struct run_go {
    go_program program;
    uint64_t period; /* bytes between two samples; before the start, the requested number, or 0 if
                        none was requested */
    int memory;      /* file descriptor of the process's memory; -1: not open */
    go_heap heap;
    struct import profile;
    uint64_t began;           /* time of the start, monotonic, us */
    run_go_feed *feed;        /* NULL: nobody reads the trace while the program runs */
    bool is_read, has_become; /* has_become: the process has exec'ed another program */
    remote_reason why;        /* the reason, if not is_read */
} run_go;

/* Switches Go's sampling on in a process that is stopped at its exec; it stays stopped. Returns
 * false if it cannot be recorded, with the reason in g->why. */
bool run_go_prepare(run_go *g, pid_t pid);

/* Follows the process from its exec. Returns false with the reason in g->why. */
bool run_go_follow(run_go *g, pid_t pid);

/* Handles a status of the process from waitpid. Returns true if the process is in an ordinary stop,
 * as by a stop signal. */
bool run_go_take(run_go *g, pid_t pid, int status);

/* The process is stopped at its exit (FOLLOW_ENDS): reads the profile, and lets the process go. */
void run_go_end(run_go *g, pid_t pid);

/* Reads the profile of a running process, which is stopped for a moment. Returns false with the
 * reason in g->why. */
bool run_go_snapshot(run_go *g, pid_t pid);

/* Opens the memory of a running process, for run_go_watch. Returns false, with the reason in
 * g->why, if the memory cannot be read or contains no profile. */
bool run_go_open(run_go *g, pid_t pid);

/* Finds out whether the process runs a Go program. */
go_kind run_go_find(run_go *g, pid_t pid, import_error *error);

/* Writes the profile that was read, and, unless `quiet`, prints a summary. Returns an exit
 * status. */
int run_go_write(run_go *g, const command *cmd, pid_t pid, const char *program, const char *path,
                 bool quiet);

void run_go_free(run_go *g);

/* ---- a program whose trace is read while it runs --------------------------------------------- */

/* Begins to write a trace that grows. how->every_us is the period at which the trace is read; 0: at
 * any time. */
bool run_go_watch(run_go *g, const run_go_feed_how *how);

/* Ends the growing trace, after a last reading if run_go_end has not made one. */
void run_go_close(run_go *g);

/* Returns whether there is a growing trace. If there is none after run_go_close, reports why. */
bool run_go_has_watched(const run_go *g, const char *path);

/* Closes the growing trace, compresses it if its name asks for that, and, unless `quiet`, prints a
 * summary. If there is no trace, reports that. Returns an exit status. */
int run_go_write_watched(run_go *g, const char *path, bool quiet);

/* ---- of a program that `run` starts ------------------------------------------------------ */

typedef struct run_go_case {
    const char *command;
    bool with_malloc; /* malloc in the C part of the program is recorded as well */
    bool quiet;
    bool is_shown;  /* by --view or --live, which show malloc */
    uint64_t space; /* bytes of a ring's spool, for which no summary is printed; 0: not a ring */
} run_go_case;

/* Converts a sampling rate per word to Go's sampling period in bytes; 0: the rate is not set, so Go
 * keeps its own. */
uint64_t run_go_period(double rate);

/* Says which half of a Go program with C a ring contains. */
void run_go_say_ring(const run_go_case *c);

/* Says how the program is recorded. `asked` is the requested sampling period in bytes. */
void run_go_say_followed(const run_go *g, bool is_followed, uint64_t asked, const run_go_case *c);

/* Begins a growing trace, named `name`, or next to the trace `name` if malloc is recorded as well.
 * A reading is taken every `every_us`, as often as somebody reads the trace. */
void run_go_begin_watch(run_go *g, pid_t pid, const char *name, uint64_t every_us,
                        const run_go_case *c);

/* Names the trace of Go's heap. Next to a trace of malloc, x.ctf, it is x.go.ctf. */
bool run_go_name(const char *name, bool is_beside, char path[PATH_MAX]);

/* The process has ended; `pid` is 0 if it was not followed. Writes the profile to `name`, or next
 * to it if that is the trace of malloc, and frees `g`. */
void run_go_finish(run_go *g, const command *cmd, pid_t pid, const char *name,
                   const run_go_case *c);

#endif
