/* blocks.c: the table of blocks while it is read, and how it is finished.
 *
 * Rows are initialized a few at a time. Promotions and deaths are written late, in batches, because
 * their rows lie all over the table. At the end, events are sorted by time, one range of time after
 * the other so that each is sorted in the cache; equal times stay in the order of the file. */
#include "profile/blocks.h"

#include <stdlib.h>
#include <string.h>

#include "profile/blocks_add.h"
#include "profile/blocks_places.h"
#include "profile/radix.h"
#include "profile/spans.h"

enum {
    FIRST_ROWS = 1024,
    READY_ROWS = 512,
    EVENTS_A_STRETCH = 1 << 12, /* of time; sorted within the cache */
    FEWEST_STRETCHES = 16,
    MOST_STRETCHES = 1 << 18,
};

#define NO_NODE UINT32_MAX /* the allocation was not met yet, or moved to another row */
#define MOVED   UINT8_MAX  /* a source without node: `length` is the row it moved to */

/* ---- rows -------------------------------------------------------------------------------- */

static bool resize_half(uint32_t **half, size_t capacity) {
    uint32_t *resized = realloc(*half, capacity * sizeof *resized);
    *half = resized ? resized : *half;
    return resized;
}

/* The column of promotions exists only when it is needed. */
static bool resize_times(blocks_times *t, bool is_needed, size_t capacity) {
    return (!(t->low || is_needed) || resize_half(&t->low, capacity)) &&
           (!t->high || resize_half(&t->high, capacity));
}

/* If one column fails, those before it stay larger, which does no harm. */
static bool resize(block_table *b, size_t capacity) {
#define RESIZE_COLUMN(type, name)                                                                  \
    type *name = realloc(b->name, capacity * sizeof *name);                                        \
    if (!name)                                                                                     \
        return false;                                                                              \
    b->name = name;
    BLOCKS_COLUMNS(RESIZE_COLUMN)
#undef RESIZE_COLUMN
    for (blocks_event kind = 0; kind < BLOCKS_N_EVENTS; kind++)
        if (!resize_times(&b->times[kind], kind != BLOCKS_PROMOTED, capacity))
            return false;
    if (!b->without_places && !resize_half(&b->after, capacity))
        return false;
    b->capacity = capacity;
    return true;
}

/* Sets `n` times from row `at` on to BLOCKS_NEVER. */
static void set_never(const blocks_times *t, size_t at, size_t n) {
    memset(t->low + at, 0xFF, n * sizeof *t->low);
    if (t->high)
        memset(t->high + at, 0xFF, n * sizeof *t->high);
}

/* Initializes the next rows: only a few, so that they are still in the cache when they are used. */
static bool prepare(block_table *b) {
    if (b->ready == b->capacity &&
        (b->count >= UINT32_MAX / 2 || !resize(b, b->capacity ? b->capacity * 2 : FIRST_ROWS)))
        return false;
    const size_t left = b->capacity - b->ready, n = left < READY_ROWS ? left : READY_ROWS;
    if (b->times[BLOCKS_PROMOTED].low)
        set_never(&b->times[BLOCKS_PROMOTED], b->ready, n);
    set_never(&b->times[BLOCKS_DIED], b->ready, n);
    if (b->after)
        memset(b->after + b->ready, 0xFF, n * sizeof *b->after);
    b->ready += n;
    return true;
}

/* Makes the column of promotions at the first one. */
static __attribute__((noinline)) bool make_promoted(block_table *b) {
    blocks_times t = {.low = malloc(b->capacity * sizeof *t.low)};
    if (blocks_are_long(b))
        t.high = malloc(b->capacity * sizeof *t.high);
    if (!t.low || (blocks_are_long(b) && !t.high)) {
        free(t.low);
        free(t.high);
        return false;
    }
    set_never(&t, 0, b->ready);
    b->times[BLOCKS_PROMOTED] = t;
    return true;
}

