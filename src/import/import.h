/* import.h: heap profiles of other tools, and the traces made from them.
 *
 * Problem. People already have profiles, and programs that only another tool can record. Formats
 * differ in content: totals by stack or single blocks, all blocks or a sample, addresses or names.
 *
 * Approach. There is a reader for each format (import_pprof.c, import_jemalloc.c, import_v8.c,
 * import_heaptrack.c, import_memray.c, import_go.h). Each fills the same table, an `import`:
 * places, stacks of them, and for each stack how many blocks and bytes were allocated and are live;
 * or single events, if the format has them. import_write makes a trace of the table, which all
 * commands can read.
 *
 * Alternatives. A profile in memory instead of a trace would need no file, but each command would
 * need a second way to read its input, and programs that read traces, such as the OCaml tools,
 * could not read it. The tools' own libraries are in Go, C++, Python and JavaScript.
 *
 * Invariants. All estimates from the trace equal the totals of the profile. Data that the format
 * lacks is not invented: `missing` names it, and commands that need it refuse. Readers trust
 * nothing: each length is checked against the bytes that exist, and errors state their offset.
 * Single-threaded. */
#ifndef IMPORT_IMPORT_H
#define IMPORT_IMPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "allotrace/memtrace.h"
#include "base/intern.h"
#include "base/vec.h"
#include "trace/compressor.h"

/* A frame of a stack: one location, or several where functions are inlined. */
typedef struct import_place {
    uint32_t first, n; /* in import.locations, outermost first */
} import_place;

/* The allocations of a stack. */
typedef struct import_record {
    size_t first, n;     /* in import.frames, outermost first */
    uint64_t blocks;     /* blocks allocated in all, not only sampled ones */
    uint64_t bytes;      /* bytes of these blocks */
    uint64_t live;       /* blocks not freed when the profile was made */
    uint64_t live_bytes; /* bytes of these blocks */
    uint64_t size;       /* size of each block, bytes; 0: only the mean is known */
} import_record;

/* Kinds of events, for formats with single blocks. */
typedef enum import_event_kind {
    IMPORT_ALLOC,       /* a block is allocated, with the stack and size of the record `what` */
    IMPORT_FREE_LATEST, /* the latest live block of the record `what` is freed */
    IMPORT_FREE,        /* the block is freed that was allocated after `what` others */
    IMPORT_REMARK,      /* the remark with the index `what` */
} import_event_kind;

typedef struct import_event {
    uint64_t time; /* microseconds */
    uint32_t what;
    uint16_t domain;
    uint8_t kind; /* an import_event_kind */
} import_event;

/* A gauge, or the name of a thread. */
typedef struct import_remark {
    uint32_t place; /* its only location, in one of the special files of memtrace.h */
    uint64_t value; /* value of a gauge, in words */
} import_remark;

/* Valid when zeroed. */
typedef struct import {
    const char *format; /* the kind of file, in words */
    /* What such a file lacks, in words that continue "there are no"; NULL: nothing. */
    const char *missing;
    const char *program; /* its name or path; NULL: unknown */
    double period;       /* bytes allocated between two samples; 0: it has all blocks */
    uint64_t start_time; /* microseconds since the epoch; 0: unknown */
    uint64_t duration;   /* microseconds */
    bool has_addresses;  /* some places are addresses in modules that can be symbolized */
    bool no_memory;
    intern_table strings;
    VEC(memtrace_location) locations;
    VEC(import_place) places;
    VEC(uint32_t) frames; /* indices in `places` */
    VEC(import_record) records;
    bool has_events; /* `events` are used, and the counts in records mean nothing */
    bool is_ordered; /* times give the order of events, also across domains */
    VEC(import_event) events;
    VEC(import_remark) remarks;
    uint64_t pid;       /* 0: unknown */
    const char *caveat; /* a limitation that users should know; NULL: none */
} import;

/* What is wrong with a file, and at which offset of its decompressed bytes. */
typedef struct import_error {
    size_t offset;
    char reason[160];
} import_error;

/* Fills `*error` and returns false. */
__attribute__((format(printf, 3, 4))) bool import_fail(import_error *error, size_t offset,
                                                       const char *format, ...);

/* ---- readers: return false if the bytes are not such a profile, or when out of memory ----- */

bool import_pprof(import *to, const uint8_t *bytes, size_t size, import_error *error);
bool import_jemalloc(import *to, const uint8_t *bytes, size_t size, import_error *error);
bool import_v8(import *to, const uint8_t *bytes, size_t size, import_error *error);
bool import_heaptrack(import *to, const uint8_t *bytes, size_t size, import_error *error);
bool import_memray(import *to, const uint8_t *bytes, size_t size, import_error *error);

/* ---- functions for readers: set no_memory when out of memory ----------------------------- */

/* Returns a permanent copy, truncated at a NUL. Never NULL. */
const char *import_text(import *to, const void *text, size_t size);

/* Begins a place, to which locations are then added, outermost first. Returns its index. */
uint32_t import_add_place(import *to);
void import_add_location(import *to, const char *function, const char *file, uint64_t line);

/* Adds a location that is an address in a module, in the recorder's notation. `address` is a return
 * address; `offset` is the file offset that is mapped at `start`. */
void import_add_address(import *to, const char *module, const char *build_id, uint64_t address,
                        uint64_t start, uint64_t offset);

/* Like import_add_address, for an address as the linker assigned it. An empty `module`: in no
 * module. */
void import_add_linked(import *to, const char *module, const char *build_id, uint64_t address);

/* Adds a record whose stack was added to `frames` from `first` on, innermost first. */
void import_add_record(import *to, import_record record);

void import_free(import *from);

/* ---- the trace ----------------------------------------------------------------------------- */

/* Text in the head of an imported trace that says what it lacks. */
#define IMPORT_LACKS ": there are no "
#define IMPORT_PEAK  "what was live at the peak" /* available, although times are not */

/* Writes the trace, and stores its sampling rate in `*rate`. */
memtrace_status import_write(const import *from, int fd, compression how, double *rate,
                             memtrace_error *error);

#endif
