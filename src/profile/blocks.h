/* blocks.h: the sampled blocks of a trace, one per row, in columns that filters and measures scan.
 *
 * A block takes 21 bytes, and 4 more if it was promoted. If a time does not fit into 32 bits (71
 * minutes), it takes 29 bytes, and 8 more if promoted. Rows are in the order of the allocations in
 * the file.
 *
 * Times do not order events, since thousands of events may have the same time. Within a domain,
 * events happened in the order of the file. So a table that is asked for the peak also stores
 * between which allocations each block died. That takes 4 more bytes per block, or up to 8 in a
 * trace of several domains. To express this, each allocation has a place in the order of all
 * allocations. In a trace of one domain, the place is the row. Otherwise domains are merged by
 * time. At equal times their order is unknown, and deaths come as early as the order of their own
 * domain allows. */
#ifndef PROFILE_BLOCKS_H
#define PROFILE_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "allotrace/memtrace.h"
#include "base/bits.h"
#include "base/map64.h"
#include "base/row_index.h"
#include "base/vec.h"

#define BLOCKS_NEVER UINT64_MAX /* a time: not before the trace ended */
#define BLOCKS_LARGE UINT32_MAX /* a length: it is in `large`, with the samples */
#define BLOCKS_MANY  UINT16_MAX /* a number of samples: it is in `large`, with the length */

#define BLOCKS_SHORT UINT32_MAX /* times below this need only the lower half of their column */

#define BLOCKS_NOWHERE UINT32_MAX /* a place: it never happened, or a moment without place */
#define BLOCKS_SAME    UINT16_MAX /* a domain: the one that allocated the block */

/* X(type, name): the columns except times. */
#define BLOCKS_COLUMNS(X)                                                                          \
    X(uint32_t, node)    /* of the tree: its stack, and through that its type */                   \
    X(uint32_t, length)  /* words, header excluded; BLOCKS_LARGE: see `large` */                   \
    X(uint16_t, samples) /* at least 1; BLOCKS_MANY: see `large` */                                \
    X(uint16_t, domain)  /* that allocated it */                                                   \
    X(uint8_t, source)   /* a memtrace_source */

/* The events of a block, where the order of events is kept. Each is also the index of its column of
 * times. */
typedef enum blocks_event {
    BLOCKS_BORN,
    BLOCKS_PROMOTED,
    BLOCKS_DIED,
    BLOCKS_N_EVENTS
} blocks_event;

/* A column of times, in microseconds since the start of the trace. */
typedef struct blocks_times {
    /* Without `high`, UINT32_MAX is BLOCKS_NEVER. NULL: no block was promoted. In a finished table,
     * the promotion column has only the rows in `promoted`. */
    uint32_t *low;
    uint32_t *high; /* the upper halves; NULL: no time of the table needs them */
} blocks_times;

/* Numbers of columns, for sets of columns. */
typedef enum blocks_column {
#define BLOCKS_COLUMN_NUMBER(type, name) BLOCKS_COLUMN_##name,
    BLOCKS_COLUMNS(BLOCKS_COLUMN_NUMBER)
#undef BLOCKS_COLUMN_NUMBER
        BLOCKS_COLUMN_born,
    BLOCKS_COLUMN_promoted, /* in the order of blocks_event */
    BLOCKS_COLUMN_died,
    BLOCKS_COLUMN_place,
    BLOCKS_COLUMN_after,
    BLOCKS_COLUMN_freed_by,
    BLOCKS_N_COLUMNS
} blocks_column;

#define BLOCKS_HAS(name) (1u << BLOCKS_COLUMN_##name)
/* The columns that blocks_peak reads. */
#define BLOCKS_PEAK_COLUMNS                                                                        \
    (BLOCKS_HAS(samples) | BLOCKS_HAS(born) | BLOCKS_HAS(place) | BLOCKS_HAS(after))
/* A flag in a set: also read BLOCKS_SPREAD_COLUMNS if the trace has several domains. */
#define BLOCKS_IF_SEVERAL (1u << 31)
/* The columns that blocks_spread.h reads. */
#define BLOCKS_SPREAD_COLUMNS                                                                      \
    (BLOCKS_PEAK_COLUMNS | BLOCKS_HAS(died) | BLOCKS_HAS(domain) | BLOCKS_HAS(freed_by))
#define BLOCKS_ALL_COLUMNS ((1u << BLOCKS_N_COLUMNS) - 1)
/* The columns that give the order of events. */
#define BLOCKS_PLACE_COLUMNS (BLOCKS_HAS(place) | BLOCKS_HAS(after) | BLOCKS_HAS(freed_by))

