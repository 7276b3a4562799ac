/* ocaml_trail.c: keeps the last stack, and for each of its prefixes, from the outermost entry on,
 * the number of its codes. Comparing the new stack with the last one from the outside tells how
 * many of the codes can be kept. Only the rest is computed. */
#include "runtimes/ocaml/ocaml_trail.h"

struct ocaml_trail {
    size_t depth;   /* entries kept of a stack */
    size_t n;       /* entries of the last stack; 0: unknown */
    bool cut;       /* the last stack had more entries */
    uint64_t *ends; /* [i]: codes of its outermost i entries, with the remark */
    uint64_t *codes;
    ocaml_value entries[]; /* of the last stack, outermost last; then `ends` and `codes` */
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

/* Returns how many entries two stacks share before their ends `a` and `b`, at most `most`. */
static size_t common_end(const ocaml_value *a, const ocaml_value *b, size_t most) {
    size_t i = 0;
    for (; most - i >= 4; i += 4, a -= 4, b -= 4)
        if ((a[-1] ^ b[-1]) | (a[-2] ^ b[-2]) | (a[-3] ^ b[-3]) | (a[-4] ^ b[-4]))
            break;
    for (; i < most && *--a == *--b; i++)
        ;
    return i;
}

struct runtime_stack ocaml_trail_take(ocaml_trail *t, const ocaml_runtime *r,
                                      const ocaml_value *stack, size_t n) {
    bool cut = n > t->depth;
    if (__builtin_expect(cut, 0))
        n = t->depth;
    const ocaml_value *theirs = stack + n;
    ocaml_value *ours = t->entries + t->depth;
    size_t most = cut != t->cut ? 0 : n < t->n ? n : t->n;
    size_t same = common_end(theirs, ours, most);
    uint64_t *ends = t->ends, *codes = t->codes;
    if (__builtin_expect(same == 0, 0)) {
        t->cut = cut;
        codes[0] = CODE_CUT;
        ends[0] = cut;
    }
    size_t out = ends[same], common = same > 0 ? out : 0;
    const uintptr_t low = r->glue_low, size = r->glue_high - low;
    for (size_t i = same; i < n; i++) {
        ocaml_value entry = theirs[-1 - (ptrdiff_t)i];
        uintptr_t slot = (uintptr_t)entry & ~(uintptr_t)1;
        ours[-1 - (ptrdiff_t)i] = entry;
        codes[out] = code_of_runtime(slot);
        out += !ocaml_runtime_is_glue(low, size, slot);
        ends[i + 1] = out;
    }
    t->n = n;
    return (struct runtime_stack){.codes = codes, .n = out, .common = common};
}
