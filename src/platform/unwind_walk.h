/* unwind_walk.h: what the full walk and the walk along a trail share: rows, their cache, and single
 * steps. Part of unwind.c, which describes it. */
#ifndef PLATFORM_UNWIND_WALK_H
#define PLATFORM_UNWIND_WALK_H

#include "platform/cfi.h"
#include "platform/cpu.h"
#include "platform/module.h"
#include "platform/stack.h"
#include "platform/unwind_trail.h"

enum {
    WORD = sizeof(uintptr_t),
    ROW_WAYS = 4,         /* rows in a set: a cache line of 64 bytes */
    ROW_SETS = 1 << 14,   /* a power of two */
    FIRST_ROWS = 1 << 10, /* rows used at first, as long as they suffice */
    FIRST_FAST = 1 << 12,
    MODULES_MAX = 256 /* more than most processes have; the cache is flushed when there are more */
};

/* Flags of a row. Common rows have only the first two. */
enum row_bits {
    ROW_FROM_BP = 1,   /* `offset` counts from bp; otherwise from sp */
    ROW_SAVES_BP = 2,  /* the caller's bp is in memory near its return address */
    ROW_LOADED = 4,    /* the CFA is the word at offset (realigned stacks) */
    ROW_BP_AT_BP = 8,  /* the caller's bp is in memory at bp + bp_words (realigned stacks) */
    ROW_RA_IN_LR = 16, /* the return address is still in its register (arm64) */
    ROW_UNCOMMON = ~3,

    ROW_END = 0x20,      /* the outermost frame */
    ROW_SIGNAL = 0x40,   /* the caller was interrupted by a signal */
    ROW_COMPLEX = 0x60,  /* needs more registers than sp and bp */
    ROW_NO_TABLE = 0x80, /* there are no tables for this code */
    ROW_KIND = 0xE0
};

struct row {
    uint64_t key;      /* 0: empty */
    int32_t offset;    /* bytes from sp or bp to the return address, unless ROW_LOADED */
    int16_t cfa_words; /* words from the return address to the CFA, which is the caller's sp */
    int8_t bp_words;   /* words from the return address to the saved bp; from bp if ROW_BP_AT_BP */
    uint8_t bits;
};
_Static_assert(sizeof(struct row) == 16, "four rows make a cache line");

/* A compact table for nearly all steps. It stays in a core's own cache, where rows do not. An entry
 * contains the key, which has 47 bits, shifted to the left, and one of two things. A plain step
 * gives the bytes (whole words) from sp to the return address; the caller's sp is right above the
 * return address. It may have FAST_MARK. FAST_FRAMED means that bp points to the saved bp, and the
 * return address and the caller's sp are above it. */
enum { FAST_STEPS = 1 << 15, FAST_BYTES_BITS = 16, FAST_KEY_BITS = 47, FAST_MARK = 1 };
#define FAST_BYTES  (UINT64_C(0xFFFF) & -WORD)
#define FAST_FRAMED (UINT64_C(1) << (FAST_KEY_BITS + FAST_BYTES_BITS))
typedef uint64_t fast_step;

/* Only the first part of both tables is used until rows replace each other too often. Most threads
 * allocate from few places, and rows scattered over a whole table would each touch a page of
 * memory. After a table has grown, rows may no longer be found at their old places, but they are
 * still correct. */
struct unwind_cache {
    struct row rows[ROW_SETS * ROW_WAYS];
    fast_step fast[FAST_STEPS];  /* fast steps of some of these rows; 0: none */
    size_t more_rows, more_fast; /* masks of the places that are used beyond the first part */
    size_t replaced;             /* rows replaced since the last growth */
    struct cfi_machine machine;
    struct module_identity modules[MODULES_MAX]; /* that have rows and can be unloaded */
    size_t module_count;
    uint32_t flushes; /* how often everything was forgotten */
};

/* Returns the preferred place of the row of `key`. If another row is there, the row is elsewhere in
 * the same set. Neighboring code has neighboring rows, so that little memory is touched. */
