/* memtrace.h: reads memtrace traces (.ctf) of versions 1, 2 and 3, and writes versions 2 and 3.
 *
 * A trace is a sequence of sampled allocation events with their backtraces, promotions and
 * collections. The byte format is described in src/trace/FORMAT.md, in the sources and in
 * PREFIX/share/doc/allotrace.
 *
 * Units. Lengths are in words without the header. Times are in microseconds since the start of the
 * trace. `sample_rate` is the probability with which each word, headers included, is sampled.
 *
 * Errors. Functions that can fail return a memtrace_status, where 0 is success. Details (offset in
 * the file, reason, errno) are in a memtrace_error.
 *
 * Threads. A reader belongs to one thread at a time. A writer is shared: each of its streams (one
 * per domain) belongs to one thread at a time, and streams of one writer may be used in parallel if
 * its sink allows that. No function here is async-signal-safe unless it says so. */
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
    MEMTRACE_IO = 2,     /* the system refused; see `os_error` */
    MEMTRACE_FORMAT = 3, /* the bytes at `offset` are not a valid trace */
    MEMTRACE_USAGE = 4,  /* the caller broke the contract of a function */
    MEMTRACE_NOMEM = 5,
} memtrace_status;

typedef struct memtrace_error {
    memtrace_status status;
    int os_error;     /* errno; 0 unless status is MEMTRACE_IO */
    uint64_t offset;  /* in the (decompressed) file; meaningful if status is MEMTRACE_FORMAT */
    char reason[192]; /* one line without newline or file name */
} memtrace_error;

/* ---- content of a trace ------------------------------------------------------------------ */

typedef enum memtrace_source {
    MEMTRACE_MINOR = 0,
    MEMTRACE_MAJOR = 1,
    MEMTRACE_EXTERNAL = 2, /* outside the garbage-collected heap, such as all native blocks */
} memtrace_source;

/* The head of a trace. Strings are never NULL; an absent one is empty. */
typedef struct memtrace_info {
    uint16_t version;    /* 1, 2 or 3; for writers 2, 3, or 0 meaning 3 */
    uint8_t word_size;   /* in bits, 32 or 64; for writers, 0 means 64 */
    double sample_rate;  /* probability with which a word is sampled, 0 < rate <= 1 */
    uint64_t start_time; /* microseconds since the Unix epoch */
    uint64_t pid;
    const char *executable_name;
    const char *host_name;
    const char *runtime_params;
    const char *context;
} memtrace_info;

/* How a recording ended, according to its trace. */
typedef enum memtrace_ending {
    MEMTRACE_END_UNSAID, /* the recorder does not state how a recording ended */
    MEMTRACE_END_OPEN,   /* not stated yet: still recording, or killed */
    MEMTRACE_END_WHOLE,  /* the recording is complete */
    MEMTRACE_END_EARLY   /* the recording was stopped by an error: events are missing */
} memtrace_ending;

#define MEMTRACE_MAX_REASON 128 /* bytes, including the NUL */

typedef struct memtrace_end {
    memtrace_ending how;
    uint64_t time;   /* microseconds from the start, before which no event is missing */
    uint64_t n_lost; /* allocations that should have been recorded and are known to be missing */
    int os_error;    /* errno of the cause, or 0 */
    char reason[MEMTRACE_MAX_REASON]; /* the reason, or an empty string */
} memtrace_end;

/* A part of a trace that is missing or could not be read. The events before and after it are there.
 * Blocks that were freed in the gap are not known to be freed. */
typedef struct memtrace_gap {
    uint64_t from, to; /* us from the start: time range of the missing events, both ends included */
    uint64_t bytes;    /* number of bytes that could not be read; 0 if whole packets are missing */
    uint64_t of;       /* size of the damaged trace, bytes after decompression */
} memtrace_gap;

/* One source location. `file` and `function` are never NULL. Columns count from 0. */
typedef struct memtrace_location {
    const char *file;
    const char *function;
    uint32_t line; /* 0: unknown */
    uint16_t start_char;
    uint16_t end_char;
} memtrace_location;

/* The widths of the format's fields: writers clamp larger values to these. If both columns are
 * clamped, end_char is one less. */
