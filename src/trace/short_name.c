/* short_name.c: matches brackets once, ignoring operators that look like brackets. Then drops
 * levels of nesting, from the innermost outward, until the rest fits. */
#include "trace/short_name.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/hash.h"
#include "base/utf8.h"

enum {
    MAX_NESTING = 256, /* brackets nested deeper are not treated as brackets */
    MAX_KEPT = 8,      /* levels of brackets that may be kept */
    HASH_DIGITS = 16,
    WORTH_IT = 24, /* bytes: shorter arguments stay, since the marker would be no shorter */
};

static const char ellipsis[] = "…";
#define ELLIPSIS_SIZE (sizeof ellipsis - 1)
#define MARKER_SIZE   (2 * ELLIPSIS_SIZE + HASH_DIGITS)

/* ---- brackets ---------------------------------------------------------------------------- */

static char closer_of(char c) {
    switch (c) {
    case '<':
        return '>';
    case '(':
        return ')';
    case '[':
        return ']';
    case '{':
        return '}';
    default:
        return 0;
    }
}

static bool is_closer(char c) {
    return c == '>' || c == ')' || c == ']' || c == '}';
}

static bool starts_with(const char *p, const char *end, const char *word) {
    const size_t n = strlen(word);
    return (size_t)(end - p) >= n && memcmp(p, word, n) == 0;
}

static size_t operator_size(const char *p, const char *end) {
    static const char word[] = "operator";
    if (!starts_with(p, end, word))
        return 0;
    const char *q = p + sizeof word - 1;
    if (starts_with(q, end, "()") || starts_with(q, end, "[]"))
        return (size_t)(q + 2 - p);
    while (q < end && (*q == '<' || *q == '>' || *q == '=' || *q == '-'))
        q++;
    return (size_t)(q - p);
}

/* Returns the number of bytes at `p` that look like brackets and are none: `operator<<`, `->`. 0:
 * none. */
static size_t plain_size(const char *p, const char *end) {
    if (*p == '-')
        return starts_with(p, end, "->") ? 2 : 0;
    return *p == 'o' ? operator_size(p, end) : 0;
}

/* Pops the opener of the closing bracket `c` off `stack`. Any `<` still open within it was a
 * comparison. */
static size_t close_bracket(const char *stack, size_t n, char c) {
    if (c == '>')
        return stack[n - 1] == '>' ? n - 1 : n;
    size_t at = n;
    while (at > 0 && stack[at - 1] != c)
        at--;
    return at > 0 ? at - 1 : n;
}

/* Returns where the bracket at `p` is closed; NULL if it is not a bracket. */
static const char *find_closer(const char *p, const char *end) {
    char stack[MAX_NESTING];
    size_t n = 0, plain;
    for (; p < end; p += plain ? plain : 1) {
        plain = plain_size(p, end);
        if (plain)
            continue;
        if (closer_of(*p) && n == MAX_NESTING)
            return NULL;
        if (closer_of(*p))
            stack[n++] = closer_of(*p);
        else if (is_closer(*p) && (n = close_bracket(stack, n, *p)) == 0)
            return p;
    }
    return NULL;
}

/* ---- shortening -------------------------------------------------------------------------- */

/* `out` may be NULL, to count only. */
typedef struct short_name {
    char *out;
    size_t size;
    uint64_t hash; /* of the whole name; 0 once it is written */
} short_name;

static void add(short_name *s, const char *bytes, size_t n) {
    if (s->out)
        memcpy(s->out + s->size, bytes, n);
    s->size += n;
}

static void add_hash(short_name *s) {
    char digits[HASH_DIGITS];
    for (size_t i = 0; i < HASH_DIGITS; i++)
        digits[i] = "0123456789abcdef"[s->hash >> (60 - 4 * i) & 15];
    add(s, digits, sizeof digits);
    add(s, ellipsis, ELLIPSIS_SIZE);
    s->hash = 0;
}

/* Adds the marker that replaces an omitted part. */
static void add_marker(short_name *s) {
    add(s, ellipsis, ELLIPSIS_SIZE);
    if (s->hash)
        add_hash(s);
}

/* Adds the name with so many levels of brackets, as long as it stays within `limit`. */
static void add_levels(short_name *s, const char *p, const char *end, size_t levels, size_t limit) {
    const char *closers[MAX_KEPT + 1];
    size_t depth = 0;
    while (p < end && s->size <= limit) {
        size_t n = plain_size(p, end);
        const char *closer = !n && closer_of(*p) ? find_closer(p, end) : NULL;
        add(s, p, n += !n);
        if (closer && depth == levels && closer - p > WORTH_IT) {
            add_marker(s);
            p = closer;
            continue;
        }
        if (closer && depth < levels)
            closers[depth++] = closer;
        else if (depth && p == closers[depth - 1])
            depth--;
        p += n;
    }
}

/* Adds the name's head, a marker and its tail, without cutting a UTF-8 character. */
static void add_ends(short_name *s, const char *name, size_t size, size_t limit) {
    const size_t left = limit - MARKER_SIZE;
    size_t head = left / 2, tail = size - (left - head);
    head = utf8_whole(name, head);
    while (tail < size && utf8_continues(name[tail]))
        tail++;
    add(s, name, head);
    add_marker(s);
    add(s, name + tail, size - tail);
}

/* Returns how many levels of brackets fit, or -1 if not even the name without the content of its
 * brackets does. */
static int levels_that_fit(const char *name, size_t size, size_t limit) {
    int levels = -1;
    while (levels < MAX_KEPT) {
        short_name s = {.hash = 1};
        add_levels(&s, name, name + size, (size_t)(levels + 1), limit);
        if (s.size > limit)
            break;
        levels++;
    }
    return levels;
}

static size_t shorten(char *out, const char *name, size_t size, size_t limit) {
    short_name s = {.out = out, .hash = hash_bytes(name, size) | 1};
    const int levels = levels_that_fit(name, size, limit);
    if (levels < 0)
        add_ends(&s, name, size, limit);
    else
        add_levels(&s, name, name + size, (size_t)levels, limit);
    return s.size;
}

size_t short_name_size(const char *name, size_t size, size_t limit) {
    return size <= limit ? size : shorten(NULL, name, size, limit);
}

char *short_name_put(char *out, const char *name, size_t size, size_t limit) {
    if (size > limit)
        return out + shorten(out, name, size, limit);
    memcpy(out, name, size);
    return out + size;
}
