/* import.h: heap profiles of other tools, and the traces that are made of them.
 *
 * Problem. People have profiles already, and programs that only another tool can record. Each
 * format says other things: sums by stack, or single blocks; all of them, or a sample; addresses,
 * or names.
 *
 * Way. A reader a format (import_pprof.c, import_jemalloc.c, import_v8.c, import_heaptrack.c,
 * import_memray.c, import_go.h) fills one table, an `import`: places, stacks of them, and for each
 * stack how many blocks and bytes were allocated there and are live; or events, where the format
 * has them. import_write makes a trace of that, which all commands read.
 *
 * Why not otherwise. A profile in memory instead of a trace would need no file, and each command a
 * second way in; what reads traces, as the OCaml tools do, would not read it. The tools' own
 * libraries are in Go, C++, Python and JavaScript.
 *
 * What must hold. All estimates made of the trace are the sums of the profile. What the format does
 * not say is not made up: `missing` names it, and commands that need it refuse. Readers trust
 * nothing: each length is checked against the bytes that are there, and what is wrong is said with
 * the offset. Single-threaded. */
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
    uint32_t first, n; /* of import.locations, outermost first */
} import_place;

/* What a stack allocated. */
typedef struct import_record {
    size_t first, n;     /* of import.frames, outermost first */
    uint64_t blocks;     /* allocated; in all, not only sampled ones */
    uint64_t bytes;      /* of these */
    uint64_t live;       /* of the blocks, and */
    uint64_t live_bytes; /* of their bytes: those not freed when the profile was made */
    uint64_t size;       /* bytes of each block; 0: only their mean is known */
} import_record;

/* Where a reader knows single blocks. */
typedef enum import_event_kind {
    IMPORT_ALLOC,       /* a block with the stack and the bytes of the record `what` comes to be */
    IMPORT_FREE_LATEST, /* of the blocks of the record `what`, the latest is freed */
    IMPORT_FREE,        /* the block is freed before which `what` others came to be */
    IMPORT_REMARK,      /* the remark `what` */
} import_event_kind;

typedef struct import_event {
    uint64_t time; /* microseconds */
    uint32_t what;
    uint16_t domain;
    uint8_t kind; /* import_event_kind */
} import_event;

/* A gauge, or the name of a thread. */
typedef struct import_remark {
    uint32_t place; /* whose one location is it, by the names of files in memtrace.h */
    uint64_t value; /* of a gauge, in words */
} import_remark;

/* Legal when zeroed. */
typedef struct import {
    const char *format;  /* what the file is, in words */
    const char *missing; /* what such a file does not say, in words that go on from "there are no";
                                   NULL: nothing */
    const char *program; /* its name or path; NULL: unknown */
    double period;       /* bytes allocated between two samples; 0: there are all blocks */
    uint64_t start_time; /* microseconds since the epoch; 0: unknown */
    uint64_t duration;   /* microseconds */
    bool has_addresses;  /* some places are addresses in modules, which can be symbolized */
    bool no_memory;
    intern_table strings;
    VEC(memtrace_location) locations;
    VEC(import_place) places;
    VEC(uint32_t) frames; /* indices of places */
    VEC(import_record) records;
    bool has_events; /* there are these, and numbers of records mean nothing */
    bool is_ordered; /* so by time: those of different domains have different ones */
    VEC(import_event) events;
    VEC(import_remark) remarks;
    uint64_t pid;       /* 0: unknown */
    const char *caveat; /* what a user should know of what was read; NULL: nothing */
} import;

/* What is wrong with a file, and where in its bytes, decompressed. */
typedef struct import_error {
    size_t offset;
    char reason[160];
} import_error;

/* Says so, and gives false. */
__attribute__((format(printf, 3, 4))) bool import_fail(import_error *error, size_t offset,
                                                       const char *format, ...);

/* ---- readers: false if the bytes are not such a profile, or there is no memory ------------- */

bool import_pprof(import *to, const uint8_t *bytes, size_t size, import_error *error);
bool import_jemalloc(import *to, const uint8_t *bytes, size_t size, import_error *error);
bool import_v8(import *to, const uint8_t *bytes, size_t size, import_error *error);
bool import_heaptrack(import *to, const uint8_t *bytes, size_t size, import_error *error);
bool import_memray(import *to, const uint8_t *bytes, size_t size, import_error *error);

/* ---- what readers use: without memory they set no_memory ----------------------------------- */

/* A copy that stays, cut off at a NUL. Never NULL. */
const char *import_text(import *to, const void *text, size_t size);

/* Begins a place, to which locations are then added, the outermost first. Gives its index. */
uint32_t import_add_place(import *to);
void import_add_location(import *to, const char *function, const char *file, uint64_t line);

/* Adds a location that is an address in a module, as the recorder writes it. `address` is a return
 * address, `offset` that of the module's file that is mapped at `start`. */
void import_add_address(import *to, const char *module, const char *build_id, uint64_t address,
                        uint64_t start, uint64_t offset);

/* The same where the address is as the linker counts them. An empty `module`: it is in none. */
void import_add_linked(import *to, const char *module, const char *build_id, uint64_t address);

/* Adds a record, of which the stack was added to `frames` from `first` on, innermost first. */
void import_add_record(import *to, import_record record);

void import_free(import *from);

/* ---- the trace ----------------------------------------------------------------------------- */

/* By these, the head of a trace that was imported says what it lacks. */
#define IMPORT_LACKS ": there are no "
#define IMPORT_PEAK  "what was live at the peak" /* is there, though times are not */

/* Writes the trace. `*sampled` becomes its rate. */
memtrace_status import_write(const import *from, int fd, compression how, double *rate,
                             memtrace_error *error);

#endif