static inline struct row *unwind_cache_place(unwind_cache *cache, uintptr_t key) {
    enum { CODE_BYTES_LOG2 = 3, SPAN_LOG2 = 19 }; /* code bytes of a row, of the whole cache */
    return &cache->rows[(key >> CODE_BYTES_LOG2 ^ key >> SPAN_LOG2) &
                        (cache->more_rows | (FIRST_ROWS - 1))];
}

static inline fast_step *unwind_cache_fast(unwind_cache *cache, uintptr_t key) {
    enum { CODE_BYTES_LOG2 = 4, SPAN_LOG2 = 19 };
    return &cache->fast[(key >> CODE_BYTES_LOG2 ^ key >> SPAN_LOG2) &
                        (cache->more_fast | (FIRST_FAST - 1))];
}

static inline fast_step unwind_fast_framed(uintptr_t key) {
    return FAST_FRAMED | (uint64_t)key << FAST_BYTES_BITS;
}

/* Returns the row of `key`, or any other row if there is none. */
static inline const struct row *unwind_cache_known(const unwind_cache *cache, uintptr_t key) {
    const struct row *place = unwind_cache_place((unwind_cache *)cache, key);
    if (__builtin_expect(place->key == key, 1))
        return place;
    const struct row *set = place - (place - cache->rows) % ROW_WAYS;
    for (size_t i = 0; i < ROW_WAYS; i++)
        if (set[i].key == key)
            return &set[i];
    return place;
}

/* Finds or makes the row of `key` when it is not at its preferred place. A row that can't be cached
 * is made in `uncached`. */
const struct row *unwind_cache_search(unwind_cache *cache, uintptr_t key, struct row *uncached);

static inline const struct row *unwind_cache_row(unwind_cache *cache, uintptr_t key,
                                                 struct row *uncached) {
    const struct row *row = unwind_cache_place(cache, key);
    return __builtin_expect(row->key == key, 1) ? row : unwind_cache_search(cache, key, uncached);
}

enum step { STEP_ON, STEP_END, STEP_FAILED, STEP_COMPLEX };

/* A word of the stack. */
struct word {
    uintptr_t address, value;
};

enum { UNWIND_STEP_WORDS = 3 }; /* most words that a step without all registers reads */

struct walk {
    unwind_cache *cache;
    const struct unwind_start *start;
    uintptr_t stack_low, stack_high;
    struct stack_view view;
    struct unwind_frame frame;
    unsigned flags;
    struct row uncached;

    /* The words that the latest uncommon step has read. n_words also counts those that did not
     * fit. */
    struct word words[UNWIND_STEP_WORDS];
    size_t n_words;
};

static inline void walk_look_at(struct walk *walk, uintptr_t sp) {
    stack_view_init(&walk->view, sp, walk->stack_low, walk->stack_high);
}

/* Steps from walk->frame by a row that needs more than a sum and loads. */
enum step step_uncommon(struct walk *walk, const struct row *row);

/* Steps one frame outwards by a common row. The frame stays in registers here. */
STACK_UNCHECKED static inline enum step
walk_step_by_row(struct stack_view *view, const struct row *row, struct unwind_frame *frame) {
    uintptr_t base = frame->sp;
    if (row->bits & ROW_FROM_BP) {
        base = frame->bp;
        __asm__("" : "+r"(base)); /* forces a branch: a conditional move would wait for bits */
    }
    uintptr_t ra_slot = base + (uintptr_t)row->offset;
    uintptr_t cfa = ra_slot + (uintptr_t)(row->cfa_words * WORD);
    if (__builtin_expect(cfa <= frame->sp || !stack_view_admits(view, ra_slot), 0))
        return STEP_FAILED;
    frame->key = cpu_strip_signature(stack_word(ra_slot));
    frame->sp = cfa;
    if (row->bits & ROW_SAVES_BP) {
        uintptr_t bp_slot = ra_slot + (uintptr_t)(row->bp_words * WORD);
        if (__builtin_expect(!stack_view_admits(view, bp_slot), 0))
            return STEP_FAILED;
        frame->bp = stack_word(bp_slot);
    }
    return frame->key ? STEP_ON : STEP_END;
}

#endif
