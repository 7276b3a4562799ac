/* pages_seen.h: reads memory that may not be mapped, for callers that read the same few places
 * often. Remembers which pages the kernel said to be readable until the caller forgets them, which
 * should be soon. Allocates nothing, takes no locks, keeps errno. */
#ifndef PLATFORM_PAGES_SEEN_H
#define PLATFORM_PAGES_SEEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { PAGES_SEEN = 4, PAGES_SEEN_MOST = 64 /* bytes in one read */ };

/* Valid when zeroed: page 0 is never mapped. Belongs to one thread and the signal handlers on
 * it. */
struct pages_seen {
    uintptr_t pages[PAGES_SEEN]; /* addresses in units of 4 KB, the smallest page size */
    uint8_t next;                /* index of the entry to replace next, modulo PAGES_SEEN */
};

/* Asks the kernel about a page that is not remembered. `page` is in units of 4 KB. */
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

/* Reads `n` bytes, 0 < n <= PAGES_SEEN_MOST. Returns false if they are not all readable. */
static inline bool pages_seen_read(struct pages_seen *s, uintptr_t address, void *to, size_t n) {
    enum { PAGE_LOG2 = 12 };
    const uintptr_t first = address >> PAGE_LOG2, last = (address + n - 1) >> PAGE_LOG2;
    if (!pages_seen_has(s, first) || (last != first && !pages_seen_has(s, last)))
        return false;
    memcpy(to, (const void *)address, n);
    return true;
}

#endif
