/* scope.c: a table that is only added to. Who looks for a name takes no lock; who adds one does. */
#include "record/scope.h"

#include <stdatomic.h>
#include <string.h>

#include "base/hash.h"
#include "record/lock.h"

enum { SLOTS = 2 * SCOPE_NAMES, LAST = SCOPE_NAMES - 1 };

static char names[SCOPE_NAMES][SCOPE_NAME_SIZE]; /* by number; 0 is none */
static _Atomic uint16_t slots[SLOTS];            /* numbers, by hash; 0: free */
static uint16_t n_names;
static lock adding;

/* Cut where a character begins. */
static void copy_name(char to[SCOPE_NAME_SIZE], const char *name) {
    size_t n = strnlen(name, SCOPE_NAME_SIZE);
    if (n == SCOPE_NAME_SIZE)
        for (n--; n > 0 && ((unsigned char)name[n] & 0xC0) == 0x80; n--)
            continue;
    memset(to, 0, SCOPE_NAME_SIZE);
    memcpy(to, name, n);
}

/* Its slot, or the free one where it belongs. */
static size_t find(const char name[SCOPE_NAME_SIZE]) {
    size_t at = hash_bytes(name, SCOPE_NAME_SIZE) % SLOTS;
    uint16_t number;
    while ((number = atomic_load_explicit(&slots[at], memory_order_acquire)) &&
           memcmp(names[number], name, SCOPE_NAME_SIZE) != 0)
        at = (at + 1) % SLOTS;
    return at;
}

static uint16_t add(const char name[SCOPE_NAME_SIZE]) {
    const size_t at = find(name); /* somebody else may have been faster */
    uint16_t number = atomic_load_explicit(&slots[at], memory_order_relaxed);
    if (number)
        return number;
    if (n_names >= LAST)
        return SCOPE_NAMES;
    number = ++n_names;
    memcpy(names[number], name, SCOPE_NAME_SIZE);
    atomic_store_explicit(&slots[at], number, memory_order_release);
    return number;
}

uint16_t scope_number(const char *name) {
    char cut[SCOPE_NAME_SIZE];
    copy_name(cut, name);
    if (!*cut)
        return SCOPE_NONE;
    uint16_t number = atomic_load_explicit(&slots[find(cut)], memory_order_acquire);
    if (number || !lock_acquire_patiently(&adding))
        return number;
    number = add(cut);
    lock_release(&adding);
    return number;
}

void scope_fork(void) {
    if (atomic_load_explicit(&adding.word,
                             memory_order_relaxed)) /* or else the page stays shared */
        adding = (lock){0};
}

const char *scope_text(uint16_t number) {
    return number < SCOPE_NAMES ? names[number] : "(other scopes)";
}
