/* run_children.h: a process that follows those programs of a run, other than the first one, that
 * cannot load the recorder: static programs, into which the recorder is injected, and Go programs,
 * whose heap profile is read when they end.
 *
 * Problem. These programs are exec'ed by the first program, or by its descendants. Tracing all of
 * its descendants with ptrace would slow down each of their signals, forks and threads.
 *
 * Approach. Nearly every process of a run has a recorder. The recorder sees an exec, recognizes
 * from the file that no recorder can be loaded into the new program, and sends a request to this
 * process (contract/handover.h). For each request, this process forks a follower, which traces the
 * requesting thread, and no other, up to its exec. From then on the follower does what `run` does
 * with the first program. It sends its messages, and notice of its next steps, to this process. A
 * Go program without C has no recorder, so the follower traces all of its threads and the processes
 * that it starts (attach/tree.h).
 *
 * Invariants. This process is not `run`: if `run` is killed, followed programs are still followed.
 * Only processes of our own user are followed, even where we are root and the kernel would allow
 * more. A message about a program is printed once, however often the program is started. */
#ifndef CLI_RUN_RUN_CHILDREN_H
#define CLI_RUN_RUN_CHILDREN_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "cli/command.h"
#include "contract/handover.h"

typedef struct run_children {
    pid_t pid; /* -1: there is no such process */
    int fd;    /* socket to that process, both directions */
    char name[HANDOVER_NAME];
} run_children;

typedef struct run_children_how {
    const command *command;
    const char *library; /* the library for static programs; NULL: they are not recorded */
    uint64_t space;      /* bytes of a spool, if the recording goes into segments; else 0 */
    bool has_each;       /* each process has a trace of its own */
    uint64_t go_period;  /* see run_go_period */
    bool quiet;
    bool is_shown;     /* see run_go_case */
    bool is_watched;   /* somebody reads the traces of all processes while they are written */
    uint64_t every_us; /* see run_go_begin_watch */
    /* Names the trace of process `pid`, where `program` is the first process. Returns false if that
     * process writes none. */
    bool (*name)(const void *context, pid_t program, pid_t pid, char path[PATH_MAX]);
    const void *context; /* must not point to words of the command line, which are erased */
} run_children_how;

/* What is known when the program has ended. */
typedef struct run_children_left {
    uint32_t n_following; /* Go programs that are still running; their profiles will be written when
                             they end */
    uint32_t n_late;      /* programs that were not followed because nobody answered in time */
    uint32_t n_beside;    /* profiles of Go child processes, written next to a trace of malloc */
    uint32_t is_lost;     /* the process was killed, so the other counts are unknown */
} run_children_left;

/* Starts the process. To be called before the program is started, by a process without threads. If
 * it cannot be started, these programs run unrecorded. */
void run_children_start(run_children *c, const run_children_how *how);

/* Tells which process is the program; 0: it did not start. */
void run_children_tell(run_children *c, pid_t pid);

/* To be called in the process that is about to become the program: asks to be followed as child
 * processes are. Returns false if nobody will follow it. */
bool run_children_ask(const run_children *c);

/* To be called when the program has ended. Waits until the profiles of programs that ended with it
 * are written. */
void run_children_finish(run_children *c, run_children_left *left);

/* Reports what was not recorded. Unless `quiet`, also says where further profiles are; the traces
 * are named by `pattern`. */
void run_children_say(const run_children_left *left, const char *pattern, bool quiet);

#endif
