/* splice.h: a stack in which a runtime's frames stand among native ones, in the making: codes are
 * put from the innermost frame on, and how many of them the stack before had is found at the end.
 * See record/runtime.h, `splice`. */
#ifndef RUNTIMES_SPLICE_H
#define RUNTIMES_SPLICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "platform/unwind_trail.h"
#include "record/runtime.h"

/* What a domain keeps of the last stack. */
struct splice_stack {
    size_t depth;
    size_t n_last;         /* codes of the last stack; 0: nothing is known of it */
    uint64_t *last, *next; /* depth + 1 each, filled from the end, innermost last */
};

/* `room` is for so many codes. */
size_t splice_room(size_t depth);
void splice_init(struct splice_stack *stack, size_t depth, uint64_t *room);

struct splice {
    struct splice_stack *stack;
    const struct runtime_splice *native;
    size_t at;     /* in `next`, of the frame that is put last */
    unsigned type; /* of the innermost code */
    bool is_full;  /* there are more frames than are kept */
};

static inline struct splice splice_begin(struct splice_stack *stack,
                                         const struct runtime_splice *native) {
    return (struct splice){
        .stack = stack, .native = native, .at = stack->depth + 1, .type = native->type};
}

static inline bool splice_is_innermost(const struct splice *s) {
    return s->at == s->stack->depth + 1;
}

static inline void splice_put(struct splice *s, uint64_t code) {
    if (s->at > 1)
        s->stack->next[--s->at] = code;
    else
        s->is_full = true;
}

/* A frame of the runtime's. */
static inline void splice_put_slot(struct splice *s, uintptr_t slot) {
    splice_put(s, code_of_spliced(slot, splice_is_innermost(s) ? s->type : 0));
}

static inline void splice_put_native(struct splice *s, uintptr_t pc) {
    const uint64_t code = code_remembered(s->native->codes, s->native->cache, pc);
    splice_put(s, code_with_type(code, splice_is_innermost(s) ? s->type : 0));
}

/* The outermost of the last stack, which had `n_last`. False: there is no room for them. */
bool splice_put_last(struct splice *s, size_t n, size_t n_last);

/* `is_cut`: there are more frames of the runtime. The outermost codes that are known to be those of
 * the last stack are `kept`. */
struct runtime_stack splice_end(struct splice *s, bool is_cut, size_t kept);

#endif