bool blocks_make_long(block_table *b) {
    uint32_t *high[BLOCKS_N_EVENTS] = {0};
    bool ok = true;
    for (blocks_event kind = 0; kind < BLOCKS_N_EVENTS; kind++)
        if (b->times[kind].low)
            ok &= (high[kind] = calloc(b->capacity ? b->capacity : 1, sizeof *high[kind])) != NULL;
    for (blocks_event kind = 0; kind < BLOCKS_N_EVENTS; kind++) {
        if (ok)
            b->times[kind].high = high[kind];
        else
            free(high[kind]);
    }
    for (blocks_event kind = BLOCKS_PROMOTED; ok && kind <= BLOCKS_DIED; kind++)
        for (size_t i = 0; b->times[kind].low && i < b->ready; i++)
            high[kind][i] = b->times[kind].low[i] == BLOCKS_SHORT ? UINT32_MAX : 0;
    return ok;
}

static inline bool make_room_for(block_table *b, uint64_t time) {
    return __builtin_expect(time < BLOCKS_SHORT, 1) || blocks_are_long(b) || blocks_make_long(b);
}

/* Adds a row for a block whose allocation was not met yet. */
static bool add_row(block_table *b, uint32_t *row) {
    if (b->count == b->ready && !prepare(b))
        return false;
    *row = (uint32_t)b->count++;
    b->node[*row] = NO_NODE;
    b->source[*row] = 0;
    b->n_open++;
    return true;
}

static __attribute__((noinline)) bool new_row(block_table *b, uint64_t id, uint32_t *row) {
    return add_row(b, row) && row_index_add(&b->rows, id, *row);
}

/* Finds the row of a block, and adds one if the id is new. */
static inline bool find_row(block_table *b, uint64_t id, uint32_t *row) {
    const uint32_t known = row_index_find(&b->rows, id);
    *row = known;
    return known != ROW_NONE || new_row(b, id, row);
}

static bool add_large(block_table *b, uint32_t row, const memtrace_event *event) {
    uint32_t *at = map64_put(&b->by_row, row);
    if (!at)
        return false;
    *at = (uint32_t)b->large.count;
    return vec_push(&b->large,
                    ((blocks_large){.length = event->length, .samples = event->samples}));
}

static void move_fates(block_table *b, uint32_t to, uint32_t from) {
    for (blocks_event kind = BLOCKS_PROMOTED; kind <= BLOCKS_DIED; kind++)
        if (b->times[kind].low)
            blocks_set_time(b, kind, to, blocks_time(b, kind, from));
    if (b->after)
        b->after[to] = b->after[from];
}

/* Whether a row may stay before its allocation. Without places, the order of births matters only to
 * names, so it may if no name was given since the row was added. */
static bool may_stay(const block_table *b, uint32_t row) {
    const size_t n = b->spans.count;
    return b->without_places && (n == 0 || b->spans.items[n - 1].first <= row);
}

/* Moves a block whose death was met before its birth to a new row, where rows must be in the order
 * of births: its old row is at the place of the death. */
static bool move_here(block_table *b, uint64_t id, uint32_t *row) {
    const uint32_t from = *row;
    if (may_stay(b, from))
        return true;
    if (!add_row(b, row) || !row_index_add(&b->rows, id, *row))
        return false;
    move_fates(b, *row, from);
    b->source[from] = MOVED;
    b->length[from] = *row;
    return true;
}

bool blocks_add_slow(block_table *b, uint32_t node, const memtrace_event *event) {
    uint32_t row;
    const size_t next = b->count;
    if (!find_row(b, event->id, &row) || !make_room_for(b, event->time))
        return false;
    if (row < next && !(b->node[row] == NO_NODE ? move_here(b, event->id, &row) : add_row(b, &row)))
        return false;
    b->n_open--;
    if (!blocks_note(b, row, BLOCKS_BORN))
        return false;
    bool large = event->length >= BLOCKS_LARGE || event->samples >= BLOCKS_MANY;
    b->node[row] = node;
    b->length[row] = large ? BLOCKS_LARGE : (uint32_t)event->length;
    b->samples[row] = large ? BLOCKS_MANY : (uint16_t)event->samples;
    b->domain[row] = event->domain;
    b->source[row] = (uint8_t)event->source;
    blocks_set_time(b, BLOCKS_BORN, row, event->time);
    return !large || add_large(b, row, event);
}

static inline bool has_column(block_table *b, blocks_event kind) {
    return b->times[kind].low || make_promoted(b);
}

