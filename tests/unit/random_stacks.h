/* random_stacks.h: random stacks of a few functions, for properties that must hold for any
 * stacks. */
#ifndef RANDOM_STACKS_H
#define RANDOM_STACKS_H

#include "tape.h"
#include "unit.h"

/* Few functions and many stacks, so that most paths are parts of other stacks. */
enum { STACKS = 20, DEEPEST = 12, EACH = 1 << STACKS };

typedef struct stacks {
    uint64_t codes[STACKS][DEEPEST];
    size_t n[STACKS];
} stacks;

static inline uint64_t draw(uint64_t *seed, uint64_t below) {
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (*seed >> 33) % below;
}

static inline void draw_stacks(stacks *s, uint64_t *seed) {
    const uint64_t codes[] = {PARSE, EVAL, LIB_MAP, LEAF};
    for (size_t i = 0; i < STACKS; i++) {
        s->n[i] = 1 + draw(seed, DEEPEST);
        s->codes[i][0] = MAIN;
        for (size_t f = 1; f < s->n[i]; f++)
            s->codes[i][f] = codes[draw(seed, sizeof codes / sizeof *codes)];
    }
}

static inline uint32_t place_of(const profile *p, const char *function) {
    for (uint32_t i = 0; i < p->locations.count; i++)
        if (strcmp(p->locations.items[i].function, function) == 0)
            return i;
    ck_abort_msg("no function %s", function);
    return 0;
}

#endif
