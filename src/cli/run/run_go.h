/* run_go.h: Go's own profile of its heap, of a program that `run` starts, or of one that runs: how
 * the process is brought to a halt is attach/follow.h's business, what is read
 * import/import_go.h's; here both come together, and become a trace. */
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
    uint64_t period; /* bytes between two samples; before the start: those that were asked for, 0 if
                        none were */
    int memory;      /* -1: none is open */
    go_heap heap;
    struct import profile;
    run_go_feed *feed;        /* NULL: nobody follows its trace while it runs */
    bool is_read, has_become; /* another program */
    remote_reason why;        /* unless is_read */
} run_go;

/* Of a process at its exec, which it stays at: switches Go's sampling on. False: it is not
 * recorded, g->why. */
bool run_go_prepare(run_go *g, pid_t pid);

/* Follows it from there, or, if it runs by now, as it is. False likewise. */
bool run_go_follow(run_go *g, pid_t pid, bool runs);

/* What has become of the process, as waitpid says. True: it is stopped as by a signal for that. */
bool run_go_take(run_go *g, pid_t pid, int status);

/* It stands at its end (follow_ends): reads it, and lets it go. */
void run_go_end(run_go *g, pid_t pid);

/* Reads the profile of a process that runs, while it stands still for a moment. False:
 * g->why. */
bool run_go_snapshot(run_go *g, pid_t pid);

/* Opens the memory of a process that runs, for run_go_watch. False: it cannot be read, or there is
 * no profile in it; g->why. */
bool run_go_open(run_go *g, pid_t pid);

/* Whether the process runs a Go program. */
go_kind run_go_find(run_go *g, pid_t pid, import_error *error);

/* Writes what was read, and sums it up, unless `quiet`. Gives an exit status. */
int run_go_write(run_go *g, const command *cmd, pid_t pid, const char *program, const char *path,
                 bool quiet);

void run_go_free(run_go *g);

/* ---- of a program whose trace is followed while it runs -------------------------------------- */

/* Begins that trace: `every_us` is how often somebody looks at it; 0: at any time. */
bool run_go_watch(run_go *g, const run_go_feed_how *how);

/* The trace has its end: by a last reading, if run_go_end has not made one. */
void run_go_close(run_go *g);

/* Whether there is one; if not, and it is closed, says why. */
bool run_go_has_watched(const run_go *g, const char *path);

/* Closes it, compresses it if it is called so, and sums it up, unless `quiet`. Says so where there
 * is none. Gives an exit status. */
int run_go_write_watched(run_go *g, const char *path, bool quiet);

/* ---- of a program that `run` starts ------------------------------------------------------ */

typedef struct run_go_case {
    const char *command;
    bool with_malloc; /* what its C half takes from malloc is recorded, too */
    bool quiet;
    bool is_shown;  /* by --view or --live */
    uint64_t space; /* of the spool of a ring, of which no more is said; 0: it is no such */
} run_go_case;

/* What Go is to sample where words are at that rate: bytes; 0: as it does anyway. */
uint64_t run_go_period(double rate);

/* Of one with C, segments have what its C half takes from malloc. */
void run_go_say_ring(const run_go_case *c);

/* Says how it is recorded, where a sample every `asked` bytes was asked for. */
void run_go_say_followed(const run_go *g, bool is_followed, uint64_t asked, const run_go_case *c);

/* Whose trace is to be followed: that which stands beside, or is, the trace `name`. Readings come
 * as often as somebody looks. */
void run_go_begin_watch(run_go *g, pid_t pid, const char *name, uint64_t every_us,
                        const run_go_case *c);

/* Beside a trace of malloc, x.ctf, Go's is called x.go.ctf. */
bool run_go_name(const char *name, bool is_beside, char path[PATH_MAX]);

/* Its process, `pid` if it was followed and else 0, has ended: writes what was read beside the
 * trace `name` of malloc, or as that one, and frees it. */
void run_go_finish(run_go *g, const command *cmd, pid_t pid, const char *name,
                   const run_go_case *c);

#endif
