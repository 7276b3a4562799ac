/* columns.c: a depth-first search over the rest of the packet, with a budget. A file code is ruled
 * out only if it was proved impossible. */
#include "trace/columns.h"

#include <string.h>

#include "trace/backtrace.h"
#include "trace/bytes.h"

enum {
    OVERFLOW_BITS = 3, /* the bits of the file code that end_char can overflow into */
    MAX_DEPTH = 12,    /* doubtful locations that the search keeps open at once */
    MAX_STEPS = 100000,
};

typedef enum outcome { IMPOSSIBLE, POSSIBLE } outcome;

/* ---- events ------------------------------------------------------------------------------ */

static const uint8_t *alloc_skip(const uint8_t *p, const uint8_t *end, unsigned kind) {
    uint64_t unused;
    uint32_t n;
    if (kind == FORMAT_ALLOC) {
        p = bytes_vint(bytes_vint(p, &unused), &unused) + 1;
        p = bytes_vint(p, &unused);
        n = bytes_u16(p);
        p += 2;
    } else {
        p = bytes_vint(p, &unused);
        n = *p++;
    }
    return backtrace_skip(p, end, n);
}

/* Returns the end of the event at `p`, or NULL if it lies beyond `end` or the event is of unknown
 * kind. For a location event, returns the start of its locations instead and sets `*n_locations` to
 * their number; for all other events, `*n_locations` is 0. Codewords are skipped, not decoded, so
 * no state is needed. */
static const uint8_t *event_skip(const uint8_t *p, const uint8_t *end, unsigned *n_locations) {
    uint64_t unused;
    *n_locations = 0;
    if (end - p < FORMAT_EVENT_HEADER)
        return NULL;
    unsigned kind = bytes_u32(p) >> FORMAT_TIME_BITS;
    p += FORMAT_EVENT_HEADER;
    if (kind == FORMAT_LOCATION) {
        *n_locations = p[8];
        p += 9;
    } else if (kind == FORMAT_PROMOTE || kind == FORMAT_COLLECT) {
        p = bytes_vint(p, &unused);
    } else if (kind == FORMAT_ALLOC ||
               (kind > FORMAT_SHORT_ALLOC && kind <= FORMAT_SHORT_ALLOC + FORMAT_SHORT_ALLOC_MAX)) {
        return alloc_skip(p, end, kind);
    } else {
        return NULL;
    }
    return p <= end ? p : NULL;
}

/* ---- which locations are doubtful -------------------------------------------------------- */

static bool columns_are_unknown(location_word w) {
    return w.start_char == MEMTRACE_MAX_START_CHAR && w.end_char == MEMTRACE_MAX_END_CHAR;
}

/* Whether the columns alone suggest overflow. */
static bool columns_overflow(const columns *c, location_word w) {
    return columns_are_unknown(w) && (w.file & OVERFLOW_BITS) == OVERFLOW_BITS && !c->writer_sound;
}

/* Whether the columns may be the fault in a packet that makes no sense as it stands. No writer ends
 * an expression before it starts, but some write 0 for an unknown end. */
static bool columns_look_odd(const columns *c, location_word w) {
    return columns_overflow(c, w) ||
           ((w.file & OVERFLOW_BITS) != 0 && w.end_char != 0 && w.end_char < w.start_char);
}

static bool is_name(const uint8_t *p, const uint8_t *end) {
    const uint8_t *nul = p < end ? memchr(p, 0, (size_t)(end - p)) : NULL;
    for (; nul && p < nul; p++)
        if (*p < ' ')
            return false;
    return nul != NULL;
}

static bool is_among(const char *const *table, unsigned n, const uint8_t *name) {
    for (unsigned i = 0; i < n; i++)
        if (table[i] && strcmp(table[i], (const char *)name) == 0)
            return true;
    return false;
}

static bool file_is_known(const names *n, const uint8_t *name) {
    for (unsigned i = 0; i < FORMAT_NAMES; i++)
        if (n->files[i].name && strcmp(n->files[i].name, (const char *)name) == 0)
            return true;
    return false;
}

/* Whether a writer can have written this word: the names that it refers to exist, and the names
 * that it announces are new. */
static bool word_is_consistent(const names *n, location_word w, columns_place at) {
    const names_file *file = w.file < FORMAT_NAMES ? &n->files[n->order[w.file]] : NULL;
    if (!file) {
        if (!is_name(at.p, at.end) || file_is_known(n, at.p))
            return false;
        at.p += strlen((const char *)at.p) + 1;
    } else if (!file->name) {
        return false;
    }
    /* In version 1, a new file name inherits the definitions of the forgotten one, so no definition
     * can be known to be old. */
    unsigned n_definitions = at.version == 1 ? FORMAT_NAMES : file ? file->n_own : 0;
    if (w.definition < FORMAT_NAMES)
        return at.version == 1 || w.definition < n_definitions;
    return is_name(at.p, at.end) &&
           (at.version == 1 || !is_among(file ? file->definitions : NULL, n_definitions, at.p));
}

/* ---- the search -------------------------------------------------------------------------- */

static outcome search(columns *c, names *n, columns_place at, unsigned depth);

/* Accepts `word` as it is and moves `at` past it. */
static bool take(names *n, location_word word, columns_place *at) {
    memtrace_location unused;
    return word_is_consistent(n, word, *at) &&
           names_locate(n, NULL, word, &at->p, at->end, &unused) == NAMES_GOOD;
}

