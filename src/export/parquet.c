/* parquet.c: rows are kept by column until a group is full. Then each column chooses the encoding
 * that takes the fewest bytes, and its page is written after its dictionary. The footer, which has
 * the offsets of all pages, comes last. */
#include "export/parquet.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "base/hash.h"
#include "base/map64.h"
#include "base/vec.h"
#include "export/parquet_encode.h"
#include "export/thrift.h"

#define MAGIC "PAR1"

enum {
    LEVEL = 3,               /* compression level of zstd */
    LONG_TEXT = 64,          /* bytes: longer texts are not used as limits in statistics */
    MOST_DISTINCT = 1 << 16, /* most values in a dictionary */
};

/* Constants of the format. */
enum { TYPE_I32 = 1, TYPE_I64 = 2, TYPE_DOUBLE = 5, TYPE_BYTES = 6 };
enum { CONVERTED_UTF8 = 0, CONVERTED_MICROS = 10 };
enum { PLAIN = 0, RUNS = 3, DELTAS = 5, LENGTHS = 6, DICTIONARY = 8 };
enum { PAGE_DATA = 0, PAGE_DICTIONARY = 2 };
enum { CODEC_ZSTD = 6 };

/* What the footer says about one column of a group. */
typedef struct chunk {
    uint64_t at, dictionary_at; /* offsets, bytes; dictionary_at 0: no dictionary */
    uint64_t size, compressed;  /* of its pages with their headers, bytes */
    uint64_t nulls, n;          /* number of nulls, and of values including nulls */
    unsigned encoding;
    bool has_limits;
    /* Smallest and largest value, encoded like PLAIN without length; malloc'd. */
    parquet_bytes low, high;
} chunk;

typedef struct group {
    uint64_t rows;
    chunk *chunks; /* by column */
} group;

/* A column of the group being filled. Integers and doubles are stored as bits, texts as indices
 * into `texts`. */
typedef struct filling {
    VEC(uint64_t) values;  /* without nulls */
    VEC(uint32_t) present; /* one per row, 0 or 1; only in optional columns */
    VEC(parquet_bytes) texts;
    map64 by_hash; /* from the hash of a text to its index */
} filling;

struct parquet {
    output *o;
    const parquet_column *columns;
    size_t n_columns;
    filling *fillings;
    VEC(group) groups;
    uint64_t at, rows, n_rows; /* bytes written; rows in this group; rows in earlier groups */
    output text;               /* the text being added */
    ZSTD_CCtx *zstd;
    bool no_memory;
};

/* ---- filling ----------------------------------------------------------------------------- */

static void note(parquet *p, bool ok) {
    p->no_memory |= !ok;
}

static void put(parquet *p, size_t column, uint64_t bits) {
    filling *f = &p->fillings[column];
    note(p, vec_push(&f->values, bits));
    if (p->columns[column].optional)
        note(p, vec_push(&f->present, 1));
}

void parquet_null(parquet *p, size_t column) {
    note(p, vec_push(&p->fillings[column].present, 0));
}

void parquet_int(parquet *p, size_t column, int64_t value) {
    put(p, column, (uint64_t)value);
}

void parquet_double(parquet *p, size_t column, double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    put(p, column, bits);
}

static char *copy_bytes(const void *bytes, size_t size) {
    char *copy = malloc(size + 1);
    if (copy)
        memcpy(copy, bytes, size);
    return copy;
}

/* Adds a text that is new, or whose hash belongs to another one. */
static uint32_t add_text(parquet *p, filling *f) {
    const parquet_bytes copy = {.bytes = copy_bytes(p->text.buffer, p->text.used),
                                .size = p->text.used};
    note(p, copy.bytes && vec_push(&f->texts, copy));
    if (p->no_memory)
        free((char *)(uintptr_t)copy.bytes);
    return (uint32_t)f->texts.count - 1;
}

