/* index_blocks.c: the sections of an index for the table of blocks and for the order of events.
 *
 * A section of the table is a column of one part of the rows: the number of rows, then chunks.
 * Values are stored so that most are small. Promotion and death are the time since birth plus 1; 0
 * is never. The place of a birth is stored plus 1; 0 is that of its row. The place of a death is
 * counted from that of the birth; 0 is nowhere. The domain in which a block died is stored plus 1;
 * 0 is its own domain. */
#include <stdlib.h>
#include <string.h>

#include "profile/index_parts.h"
#include "profile/parallel.h"

enum { MOST_ROWS = UINT32_MAX / 2 };

static size_t chunk_at(size_t at, size_t n) {
    return n - at < INDEX_CHUNK ? n - at : INDEX_CHUNK;
}

/* ---- the table: writing ------------------------------------------------------------------ */

static uint64_t since(uint64_t born, uint64_t time) {
    return time == BLOCKS_NEVER ? 0 : time - born + 1;
}

static uint64_t place_or_0(const block_table *b, size_t row) {
    return b->place ? b->place[row] + UINT64_C(1) : 0;
}

static uint64_t places_until(const block_table *b, size_t row) {
    return b->after[row] == BLOCKS_NOWHERE ? 0 : b->after[row] - blocks_place(b, row);
}

static uint64_t freed_by_or_0(const block_table *b, size_t row) {
    return blocks_died_elsewhere(b, row) ? blocks_freed_by(b, row) + UINT64_C(1) : 0;
}

/* X(name of a column, its value for row `at + i`) */
#define COLUMN_NUMBERS(X)                                                                          \
    X(node, b->node[at + i])                                                                       \
    X(length, blocks_length(b, at + i))                                                            \
    X(samples, blocks_samples(b, at + i))                                                          \
    X(domain, b->domain[at + i])                                                                   \
    X(source, b->source[at + i])                                                                   \
    X(born, blocks_born(b, at + i))                                                                \
    X(promoted, since(blocks_born(b, at + i), blocks_promoted(b, at + i)))                         \
    X(died, since(blocks_born(b, at + i), blocks_died(b, at + i)))                                 \
    X(place, place_or_0(b, at + i))                                                                \
    X(after, places_until(b, at + i))                                                              \
    X(freed_by, freed_by_or_0(b, at + i))

/* Gathers the values of `n` rows from `at` on. */
static void numbers_of(const block_table *b, blocks_column column, size_t at, size_t n,
                       uint64_t *numbers) {
    switch (column) {
#define GATHER(name, number)                                                                       \
    case BLOCKS_COLUMN_##name:                                                                     \
        for (size_t i = 0; i < n; i++)                                                             \
            numbers[i] = number;                                                                   \
        break;
        COLUMN_NUMBERS(GATHER)
#undef GATHER
    case BLOCKS_N_COLUMNS:
        break;
    }
}

void index_put_column_of(index_stream *s, const block_table *b, size_t part, blocks_column column) {
    const size_t end = parallel_begin(b->count, INDEX_BLOCK_PARTS, part + 1);
    size_t at = parallel_begin(b->count, INDEX_BLOCK_PARTS, part);
    uint64_t numbers[INDEX_CHUNK];
    index_put(s, end - at);
    for (; at < end; at += INDEX_CHUNK) {
        const size_t n = chunk_at(at, end);
        numbers_of(b, column, at, n, numbers);
        index_put_column(s, numbers, n);
    }
}

/* ---- the table: reading ------------------------------------------------------------------ */

/* A number that does not fit its column. */
typedef struct large_number {
    size_t row;
    uint64_t value;
} large_number;

typedef VEC(large_number) large_numbers;

/* A part of the rows, read one column after the other. */
typedef struct block_part {
    const index_section *sections; /* by column */
    index_stream s;
    index_status status;
    size_t begin, end; /* rows of the table */
    uint64_t samples;  /* of these rows */
    bool moved;        /* some place differs from its row */
    large_numbers lengths, many;
} block_part;

typedef struct table_reading {
    profile *profile;
    unsigned columns;
    block_part parts[INDEX_BLOCK_PARTS];
    size_t threads;
} table_reading;

/* Makes the columns. No time in a trace is after its duration, which tells whether times need upper
 * halves. */
