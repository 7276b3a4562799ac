/* spans.c: see spans.h. The finished names are sorted by kind, domain and first row. */
#include "profile/spans.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

bool spans_add(block_table *b, span_kind kind, uint16_t domain, const char *text) {
    return vec_push(
        &b->spans,
        ((blocks_span){
            .first = (uint32_t)b->count, .domain = domain, .kind = (uint8_t)kind, .text = text}));
}

static int compare(const blocks_span *x, const blocks_span *y) {
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    if (x->domain != y->domain)
        return x->domain < y->domain ? -1 : 1;
    return (x->first > y->first) - (x->first < y->first);
}

/* Names for the same row stay in the order in which they were given: the last one holds. */
static int compare_in_order(const void *a, const void *b) {
    const blocks_span *x = a, *y = b;
    const int order = compare(x, y);
    return order ? order : (x->number > y->number) - (x->number < y->number);
}

/* Whether the second name only repeats the first. */
static bool goes_on(const blocks_span *x, const blocks_span *y) {
    return x->kind == y->kind && x->domain == y->domain && x->text == y->text;
}

void spans_finish(block_table *b, const uint32_t *before) {
    const size_t n = b->spans.count;
    blocks_span *spans = b->spans.items;
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        spans[i].number = (uint32_t)i;
        if (before)
            spans[i].first = before[spans[i].first];
    }
    if (n > 0)
        qsort(spans, n, sizeof *spans, compare_in_order);
    for (size_t i = 0; i < n; i++)
        if ((i + 1 == n || compare(&spans[i], &spans[i + 1]) != 0) &&
            !(kept > 0 && goes_on(&spans[kept - 1], &spans[i])))
            spans[kept++] = spans[i];
    b->spans.count = kept;
}

/* Returns how many names are not after `key` in the order. */
static size_t count_up_to(const block_table *b, const blocks_span *key) {
    size_t low = 0, high = b->spans.count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (compare(&b->spans.items[middle], key) <= 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool is_of(const block_table *b, size_t i, const blocks_span *key) {
    return i < b->spans.count && b->spans.items[i].kind == key->kind &&
           b->spans.items[i].domain == key->domain;
}

uint32_t spans_find(const block_table *b, span_kind kind, size_t row, span_cursor *found) {
    const blocks_span key = {
        .first = (uint32_t)row, .domain = b->domain[row], .kind = (uint8_t)kind};
    const size_t next = count_up_to(b, &key);
    const bool any = next > 0 && is_of(b, next - 1, &key);
    *found = (span_cursor){.begin = any ? b->spans.items[next - 1].first : 0,
                           .end = is_of(b, next, &key) ? b->spans.items[next].first : SIZE_MAX,
                           .domain = key.domain,
                           .span = any ? (uint32_t)(next - 1) : SPAN_NONE};
    return found->span;
}

const char *const spans_nameless[SPAN_N_KINDS] = {
    [SPAN_SCOPE] = "(no scope)", [SPAN_TRACE_ID] = "(no trace)", [SPAN_SPAN_ID] = "(no span)"};

void spans_unnamed(uint16_t domain, char text[SPAN_UNNAMED]) {
    snprintf(text, SPAN_UNNAMED, "thread %" PRIu16, domain);
}
