/* python_names.c: reads the names and lines of code objects. Equal names in a file share one entry
 * (runtimes/names.h), however often their code objects are made. */
#include "runtimes/python/python_names.h"

#include <string.h>

#include "base/hash.h"
#include "platform/pages.h"
#include "runtimes/names.h"

enum { MAX_PAIRS = 1 << PYTHON_PAIR_BITS, MAX_LINE = (1 << PYTHON_LINE_BITS) - 1 };

/* Offsets in any object, in PyBytes, and in PyASCIIObject, in bytes. */
enum { OBJECT_TYPE = 8, BYTES_SIZE = 16, BYTES_DATA = 32, TEXT_LENGTH = 16, TEXT_STATE = 32 };

_Atomic uint32_t python_names_epoch = 1;

/* A frame, and the type of the objects that it allocates. */
struct pair {
    uint64_t code; /* without a type */
    uint32_t type; /* the entry of its name */
};

static struct {
    struct pair *list; /* MAX_PAIRS, the first unused; NULL: not made yet */
    uint32_t *by_hash; /* 2 * MAX_PAIRS; 0: free */
    uint32_t n;
} pairs;

static _Atomic uint64_t known[1024]; /* one bit per hash of a code object's address */

static uintptr_t word_at(uintptr_t address) {
    return *(const uintptr_t *)address;
}

/* ---- Python strings --- */

/* Writes a character as UTF-8. Lone surrogates stand for bytes that are not text, and become
 * `?`. */
static size_t put_character(char *to, uint32_t c) {
    if (c >= 0xD800 && c < 0xE000)
        c = '?';
    if (c < 0x80)
        return to[0] = (char)c, 1;
    size_t n = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    for (size_t i = n - 1; i > 0; i--, c >>= 6)
        to[i] = (char)(0x80 | (c & 0x3F));
    to[0] = (char)((0xF00 >> n & 0xF0) | c);
    return n;
}

static uint32_t character_at(const void *data, unsigned kind, size_t i) {
    return kind == 1   ? ((const uint8_t *)data)[i]
           : kind == 2 ? ((const uint16_t *)data)[i]
                       : ((const uint32_t *)data)[i];
}

size_t python_names_text(const python_runtime *r, uintptr_t text, char *to, size_t room) {
    if (!text || word_at(text + OBJECT_TYPE) != (uintptr_t)r->text_type)
        return 0;
    const uint32_t state = *(const uint32_t *)(text + TEXT_STATE);
    const unsigned kind = state >> 2 & 7, is_compact = state >> 5 & 1, is_ascii = state >> 6 & 1;
    const size_t length = word_at(text + TEXT_LENGTH);
    const void *data =
        (const void *)(text + (is_ascii ? r->layout->text_ascii : r->layout->text_other));
    size_t size = 0;
    if (!is_compact || (kind != 1 && kind != 2 && kind != 4))
        return 0;
    if (is_ascii) {
        size = length < room - 5 ? length : room - 5;
        memcpy(to, data, size);
    }
    for (size_t i = size; i < length && size < room - 5; i++)
        size += put_character(to + size, character_at(data, kind, i));
    to[size] = '\0';
    return size + 1;
}

/* ---- entries ---- */

/* Returns the entry of a code object's names; 0: there is no room; UINT32_MAX: it has no names. */
static uint32_t entry_of_locked(const python_runtime *r, uintptr_t code) {
    char *text = names_room();
    if (!text)
        return 0;
    const size_t file = python_names_text(r, word_at(code + r->code.file), text, NAMES_TEXT);
    const size_t function =
        file ? python_names_text(r, word_at(code + r->code.name), text + file, NAMES_TEXT) : 0;
    return function ? names_entry(text, text + file, file + function) : UINT32_MAX;
}

/* ---- deaths of code objects --- */

static size_t known_bit(uintptr_t code) {
    return hash_u64(code) % (sizeof known * 8);
}

static void known_add(uintptr_t code) {
    const size_t bit = known_bit(code);
    atomic_fetch_or(&known[bit / 64], UINT64_C(1) << bit % 64);
}

void python_names_code_dies(uintptr_t code) {
    const size_t bit = known_bit(code);
    if (atomic_load(&known[bit / 64]) >> bit % 64 & 1)
        atomic_fetch_add(&python_names_epoch, 1);
}

/* ---- lines: co_linetable, as Objects/locations.md of CPython describes it ---- */

enum { ENTRY_NO_COLUMNS = 13, ENTRY_LONG = 14, ENTRY_NONE = 15, ENTRY_ONE_LINE = 10 };

static int32_t signed_number(const uint8_t *from, const uint8_t *end) {
    uint32_t n = 0;
    for (unsigned shift = 0; from < end && shift < 30; shift += 6, from++) {
        n |= (uint32_t)(*from & 63) << shift;
        if (!(*from & 64))
            break;
    }
    return n & 1 ? -(int32_t)(n >> 1) : (int32_t)(n >> 1);
}

static int32_t entry_line_step(const uint8_t *entry, const uint8_t *end) {
    const unsigned kind = *entry >> 3 & 15;
    if (kind == ENTRY_LONG || kind == ENTRY_NO_COLUMNS)
        return signed_number(entry + 1, end);
    return kind >= ENTRY_ONE_LINE && kind != ENTRY_NONE ? (int32_t)kind - ENTRY_ONE_LINE : 0;
}

/* Returns the line of an instruction. Straight-line code asks for increasing instructions, and its
 * table may be long, so decoding continues from the mark. */
