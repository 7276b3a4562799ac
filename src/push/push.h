/* push.h: sends profiles of a trace that is being written, at regular intervals, to receivers that
 * store profiles: OpenTelemetry's Collector, Pyroscope, Parca.
 *
 * Problem. A service runs for months, and whoever operates it wants its allocations next to its
 * other profiles, not in a file on its disk. Receivers are slow, down, or gone for a day.
 *
 * Way. A thread reads the trace while the recorder writes it. The recorder knows nothing of that:
 * whatever happens to the receivers, the program is not affected and the trace is complete. The
 * thread adds events to a tally (tally.h), whose memory follows the live blocks. Each receiver is a
 * target (target.h), which gets what was allocated since it last accepted something, and what is
 * live now. Names are resolved in bulk (places.h); requests are sent in parallel (http.h).
 *
 * Why not otherwise. Sending from the recorder would bring a network library, with its locks and
 * memory, into the program. A queue of unsent data grows as long as a receiver is down. A
 * difference of sums does not: a receiver that was down for an hour gets one profile of that hour.
 *
 * What must hold. The bytes sent add up to what the reports say, however often a receiver failed.
 * Only this thread waits for the network and, at the end, push_finish for a limited time. Secrets
 * appear in no message and in no list of processes. */
#ifndef PUSH_PUSH_H
#define PUSH_PUSH_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

enum { PUSH_TARGETS_MAX = 8 };

#define PUSH_EVERY_US UINT64_C(15000000) /* default interval */

/* How far a trace has been read, for a component that frees what was read, perhaps in another
 * process. */
typedef struct push_position {
    _Atomic uint64_t inode;   /* of the file; 0: none is open yet */
    _Atomic uint64_t offset;  /* bytes before it are no longer needed; UINT64_MAX: none are */
    _Atomic uint64_t overrun; /* bytes after `offset` were freed, as the space was needed */
} push_position;

typedef struct push_options {
    const char *urls;          /* comma-separated */
    uint64_t every_us;         /* 0: PUSH_EVERY_US */
    const char *const *labels; /* KEY=VALUE */
    size_t n_labels;
    bool by_thread;             /* samples have the names of their threads */
    const char *token_file;     /* its first line is a bearer token; NULL: none */
    push_position *position;    /* kept up to date; NULL: not needed */
    struct push_shared *shared; /* with other processes' sessions (family.c); NULL: none */
    struct timespec since; /* on CLOCK_REALTIME_COARSE: a file last written before this is of an
                              earlier recording, which this one will replace */
    int files; /* root of the file system that contains the modules (base/open_in.h); 0: ours */

    /* Gets one line about a receiver: at its first failure, and the result at the end. Called from
     * the thread. A warning says that data is missing at the receiver. */
    void (*tell)(void *context, bool warning, const char *line);
    void *context;
} push_options;

/* Formats such a line and passes it to `tell`. */
__attribute__((format(printf, 3, 4))) void push_tell(const push_options *o, bool warning,
                                                     const char *format, ...);

typedef struct push_session push_session;

/* Checks the options. Returns NULL, or one line that says what is wrong, in `error`. */
__attribute__((nonnull)) const char *push_check(const push_options *o, char *error, size_t size);

/* Starts pushing. The trace need not exist yet. `path`, and what `o` refers to, must outlive the
 * session. All signals that the caller waits for must be blocked. Returns NULL, with one line in
 * `error`, on failure. */
__attribute__((nonnull)) push_session *push_start(const char *path, const push_options *o,
                                                  char *error, size_t size);

/* To be called when the trace has ended: sends the rest, which takes PUSH_END_MS at most, reports
 * the result, and frees. NULL is allowed. `enough` is called regularly by this thread, and ends the
 * wait by returning true; NULL: nothing ends it. */
enum { PUSH_END_MS = 10000 };
void push_finish(push_session *s, bool (*enough)(void *context), void *context);

/* ---- the steps of push_finish, for callers with many sessions ---- */

/* The trace has ended, but the run goes on: the rest is sent, with retries until all receivers have
 * it. */
void push_end_trace(push_session *s);

/* Begins what push_finish does. Everything is given up at `end_ms` of the monotonic clock. Another
 * call sets another `end_ms`. */
void push_hurry(push_session *s, uint64_t end_ms);

/* Whether the session is done, so that push_finish will not wait. */
bool push_is_over(const push_session *s);

#endif
