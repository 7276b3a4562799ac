/* spans.h: names that hold for spans of a domain: the name of its thread, its scope, and the ids of
 * its trace and span. A name is given once and holds until the next one of its kind, so blocks need
 * no column for it. The name of a block follows from its row and domain. */
#ifndef PROFILE_SPANS_H
#define PROFILE_SPANS_H

#include "profile/blocks.h"

#define SPAN_NONE UINT32_MAX /* no name was given */

/* The result of the last search; legal when zeroed. Neighboring rows mostly have the same name. */
typedef struct span_cursor {
    size_t begin, end; /* rows of `domain` for which `span` holds; equal: none */
    uint16_t domain;
    uint32_t span;
} span_cursor;

/* Adds a name that holds from the next allocation of the domain on. The text must live as long as
 * the table. False when there is no memory. */
MEMTRACE_NODISCARD bool spans_add(block_table *b, span_kind kind, uint16_t domain,
                                  const char *text);

/* Sorts the names and finishes them for the functions below. `before` says for each row how many
 * rows before it are kept; NULL: all rows are. */
void spans_finish(block_table *b, const uint32_t *before);

/* Returns the index in `spans` of the name that holds for a row, or SPAN_NONE. */
uint32_t spans_find(const block_table *b, span_kind kind, size_t row, span_cursor *found);
static inline uint32_t spans_at(const block_table *b, span_kind kind, size_t row, span_cursor *c) {
    return row - c->begin < c->end - c->begin && b->domain[row] == c->domain
               ? c->span
               : spans_find(b, kind, row, c);
}

/* Returns the text of that name; NULL if none was given or it is empty. */
static inline const char *spans_text(const block_table *b, span_kind kind, size_t row,
                                     span_cursor *c) {
    const uint32_t span = spans_at(b, kind, row, c);
    return span == SPAN_NONE || !*b->spans.items[span].text ? NULL : b->spans.items[span].text;
}

/* What to call rows without a name, by kind; NULL for threads, which spans_unnamed names. */
extern const char *const spans_nameless[SPAN_N_KINDS];

/* Writes what to call a thread without a name, by the number of its domain. */
enum { SPAN_UNNAMED = 32 };
void spans_unnamed(uint16_t domain, char text[SPAN_UNNAMED]);

#endif