static int32_t line_of(const python_runtime *r, struct python_line_mark *mark, uint32_t epoch,
                       uintptr_t code, int32_t unit) {
    const uintptr_t table = word_at(code + r->code.lines);
    const uint8_t *const start = (const uint8_t *)(table + BYTES_DATA);
    const uint8_t *const end = start + word_at(table + BYTES_SIZE);
    if (mark->code != code || mark->epoch != epoch || mark->unit > unit)
        *mark = (struct python_line_mark){
            .code = code, .epoch = epoch, .line = *(const int32_t *)(code + r->code.first_line)};
    const uint8_t *at = start + mark->at;
    while (at < end) {
        const int32_t line = mark->line + entry_line_step(at, end);
        const int32_t after = mark->unit + (*at & 7) + 1;
        if (unit < after)
            return line;
        mark->unit = after;
        mark->line = line;
        for (at++; at < end && !(*at & 0x80); at++)
            ;
        mark->at = (uint32_t)(at - start);
    }
    return mark->line;
}

/* ---- slots ---- */

/* Returns whether the code belongs to the interpreter itself: no traceback shows it. From 3.13 on
 * there is such a frame between the call of a class and its `__init__`. Tracing would begin at none
 * of its instructions. */
static bool is_interpreters(const python_runtime *r, uintptr_t code) {
    enum { CODE_UNITS = 16, FIRST_TRACED = -16 }; /* from the head's start, and its end */
    const int32_t first = *(const int32_t *)(code + r->layout->code_size + FIRST_TRACED);
    return first >= *(const int64_t *)(code + CODE_UNITS);
}

uintptr_t python_names_slot(const python_runtime *r, struct python_line_mark *mark, uint32_t epoch,
                            uintptr_t code, uintptr_t instruction) {
    enum { UNIT = 2, MOST_UNITS = 1 << 28 };
    if (word_at(code + OBJECT_TYPE) != (uintptr_t)r->code_type || is_interpreters(r, code))
        return 0;
    const intptr_t units = ((intptr_t)(instruction - code) - r->layout->code_size) / UNIT;
    int32_t line = line_of(r, mark, epoch, code,
                           units < 0            ? 0
                           : units < MOST_UNITS ? (int32_t)units
                                                : MOST_UNITS);
    line = line < 0 ? 0 : line < MAX_LINE ? line : MAX_LINE;
    if (!names_lock())
        return PYTHON_SLOT_FULL;
    known_add(code);
    const uint32_t entry = entry_of_locked(r, code);
    names_unlock();
    if (entry == UINT32_MAX)
        return 0;
    return entry ? (uintptr_t)entry << PYTHON_LINE_BITS | (uintptr_t)line : PYTHON_SLOT_FULL;
}

static memtrace_location locate_frame(uintptr_t slot) {
    const uint32_t entry = (uint32_t)(slot >> PYTHON_LINE_BITS);
    return (memtrace_location){.file = names_file(entry),
                               .function = names_function(entry),
                               .line = entry ? (uint32_t)(slot & MAX_LINE) : 0};
}

/* ---- types --------------------------------------------------------------------------------- */

uint32_t python_names_type(const char *name) {
    if (!names_lock())
        return 0;
    const uint32_t entry = names_entry_of(MEMTRACE_TYPE_FILE, name);
    names_unlock();
    return entry;
}

static bool pairs_make_room(void) {
    if (pairs.list)
        return true;
    pairs.by_hash = pages_alloc(2 * MAX_PAIRS * sizeof *pairs.by_hash);
    pairs.list = pairs.by_hash ? pages_alloc(MAX_PAIRS * sizeof *pairs.list) : NULL;
    pairs.n = 1;
    return pairs.list;
}

static uint32_t pair_find(uint64_t code, uint32_t type) {
    for (uint64_t hash = hash_u64(code ^ (uint64_t)type << 32);; hash++) {
        uint32_t *place = &pairs.by_hash[hash % (2 * MAX_PAIRS)];
        const struct pair *pair = &pairs.list[*place];
        if (*place && pair->code == code && pair->type == type)
            return *place;
        if (*place)
            continue;
        if (pairs.n == MAX_PAIRS)
            return 0;
        pairs.list[pairs.n] = (struct pair){code, type};
        return *place = pairs.n++;
    }
}

static const uintptr_t slot_of_pairs = (uintptr_t)1 << (RUNTIME_SPLICED_BITS - 1);

uint64_t python_names_pair(uint64_t code, uint32_t type) {
    if (!names_lock())
        return 0;
    const uint32_t pair = pairs_make_room() ? pair_find(code, type) : 0;
    names_unlock();
    return pair ? code_of_spliced(slot_of_pairs | pair, 0) : 0;
}

/* ---- in the trace -------------------------------------------------------------------------- */

size_t python_names_locate(code_table *codes, uintptr_t slot, memtrace_location *locations,
                           size_t max) {
    if (max < 2)
        return 0;
    if (!(slot & slot_of_pairs)) {
        locations[0] = locate_frame(slot);
        return 1;
    }
    const struct pair *pair = &pairs.list[slot & (MAX_PAIRS - 1)];
    locations[0] =
        (memtrace_location){.file = MEMTRACE_TYPE_FILE, .function = names_function(pair->type)};
    if (!code_is_of_runtime(pair->code))
        return 1 + code_locate(codes, NULL, pair->code, locations + 1, max - 1);
    locations[1] = locate_frame(code_spliced_slot(code_runtime_slot(pair->code)));
    return 2;
}
