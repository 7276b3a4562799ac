/* memtrace.h: reads memtrace traces (.ctf) of versions 1, 2 and 3, and writes them of 2 and 3.
 *
 * A trace is a sequence of sampled allocation events with their backtraces, promotions and
 * collections. The byte format is described in src/trace/FORMAT.md, in the sources and in
 * PREFIX/share/doc/allotrace.
 *
 * Units. Lengths are in words without the header; times are in microseconds since the start of
 * the trace; `sample_rate` is the probability with which each word, headers included, is sampled.
 *
 * Errors. Functions that can fail return a memtrace_status; 0 is success. Details (offset in the
 * file, reason, errno) stand in a memtrace_error.
 *
 * Threads. A reader belongs to one thread at a time. A writer is shared: each of its streams (one
 * a domain) belongs to one thread at a time, and streams of one writer may run in parallel as far
 * as its sink may. No function here is async-signal-safe unless it says so.
 */
#ifndef ALLOTRACE_MEMTRACE_H
#define ALLOTRACE_MEMTRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define MEMTRACE_NODISCARD __attribute__((warn_unused_result))
#define MEMTRACE_API       __attribute__((visibility("default")))
#else
#define MEMTRACE_NODISCARD
#define MEMTRACE_API
#endif

/* ---- errors ------------------------------------------------------------------------------ */

typedef enum memtrace_status {
    MEMTRACE_OK = 0,
    MEMTRACE_END = 1,    /* no further event: not an error */
    MEMTRACE_IO = 2,     /* the system refused; `os_error` says why */
    MEMTRACE_FORMAT = 3, /* the bytes at `offset` are no valid trace */
    MEMTRACE_USAGE = 4,  /* the caller broke the contract of a function */
    MEMTRACE_NOMEM = 5,
} memtrace_status;

typedef struct memtrace_error {
    memtrace_status status;
    int os_error;     /* errno; 0 unless status is MEMTRACE_IO */
    uint64_t offset;  /* in the (decompressed) file; meaningful if status is MEMTRACE_FORMAT */
    char reason[192]; /* one line without newline or file name */
} memtrace_error;

/* ---- what a trace holds ------------------------------------------------------------------ */

typedef enum memtrace_source {
    MEMTRACE_MINOR = 0,
    MEMTRACE_MAJOR = 1,
    MEMTRACE_EXTERNAL = 2, /* outside the garbage-collected heap: all of native code's */
} memtrace_source;

/* The head of a trace. Strings are never NULL; an absent one is empty. */
typedef struct memtrace_info {
    uint16_t version;    /* 1, 2 or 3; a writer takes 2, 3, and 0 for 3 */
    uint8_t word_size;   /* in bits, 32 or 64; a writer takes 0 for 64 */
    double sample_rate;  /* a word's probability, 0 < rate <= 1 */
    uint64_t start_time; /* microseconds since the Unix epoch */
    uint64_t pid;
    const char *executable_name;
    const char *host_name;
    const char *runtime_params;
    const char *context;
} memtrace_info;

/* How a recording ended, as far as the trace says. */
typedef enum memtrace_ending {
    MEMTRACE_END_UNSAID, /* its recorder does not say such things */
    MEMTRACE_END_OPEN,   /* it was to be said: the recording goes on, or was killed */
    MEMTRACE_END_WHOLE,  /* all that was to be recorded is there */
    MEMTRACE_END_EARLY   /* something kept it from going on: events are missing */
} memtrace_ending;

#define MEMTRACE_MAX_REASON 128 /* bytes, NUL included */

typedef struct memtrace_end {
    memtrace_ending how;
    uint64_t time;   /* microseconds from the start, up to which no event is missing */
    uint64_t n_lost; /* allocations that were to be recorded and are known to be missing */
    int os_error;    /* errno of what ended it, or 0 */
    char reason[MEMTRACE_MAX_REASON]; /* why it ended, if there is something to say */
} memtrace_end;

/* A part of a trace that could not be read, or is missing in it. Events before and behind it are
 * there; of blocks that were freed in it nobody knows that they were. */
typedef struct memtrace_gap {
    uint64_t from, to; /* us from the start: what is missing happened between, both included */
    uint64_t bytes;    /* that could not be read; 0 where whole packets are gone */
    uint64_t of;       /* bytes of the trace in which this was met, decompressed */
} memtrace_gap;

