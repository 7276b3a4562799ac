/* import_jemalloc.c: reads heap dumps of jemalloc, heap_v2, which are text. Counts are of sampled
 * blocks, each of which stands for as many blocks as its sampling probability implies. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "import/import.h"

typedef struct jemalloc_map {
    uint64_t start, end, offset;
    const char *file;
} jemalloc_map;

typedef struct line {
    const char *text, *end; /* without the newline */
} line;

typedef struct dump {
    import *to;
    import_error *error;
    const char *start, *at, *end;
    VEC(jemalloc_map) maps;
    VEC(uint64_t) addresses; /* address of each place, by its index */
    bool has_total;          /* the dump has counts of all blocks, not only of live ones */
} dump;

static size_t offset_of(const dump *d, const line *l) {
    return (size_t)(l->text - d->start);
}

static bool next_line(dump *d, line *l) {
    if (d->at >= d->end)
        return false;
    const char *newline = memchr(d->at, '\n', (size_t)(d->end - d->at));
    *l = (line){.text = d->at, .end = newline ? newline : d->end};
    d->at = newline ? newline + 1 : d->end;
    return true;
}

static bool skip(line *l, const char *text) {
    const size_t size = strlen(text);
    if ((size_t)(l->end - l->text) < size || memcmp(l->text, text, size) != 0)
        return false;
    l->text += size;
    return true;
}

static void skip_blanks(line *l) {
    while (l->text < l->end && (*l->text == ' ' || *l->text == '\t'))
        l->text++;
}

/* Reads a number in base 10 or 16. Returns false if there is none or it is too large. */
static bool get_number(line *l, unsigned base, uint64_t *value) {
    const char *first = l->text;
    *value = 0;
    for (; l->text < l->end; l->text++) {
        const char c = *l->text;
        const unsigned digit = c >= '0' && c <= '9'                 ? (unsigned)(c - '0')
                               : base == 16 && c >= 'a' && c <= 'f' ? (unsigned)(c - 'a' + 10)
                                                                    : base;
        if (digit >= base)
            break;
        if (__builtin_mul_overflow(*value, base, value) ||
            __builtin_add_overflow(*value, digit, value))
            return false;
    }
    return l->text > first;
}

/* Reads `13: 6688 [0: 0]`. */
static bool get_counts(line *l, uint64_t counts[4]) {
    static const char *const before[] = {"", ": ", " [", ": "};
    for (int i = 0; i < 4; i++)
        if (!skip(l, before[i]) || !get_number(l, 10, &counts[i]))
            return false;
    return skip(l, "]");
}

/* ---- maps ---------------------------------------------------------------------------------- */

/* Reads `55e0f0a5c000-55e0f0a85000 r-xp 00002000 08:01 131 /usr/bin/program`. */
static bool read_map(dump *d, line l) {
    jemalloc_map map = {0};
    if (!get_number(&l, 16, &map.start) || !skip(&l, "-") || !get_number(&l, 16, &map.end) ||
        !skip(&l, " ") || l.end - l.text < 5)
        return false;
    l.text += 5;
    if (!get_number(&l, 16, &map.offset))
        return false;
    const char *slash = memchr(l.text, '/', (size_t)(l.end - l.text));
    map.file = slash ? import_text(d->to, slash, (size_t)(l.end - slash)) : "";
    d->to->no_memory |= !vec_push(&d->maps, map);
    if (slash && !d->to->program)
        d->to->program = map.file;
    return true;
}

static void read_maps(dump *d) {
    line l;
    const char *before = d->at;
    while (next_line(d, &l))
        if (skip(&l, "MAPPED_LIBRARIES:"))
            while (next_line(d, &l) && read_map(d, l))
                ;
    d->at = before;
}

/* ---- stacks -------------------------------------------------------------------------------- */