static bool make_columns(block_table *b, unsigned columns, size_t count, uint64_t duration) {
    const size_t room = count ? count : 1;
#define MAKE_COLUMN(type, name)                                                                    \
    if (columns & BLOCKS_HAS(name) && !(b->name = malloc(room * sizeof *b->name)))                 \
        return false;
    BLOCKS_COLUMNS(MAKE_COLUMN)
#undef MAKE_COLUMN
    for (blocks_event kind = 0; kind < BLOCKS_N_EVENTS; kind++)
        if (columns >> (BLOCKS_COLUMN_born + kind) & 1 &&
            !(b->times[kind].low = malloc(room * sizeof *b->times[kind].low)))
            return false;
    b->capacity = count;
    if ((columns & BLOCKS_HAS(place) && !(b->place = malloc(room * sizeof *b->place))) ||
        (columns & BLOCKS_HAS(after) && !(b->after = malloc(room * sizeof *b->after))) ||
        (columns & BLOCKS_HAS(freed_by) && !(b->freed_by = malloc(room * sizeof *b->freed_by))))
        return false;
    return duration < BLOCKS_SHORT || blocks_make_long(b);
}

/* The functions below take one chunk of a column, for the rows from `at` on; false if one of its
 * numbers is invalid. */

static bool take_nodes(const profile *p, size_t at, const index_column *c) {
    index_unpack_32(c, p->table.node + at);
    return index_column_range(c).most < cct_count(&p->tree);
}

static bool take_domains(const profile *p, size_t at, const index_column *c) {
    index_unpack_16(c, p->table.domain + at);
    return index_column_range(c).most <= UINT16_MAX;
}

static bool take_sources(const profile *p, size_t at, const index_column *c) {
    index_unpack_8(c, p->table.source + at);
    return index_column_range(c).most < CCT_SOURCES;
}

static bool take_births(const profile *p, size_t at, const index_column *c) {
    const blocks_times born = p->table.times[BLOCKS_BORN];
    uint64_t numbers[INDEX_CHUNK];
    index_unpack_32(c, born.low + at);
    if (born.high) {
        index_unpack_64(c, numbers);
        for (size_t i = 0; i < c->n; i++)
            born.high[at + i] = (uint32_t)(numbers[i] >> 32);
    }
    return index_column_range(c).most <= p->duration;
}

/* Turns fates that are stored since birth into times; births must have been read. */
static bool take_short_fates(const profile *p, blocks_event kind, size_t at,
                             const index_column *c) {
    const uint32_t *born = p->table.times[BLOCKS_BORN].low + at, end = (uint32_t)p->duration;
    uint32_t *times = p->table.times[kind].low + at, bad = 0;
    index_unpack_32(c, times);
    for (size_t i = 0; i < c->n; i++) {
        const uint32_t x = times[i], since = x - 1;
        bad |= (uint32_t)(x > 0) & (uint32_t)(since > end - born[i]);
        times[i] = x ? born[i] + since : BLOCKS_SHORT;
    }
    return !bad && index_column_range(c).most <= UINT32_MAX;
}

static bool take_fates(profile *p, blocks_event kind, size_t at, const index_column *c) {
    if (!blocks_are_long(&p->table))
        return take_short_fates(p, kind, at, c);
    uint64_t numbers[INDEX_CHUNK], bad = 0;
    index_unpack_64(c, numbers);
    for (size_t i = 0; i < c->n; i++) {
        const uint64_t x = numbers[i], born = blocks_born(&p->table, at + i);
        bad |= (uint64_t)(x > 0) & (uint64_t)(x - 1 > p->duration - born);
        blocks_set_time(&p->table, kind, at + i, x ? born + x - 1 : BLOCKS_NEVER);
    }
    return bad == 0;
}

/* No place is after the last row. */
static bool take_places(const block_table *b, size_t at, const index_column *c) {
    index_unpack_32(c, b->place + at);
    for (size_t i = 0; i < c->n; i++)
        b->place[at + i] = b->place[at + i] ? b->place[at + i] - 1 : (uint32_t)(at + i);
    return index_column_range(c).most <= b->capacity;
}

/* Turns deaths that are counted from the birth into places; places of births must have been read,
 * or are the rows. */
static bool take_deaths(const block_table *b, size_t at, const index_column *c) {
    uint32_t *after = b->after + at, bad = 0;
    const uint32_t end = (uint32_t)b->capacity;
    index_unpack_32(c, after);
    for (size_t i = 0; i < c->n; i++) {
        const uint32_t x = after[i], born = blocks_place(b, at + i);
        bad |= (uint32_t)(x > end - born);
        after[i] = x ? born + x : BLOCKS_NOWHERE;
    }
    return !bad && index_column_range(c).most <= UINT32_MAX;
}