/* One source location. `file` and `function` are never NULL. Columns count from 0. */
typedef struct memtrace_location {
    const char *file;
    const char *function;
    uint32_t line; /* 0: unknown */
    uint16_t start_char;
    uint16_t end_char;
} memtrace_location;

/* The format's field widths: larger values are clamped to these by writers, and where both columns
 * are, end_char to one less. */
#define MEMTRACE_MAX_LINE       0xFFFFFu
#define MEMTRACE_MAX_START_CHAR 0xFFu
#define MEMTRACE_MAX_END_CHAR   0x3FFu

/* Writers keep so many bytes of a longer string: in the head the first ones, in a location both
 * ends and a hash of the whole, so that names which differ still do (src/trace/FORMAT.md, section
 * 6). Where the locations of one code would fill more than a packet, less. */
#define MEMTRACE_MAX_NAME 4095

/* File names by which a location is not a place in the source but a remark of the recorder. */
#define MEMTRACE_TYPE_FILE  "<type>"  /* `function` is the type of the allocated object */
#define MEMTRACE_MARK_FILE  "<mark>"  /* `function` names a moment */
#define MEMTRACE_GAUGE_FILE "<gauge>" /* `function` names a quantity */
#define MEMTRACE_THREAD_FILE                                                                       \
    "<thread>" /* `function` is what the thread is called that the domain is from here on */
#define MEMTRACE_SCOPE_FILE                                                                        \
    "<scope>" /* `function` is what the domain's thread does from here on, as the program calls it \
               */
#define MEMTRACE_NO_SCOPE "<none>" /* as such a `function`: nothing that has a name */
#define MEMTRACE_SPAN_FILE                                                                         \
    "<span>" /* `function` is a part of the ids of the span that the domain's thread is in */
#define MEMTRACE_SEGMENT_FILE                                                                      \
    "<segment>" /* what a trace that is a part of a longer one says of itself */

/* In the context of a trace whose times tell the order of all events, also between domains. */
#define MEMTRACE_ORDERED "[ordered]"

/* So begins the context of a trace that was made of another tool's data. */
#define MEMTRACE_IMPORTED "imported from "

/* In the context of a trace of another tool's sums, which says nothing of when blocks came and
 * went. */
#define MEMTRACE_NO_TIMES ": there are no times"

/* What such a trace is made of where Go's runtime is its source. */
#define MEMTRACE_GO_PROFILE "Go's own heap profile"

/* The file of code that was made at run time, which is in none; without a name for it, `function`
 * is its address, 0x7f48a0ecabd3. */
#define MEMTRACE_MADE_FILE "[JIT]"

/* One frame of a backtrace: a code of the recorder (mostly a program counter) and where that is. A
 * code stands for several locations where functions were inlined: outermost first, so that the last
 * one is the innermost. `n_locations` is 0 where the trace does not say. */
typedef struct memtrace_frame {
    uint64_t code;
    const memtrace_location *locations;
    uint32_t n_locations;
    const char *type; /* of what this frame allocates, taken out of `locations`; NULL if unknown */
    bool suspect;     /* packets before it was named were lost, so that names may be wrong */
} memtrace_frame;

typedef enum memtrace_event_kind {
    MEMTRACE_ALLOC = 0,
    MEMTRACE_PROMOTE = 1,
    MEMTRACE_COLLECT = 2,
    MEMTRACE_MARK = 3,   /* a moment */
    MEMTRACE_GAUGE = 4,  /* the value of a quantity at a moment */
    MEMTRACE_THREAD = 5, /* from here on, the domain is a thread of this name */
    MEMTRACE_SCOPE = 6,  /* from here on, its thread is in the scope of this name; empty: in none */
    MEMTRACE_SPAN = 7 /* the same of distributed tracing: the name is the id of the trace and that
                         of the span, `TRACE-SPAN`, in MEMTRACE_TRACE_DIGITS and
                         MEMTRACE_SPAN_DIGITS hexadecimal digits */
} memtrace_event_kind;

typedef struct memtrace_event {
    memtrace_event_kind kind;
    uint16_t domain; /* that reported the event; 0 in versions 1 and 2 */
    uint64_t time;   /* microseconds since the start of the trace */
    uint64_t id; /* of the object, unique in the file; remarks (all but the first three kinds) have
                    one */

    /* For remarks alone: what it is called, until the next call that reads an event. NULL where the
     * trace does not say, or not yet: a span's ids come in several remarks, and the last has them.
     * NULL also where backtraces are skipped: then all are marks. A gauge's value is its `length`.
     */
    const char *name;

    /* The rest is for allocations and remarks alone. */
    memtrace_source source;
    uint64_t length;  /* words, header excluded */
    uint64_t samples; /* of its length + 1 words, how many were sampled; 0 for remarks */
    /* The backtrace, outermost caller first, as indices for memtrace_reader_frame. It shares its
     * first `common_prefix` frames with the previous backtrace of the same domain (0 when
     * backtraces are skipped). Valid until the next call that reads an event. */
    const uint32_t *frames;
    uint32_t n_frames;
    uint32_t common_prefix;
    /* Packets before this one were lost, so that the backtrace may be wrong. */
    bool suspect;
} memtrace_event;

