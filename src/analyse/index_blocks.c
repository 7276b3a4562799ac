/* index_blocks.c: the other sections of an index: the table of blocks and the order of events.
 *
 * Each section of the table has the next part of its rows: how many, then chunks. A chunk of rows
 * has its columns one after the other. Promotion and death stand there as times since birth, plus
 * 1; 0 is never. */
#include <string.h>

#include "analyse/index_parts.h"
#include "analyse/parallel.h"

enum { MOST_ROWS = UINT32_MAX / 2, COLUMNS = 8 };

static size_t chunk_at(size_t at, size_t n) {
    return n - at < INDEX_CHUNK ? n - at : INDEX_CHUNK;
}

/* A column of each kind. */
typedef struct rows {
    uint64_t node[INDEX_CHUNK], length[INDEX_CHUNK], samples[INDEX_CHUNK], domain[INDEX_CHUNK],
        source[INDEX_CHUNK], born[INDEX_CHUNK], promoted[INDEX_CHUNK], died[INDEX_CHUNK];
} rows;

/* ---- the table --------------------------------------------------------------------------- */

static uint64_t since(uint64_t born, uint64_t time) {
    return time == BLOCKS_NEVER ? 0 : time - born + 1;
}

static void pack_rows(const block_table *b, size_t at, size_t n, rows *r) {
    for (size_t i = 0; i < n; i++) {
        const size_t row = at + i;
        r->node[i] = b->node[row];
        r->length[i] = blocks_length(b, row);
        r->samples[i] = blocks_samples(b, row);
        r->domain[i] = b->domain[row];
        r->source[i] = b->source[row];
        r->born[i] = b->born[row];
        r->promoted[i] = since(b->born[row], b->promoted[row]);
        r->died[i] = since(b->born[row], b->died[row]);
    }
}

bool index_put_blocks(index_stream *s, const profile *p, size_t part) {
    const block_table *b = &p->table;
    const size_t end = parallel_begin(b->count, INDEX_BLOCK_PARTS, part + 1);
    size_t at = parallel_begin(b->count, INDEX_BLOCK_PARTS, part);
    rows *r = malloc(sizeof *r);
    if (!r)
        return false;
    index_put(s, end - at);
    for (; at < end; at += INDEX_CHUNK) {
        const size_t n = chunk_at(at, end);
        pack_rows(b, at, n, r);
#define PUT_COLUMN(type, name) index_put_column(s, r->name, n);
        BLOCKS_COLUMNS(PUT_COLUMN)
#undef PUT_COLUMN
    }
    free(r);
    return true;
}

/* A row of which a number does not fit into its column. */
typedef struct large_row {
    size_t row;
    uint64_t length, samples;
} large_row;

/* What is read of the table in one go. */
typedef struct block_part {
    index_stream s;
    index_status status;
    size_t next, end; /* rows of the table */
    uint64_t left;    /* samples of the trace that were not met in this part yet */
    VEC(large_row) large;
    rows *rows;
} block_part;

static bool make_columns(block_table *b, size_t count) {
#define MAKE_COLUMN(type, name)                                                                    \
    b->name = malloc((count ? count : 1) * sizeof *b->name);                                       \
    if (!b->name)                                                                                  \
        return false;
    BLOCKS_COLUMNS(MAKE_COLUMN)
#undef MAKE_COLUMN
    b->capacity = count;
    return true;
}

/* What a query takes for granted, of a whole chunk. `left` is how many samples of the trace were
 * not seen in rows yet. */
static bool check_rows(const profile *p, const rows *r, size_t n, uint64_t *left) {
    const uint64_t n_nodes = cct_count(&p->tree), end = p->duration;
    uint64_t bad = 0;
    for (size_t i = 0; i < n; i++)
        bad |= (uint64_t)(r->node[i] >= n_nodes) | (r->source[i] >= CCT_SOURCES) |
               (r->domain[i] > UINT16_MAX) | (r->samples[i] == 0);
    for (size_t i = 0; i < n; i++)
        bad |= (uint64_t)(r->born[i] > end) |
               ((r->promoted[i] > 0) & (r->promoted[i] - 1 > end - r->born[i])) |
               ((r->died[i] > 0) & (r->died[i] - 1 > end - r->born[i]));
    for (size_t i = 0; i < n; i++) {
        bad |= r->samples[i] > *left;
        *left -= r->samples[i];
    }
    return bad == 0;
}

/* Returns false when there is no memory. */
static bool unpack_rows(block_table *b, size_t at, size_t n, block_part *part) {
    const rows *r = part->rows;
    uint64_t large = 0;
    for (size_t i = 0; i < n; i++) {
        b->node[at + i] = (uint32_t)r->node[i];
        b->length[at + i] = (uint32_t)r->length[i];
        b->samples[at + i] = (uint16_t)r->samples[i];
        large |= (uint64_t)(r->length[i] >= BLOCKS_LARGE) | (r->samples[i] >= BLOCKS_MANY);
    }
    for (size_t i = 0; i < n; i++) {
        b->domain[at + i] = (uint16_t)r->domain[i];
        b->source[at + i] = (uint8_t)r->source[i];
    }
    for (size_t i = 0; i < n; i++) {
        const uint64_t born = r->born[i];
        b->born[at + i] = born;
        b->promoted[at + i] = r->promoted[i] ? born + r->promoted[i] - 1 : BLOCKS_NEVER;
        b->died[at + i] = r->died[i] ? born + r->died[i] - 1 : BLOCKS_NEVER;
    }
    for (size_t i = 0; large && i < n; i++)
        if ((r->length[i] >= BLOCKS_LARGE || r->samples[i] >= BLOCKS_MANY) &&
            !vec_push(&part->large, ((large_row){at + i, r->length[i], r->samples[i]})))
            return false;
    return true;
}