static bool take_freed_by(const block_table *b, size_t at, const index_column *c) {
    uint32_t numbers[INDEX_CHUNK];
    index_unpack_32(c, numbers);
    for (size_t i = 0; i < c->n; i++)
        b->freed_by[at + i] = numbers[i] ? (uint16_t)(numbers[i] - 1) : BLOCKS_SAME;
    return index_column_range(c).most <= UINT16_MAX + UINT64_C(1);
}

/* Collects the numbers that do not fit; false when there is no memory. */
static bool keep_large(large_numbers *large, size_t at, const uint64_t *numbers, size_t n,
                       uint64_t limit) {
    for (size_t i = 0; i < n; i++)
        if (numbers[i] >= limit && !vec_push(large, ((large_number){at + i, numbers[i]})))
            return false;
    return true;
}

static index_status take_lengths(block_part *part, const block_table *b, size_t at,
                                 const index_column *c) {
    uint64_t numbers[INDEX_CHUNK];
    index_unpack_32(c, b->length + at);
    if (index_column_range(c).most < BLOCKS_LARGE)
        return INDEX_OK;
    index_unpack_64(c, numbers);
    return keep_large(&part->lengths, at, numbers, c->n, BLOCKS_LARGE) ? INDEX_OK : INDEX_NOMEM;
}

/* Takes samples of which some do not fit their column. */
static index_status take_many(block_part *part, uint64_t left, size_t at, const index_column *c) {
    uint64_t numbers[INDEX_CHUNK];
    index_unpack_64(c, numbers);
    for (size_t i = 0; i < c->n; i++) {
        if (numbers[i] > left)
            return INDEX_DAMAGED;
        left -= numbers[i];
        part->samples += numbers[i];
    }
    return keep_large(&part->many, at, numbers, c->n, BLOCKS_MANY) ? INDEX_OK : INDEX_NOMEM;
}

/* All samples of the table together are at most those of the trace. */
static index_status take_samples(block_part *part, const profile *p, size_t at,
                                 const index_column *c) {
    const uint64_t left = cct_sum(p->samples) - part->samples;
    const index_range range = index_column_range(c);
    uint16_t *samples = p->table.samples + at;
    uint64_t sum = 0;
    index_unpack_16(c, samples);
    if (range.least == 0 || range.most > left)
        return INDEX_DAMAGED;
    if (range.most >= BLOCKS_MANY)
        return take_many(part, left, at, c);
    for (size_t i = 0; i < c->n; i++)
        sum += samples[i];
    part->samples += sum;
    return sum <= left ? INDEX_OK : INDEX_DAMAGED;
}

static index_status unless_bad(bool good) {
    return good ? INDEX_OK : INDEX_DAMAGED;
}

static index_status take_chunk(block_part *part, profile *p, blocks_column column, size_t at,
                               const index_column *c) {
    switch (column) {
    case BLOCKS_COLUMN_node:
        return unless_bad(take_nodes(p, at, c));
    case BLOCKS_COLUMN_domain:
        return unless_bad(take_domains(p, at, c));
    case BLOCKS_COLUMN_source:
        return unless_bad(take_sources(p, at, c));
    case BLOCKS_COLUMN_born:
        return unless_bad(take_births(p, at, c));
    case BLOCKS_COLUMN_promoted:
        return unless_bad(take_fates(p, BLOCKS_PROMOTED, at, c));
    case BLOCKS_COLUMN_died:
        return unless_bad(take_fates(p, BLOCKS_DIED, at, c));
    case BLOCKS_COLUMN_place:
        part->moved |= index_column_range(c).most > 0;
        return unless_bad(take_places(&p->table, at, c));
    case BLOCKS_COLUMN_after:
        return unless_bad(take_deaths(&p->table, at, c));
    case BLOCKS_COLUMN_freed_by:
        return unless_bad(take_freed_by(&p->table, at, c));
    case BLOCKS_COLUMN_length:
        return take_lengths(part, &p->table, at, c);
    case BLOCKS_COLUMN_samples:
        return take_samples(part, p, at, c);
    default:
        return INDEX_DAMAGED;
    }
}

