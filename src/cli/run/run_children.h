/* run_children.h: the process that follows those programs of a run, besides the first, that cannot
 * load the recorder: static ones, into which it is put, and Go's, whose heap is read at their end.
 *
 * Problem. They are exec'ed by the program, or by children of its children. To trace all of these
 * would slow each of their signals, forks and threads.
 *
 * Way. Nearly every process of a run has a recorder, which sees execs and knows by the file that
 * none can be loaded; it asks here (contract/handover.h). Each request gets a process of its own,
 * which traces that thread up to its exec and no other, and then does what `run` does with its
 * first process. What it says, and what it is about to do, it tells us. Of Go programs
 * without C, which have no recorder, it follows all threads, and what they start (attach/tree.h).
 *
 * What must hold. We are not `run`: if that is killed, whoever is followed still is. Only processes
 * of our own user are, since the kernel asks for no more where we are root. Lines about programs
 * are said once, however often they are started. */
#ifndef CLI_RUN_RUN_CHILDREN_H
#define CLI_RUN_RUN_CHILDREN_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "cli/command.h"
#include "contract/handover.h"

typedef struct run_children {
    pid_t pid; /* -1: there is none */
    int fd;    /* both ways */
    char name[HANDOVER_NAME];
} run_children;

typedef struct run_children_how {
    const command *command;
    const char *library; /* that is put into static programs; NULL: none is */
    uint64_t space;      /* of a spool, if what is recorded goes into segments; else 0 */
    bool has_each;       /* process a trace of its own */
    uint64_t go_period;  /* see run_go_period */
    bool quiet;
    bool is_shown;     /* see run_go_case */
    bool is_watched;   /* somebody follows the traces of all */
    uint64_t every_us; /* see run_go_begin_watch */
    /* What process `pid` writes where the first one is `program`; false: it does not. */
    bool (*name)(const void *context, pid_t program, pid_t pid, char path[PATH_MAX]);
    const void *context; /* nothing in it may be words of the command line, which are taken away */
} run_children_how;

/* When the program has ended. */
typedef struct run_children_left {
    uint32_t n_following; /* Go programs that go on, and whose profiles will be written */
    uint32_t n_late;      /* programs that nobody followed in time */
    uint32_t n_beside;    /* profiles of children that were written beside a trace of malloc */
    uint32_t is_lost;     /* the process was killed: the rest is not known */
} run_children_left;

/* Begins, in a process without threads, before the program is started. Without it, these programs
 * run unrecorded. */
void run_children_start(run_children *c, const run_children_how *how);

/* The program is process `pid`; 0: it did not start. */
void run_children_tell(run_children *c, pid_t pid);

/* In the process that is about to become the program: has it followed as others are. False: it is
 * not. */
bool run_children_ask(const run_children *c);

/* The program has ended: waits until what ended with it is written. */
void run_children_finish(run_children *c, run_children_left *left);

/* Says what was left out, and, unless `quiet`, where else something is: traces are called by
 * `pattern`. */
void run_children_say(const run_children_left *left, const char *pattern, bool quiet);

#endif
