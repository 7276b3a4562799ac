/* run_rescue.h: completes the traces of killed programs with events that were not yet written
 * (contract/rescue.h). */
#ifndef CLI_RUN_RUN_RESCUE_H
#define CLI_RUN_RUN_RESCUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Creates the shared memory. Returns a file descriptor, which the caller closes, or -1 on failure.
 * The functions below accept -1. */
int run_rescue_open(void);

/* Maps the head of the shared memory, for as long as this process lives. Returns NULL on
 * failure. */
struct rescue_head *run_rescue_share(int fd);

/* Makes the name by which the program opens the shared memory, as long as process `keeper` has it
 * open. */
void run_rescue_name(int fd, pid_t keeper, char *name, size_t size);

/* Returns whether a recorder holds the lock of the file. The child of a fork holds its parent's
 * lock for a moment: waits for that, `*patience` times 5 ms in total. */
bool run_rescue_is_recording(const char *path, unsigned *patience);

/* Adds events left in the shared memory to the traces, named by `pattern`, that nobody is recording
 * to any more. This includes traces of programs that a process ran before an exec. Unless `only` is
 * 0, completes only the current trace of that process. */
void run_rescue_finish(int fd, const char *pattern, uint64_t only, unsigned *patience);

/* Like run_rescue_finish, for one process that is only known not to record to its trace any more.
 * Cheap if nothing can be missing. */
void run_rescue_finish_one(int fd, const char *pattern, uint64_t pid);

/* Like run_rescue_finish_one, for an open trace of any name. */
void run_rescue_finish_open(int fd, int trace);

/* Returns whether the open trace states how its recording ended. */
bool run_rescue_states_end(int trace);

/* Frees the shared memory of a process that is certainly gone. */
void run_rescue_release(int fd, uint64_t pid, uint64_t start_time);

/* Records in the trace of process `pid`, which was killed, when it ended; otherwise readers would
 * take the last event for the end. Times are in us since the epoch. A trace that began before
 * `begin`, the start of the run, is another process's. */
void run_rescue_note_end(int fd, const char *pattern, uint64_t pid, uint64_t begin, uint64_t end);

/* For a process that nobody waited for and that shared no memory: if its trace does not state how
 * the recording ended, notes that unwritten events are lost. */
void run_rescue_note_lost(const char *path, uint64_t pid, uint64_t end);

/* Notes that nothing is missing in the trace of a process that is gone, if it sampled nothing and
 * could not say so itself. */
void run_rescue_note_silent(int fd, const char *path);

/* What recorders have reported so far. */
typedef struct run_rescue_told {
    uint64_t notes;     /* bits of enum rescue_note, and of rescue_unopened */
    uint64_t n_silent;  /* programs that left no trace because none of their words was sampled */
    uint64_t n_refused; /* processes that were not allowed to open their traces */
} run_rescue_told;

run_rescue_told run_rescue_hear(int fd);

/* Returns whether a process that records, or will when it next allocates, is still alive. */
bool run_rescue_is_in_use(int fd);

/* Counts the gauges and marks stored as allocations in the trace that process `pid` began at
 * `start_time` (us since the epoch). Returns false if the count is unknown. */
bool run_rescue_count_remarks(int fd, uint64_t pid, uint64_t start_time, uint64_t *n);

#endif