static inline bool write_fate(block_table *b, uint32_t row, const blocks_fate *f) {
    if (!has_column(b, f->kind) || !make_room_for(b, f->time))
        return false;
    if (blocks_time(b, f->kind, row) != BLOCKS_NEVER)
        return true;
    blocks_set_time(b, f->kind, row, f->time);
    if (f->kind == BLOCKS_DIED && b->after)
        b->after[row] = f->after;
    return blocks_note(b, row, f->kind);
}

bool blocks_write_fates(block_table *b) {
    const size_t n = b->n_fates;
    uint32_t rows[BLOCKS_FATES];
    b->n_fates = 0;
    for (size_t i = 0; i < n; i++) {
        const blocks_event kind = b->fates[i].kind;
        if (!find_row(b, b->fates[i].id, &rows[i]) || !has_column(b, kind))
            return false;
        __builtin_prefetch(&b->times[kind].low[rows[i]], 1);
        if (kind == BLOCKS_DIED && b->after)
            __builtin_prefetch(&b->after[rows[i]], 1);
    }
    for (size_t i = 0; i < n; i++)
        if (!write_fate(b, rows[i], &b->fates[i]))
            return false;
    return true;
}

bool blocks_enter(block_table *b, uint16_t domain) {
    const size_t n = b->runs.count;
    return domain == (n ? b->runs.items[n - 1].domain : 0) ||
           vec_push(&b->runs, ((blocks_run){.first = (uint32_t)b->count, .domain = domain}));
}

/* ---- the order of events ----------------------------------------------------------------- */

typedef struct timed {
    uint64_t time, event;
} timed;

/* Ranges of time of 2^width µs each; the last one has no end. */
typedef struct stretches {
    size_t n;
    unsigned width;
    size_t *ends; /* of their events, as a prefix sum */
    size_t most;  /* events in the largest one */
} stretches;

static uint64_t event_time(const block_table *b, uint64_t event) {
    return blocks_time(b, blocks_event_kind(event), blocks_event_row(event));
}

static size_t stretch_of(const stretches *s, uint64_t time) {
    const uint64_t at = time >> s->width;
    return at < s->n ? (size_t)at : s->n - 1;
}

static size_t digit_of(const void *thing, unsigned shift) {
    return radix_digit(((const timed *)thing)->time, shift);
}

/* Puts the events of each range of time together, still in the order of the file. The domains write
 * in turn, so most are nearly together already. */
static bool split_order(const block_table *b, stretches *s, uint64_t *split) {
    const uint64_t *events = b->order.items;
    for (s->n = FEWEST_STRETCHES;
         s->n < b->order.count / EVENTS_A_STRETCH && s->n < MOST_STRETCHES;)
        s->n *= 2;
    while (b->last >> s->width >= s->n)
        s->width++;
    s->ends = calloc(s->n + 1, sizeof *s->ends);
    if (!s->ends)
        return false;
    for (size_t i = 0; i < b->order.count; i++)
        s->ends[stretch_of(s, event_time(b, events[i])) + 1]++;
    for (size_t i = 0; i < s->n; i++) {
        s->most = s->ends[i + 1] > s->most ? s->ends[i + 1] : s->most;
        s->ends[i + 1] += s->ends[i];
    }
    for (size_t i = 0; i < b->order.count; i++)
        split[s->ends[stretch_of(s, event_time(b, events[i]))]++] = events[i];
    return true;
}

/* Sorts the events of one range; `room` has twice the room that they need. */
static void sort_stretch(const block_table *b, const uint64_t *split, size_t n, timed *room,
                         uint64_t *sorted) {
    uint64_t least = UINT64_MAX, most = 0;
    for (size_t i = 0; i < n; i++) {
        room[i] = (timed){.time = event_time(b, split[i]), .event = split[i]};
        least = room[i].time < least ? room[i].time : least;
        most = room[i].time > most ? room[i].time : most;
    }
    for (size_t i = 0; i < n; i++)
        room[i].time -= least;
    const timed *done =
        n ? radix_sort(room, room + n, n, sizeof *room, radix_bits(most - least), digit_of) : room;
    for (size_t i = 0; i < n; i++)
        sorted[i] = done[i].event;
}