static void read_column(block_part *part, profile *p, blocks_column column) {
    index_enter(&part->s, &part->sections[column]);
    if (index_get(&part->s) != part->end - part->begin)
        part->status = INDEX_DAMAGED;
    for (size_t at = part->begin; part->status == INDEX_OK && at < part->end; at += INDEX_CHUNK) {
        const index_column c = index_get_packed(&part->s, chunk_at(at, part->end));
        part->status = part->s.failed ? INDEX_DAMAGED : take_chunk(part, p, column, at, &c);
    }
    if (part->status == INDEX_OK && !index_leave(&part->s))
        part->status = INDEX_DAMAGED;
}

/* Births are read before the columns that are counted from them. */
static void read_parts(void *context, size_t thread) {
    table_reading *in = context;
    _Static_assert((int)BLOCKS_COLUMN_born < (int)BLOCKS_COLUMN_promoted &&
                       (int)BLOCKS_COLUMN_born < (int)BLOCKS_COLUMN_died &&
                       (int)BLOCKS_COLUMN_place < (int)BLOCKS_COLUMN_after,
                   "in the order of their numbers");
    for (size_t i = thread; i < INDEX_BLOCK_PARTS; i += in->threads)
        for (unsigned column = 0; column < BLOCKS_N_COLUMNS; column++)
            if (in->columns >> column & 1 && in->parts[i].status == INDEX_OK)
                read_column(&in->parts[i], in->profile, (blocks_column)column);
}

/* Finds out how many rows a part has. There can be no more than the rest of the section has room
 * for, so that memory does not follow a number that a file merely claims. */
static void open_part(block_part *part, int fd) {
    if (!index_stream_open(&part->s, fd)) {
        part->status = INDEX_NOMEM;
        return;
    }
    index_enter(&part->s, &part->sections[BLOCKS_COLUMN_node]);
    const uint64_t n = index_get(&part->s);
    if (part->s.failed || n > MOST_ROWS ||
        n > index_most_in(index_words_left(&part->s)) + INDEX_CHUNK)
        part->status = INDEX_DAMAGED;
    else
        part->end = n;
}

/* Makes the columns and assigns each part its rows. */
static index_status lay_out(table_reading *in) {
    size_t count = 0;
    for (size_t i = 0; i < INDEX_BLOCK_PARTS; i++) {
        block_part *part = &in->parts[i];
        if (part->status != INDEX_OK)
            return part->status;
        part->begin = count;
        part->end += count;
        count = part->end;
    }
    if (count > MOST_ROWS)
        return INDEX_DAMAGED;
    return make_columns(&in->profile->table, in->columns, count, in->profile->duration)
               ? INDEX_OK
               : INDEX_NOMEM;
}

static bool add_large(block_table *b, size_t row, const blocks_large *large) {
    uint32_t *at = map64_put(&b->by_row, row);
    if (!at)
        return false;
    if (b->length)
        b->length[row] = BLOCKS_LARGE;
    if (b->samples)
        b->samples[row] = BLOCKS_MANY;
    *at = (uint32_t)b->large.count;
    return vec_push(&b->large, *large);
}

/* Adds the rows that are in one of the lists or in both. */
static bool add_larges(block_table *b, const block_part *part) {
    const large_numbers *x = &part->lengths, *y = &part->many;
    for (size_t i = 0, j = 0; i < x->count || j < y->count;) {
        const size_t in_x = i < x->count ? x->items[i].row : SIZE_MAX;
        const size_t in_y = j < y->count ? y->items[j].row : SIZE_MAX;
        const size_t row = in_x < in_y ? in_x : in_y;
        const blocks_large large = {.length = in_x == row ? x->items[i].value
                                              : b->length ? b->length[row]
                                                          : 0,
                                    .samples = in_y == row  ? y->items[j].value
                                               : b->samples ? b->samples[row]
                                                            : 0};
        i += in_x == row;
        j += in_y == row;
        if (!add_large(b, row, &large))
            return false;
    }
    return true;
}

/* Joins the parts. What was checked for each part must also hold for all together. */
static index_status join_parts(table_reading *in) {
    block_table *b = &in->profile->table;
    uint64_t left = cct_sum(in->profile->samples);
    bool moved = false;
    for (size_t i = 0; i < INDEX_BLOCK_PARTS; i++) {
        const block_part *part = &in->parts[i];
        if (part->status != INDEX_OK)
            return part->status;
        if (part->samples > left)
            return INDEX_DAMAGED;
        left -= part->samples;
        moved |= part->moved;
        if (!add_larges(b, part))
            return INDEX_NOMEM;
        b->count = part->end;
    }
    b->last = in->profile->duration;
    if (!moved) {
        free(b->place);
        b->place = NULL;
    }
    return blocks_pack(b) ? INDEX_OK : INDEX_NOMEM;
}

