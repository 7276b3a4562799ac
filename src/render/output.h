/* output.h: bytes on their way to a file descriptor, through one big buffer; or kept in memory.
 *
 * Errors stick: after the first, everything is dropped, and output_finish says what it was. Loops
 * that write much look at `error` now and then and stop. */
#ifndef RENDER_OUTPUT_H
#define RENDER_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Who is asked before much is written, and told how far it is. */
typedef struct output_watch {
    /* About so many bytes are to come; false: none shall. NULL: not asked. */
    bool (*expect)(void *context, uint64_t bytes);
    /* So many were written so far; false: no more shall. NULL: not asked. */
    bool (*go_on)(void *context, uint64_t bytes);
    /* This comes now, and takes long, too. NULL: not told. */
    void (*doing)(void *context, const char *what);
    void *context;
} output_watch;

typedef struct output {
    int fd;    /* OUTPUT_MEMORY: nowhere; the buffer grows */
    int error; /* errno of the first failure; EPIPE: the reader went away; ECANCELED: the watch did
                  not want it */
    char *buffer;
    size_t used, size; /* of the buffer */
    unsigned columns;  /* 0: as many as there are; else `buffer` is folded when it is finished, */
    int folded;        /* into this descriptor */
    const output_watch *watch; /* NULL: nobody does */
    uint64_t written;          /* to the descriptor */
} output;

#define OUTPUT_MEMORY (-1)

/* Does not take the descriptor over. Without memory, `error` is ENOMEM. */
void output_start(output *o, int fd);

/* The same; lines of text are folded where there are `columns` (fold.h), which takes the memory of
 * the whole text. */
void output_start_lines(output *o, int fd, unsigned columns);

/* What is left of the line that is being written; UINT_MAX without a limit. */
unsigned output_columns_left(const output *o);

/* Before the first byte: about how many are to come. False if they are not wanted, which is an
 * error that sticks. */
bool output_expect(output *o, uint64_t bytes);

/* Asked now and then by those who write nothing for long; else every full buffer asks. False if no
 * more is wanted, which is an error that sticks, as is what went wrong before. */
bool output_goes_on(output *o);

/* Writes what is buffered and frees the buffer; returns `error`. */
int output_finish(output *o);

void output_bytes(output *o, const char *bytes, size_t size);
void output_text(output *o, const char *text);
void output_char(output *o, char c);
/* Seven bits a byte, the lowest first, as protocol buffers and Thrift have numbers. */
void output_varint(output *o, uint64_t value);

/* Decimal, with zeros or blanks before it up to `width`. */
void output_u64(output *o, uint64_t value, int width, char fill);

/* For what is not written millions of times. At most 1,023 bytes are written. */
__attribute__((format(printf, 2, 3))) void output_format(output *o, const char *format, ...);

/* `value` in decimal, at the end of a buffer of OUTPUT_U64_MAX bytes; returns where it begins. */
#define OUTPUT_U64_MAX 20
char *output_u64_digits(uint64_t value, char buffer[OUTPUT_U64_MAX]);

/* Makes room for `size` bytes at `buffer + used`, at most OUTPUT_ROOM_MAX where there is a
 * descriptor; the caller adds to `used` what it wrote. NULL after an error. */
#define OUTPUT_ROOM_MAX (1 << 14)
char *output_room(output *o, size_t size);

/* Text from a trace for a terminal: what a terminal would obey, control characters and those that
 * turn round the direction of writing, becomes `?`; bytes that are no UTF-8 become U+FFFD. */
void output_shown(output *o, const char *text);

/* The first character of `*text` so, which is not empty; `*text` goes on behind it. */
typedef struct output_piece {
    const char *bytes;
    size_t size;
} output_piece;
output_piece output_shown_next(const char **text);

/* A JSON string with its quotes; bytes that are no UTF-8 become U+FFFD. */
void output_json(output *o, const char *text);
void output_json_part(output *o, const char *text, size_t size); /* of whole characters */

/* Text for programs that insist on UTF-8; what is none becomes U+FFFD. */
void output_utf8(output *o, const char *text);

/* A field of CSV as RFC 4180 has it, quoted where it must be, in UTF-8. */
void output_csv(output *o, const char *text);

/* What stands between the quotes of one. */
void output_csv_inside(output *o, const char *text);

#endif