static index_status get_chunk(block_part *part, profile *p, size_t n) {
    rows *r = part->rows;
#define GET_COLUMN(type, name) index_get_column(&part->s, r->name, n);
    BLOCKS_COLUMNS(GET_COLUMN)
#undef GET_COLUMN
    if (part->s.failed || !check_rows(p, r, n, &part->left))
        return INDEX_DAMAGED;
    const size_t at = part->next;
    part->next += n;
    return unpack_rows(&p->table, at, n, part) ? INDEX_OK : INDEX_NOMEM;
}

/* Finds out how many rows there are. There can be as many as what follows has room for: memory does
 * not follow a number alone. */
static void open_part(block_part *part, int fd, const index_section *section) {
    part->rows = malloc(sizeof *part->rows);
    if (!index_stream_open(&part->s, fd) || !part->rows) {
        part->status = INDEX_NOMEM;
        return;
    }
    index_enter(&part->s, section);
    const uint64_t n = index_get(&part->s);
    if (part->s.failed || n > MOST_ROWS ||
        n > index_most_in(index_words_left(&part->s)) / COLUMNS + INDEX_CHUNK)
        part->status = INDEX_DAMAGED;
    else
        part->end = n;
}

/* Makes the columns, and gives each part its rows in them. */
static index_status lay_out(block_part *parts, profile *p) {
    size_t count = 0;
    for (size_t i = 0; i < INDEX_BLOCK_PARTS; i++) {
        if (parts[i].status != INDEX_OK)
            return parts[i].status;
        parts[i].next = count;
        parts[i].end += count;
        parts[i].left = cct_sum(p->samples);
        count = parts[i].end;
    }
    if (count > MOST_ROWS)
        return INDEX_DAMAGED;
    return make_columns(&p->table, count) ? INDEX_OK : INDEX_NOMEM;
}

typedef struct part_reading {
    profile *profile;
    block_part *parts;
    size_t threads;
} part_reading;

static void read_parts(void *context, size_t thread) {
    const part_reading *in = context;
    for (size_t i = thread; i < INDEX_BLOCK_PARTS; i += in->threads) {
        block_part *part = &in->parts[i];
        while (part->status == INDEX_OK && part->next < part->end)
            part->status = get_chunk(part, in->profile, chunk_at(part->next, part->end));
        if (part->status == INDEX_OK && !index_leave(&part->s))
            part->status = INDEX_DAMAGED;
    }
}

static bool add_large(block_table *b, const large_row *r) {
    uint32_t *at = map64_put(&b->by_row, r->row);
    b->length[r->row] = BLOCKS_LARGE;
    b->samples[r->row] = BLOCKS_MANY;
    if (!at)
        return false;
    *at = (uint32_t)b->large.count;
    return vec_push(&b->large, ((blocks_large){.length = r->length, .samples = r->samples}));
}

/* What is true of the parts must be so of the whole. */
static index_status join_parts(block_part *parts, profile *p) {
    const uint64_t all = cct_sum(p->samples);
    uint64_t left = all;
    for (size_t i = 0; i < INDEX_BLOCK_PARTS; i++) {
        const block_part *part = &parts[i];
        if (part->status != INDEX_OK)
            return part->status;
        if (all - part->left > left)
            return INDEX_DAMAGED;
        left -= all - part->left;
        for (size_t j = 0; j < part->large.count; j++)
            if (!add_large(&p->table, &part->large.items[j]))
                return INDEX_NOMEM;
        p->table.count = part->end;
    }
    return INDEX_OK;
}

index_status index_get_blocks(int fd, const index_section *sections, profile *p) {
    block_part parts[INDEX_BLOCK_PARTS] = {0};
    for (size_t i = 0; i < INDEX_BLOCK_PARTS; i++)
        open_part(&parts[i], fd, &sections[i]);
    index_status status = lay_out(parts, p);
    if (status == INDEX_OK) {
        part_reading in = {.profile = p,
                           .parts = parts,
                           .threads = parallel_parts(parts[INDEX_BLOCK_PARTS - 1].end)};
        parallel_run(in.threads, read_parts, &in);
        status = join_parts(parts, p);
    }
    for (size_t i = 0; i < INDEX_BLOCK_PARTS; i++) {
        index_stream_close(&parts[i].s);
        vec_free(&parts[i].large);
        free(parts[i].rows);
    }
    return status;
}

/* ---- the order --------------------------------------------------------------------------- */

bool index_put_order(index_stream *s, const profile *p) {
    const block_table *b = &p->table;
    index_put(s, b->order.count);
    for (size_t at = 0; at < b->order.count; at += INDEX_CHUNK)
        index_put_column(s, b->order.items + at, chunk_at(at, b->order.count));
    return true;
}

/* Nothing happens to a block that is not there, or twice. */
static bool check_event(const block_table *b, uint64_t event, uint8_t *met) {
    const uint64_t row = event >> 2;
    const unsigned kind = event & 3;
    if (row >= b->count || kind > BLOCKS_DIED || met[row] >> kind & 1)
        return false;
    met[row] |= (uint8_t)(1 << kind);
    return !(kind == BLOCKS_PROMOTED && b->promoted[row] == BLOCKS_NEVER) &&
           !(kind == BLOCKS_DIED && b->died[row] == BLOCKS_NEVER);
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
        bool ok = !s->failed;
        for (size_t i = 0; ok && i < n; i++)
            ok = check_event(b, events[i], met);
        b->order.count += n;
        status = ok ? INDEX_OK : INDEX_DAMAGED;
    }
    free(met);
    return status;
}