/* Returns the index of the text in `p->text`. */
static uint32_t number_of_text(parquet *p, filling *f) {
    const output *in = &p->text;
    uint32_t *known = map64_put(&f->by_hash, hash_bytes(in->buffer, in->used));
    note(p, known && !in->error);
    if (p->no_memory)
        return 0;
    if (*known == MAP64_NONE)
        return *known = add_text(p, f);
    const parquet_bytes *other = &f->texts.items[*known];
    if (other->size == in->used && memcmp(other->bytes, in->buffer, in->used) == 0)
        return *known;
    return add_text(p, f);
}

void parquet_text(parquet *p, size_t column, const char *value) {
    if (!value) {
        parquet_null(p, column);
        return;
    }
    p->text.used = 0;
    output_utf8(&p->text, value);
    put(p, column, number_of_text(p, &p->fillings[column]));
}

static void free_texts(filling *f) {
    for (size_t i = 0; i < f->texts.count; i++)
        free((char *)(uintptr_t)f->texts.items[i].bytes);
    vec_clear(&f->texts);
    map64_free(&f->by_hash);
    f->by_hash = (map64){0};
}

static void empty(filling *f) {
    vec_clear(&f->values);
    vec_clear(&f->present);
    free_texts(f);
}

/* ---- statistics -------------------------------------------------------------------------- */

/* Compares in the order in which Parquet sorts texts, which is memcmp's. */
static int compare_texts(const parquet_bytes *a, const parquet_bytes *b) {
    const size_t n = a->size < b->size ? a->size : b->size;
    const int order = memcmp(a->bytes, b->bytes, n);
    return order ? order : (a->size > b->size) - (a->size < b->size);
}

