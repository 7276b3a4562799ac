#include "record/ocaml_trail.h"

struct ocaml_trail {
    size_t depth;   /* entries kept of a stack */
    size_t n;       /* entries of the last stack; 0: nothing is known of it */
    bool cut;       /* it had more of them */
    uint64_t *ends; /* [i]: how many codes its first i entries, and the remark, have */
    uint64_t *codes;
    ocaml_value entries[]; /* of it, outermost first; then what the pointers point at */
};

size_t ocaml_trail_size(size_t depth) {
    return sizeof(ocaml_trail) + depth * sizeof(ocaml_value) + 2 * (depth + 1) * sizeof(uint64_t);
}

void ocaml_trail_init(ocaml_trail *t, size_t depth) {
    uint64_t *room = (uint64_t *)(t->entries + depth);
    *t = (ocaml_trail){.depth = depth, .ends = room, .codes = room + depth + 1};
}

void ocaml_trail_forget(ocaml_trail *t) {
    t->n = 0;
}

/* How many entries, from the outermost on, are those of the last stack. */
static size_t trail_common(const ocaml_trail *t, const ocaml_value *stack, size_t n, bool cut) {
    size_t most = cut != t->cut ? 0 : n < t->n ? n : t->n, i = 0;
    while (i < most && t->entries[i] == stack[n - 1 - i])
        i++;
    return i;
}

struct ocaml_stack ocaml_trail_take(ocaml_trail *t, const ocaml_runtime *r,
                                    const ocaml_value *stack, size_t n) {
    bool cut = n > t->depth;
    if (cut)
        n = t->depth;
    size_t same = trail_common(t, stack, n, cut);
    if (same == 0) {
        t->cut = cut;
        t->codes[0] = CODE_CUT;
        t->ends[0] = cut;
    }
    size_t out = t->ends[same], common = same > 0 ? out : 0;
    for (size_t i = same; i < n; i++) {
        ocaml_value entry = stack[n - 1 - i];
        uintptr_t slot = (uintptr_t)entry & ~(uintptr_t)1;
        t->entries[i] = entry;
        if (!ocaml_runtime_is_glue(r, slot))
            t->codes[out++] = code_of_ocaml(slot);
        t->ends[i + 1] = out;
    }
    t->n = n;
    return (struct ocaml_stack){.codes = t->codes, .n = out, .common = common};
}
