/* spans.h: names that hold for stretches of a domain: of the thread that it is, of the scope that
 * it is in, and the ids of the trace and the span that it is in. A name is said once and holds
 * until the next one, so that blocks need no column for it: the row of a block and its domain tell.
 */
#ifndef PROFILE_SPANS_H
#define PROFILE_SPANS_H

#include "profile/blocks.h"

#define SPAN_NONE UINT32_MAX /* no name was said */

/* What was found last; legal when zeroed. Rows beside each other mostly have the same name. */
typedef struct span_cursor {
    size_t begin, end; /* rows, of this domain, for which `span` holds; equal: none are known */
    uint16_t domain;
    uint32_t span;
} span_cursor;

/* From the next allocation of the domain on; the text must live as long as the table. False when
 * there is no memory. */
MEMTRACE_NODISCARD bool spans_add(block_table *b, span_kind kind, uint16_t domain,
                                  const char *text);

/* Puts what was added in order, for what follows. By row, `before` says how many before it stay;
 * NULL: all do. */
void spans_finish(block_table *b, const uint32_t *before);

/* The index in `spans` of what holds for a row; SPAN_NONE. */
uint32_t spans_find(const block_table *b, span_kind kind, size_t row, span_cursor *found);
static inline uint32_t spans_at(const block_table *b, span_kind kind, size_t row, span_cursor *c) {
    return row - c->begin < c->end - c->begin && b->domain[row] == c->domain
               ? c->span
               : spans_find(b, kind, row, c);
}

/* Its text; NULL where none was said, or an empty one. */
static inline const char *spans_text(const block_table *b, span_kind kind, size_t row,
                                     span_cursor *c) {
    const uint32_t span = spans_at(b, kind, row, c);
    return span == SPAN_NONE || !*b->spans.items[span].text ? NULL : b->spans.items[span].text;
}

/* What is in none of a kind; NULL: threads have numbers instead. */
extern const char *const spans_nameless[SPAN_N_KINDS];

/* What a thread without a name is called by the number of its domain. */
enum { SPAN_UNNAMED = 32 };
void spans_unnamed(uint16_t domain, char text[SPAN_UNNAMED]);

#endif