/* Whether the rest of the packet can follow if the word's code was `file`. */
static outcome try_file(columns *c, const names *n, columns_place at, location_word word,
                        uint8_t file, unsigned depth) {
    names copy = *n;
    word.file = file;
    return take(&copy, word, &at) ? search(c, &copy, at, depth) : IMPOSSIBLE;
}

/* Stores the file codes that can have turned into `observed`, and returns their number. `observed`
 * itself comes first. */
static unsigned candidates(uint8_t observed, uint8_t file[OVERFLOW_BITS + 1]) {
    unsigned n = 0;
    for (uint8_t bits = 0; bits <= OVERFLOW_BITS; bits++)
        if ((observed & bits) == bits)
            file[n++] = observed & (uint8_t)~bits;
    return n;
}

static outcome try_all(columns *c, const names *n, columns_place at, location_word word,
                       unsigned depth) {
    uint8_t file[OVERFLOW_BITS + 1];
    unsigned n_files = candidates(word.file, file);
    for (unsigned i = 0; i < n_files; i++)
        if (try_file(c, n, at, word, file[i], depth + 1) == POSSIBLE)
            return POSSIBLE;
    return IMPOSSIBLE;
}

/* Moves to the next location event of the packet. Returns IMPOSSIBLE if an event before it is
 * damaged. */
static outcome next_locations(columns_place *at, bool *at_end) {
    *at_end = false;
    while (at->p < at->end && at->n_left == 0) {
        const uint8_t *next = event_skip(at->p, at->end, &at->n_left);
        if (!next)
            return IMPOSSIBLE;
        at->p = next;
    }
    *at_end = at->n_left == 0;
    return POSSIBLE;
}

/* Whether the packet can continue from `at` with the tables `n`, which are modified. Anything
 * beyond the budget counts as possible. */
static outcome search(columns *c, names *n, columns_place at, unsigned depth) {
    for (;;) {
        bool at_end;
        if (next_locations(&at, &at_end) == IMPOSSIBLE)
            return IMPOSSIBLE;
        if (at_end || depth >= MAX_DEPTH || c->steps_left == 0)
            return POSSIBLE;
        c->steps_left--;
        if (at.end - at.p < FORMAT_LOCATION_SIZE)
            return IMPOSSIBLE;
        location_word word = location_word_load(at.p);
        at.p += FORMAT_LOCATION_SIZE;
        at.n_left--;
        bool doubtful = columns_look_odd(c, word);
        if (doubtful || (c->lenient && !word_is_consistent(n, word, at)))
            return try_all(c, n, at, word, depth);
        if (!take(n, word, &at))
            return IMPOSSIBLE;
    }
}

/* ---- the interface ----------------------------------------------------------------------- */

void columns_examine(columns *c, const names *n, uint64_t packet, columns_place at) {
    names copy = *n;
    c->packet = packet + 1;
    c->steps_left = MAX_STEPS;
    c->suspicious = false;
    for (;;) {
        bool at_end;
        outcome o = next_locations(&at, &at_end);
        c->suspicious = o == IMPOSSIBLE || (!at_end && at.end - at.p < FORMAT_LOCATION_SIZE);
        if (at_end || c->suspicious)
            return;
        location_word word = location_word_load(at.p);
        at.p += FORMAT_LOCATION_SIZE;
        at.n_left--;
        c->suspicious = columns_overflow(c, word) || !take(&copy, word, &at);
        if (c->suspicious)
            return;
    }
}

/* Keeps those of the `n_files` file codes with which the rest of the packet is possible. */
static unsigned keep_possible(columns *c, const names *n, columns_place at, location_word word,
                              uint8_t *file, unsigned n_files) {
    unsigned n_possible = 0;
    for (unsigned i = 0; i < n_files; i++)
        if (try_file(c, n, at, word, file[i], 0) == POSSIBLE)
            file[n_possible++] = file[i];
    return n_possible;
}

columns_verdict columns_choose(columns *c, const names *n, columns_place at, location_word *word) {
    uint8_t file[OVERFLOW_BITS + 1];
    unsigned n_files = candidates(word->file, file);
    if (columns_are_unknown(*word) && (word->file & OVERFLOW_BITS) != OVERFLOW_BITS)
        c->writer_sound = true;
    if (n_files == 1 || (!columns_look_odd(c, *word) && word_is_consistent(n, *word, at)))
        return COLUMNS_SOUND;
    /* The explanation with the fewest overflows is the likeliest. */
    c->lenient = false;
    unsigned n_possible = keep_possible(c, n, at, *word, file, n_files);
    if (n_possible == 0) {
        c->lenient = true;
        n_files = candidates(word->file, file);
        n_possible = keep_possible(c, n, at, *word, file, n_files);
    }
    if (n_possible == 0)
        return COLUMNS_SOUND; /* damage of another kind */
    /* Small codes are the most common, except that a new name is more likely than an old one. */
    uint8_t observed = word->file;
    bool as_written = file[0] == FORMAT_NAMES || !columns_are_unknown(*word);
    word->file = file[as_written ? 0 : n_possible - 1];
    if (n_possible > 1)
        return COLUMNS_AMBIGUOUS;
    return word->file == observed ? COLUMNS_SOUND : COLUMNS_RECOVERED;
}
