/* push.h: sends what a trace that is being written amounts to, again and again, to receivers that
 * keep profiles: OpenTelemetry's Collector, Pyroscope, Parca.
 *
 * Problem. A service runs for months, and whoever looks after it wants its allocations beside its
 * other profiles, not in a file on its disk. Receivers are slow, down, or gone for a day.
 *
 * Way. A thread reads the trace beside the recorder, which knows nothing of it: whatever becomes of
 * the receivers, the program notices nothing and the trace is whole. It adds events to a tally
 * (tally.h), whose memory follows what lives. Each receiver is a target (target.h), which gets what
 * was allocated since it last took something, and what is live. Names are found in bulk (places.h);
 * requests go out side by side (http.h).
 *
 * Why not otherwise. Sending from within the recorder would bring a network library, its locks and
 * its memory into the program. A queue of what could not be sent grows as long as a receiver is
 * down; a difference of sums does not.
 *
 * What must hold. Bytes that are sent add up to what the reports say, however often a receiver
 * failed. Nothing waits for the network but this thread, and at the end at most for the time that
 * push_finish gives it. Secrets stand in no message and no list of processes. */
#ifndef PUSH_PUSH_H
#define PUSH_PUSH_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

enum { PUSH_TARGETS_MAX = 8 };

#define PUSH_EVERY_US UINT64_C(15000000) /* where nothing else is asked for */

/* How far a trace has been read, for somebody who frees what was read of it, perhaps in another
 * process. */
typedef struct push_position {
    _Atomic uint64_t inode;   /* of the file; 0: none has been opened yet */
    _Atomic uint64_t offset;  /* bytes before it are not needed any more; UINT64_MAX: none are */
    _Atomic uint64_t overrun; /* somebody could not wait, and has freed bytes behind it */
} push_position;

typedef struct push_options {
    const char *urls;          /* separated by commas */
    uint64_t every_us;         /* 0: PUSH_EVERY_US */
    const char *const *labels; /* KEY=VALUE */
    size_t n_labels;
    bool by_thread;             /* samples say what their threads are called */
    const char *token_file;     /* whose first line is a bearer token; NULL: none */
    push_position *position;    /* is kept up to date; NULL: nobody asks */
    struct push_shared *shared; /* with sessions of other processes (family.c); NULL: with none */
    struct timespec since; /* of CLOCK_REALTIME_COARSE: a file that was last written before is of an
                              earlier recording, which this one will replace */
    int files; /* the root of the file system that has the modules (base/open_in.h); 0: it is ours
                */

    /* Gets one line about a receiver: at its first failure, and what became of all at the end.
     * Called from the thread; a warning says that something is missing there. */
    void (*tell)(void *context, bool warning, const char *line);
    void *context;
} push_options;

/* Gives such a line. */
__attribute__((format(printf, 3, 4))) void push_tell(const push_options *o, bool warning,
                                                     const char *format, ...);

typedef struct push_session push_session;

/* Looks at the options alone: NULL, or one line that says what is wrong with them, in `error`. */
__attribute__((nonnull)) const char *push_check(const push_options *o, char *error, size_t size);

/* Begins. The trace need not be there yet; `path`, and what `o` refers to, must outlive the
 * session. All signals that the caller waits for must be blocked. NULL with one line in `error`. */
__attribute__((nonnull)) push_session *push_start(const char *path, const push_options *o,
                                                  char *error, size_t size);

/* The trace has its end: sends the rest, which takes PUSH_END_MS at most, tells what became of all,
 * and frees. NULL is allowed. */
enum { PUSH_END_MS = 10000 };
void push_finish(push_session *s);

/* ---- in parts, for who has many of them ---- */

/* The trace has its end, but others go on: the rest is sent, again and again until all receivers
 * have it. */
void push_end_trace(push_session *s);

/* As push_finish begins; all is given up at `end_ms` of the monotonic clock. */
void push_hurry(push_session *s, uint64_t end_ms);

/* Whether nothing is left to do but push_finish, which then does not wait. */
bool push_is_over(const push_session *s);

#endif