/* The ids of a span as distributed tracing (W3C's Trace Context) gives them: that of the trace, of
 * 16 bytes, and behind it its own. All 0: none. */
enum { MEMTRACE_TRACE_ID = 16, MEMTRACE_SPAN_ID = 8 };
enum { MEMTRACE_TRACE_DIGITS = 2 * MEMTRACE_TRACE_ID, MEMTRACE_SPAN_DIGITS = 2 * MEMTRACE_SPAN_ID };
typedef struct memtrace_span {
    uint8_t ids[MEMTRACE_TRACE_ID + MEMTRACE_SPAN_ID];
} memtrace_span;

/* ---- reading ----------------------------------------------------------------------------- */

typedef struct memtrace_reader memtrace_reader;

typedef struct memtrace_reader_options {
    bool skip_backtraces; /* leave `frames` empty: much faster */
    bool strict;          /* make the first defect an error instead of a warning */
    bool as_written;      /* remarks come as they stand in the file: as allocations without
                             samples that are collected at once */
} memtrace_reader_options;

/* Every defect that the reader can meet and step over, one warning a kind. */
#define MEMTRACE_DEFECTS(X)                                                                        \
    X(TIME_BACKWARDS, "time runs backwards; clamped")                                              \
    X(FOREIGN_PID, "packet of another process; skipped")                                           \
    X(CUT_SHORT, "the trace is cut short; every whole event before the cut was used")              \
    X(EMPTY_NAME, "a name code points at an empty entry; shown as `?`")                            \
    X(STALE_NAME, "a name given before packets were lost; it may be the wrong one")                \
    X(CACHE_MISMATCH, "packets were lost here; backtraces may be wrong until the cache refills")   \
    X(NOT_A_PACKET, "bytes that are no packet; searched for the next one")                         \
    X(BAD_EVENT, "an event that cannot be decoded; the rest of its packet was skipped")            \
    X(COLUMN_OVERFLOW, "columns written by memtrace 0.2.3 overflow their field; recovered")        \
    X(COLUMN_AMBIGUOUS, "columns written by memtrace 0.2.3 overflow their field; file uncertain")  \
    X(ANOTHER_TRACE, "another trace begins here; what follows was left out")                       \
    X(ENDS_EARLY, "the recording ended before the program; what came later is missing")            \
    X(NO_END, "the end is missing; the program is still recorded, or was killed")                  \
    X(GAP, "events are missing here; the trace from which this one was made was damaged")

typedef enum memtrace_defect {
#define MEMTRACE_DEFECT_NAME(name, text) MEMTRACE_DEFECT_##name,
    MEMTRACE_DEFECTS(MEMTRACE_DEFECT_NAME)
#undef MEMTRACE_DEFECT_NAME
        MEMTRACE_N_DEFECTS
} memtrace_defect;

typedef struct memtrace_warning {
    memtrace_defect defect;
    uint64_t count;
    uint64_t first_offset; /* bytes from the start of the (decompressed) file */
    const char *text;      /* static; what it means and what the reader did */
} memtrace_warning;

/* The header of the packet from which the last event came. */
typedef struct memtrace_packet {
    uint64_t offset; /* bytes */
    uint32_t size;   /* bytes, header included */
    uint16_t domain;
    uint64_t time_begin, time_end; /* microseconds since the Unix epoch, as written */
    uint64_t pid;
    uint64_t id_begin, id_end;
} memtrace_packet;

/* Opens a trace, plain, gzip- or zstd-compressed. `path` "-" is standard input. `options` may be
 * NULL. On success `*reader` is the caller's to close; on failure it is NULL and `*error` (may be
 * NULL) says why. The head of the trace has been read when this returns. */
MEMTRACE_NODISCARD MEMTRACE_API memtrace_status
memtrace_reader_open(const char *path, const memtrace_reader_options *options,
                     memtrace_reader **reader, memtrace_error *error);

