/* output.c: the buffer, and functions that write into it so that text from a trace cannot harm a
 * reader: invalid UTF-8 is replaced, terminal control characters are made visible, JSON and CSV are
 * escaped. */
#include "render/output.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/utf8.h"
#include "render/fold.h"

enum { BUFFER_SIZE = 1 << 18, MEMORY_SIZE = 256 };

void output_start(output *o, int fd) {
    *o = (output){.fd = fd, .size = fd == OUTPUT_MEMORY ? MEMORY_SIZE : BUFFER_SIZE};
    o->buffer = malloc(o->size);
    if (!o->buffer)
        o->error = ENOMEM;
}

/* Writes both pieces completely, even if the system takes only a part at a time. */
static void write_all(output *o, struct iovec piece[2]) {
    while (piece[0].iov_len + piece[1].iov_len > 0 && !o->error) {
        ssize_t n = writev(o->fd, piece, 2);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            o->error = n < 0 ? errno : EIO;
        for (int i = 0; i < 2 && n > 0; i++) {
            size_t taken = (size_t)n < piece[i].iov_len ? (size_t)n : piece[i].iov_len;
            piece[i].iov_base = (char *)piece[i].iov_base + taken;
            piece[i].iov_len -= taken;
            n -= (ssize_t)taken;
            o->written += taken;
        }
    }
}

bool output_goes_on(output *o) {
    const output_watch *w = o->watch;
    if (w && w->go_on && !o->error && !w->go_on(w->context, o->written))
        o->error = ECANCELED;
    return !o->error;
}

static void flush_with(output *o, const char *bytes, size_t size) {
    struct iovec pieces[2] = {
        {.iov_base = o->buffer, .iov_len = o->used},
        {.iov_base = (void *)(uintptr_t)bytes, .iov_len = size}, /* writev does not modify it */
    };
    write_all(o, pieces);
    o->used = 0;
    output_goes_on(o);
}

void output_start_lines(output *o, int fd, unsigned columns) {
    output_start(o, columns ? OUTPUT_MEMORY : fd);
    o->columns = columns;
    o->folded = fd;
}

bool output_expect(output *o, uint64_t bytes) {
    const output_watch *w = o->watch;
    if (w && w->expect && !o->error && !w->expect(w->context, bytes))
        o->error = ECANCELED;
    return !o->error;
}

unsigned output_columns_left(const output *o) {
    if (o->columns == 0 || !o->buffer)
        return UINT_MAX;
    const char *newline = memrchr(o->buffer, '\n', o->used);
    const char *line = newline ? newline + 1 : o->buffer;
    const size_t taken = fold_columns(line, (size_t)(o->buffer + o->used - line));
    return taken < o->columns ? o->columns - (unsigned)taken : 0;
}

static int finish_folded(output *o) {
    output folded;
    output_start(&folded, o->folded);
    fold_lines(&folded, o->buffer, o->used, o->columns);
    return output_finish(&folded);
}

int output_finish(output *o) {
    if (!o->error && o->columns)
        o->error = finish_folded(o);
    if (!o->error && o->fd != OUTPUT_MEMORY)
        flush_with(o, "", 0);
    free(o->buffer);
    o->buffer = NULL;
    return o->error;
}

char *output_take(output *o) {
    output_char(o, '\0');
    if (o->error)
        output_finish(o);
    return o->buffer;
}

static void grow(output *o, size_t more) {
    size_t size = o->size * 2 > o->used + more ? o->size * 2 : o->used + more;
    char *buffer = realloc(o->buffer, size);
    if (!buffer) {
        o->error = ENOMEM;
        return;
    }
    o->buffer = buffer;
    o->size = size;
}

char *output_room(output *o, size_t size) {
    if (o->error)
        return NULL;
    if (o->size - o->used < size) {
        if (o->fd == OUTPUT_MEMORY)
            grow(o, size);
        else
            flush_with(o, "", 0);
    }
    return o->error ? NULL : o->buffer + o->used;
}

void output_bytes(output *o, const char *bytes, size_t size) {
    if (o->error || size == 0)
        return;
    if (size > OUTPUT_ROOM_MAX && o->fd != OUTPUT_MEMORY) { /* too large to be worth a copy */
        flush_with(o, bytes, size);
        return;
    }
    char *room = output_room(o, size);
    if (!room)
        return;
    memcpy(room, bytes, size);
    o->used += size;
}

void output_text(output *o, const char *text) {
    output_bytes(o, text, strlen(text));
}

void output_char(output *o, char c) {
    char *room = output_room(o, 1);
    if (!room)
        return;
    *room = c;
    o->used++;
}

void output_varint(output *o, uint64_t value) {
    for (; value >= 0x80; value >>= 7)
        output_char(o, (char)(value | 0x80));
    output_char(o, (char)value);
}