/* Returns the columns that are also needed in a trace of several domains. The places of deaths are
 * counted from those of births. */
static unsigned columns_of_several(unsigned columns) {
    return (columns & BLOCKS_IF_SEVERAL ? BLOCKS_SPREAD_COLUMNS : 0) |
           (columns & BLOCKS_HAS(after) ? BLOCKS_HAS(place) : 0);
}

index_status index_get_blocks(int fd, const index_section *sections, unsigned columns, profile *p) {
    table_reading in = {.profile = p, .columns = columns};
    if (columns & (BLOCKS_HAS(promoted) | BLOCKS_HAS(died)))
        in.columns |= BLOCKS_HAS(born);
    if (p->n_domains > 1)
        in.columns |= columns_of_several(columns);
    else
        in.columns &= ~(BLOCKS_HAS(place) | BLOCKS_HAS(freed_by));
    for (size_t i = 0; i < INDEX_BLOCK_PARTS; i++) {
        in.parts[i].sections = &sections[i * BLOCKS_N_COLUMNS];
        open_part(&in.parts[i], fd);
    }
    index_status status = lay_out(&in);
    if (status == INDEX_OK) {
        in.threads = parallel_parts(in.parts[INDEX_BLOCK_PARTS - 1].end);
        parallel_run(in.threads, read_parts, &in);
        status = join_parts(&in);
    }
    for (size_t i = 0; i < INDEX_BLOCK_PARTS; i++) {
        index_stream_close(&in.parts[i].s);
        vec_free(&in.parts[i].lengths);
        vec_free(&in.parts[i].many);
    }
    return status;
}

/* ---- the order --------------------------------------------------------------------------- */

void index_put_order(index_stream *s, const profile *p) {
    const block_table *b = &p->table;
    index_put(s, b->order.count);
    for (size_t at = 0; at < b->order.count; at += INDEX_CHUNK)
        index_put_column(s, b->order.items + at, chunk_at(at, b->order.count));
}

enum { AHEAD = 16 /* events; deaths are of rows anywhere */ };

/* Checks that no event is of a missing block, or happens twice. */
static bool check_events(const uint64_t *events, size_t n, size_t rows, uint8_t *met) {
    for (size_t i = 0; i < n; i++) {
        const uint64_t row = events[i] >> 2, next = events[i + AHEAD < n ? i + AHEAD : i] >> 2;
        const unsigned kind = events[i] & 3;
        if (next < rows)
            __builtin_prefetch(&met[next], 1);
        if (row >= rows || kind > BLOCKS_DIED || met[row] >> kind & 1)
            return false;
        met[row] |= (uint8_t)(1 << kind);
    }
    return true;
}

/* Checks that the table has a time for each promotion and death that was met. */
static bool check_met(const block_table *b, const uint8_t *met) {
    bool ok = true;
    for (size_t i = 0; i < b->count; i++)
        ok &= !(met[i] >> BLOCKS_PROMOTED & 1 && blocks_promoted(b, i) == BLOCKS_NEVER) &&
              !(met[i] >> BLOCKS_DIED & 1 && blocks_died(b, i) == BLOCKS_NEVER);
    return ok;
}

index_status index_get_order(index_stream *s, profile *p) {
    block_table *b = &p->table;
    const uint64_t count = index_get(s);
    if (s->failed || count > b->count * UINT64_C(3))
        return INDEX_DAMAGED;
    uint8_t *met = calloc(b->count + 1, sizeof *met);
    index_status status = met && vec_reserve(&b->order, count) ? INDEX_OK : INDEX_NOMEM;
    while (status == INDEX_OK && b->order.count < count) {
        const size_t n = chunk_at(b->order.count, count);
        uint64_t *events = b->order.items + b->order.count;
        index_get_column(s, events, n);
        const bool ok = !s->failed && check_events(events, n, b->count, met);
        b->order.count += n;
        status = ok ? INDEX_OK : INDEX_DAMAGED;
    }
    if (status == INDEX_OK && !check_met(b, met))
        status = INDEX_DAMAGED;
    free(met);
    return status;
}
