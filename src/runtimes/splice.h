/* splice.h: builds a stack in which a runtime's frames stand among native ones. Codes are put from
 * the innermost frame outwards. The end counts how many of them the stack shares with the one
 * before. See record/runtime.h, `splice`. */
#ifndef RUNTIMES_SPLICE_H
#define RUNTIMES_SPLICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "platform/unwind_trail.h"
#include "record/runtime.h"

/* A domain's last stack. */
struct splice_stack {
    size_t depth;
    size_t n_last;         /* codes of the last stack; 0: unknown */
    uint64_t *last, *next; /* depth + 1 codes each, filled from the end, innermost last */
};

/* splice_room returns how many codes `room` must hold. */
size_t splice_room(size_t depth);
void splice_init(struct splice_stack *stack, size_t depth, uint64_t *room);

struct splice {
    struct splice_stack *stack;
    const struct runtime_splice *native;
    size_t at;     /* index in `next` of the frame that was put last */
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

/* Puts a frame of the runtime. */
static inline void splice_put_slot(struct splice *s, uintptr_t slot) {
    splice_put(s, code_of_spliced(slot, splice_is_innermost(s) ? s->type : 0));
}

static inline void splice_put_native(struct splice *s, uintptr_t pc) {
    const uint64_t code = code_remembered(s->native->codes, s->native->cache, pc);
    splice_put(s, code_with_type(code, splice_is_innermost(s) ? s->type : 0));
}

/* Puts the `n` outermost codes of the last stack, which had `n_last`. False: there is no room for
 * them. */
bool splice_put_last(struct splice *s, size_t n, size_t n_last);

/* Ends the stack. `is_cut`: the runtime has more frames. `kept` is the number of outermost codes
 * that are known to equal those of the last stack. */
struct runtime_stack splice_end(struct splice *s, bool is_cut, size_t kept);

#endif
