/* import_go_names.c: finds functions, files and lines for an address, including inlined functions,
 * in the tables that Go's runtime uses to print stacks. */
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "import/import_go.h"

/* The words of the module's data at which tables and ranges begin. The size of a table is in the
 * word after it. */
enum {
    MODULE_HEADER = 0,
    MODULE_NAMES = 1,
    MODULE_UNITS = 4,
    MODULE_FILES = 7,
    MODULE_VALUES = 10,
    MODULE_FUNCTIONS = 13,
    MODULE_INDEX = 16,
    MODULE_TEXT = 22,
    MODULE_END = 23,
    MODULE_DATA = 24,
    MODULE_DATA_END = 31,
    MODULE_WORDS = 48,
};

/* Offsets of fields in a function, and indices of its lists. */
enum {
    FUNCTION_NAME = 4,
    FUNCTION_FILES = 20,
    FUNCTION_LINES = 24,
    FUNCTION_N_VALUES = 28,
    FUNCTION_UNIT = 32,
    INLINED_VALUES = 2,
    INLINED_CALLS = 3,
};

enum { MOST_TABLE = 1 << 30, MOST_NAME = 8192, MOST_FUNCTION = 1 << 28, MOST_CHANGES = 1 << 22 };

static uint32_t word32(const unsigned char *bytes) {
    uint32_t word;
    memcpy(&word, bytes, sizeof word);
    return word;
}

/* ---- memory -------------------------------------------------------------------------------- */

static const unsigned char *chunk_at(go_names *n, uint64_t number) {
    uint32_t *known = map64_put(&n->chunk_of, number);
    if (!known)
        return NULL;
    if (*known != MAP64_NONE)
        return n->chunks.items[*known];
    unsigned char *chunk = malloc(GO_CHUNK);
    const bool read = chunk && file_read_at(n->memory, chunk, GO_CHUNK, number * GO_CHUNK) == 0;
    if (!read) {
        free(chunk);
        chunk = NULL;
    }
    *known = (uint32_t)n->chunks.count;
    if (vec_push(&n->chunks, chunk))
        return chunk;
    free(chunk);
    *known = MAP64_NONE;
    return NULL;
}

static bool get(go_names *n, uint64_t at, void *bytes, size_t size) {
    for (unsigned char *to = bytes; size > 0;) {
        const size_t within = at % GO_CHUNK;
        const size_t part = size < GO_CHUNK - within ? size : GO_CHUNK - within;
        const unsigned char *chunk = chunk_at(n, at / GO_CHUNK);
        if (!chunk)
            return false;
        memcpy(to, chunk + within, part);
        to += part;
        at += part;
        size -= part;
    }
    return true;
}

/* Reads bytes at an offset of a table. */
static bool get_from(go_names *n, const go_table *t, uint64_t at, void *bytes, size_t size) {
    return at <= t->size && size <= t->size - at && get(n, t->start + at, bytes, size);
}

static const char *text_from(go_names *n, const go_table *t, uint64_t at) {
    char text[MOST_NAME];
    for (size_t i = 0; i < sizeof text; i++) {
        if (!get_from(n, t, at + i, text + i, 1))
            return NULL;
        if (!text[i])
            return intern(&n->strings, text, i);
    }
    return NULL;
}

/* ---- the tables ---------------------------------------------------------------------------- */

static bool take_table(go_table *t, const uint64_t *words, uint64_t unit) {
    *t = (go_table){.start = words[0], .size = words[1] * unit};
    return words[1] <= MOST_TABLE / unit && words[0] <= UINT64_MAX / 2;
}

static bool read_header(go_names *n, uint64_t at) {
    unsigned char head[8];
    if (!get(n, at, head, sizeof head))
        return false;
    n->quantum = head[6];
    return word32(head) == n->layout->magic && head[7] == sizeof(uint64_t) && n->quantum >= 1 &&
           n->quantum <= 4;
}