typedef struct blocks_large {
    uint64_t length, samples;
} blocks_large;

/* A promotion or death that is not written to its row yet. */
typedef struct blocks_fate {
    uint64_t id, time;
    uint32_t after; /* as `after` of the table */
    blocks_event kind;
} blocks_fate;

enum { BLOCKS_FATES = 128 };

/* A moment. With a place, it is the moment of the allocation there, within that microsecond; with
 * BLOCKS_NOWHERE, the end of the microsecond. */
typedef struct blocks_moment {
    uint64_t time;
    uint32_t place;
} blocks_moment;

/* The moment at which most was live, and how much; the first such moment if there are several. */
typedef struct blocks_most {
    blocks_moment at;
    uint64_t samples;
} blocks_most;

/* The results of blocks_peak and blocks_spread_of_most, kept after the first call. Threads that
 * compute them at the same time get the same results. */
typedef struct blocks_peak_memo {
    _Atomic uint64_t time, samples;
    _Atomic uint32_t place;
    _Atomic bool known;         /* set last */
    _Atomic uint64_t low, high; /* bounds of `samples`, see blocks_spread.h */
    _Atomic bool spread_known;  /* set last */
} blocks_peak_memo;

/* A run of consecutive rows in the file that are of one domain. Deaths and promotions between these
 * rows are of that domain, too. */
typedef struct blocks_run {
    uint32_t first;
    uint16_t domain;
} blocks_run;

/* The kinds of names, see spans.h. */
typedef enum span_kind {
    SPAN_THREAD,
    SPAN_SCOPE, /* for this and the next kinds, an empty text ends the span */
    SPAN_TRACE_ID,
    SPAN_SPAN_ID,
    SPAN_N_KINDS
} span_kind;

/* A name that holds for the rows of a domain from `first` on, until the next name of the same kind;
 * see spans.h. */
typedef struct blocks_span {
    uint32_t first, number;
    uint16_t domain;
    uint8_t kind;
    const char *text; /* interned: equal ones are the same pointer */
} blocks_span;

/* All zeros is an empty table. */
typedef struct block_table {
#define BLOCKS_COLUMN_FIELD(type, name) type *name;
    BLOCKS_COLUMNS(BLOCKS_COLUMN_FIELD)
#undef BLOCKS_COLUMN_FIELD
    blocks_times times[BLOCKS_N_EVENTS];
    /* The number of places before a death, or BLOCKS_NOWHERE. While reading: the number of rows and
     * runs before it, see blocks_now. */
    uint32_t *after; /* NULL: the table was not asked for places */
    uint32_t *place; /* of the allocation; NULL: its row */
    /* The domain in which the block died, or BLOCKS_SAME. In a finished table, it has only the rows
     * in `elsewhere`. */
    uint16_t *freed_by;
    /* In a finished table: the rows that were promoted, and those that died in another domain. They
     * are few. NULL: none. */
    bits_word *promoted, *elsewhere;
    size_t count, capacity;
    map64 by_row; /* row with a number that does not fit → index into `large` */
    VEC(blocks_large) large;
    VEC(blocks_span) spans;
    uint64_t last;          /* only if finished: nothing in the table is later */
    blocks_peak_memo *peak; /* only if finished; NULL: there was no memory for it */

    /* `row << 2 | blocks_event` of each event, sorted by time, with equal times in the order of the
     * file. Empty unless it was asked for; most reports need only times. */
    VEC(uint64_t) order;
    bool keep_order;
    bool without_places; /* the peak is not needed */
    bool is_ordered; /* events of different domains have different times, which give their order */

    /* While reading. The rows of older blocks are not in the cache: they are prefetched, and fates
     * are written later in batches. */
    row_index rows; /* by id */
    VEC(blocks_run) runs;
    size_t ready;  /* rows up to here are initialized, the unused ones as blocks that neither died
                      nor were promoted */
    size_t n_open; /* rows of blocks whose allocation was not met yet */
    blocks_fate fates[BLOCKS_FATES];
    size_t n_fates;
} block_table;

/* Announces the domain of the events that follow (see blocks_add.h). Until the first call, events
 * are of domain 0. False when there is no memory. */
bool blocks_enter(block_table *b, uint16_t domain);

/* Finishes the table after the last event: removes rows whose block was never allocated, such as
 * marks, and frees what is needed only for reading. False when there is no memory. */
bool blocks_finish(block_table *b);

/* Makes `*to` a finished copy of a table that is still being read, without the order of events.
 * False when there is no memory; `*to` is then empty. */
bool blocks_copy(const block_table *from, block_table *to);

void blocks_free(block_table *b);