static double double_of(uint64_t bits) {
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static bool is_less(const filling *f, parquet_kind kind, uint64_t a, uint64_t b) {
    if (kind == PARQUET_TEXT)
        return compare_texts(&f->texts.items[a], &f->texts.items[b]) < 0;
    return kind == PARQUET_DOUBLE ? double_of(a) < double_of(b) : (int64_t)a < (int64_t)b;
}

static size_t size_of(parquet_kind kind) {
    return kind == PARQUET_I32 ? 4 : 8;
}

static bool copy_limit(const filling *f, parquet_kind kind, uint64_t value, parquet_bytes *limit) {
    const parquet_bytes own = {.bytes = (const char *)&value, .size = size_of(kind)};
    const parquet_bytes *from = kind == PARQUET_TEXT ? &f->texts.items[value] : &own;
    *limit = (parquet_bytes){.bytes = copy_bytes(from->bytes, from->size), .size = from->size};
    return limit->bytes;
}

static bool find_limits(const filling *f, parquet_kind kind, chunk *c) {
    const uint64_t *values = f->values.items;
    size_t low = 0, high = 0;
    for (size_t i = 1; i < f->values.count; i++) {
        low = is_less(f, kind, values[i], values[low]) ? i : low;
        high = is_less(f, kind, values[high], values[i]) ? i : high;
    }
    if (!f->values.count ||
        (kind == PARQUET_TEXT && (f->texts.items[values[low]].size > LONG_TEXT ||
                                  f->texts.items[values[high]].size > LONG_TEXT)))
        return true;
    c->has_limits = true;
    return copy_limit(f, kind, values[low], &c->low) && copy_limit(f, kind, values[high], &c->high);
}

/* ---- pages ------------------------------------------------------------------------------- */

static void put_data_header(thrift *t, uint64_t n, unsigned encoding) {
    thrift header = thrift_inner(t, 5);
    thrift_i32(&header, 1, (int64_t)n);
    thrift_i32(&header, 2, encoding);
    thrift_i32(&header, 3, RUNS);
    thrift_i32(&header, 4, RUNS);
    thrift_end(&header);
}

static void put_dictionary_header(thrift *t, uint64_t n) {
    thrift header = thrift_inner(t, 7);
    thrift_i32(&header, 1, (int64_t)n);
    thrift_i32(&header, 2, PLAIN);
    thrift_end(&header);
}

static size_t put_page_header(output *o, int type, uint64_t n, unsigned encoding, size_t size,
                              size_t compressed) {
    const size_t before = o->used;
    thrift t = thrift_struct(o);
    thrift_i32(&t, 1, type);
    thrift_i32(&t, 2, (int64_t)size);
    thrift_i32(&t, 3, (int64_t)compressed);
    if (type == PAGE_DATA)
        put_data_header(&t, n, encoding);
    else
        put_dictionary_header(&t, n);
    thrift_end(&t);
    return o->used - before;
}

static void write_bytes(parquet *p, const char *bytes, size_t size) {
    output_bytes(p->o, bytes, size);
    p->at += size;
}

static void write_page(parquet *p, chunk *c, int type, uint64_t n, const output *page) {
    const size_t most = ZSTD_compressBound(page->used);
    char *packed = malloc(most);
    const size_t size = packed && p->zstd ? ZSTD_compressCCtx(p->zstd, packed, most, page->buffer,
                                                              page->used, LEVEL)
                                          : 0;
    output header;
    output_start(&header, OUTPUT_MEMORY);
    note(p, packed && p->zstd && !ZSTD_isError(size) && !page->error);
    const size_t head = put_page_header(&header, type, n, c->encoding, page->used, size);
    note(p, !header.error);
    if (!p->no_memory) {
        write_bytes(p, header.buffer, head);
        write_bytes(p, packed, size);
    }
    c->size += head + page->used;
    c->compressed += head + size;
    output_finish(&header);
    free(packed);
}

/* ---- dictionaries ------------------------------------------------------------------------ */

/* Distinct values in order of first occurrence, and for each value the number of its entry. */
typedef struct dictionary {
    VEC(uint64_t) values;
    uint32_t *numbers;
} dictionary;

/* Collects the distinct values. Equal texts already have equal indices. */
static bool count_distinct(const filling *f, dictionary *d) {
    map64 known = {0};
    bool ok = (d->numbers = malloc((f->values.count + 1) * sizeof *d->numbers));
    for (size_t i = 0; ok && i < f->values.count && d->values.count <= MOST_DISTINCT; i++) {
        uint32_t n;
        ok = map64_number(&known, f->values.items[i], &n);
        if (ok && n == d->values.count)
            ok = vec_push(&d->values, f->values.items[i]);
        d->numbers[i] = n;
    }
    map64_free(&known);
    return ok;
}

static void free_dictionary(dictionary *d) {
    vec_free(&d->values);
    free(d->numbers);
}

/* Returns the bits per number. Not all readers accept a width of 0. */
static unsigned width_of(const dictionary *d) {
    return d->values.count > 1 ? parquet_width(d->values.count - 1) : 1;
}

/* Returns the size of the numbers in bytes, if no two adjacent ones are equal; runs cost
 * nothing. */
static size_t numbers_size(const dictionary *d, size_t n) {
    return d->values.count > 1 ? n * width_of(d) / 8 : 0;
}

static parquet_bytes *texts_of(const filling *f, const uint64_t *values, size_t n) {
    parquet_bytes *texts = malloc((n + 1) * sizeof *texts);
    for (size_t i = 0; texts && i < n; i++)
        texts[i] = f->texts.items[values[i]];
    return texts;
}

static void put_dictionary(parquet *p, const filling *f, parquet_kind kind, const dictionary *d,
                           output *page) {
    if (kind != PARQUET_TEXT) {
        parquet_encode_plain(page, d->values.items, d->values.count, size_of(kind));
        return;
    }
    parquet_bytes *texts = texts_of(f, d->values.items, d->values.count);
    note(p, texts);
    if (texts)
        parquet_encode_texts(page, texts, d->values.count);
    free(texts);
}

static void write_dictionary(parquet *p, const filling *f, parquet_kind kind, const dictionary *d,
                             chunk *c) {
    output page;
    output_start(&page, OUTPUT_MEMORY);
    put_dictionary(p, f, kind, d, &page);
    c->dictionary_at = p->at;
    write_page(p, c, PAGE_DICTIONARY, d->values.count, &page);
    output_finish(&page);
}

/* ---- columns ----------------------------------------------------------------------------- */

/* Writes which rows have a value, preceded by the size of that. */
static void put_presence(const parquet_column *column, const filling *f, output *page) {
    if (!column->optional)
        return;
    char *size = output_room(page, 4);
    if (!size)
        return;
    const size_t begin = page->used += 4;
    parquet_encode_runs(page, f->present.items, f->present.count, 1);
    const uint64_t bytes = page->used - begin;
    for (size_t i = 0; !page->error && i < 4; i++)
        page->buffer[begin - 4 + i] = (char)(bytes >> 8 * i);
}

static bool put_lengths(const filling *f, output *page) {
    parquet_bytes *texts = texts_of(f, f->values.items, f->values.count);
    const bool ok = texts && parquet_encode_lengths(page, texts, f->values.count);
    free(texts);
    return ok;
}

/* Writes the values without a dictionary. Not all readers accept an empty DELTA encoding. */
static unsigned put_values(parquet *p, const filling *f, parquet_kind kind, output *page) {
    if (f->values.count == 0)
        return PLAIN;
    if (kind == PARQUET_TEXT)
        note(p, put_lengths(f, page));
    else if (kind == PARQUET_DOUBLE)
        parquet_encode_plain(page, f->values.items, f->values.count, size_of(kind));
    else
        parquet_encode_deltas(page, f->values.items, f->values.count);
    return kind == PARQUET_TEXT ? LENGTHS : kind == PARQUET_DOUBLE ? PLAIN : DELTAS;
}

static size_t sum_of_texts(const filling *f, const uint64_t *values, size_t n) {
    size_t sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += f->texts.items[values[i]].size + 4;
    return sum;
}

/* Whether a dictionary takes fewer bytes than `without`. */
static bool pays(const filling *f, parquet_kind kind, const dictionary *d, size_t without) {
    const size_t n = d->values.count;
    if (n > MOST_DISTINCT || f->values.count == 0)
        return false;
    const size_t own =
        kind == PARQUET_TEXT ? sum_of_texts(f, d->values.items, n) : n * size_of(kind);
    return own + numbers_size(d, f->values.count) < without;
}

static void put_numbers(const filling *f, const dictionary *d, output *page) {
    output_char(page, (char)width_of(d));
    parquet_encode_runs(page, d->numbers, f->values.count, width_of(d));
}

static void write_values(parquet *p, size_t column, const dictionary *d, chunk *c) {
    const filling *f = &p->fillings[column];
    const parquet_kind kind = p->columns[column].kind;
    output page;
    output_start(&page, OUTPUT_MEMORY);
    put_presence(&p->columns[column], f, &page);
    const size_t begin = page.used;
    c->encoding = put_values(p, f, kind, &page);
    if (pays(f, kind, d, page.used - begin)) {
        c->encoding = DICTIONARY;
        page.used = begin;
        put_numbers(f, d, &page);
        write_dictionary(p, f, kind, d, c);
    }
    c->at = p->at;
    write_page(p, c, PAGE_DATA, p->rows, &page);
    output_finish(&page);
}

static void write_chunk(parquet *p, size_t column, chunk *c) {
    const filling *f = &p->fillings[column];
    dictionary d = {0};
    c->n = p->rows;
    c->nulls = p->rows - f->values.count;
    note(p, find_limits(f, p->columns[column].kind, c) && count_distinct(f, &d));
    if (!p->no_memory)
        write_values(p, column, &d, c);
    free_dictionary(&d);
}

static void write_group(parquet *p) {
    group g = {.rows = p->rows, .chunks = calloc(p->n_columns, sizeof *g.chunks)};
    note(p, g.chunks && vec_push(&p->groups, g));
    for (size_t i = 0; !p->no_memory && i < p->n_columns; i++)
        write_chunk(p, i, &g.chunks[i]);
    for (size_t i = 0; i < p->n_columns; i++)
        empty(&p->fillings[i]);
    if (g.chunks &&
        (p->groups.count == 0 || p->groups.items[p->groups.count - 1].chunks != g.chunks))
        free(g.chunks);
    p->n_rows += p->rows;
    p->rows = 0;
}

bool parquet_row(parquet *p) {
    if (++p->rows == PARQUET_GROUP)
        write_group(p);
    return !p->no_memory && !p->o->error;
}

/* ---- the footer -------------------------------------------------------------------------- */

static int type_of(parquet_kind kind) {
    return kind == PARQUET_I32      ? TYPE_I32
           : kind == PARQUET_DOUBLE ? TYPE_DOUBLE
           : kind == PARQUET_TEXT   ? TYPE_BYTES
                                    : TYPE_I64;
}

static void put_time_type(thrift *t) {
    thrift logical = thrift_inner(t, 10), time = thrift_inner(&logical, 8);
    thrift_bool(&time, 1, true);
    thrift unit = thrift_inner(&time, 2);
    thrift_empty(&unit, 2);
    thrift_end(&unit);
    thrift_end(&time);
    thrift_end(&logical);
}

static void put_text_type(thrift *t) {
    thrift logical = thrift_inner(t, 10);
    thrift_empty(&logical, 1);
    thrift_end(&logical);
}

static void put_column(output *o, const parquet_column *column) {
    thrift t = thrift_struct(o);
    thrift_i32(&t, 1, type_of(column->kind));
    thrift_i32(&t, 3, column->optional);
    thrift_text(&t, 4, column->name);
    if (column->kind == PARQUET_TIME || column->kind == PARQUET_TEXT)
        thrift_i32(&t, 6, column->kind == PARQUET_TIME ? CONVERTED_MICROS : CONVERTED_UTF8);
    if (column->kind == PARQUET_TIME)
        put_time_type(&t);
    else if (column->kind == PARQUET_TEXT)
        put_text_type(&t);
    thrift_end(&t);
}

static void put_schema(const parquet *p, thrift *t) {
    thrift_list(t, 2, THRIFT_STRUCT, p->n_columns + 1);
    thrift root = thrift_struct(t->o);
    thrift_text(&root, 4, "schema");
    thrift_i32(&root, 5, (int64_t)p->n_columns);
    thrift_end(&root);
    for (size_t i = 0; i < p->n_columns; i++)
        put_column(t->o, &p->columns[i]);
}

static void put_statistics(const chunk *c, thrift *t) {
    thrift s = thrift_inner(t, 12);
    thrift_i64(&s, 3, (int64_t)c->nulls);
    if (c->has_limits) {
        thrift_binary(&s, 5, c->high.bytes, c->high.size);
        thrift_binary(&s, 6, c->low.bytes, c->low.size);
    }
    thrift_end(&s);
}

/* Lists the encodings. Presence levels are runs, and dictionaries plain. */
static void put_encodings(const chunk *c, thrift *t) {
    thrift_list(t, 2, THRIFT_I32, c->dictionary_at ? 3 : 2);
    thrift_item_i32(t, c->encoding);
    thrift_item_i32(t, RUNS);
    if (c->dictionary_at)
        thrift_item_i32(t, PLAIN);
}

static void put_chunk_data(const parquet_column *column, const chunk *c, thrift *t) {
    thrift data = thrift_inner(t, 3);
    thrift_i32(&data, 1, type_of(column->kind));
    put_encodings(c, &data);
    thrift_list(&data, 3, THRIFT_BINARY, 1);
    thrift_item_text(&data, column->name);
    thrift_i32(&data, 4, CODEC_ZSTD);
    thrift_i64(&data, 5, (int64_t)c->n);
    thrift_i64(&data, 6, (int64_t)c->size);
    thrift_i64(&data, 7, (int64_t)c->compressed);
    thrift_i64(&data, 9, (int64_t)c->at);
    if (c->dictionary_at)
        thrift_i64(&data, 11, (int64_t)c->dictionary_at);
    put_statistics(c, &data);
    thrift_end(&data);
}

static uint64_t begin_of(const chunk *c) {
    return c->dictionary_at ? c->dictionary_at : c->at;
}

static void put_chunk(output *o, const parquet_column *column, const chunk *c) {
    thrift t = thrift_struct(o);
    thrift_i64(&t, 2, (int64_t)begin_of(c));
    put_chunk_data(column, c, &t);
    thrift_end(&t);
}

static void put_group(const parquet *p, output *o, size_t number) {
    const group *g = &p->groups.items[number];
    uint64_t size = 0, compressed = 0;
    thrift t = thrift_struct(o);
    thrift_list(&t, 1, THRIFT_STRUCT, p->n_columns);
    for (size_t i = 0; i < p->n_columns; i++) {
        put_chunk(o, &p->columns[i], &g->chunks[i]);
        size += g->chunks[i].size;
        compressed += g->chunks[i].compressed;
    }
    thrift_i64(&t, 2, (int64_t)size);
    thrift_i64(&t, 3, (int64_t)g->rows);
    thrift_i64(&t, 5, (int64_t)begin_of(&g->chunks[0]));
    thrift_i64(&t, 6, (int64_t)compressed);
    thrift_end(&t);
}

/* Declares the default order for each column. Without it, readers ignore the limits. */
static void put_orders(const parquet *p, thrift *t) {
    thrift_list(t, 7, THRIFT_STRUCT, p->n_columns);
    for (size_t i = 0; i < p->n_columns; i++) {
        thrift order = thrift_struct(t->o);
        thrift_empty(&order, 1);
        thrift_end(&order);
    }
}

static void put_footer(const parquet *p, output *o) {
    thrift t = thrift_struct(o);
    thrift_i32(&t, 1, 1);
    put_schema(p, &t);
    thrift_i64(&t, 3, (int64_t)p->n_rows);
    thrift_list(&t, 4, THRIFT_STRUCT, p->groups.count);
    for (size_t i = 0; i < p->groups.count; i++)
        put_group(p, o, i);
    thrift_text(&t, 6, "allotrace");
    put_orders(p, &t);
    thrift_end(&t);
}

static void write_footer(parquet *p) {
    output footer;
    output_start(&footer, OUTPUT_MEMORY);
    put_footer(p, &footer);
    const uint64_t size = footer.used;
    for (unsigned i = 0; i < 4; i++)
        output_char(&footer, (char)(size >> 8 * i));
    output_text(&footer, MAGIC);
    note(p, !footer.error);
    if (!p->no_memory)
        write_bytes(p, footer.buffer, footer.used);
    output_finish(&footer);
}

/* ---- the file ---------------------------------------------------------------------------- */

parquet *parquet_begin(output *o, const parquet_column *columns, size_t n_columns) {
    parquet *p = calloc(1, sizeof *p);
    if (!p)
        return NULL;
    *p = (parquet){.o = o, .columns = columns, .n_columns = n_columns, .zstd = ZSTD_createCCtx()};
    output_start(&p->text, OUTPUT_MEMORY);
    p->fillings = calloc(n_columns, sizeof *p->fillings);
    if (!p->fillings) {
        parquet_drop(p);
        return NULL;
    }
    write_bytes(p, MAGIC, strlen(MAGIC));
    return p;
}

bool parquet_end(parquet *p) {
    if (p->rows)
        write_group(p);
    if (!p->no_memory)
        write_footer(p);
    const bool ok = !p->no_memory && !p->o->error;
    parquet_drop(p);
    return ok;
}

static void free_group(group *g, size_t n) {
    for (size_t i = 0; i < n; i++) {
        free((char *)(uintptr_t)g->chunks[i].low.bytes);
        free((char *)(uintptr_t)g->chunks[i].high.bytes);
    }
    free(g->chunks);
}

static void free_filling(filling *f) {
    vec_free(&f->values);
    vec_free(&f->present);
    free_texts(f);
    vec_free(&f->texts);
}

void parquet_drop(parquet *p) {
    for (size_t i = 0; p->fillings && i < p->n_columns; i++)
        free_filling(&p->fillings[i]);
    for (size_t i = 0; i < p->groups.count; i++)
        free_group(&p->groups.items[i], p->n_columns);
    free(p->fillings);
    vec_free(&p->groups);
    output_finish(&p->text);
    ZSTD_freeCCtx(p->zstd);
    free(p);
}
