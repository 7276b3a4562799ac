/* names.c: implements names.h. A name gets its number when a thread stores the number in a free
 * slot; the first thread wins. */
#include "record/names.h"

#include <stdatomic.h>
#include <string.h>

#include "base/hash.h"
#include "base/utf8.h"

/* Cuts a long name where a character begins. */
static void copy_name(char to[NAMES_SIZE], const char *name) {
    size_t n = strnlen(name, NAMES_SIZE);
    if (n == NAMES_SIZE)
        n = utf8_whole(name, n - 1);
    memset(to, 0, NAMES_SIZE);
    memcpy(to, name, n);
}

/* Returns a number for a new name; 0: there are no more numbers. */
static uint16_t new_number(given_names *all, const char name[NAMES_SIZE], uint32_t most) {
    if (atomic_load_explicit(&all->n, memory_order_relaxed) >= most)
        return 0;
    const uint32_t number = atomic_fetch_add_explicit(&all->n, 1, memory_order_relaxed) + 1;
    if (number >= NAMES_MOST)
        return 0;
    memcpy(all->texts[number], name, NAMES_SIZE);
    return (uint16_t)number;
}

uint16_t names_number(given_names *all, const char *name, uint32_t most) {
    char cut[NAMES_SIZE];
    uint16_t own = 0; /* number to use; lost if another thread adds the name first */
    copy_name(cut, name);
    if (!*cut)
        return 0;
    for (size_t at = hash_bytes(cut, sizeof cut) % NAMES_SLOTS;; at = (at + 1) % NAMES_SLOTS) {
        uint16_t number = atomic_load_explicit(&all->slots[at], memory_order_acquire);
        if (!number && !own && !(own = new_number(all, cut, most)))
            return NAMES_MOST;
        if (!number &&
            atomic_compare_exchange_strong_explicit(&all->slots[at], &number, own,
                                                    memory_order_acq_rel, memory_order_acquire))
            return own;
        if (memcmp(all->texts[number], cut, sizeof cut) == 0)
            return number;
    }
}