bool go_names_open(go_names *n, const go_program *p, int memory, import_error *error) {
    uint64_t m[MODULE_WORDS];
    *n = (go_names){.layout = p->layout, .memory = memory};
    if (!get(n, p->at[GO_MODULE], m, sizeof m) || !read_header(n, m[MODULE_HEADER]) ||
        !take_table(&n->names, m + MODULE_NAMES, 1) ||
        !take_table(&n->units, m + MODULE_UNITS, sizeof(uint32_t)) ||
        !take_table(&n->files, m + MODULE_FILES, 1) ||
        !take_table(&n->values, m + MODULE_VALUES, 1) ||
        !take_table(&n->functions, m + MODULE_FUNCTIONS, 1) ||
        !take_table(&n->index, m + MODULE_INDEX, 2 * sizeof(uint32_t)))
        return import_fail(error, 0, "its tables of functions are not those of Go %s", p->version);
    n->text = m[MODULE_TEXT];
    n->end = m[MODULE_END];
    n->inlined = m[n->layout->inlined];
    n->data = m[MODULE_DATA];
    n->data_end = m[MODULE_DATA_END];
    return true;
}

void go_names_close(go_names *n) {
    for (size_t i = 0; i < n->chunks.count; i++)
        free(n->chunks.items[i]);
    vec_free(&n->chunks);
    map64_free(&n->chunk_of);
    vec_free(&n->frames);
    map64_free(&n->frame_of);
    vec_free(&n->symbols);
    map64_free(&n->symbol_of);
    intern_free(&n->strings);
}

/* ---- functions ----------------------------------------------------------------------------- */

typedef struct function {
    uint64_t at;    /* offset in the table of functions */
    uint64_t entry; /* address of its code */
    unsigned char head[64];
    unsigned char n_lists; /* number of lists after its tables of values */
} function;

static uint32_t field(const function *f, size_t at) {
    return word32(f->head + at);
}

/* Finds the last function that begins at or before the address. */
static bool find_function(go_names *n, uint64_t address, function *f) {
    const uint64_t count = n->index.size / (2 * sizeof(uint32_t));
    unsigned char entry[8];
    uint64_t low = 0, high = count > 0 ? count - 1 : 0; /* the last entry is the end */
    if (address < n->text || address >= n->end)
        return false;
    const uint64_t offset = address - n->text;
    while (low < high) {
        const uint64_t middle = (low + high) / 2;
        if (!get_from(n, &n->index, middle * sizeof entry, entry, sizeof entry))
            return false;
        if (word32(entry) <= offset)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0 || !get_from(n, &n->index, (low - 1) * sizeof entry, entry, sizeof entry))
        return false;
    f->at = word32(entry + 4);
    f->entry = n->text + word32(entry);
    if (!get_from(n, &n->functions, f->at, f->head, n->layout->function) ||
        field(f, 0) != word32(entry))
        return false;
    f->n_lists = f->head[n->layout->function - 1];
    return true;
}

/* Compares a name, reading no more of it than necessary. */
static bool is_named(go_names *n, uint64_t name, const char *symbol) {
    char c;
    for (size_t i = 0;; i++)
        if (!get_from(n, &n->names, name + i, &c, 1) || c != symbol[i])
            return false;
        else if (!c)
            return true;
}

bool go_names_function(go_names *n, const char *symbol, uint64_t *start, uint64_t *end) {
    const uint64_t count = n->index.size / (2 * sizeof(uint32_t));
    unsigned char entries[16], head[8];
    for (uint64_t i = 0; i + 1 < count; i++) {
        if (!get_from(n, &n->index, i * 8, entries, sizeof entries) ||
            !get_from(n, &n->functions, word32(entries + 4), head, sizeof head))
            return false;
        if (is_named(n, word32(head + FUNCTION_NAME), symbol)) {
            *start = n->text + word32(entries);
            *end = n->text + word32(entries + 8);
            return true;
        }
    }
    return false;
}

static bool get_number(go_names *n, uint64_t *at, uint32_t *number) {
    *number = 0;
    for (unsigned shift = 0; shift < 32; shift += 7) {
        unsigned char byte;
        if (!get_from(n, &n->values, (*at)++, &byte, 1))
            return false;
        *number |= (uint32_t)(byte & 0x7F) << shift;
        if (!(byte & 0x80))
            return true;
    }
    return false;
}

/* Returns the value of a table at an address, or -1 if there is none. The table is a list of
 * changes to the value, each with the length of code for which it holds. */
