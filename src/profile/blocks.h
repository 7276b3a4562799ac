/* blocks.h: the sampled blocks of a trace, one a row, in columns: what filters and measures scan.
 *
 * 21 bytes a block, and 4 for one that was promoted; 29 and 8 where a time does not fit 32 bits,
 * which are 71 minutes. Rows are in the order of allocations in the file.
 *
 * Times do not order events: thousands may have the same one. A domain's events happened as they
 * stand in the file, so a table that is asked when most was live keeps between which allocations a
 * block died: 4 bytes more, and in a trace of several domains up to 8. Each allocation has
 * a place in the order of all of them: its row where the trace is of one domain; otherwise domains
 * are merged by time, and at equal times, where nobody knows, deaths come as early as their domain
 * allows. */
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

#define BLOCKS_NEVER UINT64_MAX /* a time: it did not happen before the trace ended */
#define BLOCKS_LARGE UINT32_MAX /* a length that stands in `large`, with the samples */
#define BLOCKS_MANY  UINT16_MAX /* a number of samples that stands there, with the length */

#define BLOCKS_SHORT UINT32_MAX /* times below need one half of their column */

#define BLOCKS_NOWHERE UINT32_MAX /* a place: of what did not happen; of no moment */
#define BLOCKS_SAME    UINT16_MAX /* a domain: the block's own */

/* X(type, name): the columns that are not times. */
#define BLOCKS_COLUMNS(X)                                                                          \
    X(uint32_t, node)    /* of the tree: its stack, and through that its type */                   \
    X(uint32_t, length)  /* words, header excluded; BLOCKS_LARGE: see `large` */                   \
    X(uint16_t, samples) /* at least 1; BLOCKS_MANY: the same */                                   \
    X(uint16_t, domain)  /* that allocated it */                                                   \
    X(uint8_t, source)   /* a memtrace_source */

/* What happened to a block, where the order of events is kept; and the number of the column that
 * says when. */
typedef enum blocks_event {
    BLOCKS_BORN,
    BLOCKS_PROMOTED,
    BLOCKS_DIED,
    BLOCKS_N_EVENTS
} blocks_event;

/* A column of times: microseconds since the start. */
typedef struct blocks_times {
    uint32_t *low;  /* without `high`, UINT32_MAX is BLOCKS_NEVER. NULL: none was promoted; of a
                       finished table, those of rows that were stand in it, see `promoted` */
    uint32_t *high; /* the upper halves. NULL: no time of the table needs them */
} blocks_times;

/* Numbers of the columns, and sets of them. */
typedef enum blocks_column {
#define BLOCKS_COLUMN_NUMBER(type, name) BLOCKS_COLUMN_##name,
    BLOCKS_COLUMNS(BLOCKS_COLUMN_NUMBER)
#undef BLOCKS_COLUMN_NUMBER
        BLOCKS_COLUMN_born,
    BLOCKS_COLUMN_promoted, /* in the order of blocks_event */
    BLOCKS_COLUMN_died,
    BLOCKS_COLUMN_place,
    BLOCKS_COLUMN_after,
    BLOCKS_COLUMN_ender,
    BLOCKS_N_COLUMNS
} blocks_column;

#define BLOCKS_HAS(name) (1u << BLOCKS_COLUMN_##name)
/* Those that blocks_peak looks at. */
#define BLOCKS_PEAK_COLUMNS                                                                        \
    (BLOCKS_HAS(samples) | BLOCKS_HAS(born) | BLOCKS_HAS(place) | BLOCKS_HAS(after))
/* A member of a set: those of BLOCKS_SPREAD_COLUMNS, too, if the trace is of several domains. */
#define BLOCKS_IF_SEVERAL (1u << 31)
/* Those that blocks_spread looks at. */
#define BLOCKS_SPREAD_COLUMNS                                                                      \
    (BLOCKS_PEAK_COLUMNS | BLOCKS_HAS(died) | BLOCKS_HAS(domain) | BLOCKS_HAS(ender))