static bool is_sorted(const block_table *b) {
    for (size_t i = 1; i < b->order.count; i++)
        if (event_time(b, b->order.items[i - 1]) > event_time(b, b->order.items[i]))
            return false;
    return true;
}

/* Domains write their events in turn, so the order is sorted already, or nearly so. */
static bool sort_order(block_table *b) {
    if (is_sorted(b))
        return true;
    stretches s = {.n = 0};
    uint64_t *split = malloc(b->order.count * sizeof *split);
    bool ok = split && split_order(b, &s, split);
    timed *room = ok ? malloc(2 * s.most * sizeof *room) : NULL;
    for (size_t i = 0, begin = 0; room && i < s.n; begin = s.ends[i++])
        sort_stretch(b, split + begin, s.ends[i] - begin, room, b->order.items + begin);
    ok = room;
    free(room);
    free(s.ends);
    free(split);
    return ok;
}

/* Blocks outside the minor heap are never promoted. If a trace says that one was, its handle was
 * promoted. */
static inline bool may_be_promoted(const block_table *b, size_t row) {
    return b->source[row] == MEMTRACE_MINOR;
}

static bool is_kept(const block_table *b, uint64_t event, size_t row) {
    return b->node[row] != NO_NODE &&
           (blocks_event_kind(event) != BLOCKS_PROMOTED || may_be_promoted(b, row));
}

/* Returns the row to which the block of a row moved, or the row itself. */
static size_t find_moved(const block_table *b, size_t row) {
    while (b->node[row] == NO_NODE && b->source[row] == MOVED)
        row = b->length[row];
    return row;
}

static uint32_t renumbered(const uint32_t *before, size_t row) {
    return before ? before[row] : (uint32_t)row;
}

/* Renumbers the rows of events, and drops the events of rows that are removed. Must run before the
 * rows move. */
static void renumber_order(block_table *b, const uint32_t *before) {
    size_t kept = 0;
    for (size_t i = 0; i < b->order.count; i++) {
        const uint64_t event = b->order.items[i];
        const size_t row = find_moved(b, blocks_event_row(event));
        if (is_kept(b, event, row))
            b->order.items[kept++] = (uint64_t)renumbered(before, row) << 2 | (event & 3);
    }
    b->order.count = kept;
}

/* ---- the end of reading ------------------------------------------------------------------ */

/* Moves a row down over removed ones. If it has an entry in `large`, that gets the new row
 * number. */
static bool move_row(block_table *b, size_t to, size_t from) {
#define MOVE_COLUMN(type, name) b->name[to] = b->name[from];
    BLOCKS_COLUMNS(MOVE_COLUMN)
#undef MOVE_COLUMN
    for (blocks_event kind = 0; kind < BLOCKS_N_EVENTS; kind++)
        if (b->times[kind].low)
            blocks_set_time(b, kind, to, blocks_time(b, kind, from));
    if (b->after)
        b->after[to] = b->after[from];
    if (b->length[to] < BLOCKS_LARGE)
        return true;
    uint32_t index = map64_get(&b->by_row, from), *at = map64_put(&b->by_row, to);
    if (at)
        *at = index;
    return at;
}

/* Returns, by row, how many rows before it are kept; NULL when there is no memory. */
static uint32_t *count_before(const block_table *b) {
    uint32_t *before = malloc((b->count + 1) * sizeof *before), n = 0;
    for (size_t i = 0; before && i <= b->count; i++) {
        before[i] = n;
        n += i < b->count && b->node[i] != NO_NODE;
    }
    return before;
}

/* Removes the rows of blocks that were never allocated, or that moved. */
static bool close_rows(block_table *b) {
    size_t kept = 0;
    for (size_t i = 0; i < b->count; i++) {
        if (b->node[i] == NO_NODE)
            continue;
        if (kept < i && !move_row(b, kept, i))
            return false;
        kept++;
    }
    b->count = kept;
    b->n_open = 0;
    return true;
}

/* Clocks of domains differ a little, so an event that seems earlier than the block's birth gets the
 * time of the birth. */