#define MEMTRACE_MAX_LINE       0xFFFFFu
#define MEMTRACE_MAX_START_CHAR 0xFFu
#define MEMTRACE_MAX_END_CHAR   0x3FFu

/* The most bytes that writers keep of a string: in the head the first ones, in a location both ends
 * and a hash of the whole, so that different names stay different (src/trace/FORMAT.md, section 6).
 * Less if the locations of one code would not fit a packet. */
#define MEMTRACE_MAX_NAME 4095

/* File names of locations that are not places in the source but remarks of the recorder. */
#define MEMTRACE_TYPE_FILE  "<type>"  /* `function` is the type of the allocated object */
#define MEMTRACE_MARK_FILE  "<mark>"  /* `function` names a moment */
#define MEMTRACE_GAUGE_FILE "<gauge>" /* `function` names a quantity */
#define MEMTRACE_THREAD_FILE                                                                       \
    "<thread>" /* `function` names the thread that the domain is from here on */
/* `function` is the scope of the domain's thread from here on. */
#define MEMTRACE_SCOPE_FILE "<scope>"
#define MEMTRACE_NO_SCOPE   "<none>" /* such a `function`, for a thread that is in no scope */
#define MEMTRACE_SPAN_FILE                                                                         \
    "<span>" /* `function` is a part of the ids of the span that the domain's thread is in */
#define MEMTRACE_SEGMENT_FILE "<segment>" /* facts about a trace that is a part of a longer one */

/* In the context of a trace whose times give the order of all events, also across domains. */
#define MEMTRACE_ORDERED "[ordered]"

/* The context of a trace made from another tool's data starts with this. */
#define MEMTRACE_IMPORTED "imported from "

/* In the context of a trace made from another tool's totals, which do not say when blocks were
 * allocated and freed. */
#define MEMTRACE_NO_TIMES ": there are no times"

/* Follows MEMTRACE_IMPORTED if the data come from Go's runtime. */
#define MEMTRACE_GO_PROFILE "Go's own heap profile"

/* The file of code that was generated at run time and is in no file. If its name is unknown,
 * `function` is its address, such as 0x7f48a0ecabd3. */
#define MEMTRACE_MADE_FILE "[JIT]"

/* One frame of a backtrace: a code of the recorder (mostly a program counter) and its locations. A
 * code has several locations if functions were inlined there: outermost first, so the last is the
 * innermost. `n_locations` is 0 if the trace does not have any. */
typedef struct memtrace_frame {
    uint64_t code;
    const memtrace_location *locations;
    uint32_t n_locations;
    /* Type of the object that this frame allocates, not part of `locations`; NULL if unknown. */
    const char *type;
    bool suspect; /* packets were lost before it was named, so the names may be wrong */
} memtrace_frame;

typedef enum memtrace_event_kind {
    MEMTRACE_ALLOC = 0,
    MEMTRACE_PROMOTE = 1,
    MEMTRACE_COLLECT = 2,
    MEMTRACE_MARK = 3,   /* a moment */
    MEMTRACE_GAUGE = 4,  /* the value of a quantity at a moment */
    MEMTRACE_THREAD = 5, /* from here on, the domain is the thread of this name */
    MEMTRACE_SCOPE = 6,  /* from here on, its thread is in the scope of this name; empty: in none */
    MEMTRACE_SPAN = 7 /* from here on, its thread is in this span of distributed tracing; the name
                         is `TRACE-SPAN`, two ids of MEMTRACE_TRACE_DIGITS and MEMTRACE_SPAN_DIGITS
                         hexadecimal digits; empty: in none */
} memtrace_event_kind;