static int32_t value_at(go_names *n, const function *f, uint32_t table, uint64_t address) {
    uint64_t at = table, pc = f->entry;
    uint32_t value = UINT32_MAX, change, length;
    if (!table)
        return -1;
    for (unsigned i = 0; i < MOST_CHANGES && pc - f->entry < MOST_FUNCTION; i++) {
        if (!get_number(n, &at, &change) || (change == 0 && pc != f->entry) ||
            !get_number(n, &at, &length))
            return -1;
        value += -(change & 1) ^ (change >> 1);
        pc += (uint64_t)length * n->quantum;
        if (address < pc)
            return (int32_t)value;
    }
    return -1;
}

/* Returns one of the words after a function: first the tables of values, then the lists. */
static bool get_word(go_names *n, const function *f, uint64_t i, uint32_t *word) {
    unsigned char bytes[4];
    if (!get_from(n, &n->functions, f->at + n->layout->function + i * 4, bytes, sizeof bytes))
        return false;
    *word = word32(bytes);
    return true;
}

/* Finds the inlined call that the address is in, and reads it. Returns false if there is none. */
static bool find_inlined(go_names *n, const function *f, uint64_t address, unsigned char call[32]) {
    const uint32_t n_values = field(f, FUNCTION_N_VALUES);
    uint32_t table, list;
    if (n_values <= INLINED_VALUES || f->n_lists <= INLINED_CALLS ||
        !get_word(n, f, INLINED_VALUES, &table) ||
        !get_word(n, f, (uint64_t)n_values + INLINED_CALLS, &list) || list == UINT32_MAX)
        return false;
    const int32_t i = value_at(n, f, table, address);
    return i >= 0 &&
           get(n, n->inlined + list + (uint64_t)i * n->layout->call, call, n->layout->call);
}

static const char *file_of(go_names *n, const function *f, uint64_t address) {
    const int32_t i = value_at(n, f, field(f, FUNCTION_FILES), address);
    unsigned char at[4];
    if (i < 0 ||
        !get_from(n, &n->units, ((uint64_t)field(f, FUNCTION_UNIT) + (uint32_t)i) * sizeof at, at,
                  sizeof at) ||
        word32(at) == UINT32_MAX)
        return NULL;
    return text_from(n, &n->files, word32(at));
}

static go_frame look(go_names *n, uint64_t address) {
    go_frame frame = {.file = "", .symbol = NULL};
    unsigned char call[32];
    function f;
    if (!find_function(n, address, &f))
        return frame;
    const uint64_t pc = address > f.entry ? address - 1 : address; /* inside the call instruction */
    frame.entry = f.entry;
    uint32_t name = field(&f, FUNCTION_NAME);
    if (find_inlined(n, &f, pc, call)) {
        name = word32(call + n->layout->call_name);
        frame.parent = f.entry + word32(call + n->layout->call_site) + 1;
    }
    frame.symbol = text_from(n, &n->names, name);
    const int32_t line = value_at(n, &f, field(&f, FUNCTION_LINES), pc);
    const char *file = line > 0 ? file_of(n, &f, pc) : NULL;
    frame.file = file ? file : "";
    frame.line = file ? (uint32_t)line : 0;
    return frame;
}

/* Looks up an address in a cache first: stacks repeat a few addresses over and over. */
go_frame go_names_look(go_names *n, uint64_t address) {
    uint32_t *known = map64_put(&n->frame_of, address);
    if (known && *known != MAP64_NONE)
        return n->frames.items[*known];
    const go_frame frame = look(n, address);
    if (known) {
        *known = (uint32_t)n->frames.count;
        if (!vec_push(&n->frames, frame))
            *known = MAP64_NONE;
    }
    return frame;
}

static const char *symbol_at(go_names *n, uint64_t address) {
    unsigned char call[32];
    function f;
    if (!find_function(n, address, &f))
        return NULL;
    return text_from(n, &n->names,
                     find_inlined(n, &f, address, call) ? word32(call + n->layout->call_name)
                                                        : field(&f, FUNCTION_NAME));
}

const char *go_names_at(go_names *n, uint64_t address) {
    uint32_t *known = map64_put(&n->symbol_of, address);
    if (known && *known != MAP64_NONE)
        return n->symbols.items[*known];
    const char *symbol = symbol_at(n, address);
    if (known) {
        *known = (uint32_t)n->symbols.count;
        if (!vec_push(&n->symbols, symbol))
            *known = MAP64_NONE;
    }
    return symbol;
}
