/* pages_seen.h: reads memory that may not be there, often and of few places: which pages the kernel
 * said to be readable is remembered for as long as the caller likes, which should be short. No
 * memory, no locks, errno kept. */
#ifndef PLATFORM_PAGES_SEEN_H
#define PLATFORM_PAGES_SEEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { PAGES_SEEN = 4, PAGES_SEEN_MOST = 64 /* bytes that are read at once */ };

/* Legal when zeroed: page 0 is never there. Of one thread, whose signal handlers may use it, too.
 */
struct pages_seen {
    uintptr_t pages[PAGES_SEEN]; /* in units of the least page, 4 KB */
    uint8_t next;                /* is given up for another one */
};

/* Asks the kernel for a page that is not remembered, in the same units. */
bool pages_seen_ask(struct pages_seen *s, uintptr_t page);

static inline bool pages_seen_has(struct pages_seen *s, uintptr_t page) {
    for (int i = 0; i < PAGES_SEEN; i++)
        if (s->pages[i] == page && page != 0)
            return true;
    return pages_seen_ask(s, page);
}

static inline void pages_seen_forget(struct pages_seen *s) {
    *s = (struct pages_seen){0};
}

/* At most PAGES_SEEN_MOST bytes, `n` > 0; false: they are not all there. */
static inline bool pages_seen_read(struct pages_seen *s, uintptr_t address, void *to, size_t n) {
    enum { PAGE_LOG2 = 12 };
    const uintptr_t first = address >> PAGE_LOG2, last = (address + n - 1) >> PAGE_LOG2;
    if (!pages_seen_has(s, first) || (last != first && !pages_seen_has(s, last)))
        return false;
    memcpy(to, (const void *)address, n);
    return true;
}

#endif
