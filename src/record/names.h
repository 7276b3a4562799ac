/* names.h: assigns numbers to names that the program gives. A table is only added to, without a
 * lock. A name is stored before its number is put into a slot; a thread that finds the slot taken
 * tries the next one. So a signal handler may call, and the child of a fork has nothing to
 * repair. */
#ifndef RECORD_NAMES_H
#define RECORD_NAMES_H

#include <stdint.h>

enum {
    NAMES_MOST = 1024, /* most numbers in a table; names after that share one number */
    NAMES_SIZE = 64,   /* bytes with the NUL; a longer name is cut off */
    NAMES_SLOTS = 2 * NAMES_MOST
};

/* Valid when zeroed. */
typedef struct given_names {
    char texts[NAMES_MOST][NAMES_SIZE];  /* by number; 0 is no name */
    _Atomic uint16_t slots[NAMES_SLOTS]; /* numbers in a hash table; 0: free */
    _Atomic uint32_t n;                  /* how many numbers were assigned */
} given_names;

/* Returns the number of a name, from 1 on, and copies the name. Returns NAMES_MOST if the name is
 * new and `most` names are known already; `most` is at most NAMES_MOST - 1. Returns 0 if the name
 * is empty. Any thread may call, also in a signal handler. */
uint16_t names_number(given_names *all, const char *name, uint32_t most);

/* Returns the name with this number. `others` stands for all names without a number of their
 * own. */
static inline const char *names_text(const given_names *all, uint16_t number, const char *others) {
    return number < NAMES_MOST ? all->texts[number] : others;
}

#endif