char *output_u64_digits(uint64_t value, char buffer[OUTPUT_U64_MAX]) {
    char *p = buffer + OUTPUT_U64_MAX;
    do
        *--p = (char)('0' + value % 10);
    while ((value /= 10) > 0);
    return p;
}

void output_u64(output *o, uint64_t value, int width, char fill) {
    char digits[OUTPUT_U64_MAX];
    char *first = output_u64_digits(value, digits);
    int size = (int)(digits + OUTPUT_U64_MAX - first), total = size > width ? size : width;
    char *room = output_room(o, (size_t)total);
    if (!room)
        return;
    memset(room, fill, (size_t)(total - size));
    memcpy(room + (total - size), first, (size_t)size);
    o->used += (size_t)total;
}

void output_number(output *o, const char *before, uint64_t value) {
    char digits[OUTPUT_U64_MAX];
    const char *first = output_u64_digits(value, digits);
    const size_t size = (size_t)(digits + OUTPUT_U64_MAX - first), n = strlen(before);
    char *room = output_room(o, n + size);
    if (!room)
        return;
    memcpy(mempcpy(room, before, n), first, size);
    o->used += n + size;
}

void output_format(output *o, const char *format, ...) {
    char text[1024];
    va_list args;
    va_start(args, format);
    int size = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (size > 0)
        output_bytes(o, text, (size_t)size < sizeof text ? (size_t)size : sizeof text - 1);
}

#define REPLACEMENT "\xEF\xBF\xBD" /* U+FFFD, for bytes that are not UTF-8 */

/* Writes `size` bytes, which must end at a character's boundary. */
static void put_utf8(output *o, const char *text, size_t size) {
    const char *from = text, *end = text + size;
    while (text < end) {
        size_t n = utf8_size(text);
        if (n == 0) {
            output_bytes(o, from, (size_t)(text - from));
            output_text(o, REPLACEMENT);
            from = text + 1;
        }
        text += n ? n : 1;
    }
    output_bytes(o, from, (size_t)(end - from));
}

void output_utf8(output *o, const char *text) {
    put_utf8(o, text, strlen(text));
}

/* Whether a character controls a terminal or reverses the direction of text: control characters of
 * one byte and of two (U+0080 to U+009F), U+202A to U+202E, U+2066 to U+2069; also U+FFFE and
 * U+FFFF, which are not characters. */
static bool is_command(const unsigned char *s) {
    if (s[0] < ' ' || s[0] == 0x7F)
        return true;
    if (s[0] == 0xC2)
        return s[1] < 0xA0;
    if (s[0] == 0xEF)
        return s[1] == 0xBF && s[2] >= 0xBE;
    return s[0] == 0xE2 && ((s[1] == 0x80 && s[2] >= 0xAA && s[2] <= 0xAE) ||
                            (s[1] == 0x81 && s[2] >= 0xA6 && s[2] <= 0xA9));
}

output_piece output_shown_next(const char **text) {
    const char *s = *text;
    size_t n = utf8_size(s);
    *text += n ? n : 1;
    if (n == 0)
        return (output_piece){.bytes = REPLACEMENT, .size = sizeof REPLACEMENT - 1};
    if (is_command((const unsigned char *)s))
        return (output_piece){.bytes = "?", .size = 1};
    return (output_piece){.bytes = s, .size = n};
}

void output_shown(output *o, const char *text) {
    while (*text) {
        output_piece piece = output_shown_next(&text);
        output_bytes(o, piece.bytes, piece.size);
    }
}

void output_json_part(output *o, const char *text, size_t size) {
    const unsigned char *s = (const unsigned char *)text, *end = s + size;
    output_char(o, '"');
    while (s < end) {
        size_t n = utf8_size((const char *)s);
        if (n == 0) {
            output_text(o, REPLACEMENT);
            s++;
            continue;
        }
        if (*s == '"' || *s == '\\')
            output_char(o, '\\');
        if (*s < ' ')
            output_format(o, "\\u%04x", *s);
        else
            output_bytes(o, (const char *)s, n);
        s += n;
    }
    output_char(o, '"');
}

void output_json(output *o, const char *text) {
    output_json_part(o, text, strlen(text));
}

void output_csv_inside(output *o, const char *text) {
    for (const char *quote; (quote = strchr(text, '"')); text = quote + 1) {
        put_utf8(o, text, (size_t)(quote - text));
        output_text(o, "\"\"");
    }
    output_utf8(o, text);
}

void output_csv(output *o, const char *text) {
    const bool quoted = strpbrk(text, ",\"\r\n");
    if (quoted)
        output_char(o, '"');
    output_csv_inside(o, text);
    if (quoted)
        output_char(o, '"');
}