/* The same from an open file descriptor (regular file or pipe), which the reader closes. */
MEMTRACE_NODISCARD MEMTRACE_API memtrace_status
memtrace_reader_open_fd(int fd, const memtrace_reader_options *options, memtrace_reader **reader,
                        memtrace_error *error);

/* The same from memory, which must stay valid and unchanged until the reader is closed. */
MEMTRACE_NODISCARD MEMTRACE_API memtrace_status
memtrace_reader_open_memory(const void *bytes, size_t size, const memtrace_reader_options *options,
                            memtrace_reader **reader, memtrace_error *error);

MEMTRACE_API void memtrace_reader_close(memtrace_reader *reader); /* NULL is allowed */

/* The head of the trace; valid until the reader is closed. */
MEMTRACE_API const memtrace_info *memtrace_reader_info(const memtrace_reader *reader);

/* Reads the next event into `*event`, in the order of the file: within a domain by time, across
 * domains not. MEMTRACE_END at the end; any other status is an error, for which see
 * memtrace_reader_error, and is returned again by further calls. */
MEMTRACE_NODISCARD MEMTRACE_API memtrace_status memtrace_reader_next(memtrace_reader *reader,
                                                                     memtrace_event *event);

/* The error that ended the reading; status MEMTRACE_OK if there was none. */
MEMTRACE_API const memtrace_error *memtrace_reader_error(const memtrace_reader *reader);

/* What stands behind a frame index; indices are dense, 0 … n_frames - 1, in the order in which the
 * trace first mentions their codes; a code has the same index in all domains. The pointer and its
 * `locations` are valid until the next call that reads an event; strings stay valid until the
 * reader is closed, and equal strings are the same pointer. */
MEMTRACE_API const memtrace_frame *memtrace_reader_frame(const memtrace_reader *reader,
                                                         uint32_t index);
MEMTRACE_API uint32_t memtrace_reader_n_frames(const memtrace_reader *reader);

/* What was met so far and stepped over, in order of first offset; `*n` entries, valid until the
 * next call that reads an event. */
MEMTRACE_API const memtrace_warning *memtrace_reader_warnings(const memtrace_reader *reader,
                                                              size_t *n);

/* Called at each defect as it is met, before the reader goes on: for tools that list them all. */
typedef void memtrace_defect_fn(void *context, memtrace_defect defect, uint64_t offset,
                                const char *detail);
MEMTRACE_API void memtrace_reader_on_defect(memtrace_reader *reader, memtrace_defect_fn *fn,
                                            void *context);

/* Called as each packet begins, and now and then while the next one is looked for, from within
 * memtrace_reader_next: for those who show progress. */
typedef void memtrace_packet_fn(void *context, const memtrace_reader *reader);
MEMTRACE_API void memtrace_reader_on_packet(memtrace_reader *reader, memtrace_packet_fn *fn,
                                            void *context);

/* How long the trace lasts as far as it was read, in microseconds from its start: to the latest
 * event, be it cut off, or beyond that to the end of a packet, if that is whole and its header
 * makes sense. */
MEMTRACE_API uint64_t memtrace_reader_duration(const memtrace_reader *reader);

/* How the recording ended. What is known of it while the trace is read can change up to its end,
 * where it is decided: an end that was to be said and was not is at the latest event, and a trace
 * that is cut short ends early, whatever it says. */
MEMTRACE_API memtrace_end memtrace_reader_end(const memtrace_reader *reader);

/* Where events are missing, up to the end: `*n` gaps, in the order in which they were met, valid
 * until the next call that reads an event. With several domains, some may overlap. A trace that was
 * made of a damaged one has the gaps of that one. `of` is known when all is read. */
MEMTRACE_API const memtrace_gap *memtrace_reader_gaps(const memtrace_reader *reader, size_t *n);

/* Bytes of input consumed so far and, if it can be known, in all (else 0): for progress. Both count
 * compressed bytes where the input is compressed. */
MEMTRACE_API void memtrace_reader_progress(const memtrace_reader *reader, uint64_t *done,
                                           uint64_t *total);

/* Called where the bytes of a file end, from within memtrace_reader_next, so that a trace that is
 * still being written can be followed: true says that there may be more of them by now; false, that
 * they are at their end. What was read so far is whole. Must be set before the end is met. */
typedef bool memtrace_more_fn(void *context);
MEMTRACE_API void memtrace_reader_on_end(memtrace_reader *reader, memtrace_more_fn *more,
                                         void *context);

