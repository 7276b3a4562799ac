/* peek.h: reads memory that may not be there, by asking the kernel first. */
#ifndef RUNTIMES_PEEK_H
#define RUNTIMES_PEEK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "platform/maps.h"

enum { PEEK_MOST = 4096 }; /* at most a page, so that no page is skipped between both ends */

static inline bool peek_bytes(uintptr_t address, void *to, size_t size) {
    enum { WORD = sizeof(uintptr_t) };
    const uintptr_t first = address / WORD * WORD, last = (address + size - 1) / WORD * WORD;
    if (last < first || size > PEEK_MOST || !maps_readable(first) || !maps_readable(last))
        return false;
    memcpy(to, (const void *)address, size);
    return true;
}

/* Reads a string, truncated to `room` bytes. */
static inline bool peek_string(uintptr_t address, char *to, size_t room) {
    enum { PIECE = 32 }; /* aligned, so that it never crosses the end of a page */
    size_t n = 0;
    while (n < room - 1) {
        size_t piece = PIECE - (address + n) % PIECE;
        piece = piece < room - 1 - n ? piece : room - 1 - n;
        if (!peek_bytes(address + n, to + n, piece))
            return false;
        const size_t length = strnlen(to + n, piece);
        n += length;
        if (length < piece)
            break;
    }
    to[n] = '\0';
    return true;
}

#endif