/* Finds when most was live; computed once for a finished table. False when there is no memory. */
bool blocks_peak(const block_table *b, blocks_most *most);

/* The same as blocks_peak, for the rows for which `kept` is not 0; NULL: all rows. */
bool blocks_peak_of(const block_table *b, const uint8_t *kept, blocks_most *most);

/* Lets a table that was not made by blocks_finish remember its peak, which is `*most` unless that
 * is NULL. */
void blocks_remember_peak(block_table *b, const blocks_most *most);

/* Gives the times of a table whose columns were made elsewhere upper halves, so that they can be
 * BLOCKS_SHORT and more. False when there is no memory. */
bool blocks_make_long(block_table *b);

/* Packs the columns for promotions and for deaths in other domains, which were made elsewhere with
 * all rows: keeps only the rows that have a value. False when there is no memory. */
bool blocks_pack(block_table *b);

const blocks_large *blocks_find_large(const block_table *b, size_t row);

static inline uint64_t blocks_length(const block_table *b, size_t row) {
    return b->length[row] < BLOCKS_LARGE ? b->length[row] : blocks_find_large(b, row)->length;
}

static inline uint64_t blocks_samples(const block_table *b, size_t row) {
    return b->samples[row] < BLOCKS_MANY ? b->samples[row] : blocks_find_large(b, row)->samples;
}

/* Whether times have upper halves. */
static inline bool blocks_are_long(const block_table *b) {
    return b->times[BLOCKS_BORN].high;
}

/* Returns a time from a column that exists. In a finished table, promotions are indexed by their
 * rank in `promoted`. */
static inline uint64_t blocks_time(const block_table *b, blocks_event kind, size_t row) {
    const blocks_times *t = &b->times[kind];
    if (__builtin_expect(t->high != NULL, 0))
        return (uint64_t)t->high[row] << 32 | t->low[row];
    return t->low[row] == BLOCKS_SHORT ? BLOCKS_NEVER : t->low[row];
}

static inline void blocks_set_time(block_table *b, blocks_event kind, size_t row, uint64_t time) {
    const blocks_times *t = &b->times[kind];
    t->low[row] = (uint32_t)time;
    if (__builtin_expect(t->high != NULL, 0))
        t->high[row] = (uint32_t)(time >> 32);
}

static inline uint64_t blocks_born(const block_table *b, size_t row) {
    return blocks_time(b, BLOCKS_BORN, row);
}

/* The functions below are for finished tables. Only blocks allocated in the minor heap can have
 * been promoted. */
static inline bool blocks_was_promoted(const block_table *b, size_t row) {
    return b->promoted && bits_has(b->promoted, (uint32_t)row);
}

/* BLOCKS_NEVER if it was not promoted; never before the birth. */
static inline uint64_t blocks_promoted(const block_table *b, size_t row) {
    return blocks_was_promoted(b, row)
               ? blocks_time(b, BLOCKS_PROMOTED, bits_rank(b->promoted, (uint32_t)row))
               : BLOCKS_NEVER;
}

/* BLOCKS_NEVER if it did not die; never before the birth. */
static inline uint64_t blocks_died(const block_table *b, size_t row) {
    return blocks_time(b, BLOCKS_DIED, row);
}

static inline bool blocks_died_elsewhere(const block_table *b, size_t row) {
    return b->elsewhere && bits_has(b->elsewhere, (uint32_t)row);
}

/* Returns the domain in which the block died, if it did. */
static inline uint16_t blocks_freed_by(const block_table *b, size_t row) {
    return blocks_died_elsewhere(b, row) ? b->freed_by[bits_rank(b->elsewhere, (uint32_t)row)]
                                         : b->domain[row];
}

static inline uint32_t blocks_place(const block_table *b, size_t row) {
    return b->place ? b->place[row] : (uint32_t)row;
}

static inline blocks_moment blocks_end_of(uint64_t time) {
    return (blocks_moment){.time = time, .place = BLOCKS_NOWHERE};
}

/* Whether the block was live at the moment. A block that was freed in the microsecond of its birth
 * is not live at the end of that microsecond. */
static inline bool blocks_was_live(const block_table *b, size_t row, blocks_moment m) {
    if (m.place == BLOCKS_NOWHERE)
        return (unsigned)(blocks_born(b, row) <= m.time) & (blocks_died(b, row) > m.time);
    return (unsigned)(blocks_place(b, row) <= m.place) & (b->after[row] > m.place);
}

static inline size_t blocks_event_row(uint64_t event) {
    return (size_t)(event >> 2);
}

static inline blocks_event blocks_event_kind(uint64_t event) {
    return (blocks_event)(event & 3);
}

#endif
