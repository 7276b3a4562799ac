/* names.h: numbers for names that the program gives. A table is only added to, without a lock: a
 * name is there before its number stands in a slot, and whoever finds the slot taken goes on behind
 * it. So a signal handler may call, and the child of a fork has nothing to put right. */
#ifndef RECORD_NAMES_H
#define RECORD_NAMES_H

#include <stdint.h>

enum {
    NAMES_MOST = 1024, /* of a table; all later ones are one */
    NAMES_SIZE = 64,   /* bytes, NUL included: of a longer one the beginning */
    NAMES_SLOTS = 2 * NAMES_MOST
};

/* Legal when zeroed. */
typedef struct given_names {
    char texts[NAMES_MOST][NAMES_SIZE];  /* by number; 0 is none */
    _Atomic uint16_t slots[NAMES_SLOTS]; /* numbers, by hash; 0: free */
    _Atomic uint32_t n;                  /* numbers given */
} given_names;

/* The number of a name, from 1 on, which is copied; NAMES_MOST: it is new, and `most` are known, at
 * most NAMES_MOST - 1. 0: it is empty. Any thread may call, also in a signal handler. */
uint16_t names_number(given_names *all, const char *name, uint32_t most);

/* Of the number of a name, or of none. */
static inline const char *names_text(const given_names *all, uint16_t number, const char *others) {
    return number < NAMES_MOST ? all->texts[number] : others;
}

#endif