#define BLOCKS_ALL_COLUMNS ((1u << BLOCKS_N_COLUMNS) - 1)
/* Those that say the order of events. */
#define BLOCKS_PLACE_COLUMNS (BLOCKS_HAS(place) | BLOCKS_HAS(after) | BLOCKS_HAS(ender))

typedef struct blocks_large {
    uint64_t length, samples;
} blocks_large;

/* A promotion or death that is not written yet. */
typedef struct blocks_fate {
    uint64_t id, time;
    uint32_t after; /* see `after` of the table */
    blocks_event kind;
} blocks_fate;

enum { BLOCKS_FATES = 128 };

/* A moment: within its microsecond, that of the allocation at this place; without one, when all of
 * it has happened. */
typedef struct blocks_moment {
    uint64_t time;
    uint32_t place;
} blocks_moment;

/* The moment when most was live, and how much that was; the first one if there are several. */
typedef struct blocks_most {
    blocks_moment at;
    uint64_t samples;
} blocks_most;

/* The same, once somebody asked. Threads that ask at the same time find the same. */
typedef struct blocks_peak_memo {
    _Atomic uint64_t time, samples;
    _Atomic uint32_t place;
    _Atomic bool known;         /* set last */
    _Atomic uint64_t low, high; /* the ends of `samples`, see blocks_spread.h */
    _Atomic bool spread_known;  /* set last */
} blocks_peak_memo;

/* Rows that follow each other in the file, of one domain, and what that says of its other events.
 */
typedef struct blocks_run {
    uint32_t first;
    uint16_t domain;
} blocks_run;

/* What names are of. */
typedef enum span_kind {
    SPAN_THREAD,
    SPAN_SCOPE, /* the text is empty where there is none; as of the next ones */
    SPAN_TRACE_ID,
    SPAN_SPAN_ID,
    SPAN_N_KINDS
} span_kind;

/* A name that holds for the rows of a domain from `first` on, up to the next one of its kind; see
 * spans.h. */
typedef struct blocks_span {
    uint32_t first, number;
    uint16_t domain;
    uint8_t kind;
    const char *text; /* interned: equal ones are the same pointer */
} blocks_span;

/* Legal when zeroed. */
typedef struct block_table {
#define BLOCKS_COLUMN_FIELD(type, name) type *name;
    BLOCKS_COLUMNS(BLOCKS_COLUMN_FIELD)
#undef BLOCKS_COLUMN_FIELD
    blocks_times times[BLOCKS_N_EVENTS];
    /* How many places are before a death, or BLOCKS_NOWHERE. While reading, how many rows and runs
     * were there before it. */
    uint32_t *after; /* NULL: the table was not asked for places */
    uint32_t *place; /* of the allocation; NULL: its row */
    uint16_t *ender; /* the domain in which it died, or BLOCKS_SAME; of a finished table, of those
                        rows of which it is another one, see `elsewhere` */
    /* Of a finished table, the rows that were promoted, and that died in another domain: they are
     * few. NULL: none were. */
    bits_word *promoted, *elsewhere;
    size_t count, capacity;
    map64 by_row; /* rows of which a number did not fit → index into `large` */
    VEC(blocks_large) large;
    VEC(blocks_span) spans;
    uint64_t last;          /* of a table that is finished: nothing in it is later */
    blocks_peak_memo *peak; /* of a table that is finished; NULL: there is no memory for it */

    /* Row << 2 | blocks_event of each event, in the order of time, and of the file where times are
     * equal; empty unless it was asked for: what no report needs that is content with times. */
    VEC(uint64_t) order;
    bool keep_order;
    bool without_places; /* nobody asks for the peak */
    bool is_ordered;     /* events of different domains have different times, which are in order */

    /* While reading. What is known of older blocks is not in the processor's cache: it is asked
     * for, and fates are written later. */
    row_index rows; /* of ids */
    VEC(blocks_run) runs;
    size_t ready;  /* up to this one, rows that are not used yet say that nothing happened */
    size_t n_open; /* rows of blocks whose allocation was not met yet */
    blocks_fate fates[BLOCKS_FATES];
    size_t n_fates; /* in `fates` */
} block_table;

