/* bits.h: a set of numbers as bits in words, with the rank of each member. */
#ifndef BASE_BITS_H
#define BASE_BITS_H

#include <stdint.h>

/* Returns the number of bits set. Done by hand, since the compiler may not use an instruction that
 * older processors lack, and would call a function. */
static inline uint32_t bits_count(uint64_t x) {
    x -= x >> 1 & UINT64_C(0x5555555555555555);
    x = (x & UINT64_C(0x3333333333333333)) + (x >> 2 & UINT64_C(0x3333333333333333));
    x = (x + (x >> 4)) & UINT64_C(0x0F0F0F0F0F0F0F0F);
    return (uint32_t)(x * UINT64_C(0x0101010101010101) >> 56);
}

/* A word of a set, and the number of members in the words before it. */
typedef struct bits_word {
    uint32_t bits, before;
} bits_word;

enum { BITS_WORD = 32 };

static inline uint32_t bits_words(uint32_t n) {
    return n / BITS_WORD + 1; /* including the word of `n` itself */
}

static inline void bits_add(bits_word *words, uint32_t i) {
    words[i / BITS_WORD].bits |= UINT32_C(1) << i % BITS_WORD;
}

static inline int bits_has(const bits_word *words, uint32_t i) {
    return words[i / BITS_WORD].bits >> i % BITS_WORD & 1;
}

/* Computes `before` in all words, once all members are added. Returns the number of members. */
static inline uint32_t bits_rank_all(bits_word *words, uint32_t n_words) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < n_words; i++) {
        words[i].before = n;
        n += bits_count(words[i].bits);
    }
    return n;
}

/* Returns the number of members below `i`. */
static inline uint32_t bits_rank(const bits_word *words, uint32_t i) {
    const bits_word w = words[i / BITS_WORD];
    return w.before + bits_count(w.bits & ((UINT32_C(1) << i % BITS_WORD) - 1));
}

#endif