static int compare_addresses(const void *a, const void *b) {
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* Collects and sorts all addresses first, so that each becomes one place. */
static bool collect_addresses(dump *d) {
    line l;
    const char *before = d->at;
    while (next_line(d, &l) && !skip(&l, "MAPPED_LIBRARIES:"))
        if (skip(&l, "@"))
            for (uint64_t address; skip_blanks(&l), skip(&l, "0x");) {
                if (!get_number(&l, 16, &address))
                    return import_fail(d->error, offset_of(d, &l), "an address is none");
                if (!vec_push(&d->addresses, address)) {
                    d->to->no_memory = true;
                    return false;
                }
            }
    d->at = before;
    if (d->addresses.count > 1)
        qsort(d->addresses.items, d->addresses.count, sizeof *d->addresses.items,
              compare_addresses);
    size_t n = 0;
    for (size_t i = 0; i < d->addresses.count; i++)
        if (n == 0 || d->addresses.items[i] != d->addresses.items[n - 1])
            d->addresses.items[n++] = d->addresses.items[i];
    d->addresses.count = n;
    return true;
}

static void add_place(dump *d, uint64_t address) {
    const jemalloc_map none = {.file = ""}, *found = &none;
    for (size_t i = 0; i < d->maps.count; i++)
        if (address > d->maps.items[i].start && address <= d->maps.items[i].end)
            found = &d->maps.items[i];
    import_add_place(d->to);
    import_add_address(d->to, found->file, "", address, found->start, found->offset);
}

/* Whether a frame is jemalloc's: the innermost ones are, because jemalloc captured the stack. */
static bool is_own(const dump *d, size_t place) {
    const import_place *p = &d->to->places.items[place];
    return p->n > 0 && strncmp(d->to->locations.items[p->first].function, "libjemalloc", 11) == 0;
}

static bool take_stack(dump *d, line l) {
    const size_t first = d->to->frames.count;
    for (uint64_t address; skip_blanks(&l), skip(&l, "0x");) {
        if (!get_number(&l, 16, &address))
            return import_fail(d->error, offset_of(d, &l), "an address is none");
        const uint64_t *found = bsearch(&address, d->addresses.items, d->addresses.count,
                                        sizeof address, compare_addresses);
        if (d->to->frames.count == first && found &&
            is_own(d, (size_t)(found - d->addresses.items)))
            continue;
        d->to->no_memory |=
            !found || !vec_push(&d->to->frames, (uint32_t)(found - d->addresses.items));
    }
    return l.text == l.end ||
           import_fail(d->error, offset_of(d, &l), "a stack has something that is no address");
}

/* Returns how many blocks a sampled block of the mean size stands for. */
static double weight_of(const dump *d, uint64_t blocks, uint64_t bytes) {
    const double mean = blocks ? (double)bytes / (double)blocks : 0;
    return d->to->period > 0 && mean > 0 ? -1 / expm1(-mean / d->to->period) : 1;
}

static void take_counts(dump *d, size_t first, const uint64_t counts[4]) {
    const double live = weight_of(d, counts[0], counts[1]);
    const double all = weight_of(d, counts[2], counts[3]);
    import_add_record(d->to,
                      (import_record){.first = first,
                                      .live = (uint64_t)llround((double)counts[0] * live),
                                      .live_bytes = (uint64_t)llround((double)counts[1] * live),
                                      .blocks = (uint64_t)llround((double)counts[2] * all),
                                      .bytes = (uint64_t)llround((double)counts[3] * all)});
    d->has_total |= counts[2] > 0;
}

static bool is_possible(const uint64_t counts[4]) {
    for (int i = 0; i < 4; i++)
        if (counts[i] > (uint64_t)1 << 56)
            return false;
    return true;
}

/* Reads the stacks. Of the lines below a stack, only the one for all threads is used. */
static bool read_stacks(dump *d) {
    line l;
    bool is_stack = false;
    size_t first = 0;
    uint64_t counts[4];
    while (!d->to->no_memory && next_line(d, &l)) {
        const size_t offset = offset_of(d, &l);
        if (skip(&l, "MAPPED_LIBRARIES:"))
            break;
        if (skip(&l, "@")) {
            first = d->to->frames.count;
            is_stack = true;
            if (!take_stack(d, l))
                return false;
        } else if (skip_blanks(&l), skip(&l, "t*: ")) {
            if (!get_counts(&l, counts) || !is_possible(counts))
                return import_fail(d->error, offset, "a line of counts is not `t*: N: N [N: N]`");
            if (is_stack)
                take_counts(d, first, counts);
            is_stack = false;
        }
    }
    return true;
}

static bool read_dump(dump *d) {
    line l;
    uint64_t period;
    if (!next_line(d, &l) || !skip(&l, "heap_v2/") || !get_number(&l, 10, &period) ||
        l.text != l.end)
        return import_fail(d->error, 0, "it does not begin with `heap_v2/` and a number");
    d->to->period = period > 1 ? (double)period : 0;
    read_maps(d);
    if (!collect_addresses(d))
        return false;
    for (size_t i = 0; i < d->addresses.count; i++)
        add_place(d, d->addresses.items[i]);
    if (!read_stacks(d))
        return false;
    d->to->missing = d->has_total ? "times" : "times and no freed blocks";
    return !d->to->no_memory;
}

bool import_jemalloc(import *to, const uint8_t *bytes, size_t size, import_error *error) {
    dump d = {.to = to,
              .error = error,
              .start = (const char *)bytes,
              .at = (const char *)bytes,
              .end = (const char *)bytes + size};
    to->format = "a heap dump of jemalloc";
    const bool good = read_dump(&d);
    vec_free(&d.maps);
    vec_free(&d.addresses);
    return good;
}