/* The packet that holds the last event read (or the head, before the first). */
MEMTRACE_API const memtrace_packet *memtrace_reader_packet(const memtrace_reader *reader);

/* ---- writing ----------------------------------------------------------------------------- */

typedef struct memtrace_writer memtrace_writer; /* a trace */
typedef struct memtrace_stream memtrace_stream; /* the events of one of its domains */

typedef struct memtrace_writer_options {
    /* Writes whole packets: all `size` bytes, as one piece that no other call may interrupt. 0 on
     * success, else an errno; the writer stops at the first failure. Called from the thread that
     * uses a stream, and from several at once if streams are used in parallel. */
    int (*sink)(void *context, const void *packets, size_t size);

    /* Says where a code is: fills at most `max` locations (outermost first, a type as described at
     * MEMTRACE_TYPE_FILE before them) and returns their number, 0 if unknown. Called once for each
     * code in each stream, just before its first use, and should say the same in all: OCaml's
     * reader wants that. Strings must stay valid until the stream is closed. May be NULL: all are
     * unknown. */
    size_t (*locate)(void *context, uint64_t code, memtrace_location *locations, size_t max);

    /* All memory of the writer comes from here: `old` NULL to allocate, `size` 0 to free. NULL for
     * the C library's realloc. New memory need not be zeroed. Returns NULL when there is none. */
    void *(*reallocate)(void *context, void *old, size_t old_size, size_t size);

    /* Brings `times` times `hole` zero bytes and, behind them, the `size` bytes, all as the sink
     * does, but at little cost: the holes are those of a sparse file. 0 on success, else an errno.
     * Called by memtrace_writer_open alone, for the room. May be NULL: there is none. */
    int (*sink_spread)(void *context, const void *bytes, size_t size, size_t hole, size_t times);

    /* Replaces `size` bytes that the sink got before, the first of them at `offset` from the start
     * of the trace. With it a trace says how its recording ended, also where the sink has failed:
     * there is a place for that near its beginning. 0 on success, else an errno: a pipe can only be
     * appended to. Called as the sink is. May be NULL: the trace does not say it. */
    int (*amend)(void *context, uint64_t offset, const void *bytes, size_t size);

    /* So many bytes, at least, version 3 traces get behind their heads for names that are looked up
     * when all events have been written: these need not be copied then. Readers skip it. */
    size_t room;

    void *context; /* handed to all of them */
} memtrace_writer_options;

/* The most locations that a code can have. */
#define MEMTRACE_MAX_LOCATIONS 255

/* Starts a trace: writes the head. `info` is copied. If the sink fails, `error` has its errno.
 * Neither errno nor any lock is touched beyond what sink and reallocate do; with hooks that allow
 * it, streams can be used inside an allocator. */
MEMTRACE_NODISCARD MEMTRACE_API memtrace_status
memtrace_writer_open(const memtrace_info *info, const memtrace_writer_options *options,
                     memtrace_writer **writer, memtrace_error *error);

/* Whether `size` bytes from the beginning of a file, of which MEMTRACE_FRONT_SIZE are enough, begin
 * an uncompressed trace that the process `pid` has written. For those who are about to write to a
 * file of that name: after exec, a process would replace its own trace. Reads nothing but the
 * bytes; any thread, any time. */
#define MEMTRACE_FRONT_SIZE 38 /* bytes */
MEMTRACE_NODISCARD MEMTRACE_API bool memtrace_is_of_process(const void *bytes, size_t size,
                                                            uint64_t pid);

/* For a program that writes the trace that $MEMTRACE names by itself, at file scope, once: a
 * recorder that is preloaded into it leaves that trace to it. The linker has to show it to
 * libraries: -Wl,--export-dynamic-symbol=allotrace_own_trace. */
#define MEMTRACE_WRITES_OWN_TRACE                                                                  \
    extern MEMTRACE_API const char allotrace_own_trace;                                            \
    const char allotrace_own_trace = 1

/* Opens the stream of a domain; versions below 3 allow domain 0 alone. A domain has at most one. */
MEMTRACE_NODISCARD MEMTRACE_API memtrace_status memtrace_stream_open(memtrace_writer *writer,
                                                                     uint16_t domain,
                                                                     memtrace_stream **stream);

/* Times do not decrease within a stream (smaller ones are raised to the last).
 *
 * Writes an allocation, of whose `length` + 1 words `samples` were sampled, and gives its object
 * the next free id, in `*id`. `frames` are codes, outermost caller first; the caller may promise
 * that the first `common_prefix` of them equal those of the previous allocation in this stream (0
 * promises nothing; the writer then compares itself). A backtrace whose encoding would not fit a
 * packet loses its outermost frames, and so do those that follow, as long as they share these
 * frames with it. */