typedef struct memtrace_event {
    memtrace_event_kind kind;
    uint16_t domain; /* domain that reported the event; 0 in versions 1 and 2 */
    uint64_t time;   /* microseconds since the start of the trace */
    uint64_t id;     /* of the object, unique in the file; remarks (all kinds after the first three)
                        have     one, too */

    /* Only set for remarks: the name, valid until the next call that reads an event. NULL if the
     * trace does not state it, or not yet: the ids of a span come in several remarks, of which the
     * last one has the name. Also NULL if backtraces are skipped: all remarks are marks then. The
     * value of a gauge is its `length`. */
    const char *name;

    /* The fields below are only valid for allocations and remarks. */
    memtrace_source source;
    uint64_t length;  /* words, header excluded */
    uint64_t samples; /* how many of its length + 1 words were sampled; 0 for remarks */
    /* The backtrace, outermost caller first, as indices for memtrace_reader_frame. Its first
     * `common_prefix` frames equal those of the previous backtrace of the same domain (0 if
     * backtraces are skipped). Valid until the next call that reads an event. */
    const uint32_t *frames;
    uint32_t n_frames;
    uint32_t common_prefix;
    /* Packets were lost before this one, so the backtrace may be wrong. */
    bool suspect;
} memtrace_event;

/* The ids of a span in distributed tracing (W3C Trace Context): the trace's id of 16 bytes,
 * followed by the span's own. All 0: no span. */
enum { MEMTRACE_TRACE_ID = 16, MEMTRACE_SPAN_ID = 8 };
enum { MEMTRACE_TRACE_DIGITS = 2 * MEMTRACE_TRACE_ID, MEMTRACE_SPAN_DIGITS = 2 * MEMTRACE_SPAN_ID };
typedef struct memtrace_span {
    uint8_t ids[MEMTRACE_TRACE_ID + MEMTRACE_SPAN_ID];
} memtrace_span;

/* ---- reading ----------------------------------------------------------------------------- */

typedef struct memtrace_reader memtrace_reader;

typedef struct memtrace_reader_options {
    bool skip_backtraces; /* leave `frames` empty: much faster */
    bool strict;          /* the first defect is an error instead of a warning */
    bool as_written;      /* return remarks as in the file: as allocations without samples
                             that are collected at once */
} memtrace_reader_options;

/* Every defect that the reader can detect and step over. Each has one warning. */
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
    const char *text;      /* a static string: what it means and what the reader did */
} memtrace_warning;

/* The header of the packet that contains the last event. */
typedef struct memtrace_packet {
    uint64_t offset; /* bytes */
    uint32_t size;   /* bytes, header included */
    uint16_t domain;
    uint64_t time_begin, time_end; /* microseconds since the Unix epoch, as in the file */
    uint64_t pid;
    uint64_t id_begin, id_end;
} memtrace_packet;

/* Opens a trace, plain or compressed by gzip or zstd, and reads its head. `path` "-" is standard
 * input. `options` may be NULL. On success, the caller must close `*reader`. On failure, it is
 * NULL, and `*error` (may be NULL) has the reason. */
MEMTRACE_NODISCARD MEMTRACE_API memtrace_status
memtrace_reader_open(const char *path, const memtrace_reader_options *options,
                     memtrace_reader **reader, memtrace_error *error);

/* Like memtrace_reader_open, but from an open file descriptor (regular file or pipe), which the
 * reader closes. */
MEMTRACE_NODISCARD MEMTRACE_API memtrace_status
memtrace_reader_open_fd(int fd, const memtrace_reader_options *options, memtrace_reader **reader,
                        memtrace_error *error);

/* Like memtrace_reader_open, but from memory, which must stay valid and unchanged until the reader
 * is closed. */
MEMTRACE_NODISCARD MEMTRACE_API memtrace_status
memtrace_reader_open_memory(const void *bytes, size_t size, const memtrace_reader_options *options,
                            memtrace_reader **reader, memtrace_error *error);

MEMTRACE_API void memtrace_reader_close(memtrace_reader *reader); /* NULL is allowed */

/* Returns the head of the trace; valid until the reader is closed. */
MEMTRACE_API const memtrace_info *memtrace_reader_info(const memtrace_reader *reader);

/* Reads the next event into `*event`, in the order of the file: sorted by time within a domain, but
 * not across domains. Returns MEMTRACE_END at the end. Any other status is an error (see
 * memtrace_reader_error) and is returned again by further calls. */
MEMTRACE_NODISCARD MEMTRACE_API memtrace_status memtrace_reader_next(memtrace_reader *reader,
                                                                     memtrace_event *event);