static void order_long_times(block_table *b) {
    for (size_t i = 0; i < b->count; i++) {
        const uint64_t born = blocks_born(b, i), died = blocks_died(b, i);
        if (b->times[BLOCKS_PROMOTED].low && !may_be_promoted(b, i))
            blocks_set_time(b, BLOCKS_PROMOTED, i, BLOCKS_NEVER);
        else if (b->times[BLOCKS_PROMOTED].low && blocks_time(b, BLOCKS_PROMOTED, i) < born)
            blocks_set_time(b, BLOCKS_PROMOTED, i, born);
        if (died < born)
            blocks_set_time(b, BLOCKS_DIED, i, born);
        b->last = born > b->last ? born : b->last;
        b->last = died > b->last && died != BLOCKS_NEVER ? died : b->last;
    }
}

/* Does the same as order_long_times for short times, in loops that the compiler vectorizes.
 * BLOCKS_SHORT + 1 wraps to 0, so it is never the latest. */
static void order_short_times(block_table *b) {
    const uint32_t *const born = b->times[BLOCKS_BORN].low;
    uint32_t *const promoted = b->times[BLOCKS_PROMOTED].low;
    uint32_t *const died = b->times[BLOCKS_DIED].low;
    uint32_t next = 0; /* 1 + the latest time */
    for (size_t i = 0; i < b->count; i++) {
        const uint32_t time = died[i] < born[i] ? born[i] : died[i];
        died[i] = time;
        next = born[i] + 1 > next ? born[i] + 1 : next;
        next = time + 1 > next ? time + 1 : next;
    }
    for (size_t i = 0; promoted && i < b->count; i++) {
        const uint32_t time = promoted[i] < born[i] ? born[i] : promoted[i];
        promoted[i] = may_be_promoted(b, i) ? time : BLOCKS_SHORT;
    }
    b->last = next ? next - 1 : 0;
}

static void order_times(block_table *b) {
    b->last = 0;
    if (blocks_are_long(b))
        order_long_times(b);
    else
        order_short_times(b);
}

static bool finish_rows(block_table *b) {
    uint32_t *before = NULL;
    if (b->n_open > 0 && !(before = count_before(b)))
        return false;
    renumber_order(b, before);
    spans_finish(b, before);
    bool ok = b->n_open == 0 || close_rows(b);
    if (ok)
        order_times(b);
    row_index_free(&b->rows);
    ok = ok && (b->without_places || blocks_settle(b, before));
    vec_free(&b->runs);
    free(before);
    return ok;
}

/* Returns the column with its final size; NULL if that is 0. */
static void *shrunk(void *column, size_t size) {
    void *smaller = size ? realloc(column, size) : NULL;
    if (!size)
        free(column);
    return smaller || !size ? smaller : column;
}

/* Returns an empty set of rows. */
static bits_word *no_rows(const block_table *b) {
    return calloc(bits_words((uint32_t)b->count), sizeof(bits_word));
}

static void rank_rows(const block_table *b, bits_word **rows, size_t n) {
    bits_rank_all(*rows, bits_words((uint32_t)b->count));
    if (n == 0) {
        free(*rows);
        *rows = NULL;
    }
}

static bool pack_promoted(block_table *b) {
    blocks_times *t = &b->times[BLOCKS_PROMOTED];
    size_t n = 0;
    if (!t->low)
        return true;
    if (!(b->promoted = no_rows(b)))
        return false;
    for (size_t i = 0; i < b->count; i++)
        if (blocks_time(b, BLOCKS_PROMOTED, i) != BLOCKS_NEVER) {
            bits_add(b->promoted, (uint32_t)i);
            blocks_set_time(b, BLOCKS_PROMOTED, n++, blocks_time(b, BLOCKS_PROMOTED, i));
        }
    rank_rows(b, &b->promoted, n);
    t->low = shrunk(t->low, n * sizeof *t->low);
    t->high = t->high ? shrunk(t->high, n * sizeof *t->high) : NULL;
    return true;
}

static bool pack_freed_by(block_table *b) {
    size_t n = 0;
    if (!b->freed_by)
        return true;
    if (!(b->elsewhere = no_rows(b)))
        return false;
    for (size_t i = 0; i < b->count; i++)
        if (b->freed_by[i] != BLOCKS_SAME) {
            bits_add(b->elsewhere, (uint32_t)i);
            b->freed_by[n++] = b->freed_by[i];
        }
    rank_rows(b, &b->elsewhere, n);
    b->freed_by = shrunk(b->freed_by, n * sizeof *b->freed_by);
    return true;
}

