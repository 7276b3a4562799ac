/* splice.c: the end of a stack: adds a remark where frames are missing, and counts the codes shared
 * with the previous stack. */
#include "runtimes/splice.h"

#include <string.h>

size_t splice_room(size_t depth) {
    return 2 * (depth + 1);
}

void splice_init(struct splice_stack *stack, size_t depth, uint64_t *room) {
    *stack = (struct splice_stack){.depth = depth, .last = room, .next = room + depth + 1};
}

static void put_remark(struct splice *s, bool is_cut) {
    is_cut |= s->is_full || s->native->flags & UNWIND_CUT;
    const bool is_there = !splice_is_innermost(s) && s->stack->next[s->at] == CODE_LOST;
    if (is_cut || (s->native->flags & UNWIND_FAILED && !is_there))
        s->stack->next[--s->at] =
            code_with_type(is_cut ? CODE_CUT : CODE_LOST, splice_is_innermost(s) ? s->type : 0);
}

bool splice_put_last(struct splice *s, size_t n, size_t n_last) {
    struct splice_stack *const stack = s->stack;
    if (s->at <= n)
        return false;
    s->at -= n;
    memcpy(stack->next + s->at, stack->last + stack->depth + 1 - n_last, n * sizeof *stack->next);
    return true;
}

/* Returns how many codes two stacks share, from the outermost on. The first `i` are known to be
 * equal. */
static size_t common_codes(const uint64_t *a, size_t n_a, const uint64_t *b, size_t n_b, size_t i) {
    const size_t n = n_a < n_b ? n_a : n_b;
    while (i < n && a[i] == b[i])
        i++;
    return i;
}

struct runtime_stack splice_end(struct splice *s, bool is_cut, size_t kept) {
    struct splice_stack *const stack = s->stack;
    put_remark(s, is_cut);
    uint64_t *const codes = stack->next + s->at;
    const size_t n = stack->depth + 1 - s->at;
    const uint64_t *const before = stack->last + stack->depth + 1 - stack->n_last;
    const size_t common = common_codes(codes, n, before, stack->n_last, stack->n_last ? kept : 0);
    stack->next = stack->last;
    stack->last = codes - s->at;
    stack->n_last = n;
    return (struct runtime_stack){.codes = codes, .n = n, .common = common};
}
