/* run_rescue.h: completes the traces of programs that were killed, by what they had not written
 * yet: see contract/rescue.h. */
#ifndef CLI_RUN_RUN_RESCUE_H
#define CLI_RUN_RUN_RESCUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Makes the memory to be shared: a file descriptor, the caller's to close, or -1 if there can be
 * none. The others take -1, too. */
int run_rescue_open(void);

/* What is at its beginning, shared with the program; NULL: it cannot be had. For as long as the
 * process. */
struct rescue_head *run_rescue_share(int fd);

/* The name by which the program finds it while process `keeper` has it open, too. */
void run_rescue_name(int fd, pid_t keeper, char *name, size_t size);

/* Whether somebody records to the file. The child of a fork shares its parent's lock for a moment:
 * waits for that, `*patience` times 5 ms in all. */
bool run_rescue_is_recording(const char *path, unsigned *patience);

/* Adds what is left in it to the traces, whose names follow `pattern`, if nobody is recording to
 * them any more: also to those of programs that processes were before they became others. `only` to
 * that which this process has now, unless it is 0. */
void run_rescue_finish(int fd, const char *pattern, uint64_t only, unsigned *patience);

/* The same for one process alone, of which nothing is known but that nobody records to its trace
 * any more. Costs little if nothing can be missing. */
void run_rescue_finish_one(int fd, const char *pattern, uint64_t pid);

/* The same for one open trace, whatever it is called. */
void run_rescue_finish_open(int fd, int trace);

/* Whether the open trace says how its recording ended. */
bool run_rescue_is_said(int trace);

/* Gives back the memory in which a process that is surely gone had a trace. */
void run_rescue_release(int fd, uint64_t pid, uint64_t start_time);

/* Says in the trace of process `pid`, which was killed, when that was: readers would take it to
 * have ended with its last event. Times are in us since the epoch; what began before `begin`, as
 * the run did, is another process's trace. */
void run_rescue_note_end(int fd, const char *pattern, uint64_t pid, uint64_t begin, uint64_t end);

/* The same of a process that nobody has waited for and that shared no memory, if its trace does not
 * say how the recording ended: what it had not written is lost. */
void run_rescue_note_lost(const char *path, uint64_t pid, uint64_t end);

/* Says that nothing is missing in a trace of a process that is gone, if it sampled nothing and did
 * not get to say so. */
void run_rescue_note_silent(int fd, const char *path);

/* What recorders had to say: of enum rescue_note. */
uint64_t run_rescue_notes(int fd);

/* How many programs of the run have left no trace, as none of their words was sampled. */
uint64_t run_rescue_silent(int fd);

/* How many processes were not allowed to open their traces. */
uint64_t run_rescue_refused(int fd);

/* Whether a process that records, or will when it next allocates, is still alive. */
bool run_rescue_is_in_use(int fd);

/* How many gauges and marks the trace that process `pid` began at `start_time` (µs since the epoch)
 * has as allocations. False if nobody knows. */
bool run_rescue_count_remarks(int fd, uint64_t pid, uint64_t start_time, uint64_t *n);

#endif