bool blocks_pack(block_table *b) {
    return pack_promoted(b) && pack_freed_by(b);
}

bool blocks_finish(block_table *b) {
    if (!blocks_write_fates(b) || !finish_rows(b))
        return false;
    if (b->count > 0 && !resize(b, b->count))
        b->capacity = b->count; /* shrinking failed for some columns, which stay larger */
    b->ready = b->count;
    blocks_remember_peak(b, NULL);
    return sort_order(b) && blocks_pack(b);
}

static bool copy_large(const block_table *from, block_table *to) {
    if (!vec_reserve(&to->large, from->large.count))
        return false;
    for (size_t i = 0; i < from->large.count; i++)
        to->large.items[to->large.count++] = from->large.items[i];
    for (size_t i = 0; from->by_row.slots && i <= from->by_row.mask; i++) {
        const map64_slot *slot = &from->by_row.slots[i];
        uint32_t *index = slot->value == MAP64_NONE ? NULL : map64_put(&to->by_row, slot->key);
        if (slot->value != MAP64_NONE && !index)
            return false;
        if (index)
            *index = slot->value;
    }
    return true;
}

/* Writes pending fates of blocks that have rows. */
static bool copy_fates(const block_table *from, block_table *to) {
    bool ok = true;
    for (size_t i = 0; ok && i < from->n_fates; i++) {
        const uint32_t row = row_index_find(&from->rows, from->fates[i].id);
        ok = row == ROW_NONE || write_fate(to, row, &from->fates[i]);
    }
    return ok;
}

static void copy_times(const blocks_times *from, const blocks_times *to, size_t count) {
    if (from->low)
        memcpy(to->low, from->low, count * sizeof *to->low);
    if (from->high)
        memcpy(to->high, from->high, count * sizeof *to->high);
}

/* Makes the columns of an empty table, with the rows of the other one. */
static bool copy_columns(const block_table *from, block_table *to) {
    if (from->count == 0)
        return true;
    if (!resize(to, from->count) || (from->times[BLOCKS_PROMOTED].low && !make_promoted(to)) ||
        (blocks_are_long(from) && !blocks_make_long(to)))
        return false;
#define COPY_COLUMN(type, name) memcpy(to->name, from->name, from->count * sizeof *to->name);
    BLOCKS_COLUMNS(COPY_COLUMN)
#undef COPY_COLUMN
    for (blocks_event kind = 0; kind < BLOCKS_N_EVENTS; kind++)
        copy_times(&from->times[kind], &to->times[kind], from->count);
    if (from->after)
        memcpy(to->after, from->after, from->count * sizeof *to->after);
    to->count = to->ready = from->count;
    to->n_open = from->n_open;
    return true;
}

bool blocks_copy(const block_table *from, block_table *to) {
    *to = (block_table){.without_places = from->without_places};
    const bool ok = copy_columns(from, to) && vec_append(&to->runs, &from->runs) &&
                    vec_append(&to->spans, &from->spans) && copy_fates(from, to) &&
                    copy_large(from, to) && blocks_finish(to);
    if (!ok)
        blocks_free(to);
    return ok;
}

void blocks_free(block_table *b) {
#define FREE_COLUMN(type, name) free(b->name);
    BLOCKS_COLUMNS(FREE_COLUMN)
#undef FREE_COLUMN
    for (blocks_event kind = 0; kind < BLOCKS_N_EVENTS; kind++) {
        free(b->times[kind].low);
        free(b->times[kind].high);
    }
    free(b->after);
    free(b->place);
    free(b->freed_by);
    free(b->promoted);
    free(b->elsewhere);
    map64_free(&b->by_row);
    vec_free(&b->large);
    vec_free(&b->spans);
    vec_free(&b->order);
    vec_free(&b->runs);
    free(b->peak);
    row_index_free(&b->rows);
    *b = (block_table){0};
}

const blocks_large *blocks_find_large(const block_table *b, size_t row) {
    return &b->large.items[map64_get(&b->by_row, row)];
}