/* Returns the error that ended the reading; its status is MEMTRACE_OK if there was none. */
MEMTRACE_API const memtrace_error *memtrace_reader_error(const memtrace_reader *reader);

/* Returns the frame with this index. Indices are dense, 0 … n_frames - 1, in the order in which the
 * trace first mentions their codes. A code has the same index in all domains. The pointer and its
 * `locations` are valid until the next call that reads an event. Strings stay valid until the
 * reader is closed, and equal strings are the same pointer. */
MEMTRACE_API const memtrace_frame *memtrace_reader_frame(const memtrace_reader *reader,
                                                         uint32_t index);
MEMTRACE_API uint32_t memtrace_reader_n_frames(const memtrace_reader *reader);

/* Returns the defects found so far, sorted by first offset: `*n` entries, valid until the next call
 * that reads an event. */
MEMTRACE_API const memtrace_warning *memtrace_reader_warnings(const memtrace_reader *reader,
                                                              size_t *n);

/* Sets a function to be called at each defect when it is found, before reading continues. For tools
 * that list all defects. */
typedef void memtrace_defect_fn(void *context, memtrace_defect defect, uint64_t offset,
                                const char *detail);
MEMTRACE_API void memtrace_reader_on_defect(memtrace_reader *reader, memtrace_defect_fn *fn,
                                            void *context);

/* Sets a function to be called when a packet begins, and now and then during a search for the next
 * packet, from within memtrace_reader_next. For showing progress. */
typedef void memtrace_packet_fn(void *context, const memtrace_reader *reader);
MEMTRACE_API void memtrace_reader_on_packet(memtrace_reader *reader, memtrace_packet_fn *fn,
                                            void *context);

/* Returns the duration of the trace as far as it was read, in microseconds. The trace lasts to its
 * latest event, even if truncated after it, or to the end of a packet after that, if the packet is
 * whole and its header makes sense. */
MEMTRACE_API uint64_t memtrace_reader_duration(const memtrace_reader *reader);

/* Returns how the recording ended. The answer can change while the trace is read, and is final at
 * its end. If the end was not stated although it should have been, its time is that of the latest
 * event. A truncated trace ends early, whatever it states. */
MEMTRACE_API memtrace_end memtrace_reader_end(const memtrace_reader *reader);

/* Returns the gaps in the trace so far: `*n` entries, in the order in which they were found, valid
 * until the next call that reads an event. Gaps of different domains may overlap. A trace made from
 * a damaged one has that one's gaps. The field `of` is set when everything was read. */
MEMTRACE_API const memtrace_gap *memtrace_reader_gaps(const memtrace_reader *reader, size_t *n);

/* For showing progress: the bytes of input consumed so far, and the total if it is known (otherwise
 * 0). If the input is compressed, both are compressed bytes. */
MEMTRACE_API void memtrace_reader_progress(const memtrace_reader *reader, uint64_t *done,
                                           uint64_t *total);

/* Sets a function to be called at the end of a file, from within memtrace_reader_next, so that a
 * trace can be followed while it is written. It returns true if there may be more bytes by now,
 * false if the file has ended. Everything read so far is complete. Must be set before the end is
 * reached. */
typedef bool memtrace_more_fn(void *context);
MEMTRACE_API void memtrace_reader_on_end(memtrace_reader *reader, memtrace_more_fn *more,
                                         void *context);

/* Returns the packet of the last event read (before the first event: that of the head). */
MEMTRACE_API const memtrace_packet *memtrace_reader_packet(const memtrace_reader *reader);

/* ---- writing ----------------------------------------------------------------------------- */

typedef struct memtrace_writer memtrace_writer; /* a trace */
typedef struct memtrace_stream memtrace_stream; /* the events of one of its domains */

