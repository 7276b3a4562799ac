/* scope.c: a table that is only added to, without a lock: a name is there before its number stands
 * in a slot, and whoever finds the slot taken goes on behind it. So a signal handler may call, and
 * the child of a fork has nothing to put right. */
#include "record/scope.h"

#include <stdatomic.h>
#include <string.h>

#include "base/hash.h"

enum { SLOTS = 2 * SCOPE_NAMES, LAST = SCOPE_NAMES - 1 };

static char names[SCOPE_NAMES][SCOPE_NAME_SIZE]; /* by number; 0 is none */
static _Atomic uint16_t slots[SLOTS];            /* numbers, by hash; 0: free */
static _Atomic uint32_t n_names;                 /* numbers given */

/* Cut where a character begins. */
static void copy_name(char to[SCOPE_NAME_SIZE], const char *name) {
    size_t n = strnlen(name, SCOPE_NAME_SIZE);
    if (n == SCOPE_NAME_SIZE)
        for (n--; n > 0 && ((unsigned char)name[n] & 0xC0) == 0x80; n--)
            continue;
    memset(to, 0, SCOPE_NAME_SIZE);
    memcpy(to, name, n);
}

/* A number for a name that has none; 0: there are no more. */
static uint16_t new_number(const char name[SCOPE_NAME_SIZE]) {
    if (atomic_load_explicit(&n_names, memory_order_relaxed) >= LAST)
        return 0;
    const uint32_t number = atomic_fetch_add_explicit(&n_names, 1, memory_order_relaxed) + 1;
    if (number > LAST)
        return 0;
    memcpy(names[number], name, SCOPE_NAME_SIZE);
    return (uint16_t)number;
}

uint16_t scope_number(const char *name) {
    char cut[SCOPE_NAME_SIZE];
    uint16_t own = 0; /* to be given, if nobody else is faster: then it is lost */
    copy_name(cut, name);
    if (!*cut)
        return SCOPE_NONE;
    for (size_t at = hash_bytes(cut, sizeof cut) % SLOTS;; at = (at + 1) % SLOTS) {
        uint16_t number = atomic_load_explicit(&slots[at], memory_order_acquire);
        if (!number && !own && !(own = new_number(cut)))
            return SCOPE_NAMES;
        if (!number && atomic_compare_exchange_strong_explicit(
                           &slots[at], &number, own, memory_order_acq_rel, memory_order_acquire))
            return own;
        if (memcmp(names[number], cut, sizeof cut) == 0)
            return number;
    }
}

const char *scope_text(uint16_t number) {
    return number < SCOPE_NAMES ? names[number] : "(other scopes)";
}
