/* text.h: builds short texts in a buffer of the caller's and cuts off what does not fit; for code
 * that may use neither stdio nor the locale. The text is always terminated. */
#ifndef RECORD_TEXT_H
#define RECORD_TEXT_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef struct text {
    char *start, *next; /* *next is the terminating NUL */
    char *end;          /* last byte of the buffer, reserved for the NUL */
} text;

/* `size` is at least 1. */
static inline text text_in(char *buffer, size_t size) {
    *buffer = '\0';
    return (text){.start = buffer, .next = buffer, .end = buffer + size - 1};
}

static inline size_t text_size(const text *t) {
    return (size_t)(t->next - t->start);
}

static inline void text_add_bytes(text *t, const char *s, size_t size) {
    size_t room = (size_t)(t->end - t->next);
    size = size < room ? size : room;
    memcpy(t->next, s, size);
    t->next += size;
    *t->next = '\0';
}

static inline void text_add(text *t, const char *s) {
    text_add_bytes(t, s, strlen(s));
}

/* `base` is 10 or 16. */
static inline void text_add_number(text *t, uint64_t n, unsigned base) {
    char digits[20], *p = digits + sizeof digits;
    do
        *--p = "0123456789abcdef"[n % base];
    while (n /= base);
    text_add_bytes(t, p, (size_t)(digits + sizeof digits - p));
}

#endif