typedef struct memtrace_writer_options {
    /* Writes whole packets: all `size` bytes, as one piece that no other call may interrupt.
     * Returns 0 or an errno; the writer stops at the first failure. Called from the thread that
     * uses a stream, and from several threads at once if streams are used in parallel. */
    int (*sink)(void *context, const void *packets, size_t size);

    /* Looks up a code: fills at most `max` locations (outermost first, preceded by a type as
     * described at MEMTRACE_TYPE_FILE) and returns their number, 0 if unknown. Called once per code
     * and stream, just before the code's first use there. It should give the same result for all
     * streams, as OCaml's reader expects. Strings must stay valid until the stream is closed. May
     * be NULL: all codes are unknown. */
    size_t (*locate)(void *context, uint64_t code, memtrace_location *locations, size_t max);

    /* Provides all memory of the writer: `old` NULL allocates, `size` 0 frees. New memory need not
     * be zeroed. Returns NULL when out of memory. NULL: use the C library's realloc. */
    void *(*reallocate)(void *context, void *old, size_t old_size, size_t size);

    /* Writes `times` times `hole` zero bytes followed by `size` bytes, like the sink but cheaply:
     * the zeros are holes of a sparse file. Returns 0 or an errno. Only called by
     * memtrace_writer_open, for the room. May be NULL: there is no room. */
    int (*sink_spread)(void *context, const void *bytes, size_t size, size_t hole, size_t times);

    /* Overwrites `size` bytes that the sink got before, from `offset` bytes after the start of the
     * trace. With this hook, a trace states how its recording ended even if the sink has failed, in
     * a place reserved near its beginning. Returns 0 or an errno: pipes can only be appended to.
     * Called in the same way as the sink. May be NULL: the trace does not state its end. */
    int (*amend)(void *context, uint64_t offset, const void *bytes, size_t size);

    /* The least number of bytes to reserve after the head of a version 3 trace, for names that are
     * looked up after all events were written. The events need not be copied then. Readers skip the
     * room. */
    size_t room;

    void *context; /* passed to all hooks */
} memtrace_writer_options;

/* The most locations that a code can have. */
#define MEMTRACE_MAX_LOCATIONS 255

/* Starts a trace by writing the head. `info` is copied. If the sink fails, `error` has its errno.
 * Apart from sink and reallocate, nothing touches errno or takes a lock. So with suitable hooks,
 * streams can be used inside an allocator. */
MEMTRACE_NODISCARD MEMTRACE_API memtrace_status
memtrace_writer_open(const memtrace_info *info, const memtrace_writer_options *options,
                     memtrace_writer **writer, memtrace_error *error);

/* Whether the first `size` bytes of a file begin an uncompressed trace written by the process
 * `pid`. MEMTRACE_FRONT_SIZE bytes are enough. For code that is about to write to a file of that
 * name: after exec, a process would replace its own trace. Only reads the bytes; any thread may
 * call it at any time. */
#define MEMTRACE_FRONT_SIZE 38 /* bytes */
MEMTRACE_NODISCARD MEMTRACE_API bool memtrace_is_of_process(const void *bytes, size_t size,
                                                            uint64_t pid);

/* To be used at file scope, once, by a program that writes the trace named by $MEMTRACE itself. A
 * recorder preloaded into the program then does not write that trace. The linker has to export the
 * symbol to libraries: -Wl,--export-dynamic-symbol=allotrace_own_trace. */
#define MEMTRACE_WRITES_OWN_TRACE                                                                  \
    extern MEMTRACE_API const char allotrace_own_trace;                                            \
    const char allotrace_own_trace = 1

/* Opens the stream of a domain, which must not have one. Versions below 3 only allow domain 0. */
MEMTRACE_NODISCARD MEMTRACE_API memtrace_status memtrace_stream_open(memtrace_writer *writer,
                                                                     uint16_t domain,
                                                                     memtrace_stream **stream);

/* Writes an allocation, of whose `length` + 1 words `samples` were sampled. Gives its object the
 * next free id, in `*id`. Times must not decrease within a stream; smaller ones are raised to the
 * last.
 *
 * `frames` are codes, outermost caller first. The caller may promise that the first `common_prefix`
 * of them equal those of the previous allocation in this stream; the writer compares the others
 * itself. A backtrace whose encoding would not fit a packet loses its outermost frames. So do the
 * following ones, for as long as they share these frames with it. */
MEMTRACE_NODISCARD MEMTRACE_API memtrace_status memtrace_stream_alloc(
    memtrace_stream *stream, uint64_t time, memtrace_source source, uint64_t length,
    uint64_t samples, const uint64_t *frames, size_t n_frames, size_t common_prefix, uint64_t *id);

