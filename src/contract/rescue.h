/* rescue.h: memory that the recorder shares with `allotrace run`. It saves data that a program had
 * not written yet when it was killed, and holds facts that are not obvious from a trace.
 * It is a file without a name (memfd), which the program finds through /proc. Both sides must be of
 * the same build, or they do not use it.
 * The file begins with a rescue_head. Slots follow, each with the state of one stream of the trace
 * writer at offset RESCUE_STREAM_AT. */
#ifndef CONTRACT_RESCUE_H
#define CONTRACT_RESCUE_H

#include <stdatomic.h>
#include <stdint.h>

#include "contract/pace.h"

#define RESCUE_MAGIC UINT64_C(0x616c6c6f72657363)

#define RESCUE_SIZE (UINT64_C(1) << 36) /* bytes; only those in use take memory */

enum {
    RESCUE_UNIT = 1 << 16, /* alignment of slots, a multiple of every page size */
    RESCUE_STREAM_AT = 64
};

struct rescue_head {
    uint64_t magic, stream_size;
    _Atomic uint64_t next;    /* offset of the next slot */
    _Atomic uint64_t notes;   /* bits of enum rescue_note */
    struct pace pace;         /* the only part that `run` writes after the start */
    _Atomic uint64_t silent;  /* programs that left no trace, because nothing was sampled */
    _Atomic uint64_t refused; /* processes that were not allowed to open their traces */
};

/* Notes of recorders for `allotrace run`. */
enum rescue_note {
    RESCUE_TOLD = 1,            /* the user was told why nothing is recorded */
    RESCUE_LEFT_CHILD = 2,      /* a child was not recorded: the trace belongs to its parent */
    RESCUE_LEFT_TO_PROGRAM = 4, /* a program that records by itself writes the trace */
    RESCUE_LINKED = 8           /* the user was told of an allocator linked into the program */
};

/* Returns the note that the user was told of a process that cannot open its trace. There is a note
 * for each errno; some rare ones share theirs. */
static inline uint64_t rescue_unopened(int os_error) {
    enum { FIRST = 8, NOTES = 64 - FIRST };
    return UINT64_C(1) << (FIRST + os_error % NOTES);
}

struct rescue_slot {
    uint64_t magic; /* written last */
    uint64_t pid;
    uint64_t start_time;        /* start of the trace, µs since the epoch */
    uint64_t address;           /* address of the stream in the program */
    _Atomic uint64_t n_remarks; /* gauges and marks that are in the trace as allocations; the count
                                 * of the whole trace is in one of its slots */
};
_Static_assert(sizeof(struct rescue_slot) <= RESCUE_STREAM_AT, "it stands in front of the stream");

static inline uint64_t rescue_slot_size(uint64_t stream_size) {
    return (RESCUE_STREAM_AT + stream_size + RESCUE_UNIT - 1) / RESCUE_UNIT * RESCUE_UNIT;
}

#endif