/* The events of a trace are taken by blocks_add.h. Says whose come next, if they are not of domain
 * 0, or no longer; false when there is no memory. */
bool blocks_enter(block_table *b, uint16_t domain);

/* After the last event: removes rows of blocks that never were allocated, such as marks, and frees
 * what only reading needs. False when there is no memory. */
bool blocks_finish(block_table *b);

/* Makes `*to` what this table is, which is still being read, were it finished now. Without the
 * order of events. False when there is no memory, and it is then empty. */
bool blocks_copy(const block_table *from, block_table *to);

void blocks_free(block_table *b);

/* When most was live. A finished table looks for it once. False when there is no memory. */
bool blocks_peak(const block_table *b, blocks_most *most);

/* The same of the rows of which `kept` is not 0, or of all if it is NULL. */
bool blocks_peak_of(const block_table *b, const uint8_t *kept, blocks_most *most);

/* For a table that was not made by blocks_finish: lets it remember its peak, unless `most` is NULL.
 */
void blocks_remember_peak(block_table *b, const blocks_most *most);

/* For a table whose columns were made elsewhere: gives its times upper halves, so that they can be
 * BLOCKS_SHORT and more. False when there is no memory. */
bool blocks_make_long(block_table *b);

/* The same: columns of what happened to few rows, which are there for all of them, become those of
 * these rows. False when there is no memory. */
bool blocks_pack(block_table *b);

const blocks_large *blocks_find_large(const block_table *b, size_t row);

static inline uint64_t blocks_length(const block_table *b, size_t row) {
    return b->length[row] < BLOCKS_LARGE ? b->length[row] : blocks_find_large(b, row)->length;
}

static inline uint64_t blocks_samples(const block_table *b, size_t row) {
    return b->samples[row] < BLOCKS_MANY ? b->samples[row] : blocks_find_large(b, row)->samples;
}

/* Whether times take both halves of their columns. */
static inline bool blocks_are_long(const block_table *b) {
    return b->times[BLOCKS_BORN].high;
}

/* Of a column that is there. */
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

/* Of a finished table, as all that follows: only what was allocated in the minor heap was. */
static inline bool blocks_was_promoted(const block_table *b, size_t row) {
    return b->promoted && bits_has(b->promoted, (uint32_t)row);
}

/* BLOCKS_NEVER if it was not, as the next one; neither is before the birth. */
static inline uint64_t blocks_promoted(const block_table *b, size_t row) {
    return blocks_was_promoted(b, row)
               ? blocks_time(b, BLOCKS_PROMOTED, bits_rank(b->promoted, (uint32_t)row))
               : BLOCKS_NEVER;
}

static inline uint64_t blocks_died(const block_table *b, size_t row) {
    return blocks_time(b, BLOCKS_DIED, row);
}

static inline bool blocks_died_elsewhere(const block_table *b, size_t row) {
    return b->elsewhere && bits_has(b->elsewhere, (uint32_t)row);
}

/* The domain in which it died, if it did. */
static inline uint16_t blocks_ender(const block_table *b, size_t row) {
    return blocks_died_elsewhere(b, row) ? b->ender[bits_rank(b->elsewhere, (uint32_t)row)]
                                         : b->domain[row];
}

static inline uint32_t blocks_place(const block_table *b, size_t row) {
    return b->place ? b->place[row] : (uint32_t)row;
}

static inline blocks_moment blocks_end_of(uint64_t time) {
    return (blocks_moment){.time = time, .place = BLOCKS_NOWHERE};
}

/* A block that was freed in the microsecond of its birth is live at no end of one. */
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