/* Like memtrace_stream_alloc, with an id chosen by the caller, which must be unique in the trace.
 * An id that does not follow the stream's previous one costs a new packet. A caller that chooses
 * one id must choose all ids of the writer. */
MEMTRACE_NODISCARD MEMTRACE_API memtrace_status memtrace_stream_alloc_as(
    memtrace_stream *stream, uint64_t time, uint64_t id, memtrace_source source, uint64_t length,
    uint64_t samples, const uint64_t *frames, size_t n_frames, size_t common_prefix);

/* Like memtrace_stream_alloc, in fewer instructions, for recording many blocks: an external
 * allocation of `words`, header included. The first `common_prefix` frames must equal those of the
 * previous allocation, which must have been written by this function as well; 0 is always allowed.
 * The writer does not compare frames. No code may be 0. */
MEMTRACE_NODISCARD MEMTRACE_API memtrace_status memtrace_stream_alloc_block(
    memtrace_stream *stream, uint64_t time, uint64_t words, uint64_t samples,
    const uint64_t *frames, size_t n_frames, size_t common_prefix, uint64_t *id);

/* Writes a remark: a mark, the value of a gauge (0 for other remarks), or the name of a thread.
 * `code` must have a single location, in MEMTRACE_MARK_FILE or the like, with the remark's name. A
 * remark takes the next free id, or the one chosen by the caller (see memtrace_stream_alloc_as).
 * For the next allocation, it counts as an allocation with that backtrace. */
MEMTRACE_NODISCARD MEMTRACE_API memtrace_status memtrace_stream_remark(memtrace_stream *stream,
                                                                       uint64_t time, uint64_t code,
                                                                       uint64_t value);
MEMTRACE_NODISCARD MEMTRACE_API memtrace_status memtrace_stream_remark_as(
    memtrace_stream *stream, uint64_t time, uint64_t id, uint64_t code, uint64_t value);

MEMTRACE_NODISCARD MEMTRACE_API memtrace_status memtrace_stream_promote(memtrace_stream *stream,
                                                                        uint64_t time, uint64_t id);
MEMTRACE_NODISCARD MEMTRACE_API memtrace_status memtrace_stream_collect(memtrace_stream *stream,
                                                                        uint64_t time, uint64_t id);

/* Passes buffered data to the sink. The stream remains usable. */
MEMTRACE_NODISCARD MEMTRACE_API memtrace_status memtrace_stream_flush(memtrace_stream *stream);

/* Returns the time of the oldest event not passed to the sink yet; UINT64_MAX if there is none. */
MEMTRACE_API uint64_t memtrace_stream_oldest(const memtrace_stream *stream);

/* Flushes and frees a stream. The stream is freed even if the flush fails. */
MEMTRACE_NODISCARD MEMTRACE_API memtrace_status memtrace_stream_close(memtrace_stream *stream);

/* Like memtrace_stream_close, at the time when the recording ends. Otherwise the stream ends with
 * its latest event, and a program that allocated nothing in its last hour would seem to have ended
 * an hour earlier. One stream of a trace is enough, since the trace lasts as long as its longest
 * stream. */
MEMTRACE_NODISCARD MEMTRACE_API memtrace_status memtrace_stream_close_at(memtrace_stream *stream,
                                                                         uint64_t time);

/* States how the recording ended; the last of several calls counts. Without any call, a writer with
 * `amend` states it by itself: an early end and its reason at the first failure of the sink, and a
 * complete recording when it is closed. Any thread may call this. */
MEMTRACE_NODISCARD MEMTRACE_API memtrace_status memtrace_writer_end(memtrace_writer *writer,
                                                                    const memtrace_end *end);

/* Returns how many allocations of the stream were not passed to the sink yet. */
MEMTRACE_API uint64_t memtrace_stream_pending(const memtrace_stream *stream);

/* Frees the writer, whose streams must be closed before. */
MEMTRACE_NODISCARD MEMTRACE_API memtrace_status memtrace_writer_close(memtrace_writer *writer);

#ifdef __cplusplus
}
#endif
#endif