MEMTRACE_NODISCARD MEMTRACE_API memtrace_status memtrace_stream_alloc(
    memtrace_stream *stream, uint64_t time, memtrace_source source, uint64_t length,
    uint64_t samples, const uint64_t *frames, size_t n_frames, size_t common_prefix, uint64_t *id);

/* The same with an id chosen by the caller, who sees to it that no two objects of the trace get the
 * same. An id that is not the successor of the stream's previous one costs a new packet. A writer
 * whose ids are chosen by the caller must choose all of them. */
MEMTRACE_NODISCARD MEMTRACE_API memtrace_status memtrace_stream_alloc_as(
    memtrace_stream *stream, uint64_t time, uint64_t id, memtrace_source source, uint64_t length,
    uint64_t samples, const uint64_t *frames, size_t n_frames, size_t common_prefix);

/* The same where many blocks are recorded, in fewer instructions: an external allocation of
 * `words`, header included. The caller must know that the first `common_prefix` frames equal those
 * of the previous allocation, which came by this function too, or promise nothing; the writer does
 * not compare. No code may be 0. */
MEMTRACE_NODISCARD MEMTRACE_API memtrace_status memtrace_stream_alloc_block(
    memtrace_stream *stream, uint64_t time, uint64_t words, uint64_t samples,
    const uint64_t *frames, size_t n_frames, size_t common_prefix, uint64_t *id);

/* Writes a remark: a mark, the value of a gauge (0 for others), or the name of a thread. `code` is
 * that of its one location, which is in MEMTRACE_MARK_FILE or the like and has its name. Takes an
 * id, which is the next free one, or chosen by the caller as above. For what is written next it
 * counts as an allocation with that backtrace. */
MEMTRACE_NODISCARD MEMTRACE_API memtrace_status memtrace_stream_remark(memtrace_stream *stream,
                                                                       uint64_t time, uint64_t code,
                                                                       uint64_t value);
MEMTRACE_NODISCARD MEMTRACE_API memtrace_status memtrace_stream_remark_as(
    memtrace_stream *stream, uint64_t time, uint64_t id, uint64_t code, uint64_t value);

MEMTRACE_NODISCARD MEMTRACE_API memtrace_status memtrace_stream_promote(memtrace_stream *stream,
                                                                        uint64_t time, uint64_t id);
MEMTRACE_NODISCARD MEMTRACE_API memtrace_status memtrace_stream_collect(memtrace_stream *stream,
                                                                        uint64_t time, uint64_t id);

/* Hands what is buffered to the sink. The stream remains usable. */
MEMTRACE_NODISCARD MEMTRACE_API memtrace_status memtrace_stream_flush(memtrace_stream *stream);

/* The time of the oldest event that was not handed to the sink yet; UINT64_MAX if there is none. */
MEMTRACE_API uint64_t memtrace_stream_oldest(const memtrace_stream *stream);

/* Flushes and frees a stream; frees it also when the flush fails. */
MEMTRACE_NODISCARD MEMTRACE_API memtrace_status memtrace_stream_close(memtrace_stream *stream);

/* The same at the time when the recording ends. Otherwise the stream ends with its latest event,
 * and a program that allocated nothing in its last hour seems to have ended an hour before. One of
 * the streams of a trace is enough, since the trace lasts as long as the one that lasts longest. */
MEMTRACE_NODISCARD MEMTRACE_API memtrace_status memtrace_stream_close_at(memtrace_stream *stream,
                                                                         uint64_t time);

/* Says how the recording ended; of several calls the last one counts. Where nobody does, a writer
 * with `amend` says so of itself: at the first failure of the sink, that the recording ends early
 * and why, and when it is closed, that it is whole. Any thread. */
MEMTRACE_NODISCARD MEMTRACE_API memtrace_status memtrace_writer_end(memtrace_writer *writer,
                                                                    const memtrace_end *end);

/* How many allocations a stream has that were not handed to the sink yet. */
MEMTRACE_API uint64_t memtrace_stream_pending(const memtrace_stream *stream);

/* Frees the writer, whose streams must be closed. */
MEMTRACE_NODISCARD MEMTRACE_API memtrace_status memtrace_writer_close(memtrace_writer *writer);

#ifdef __cplusplus
}
#endif
#endif
