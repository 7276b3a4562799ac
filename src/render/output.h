/* output.h: buffered output to a file descriptor, or into memory.
 *
 * Errors stick: after the first one everything is dropped, and output_finish returns it. Loops that
 * write much should check `error` now and then, and stop. */
#ifndef RENDER_OUTPUT_H
#define RENDER_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Callbacks that may cancel a large output. */
typedef struct output_watch {
    /* About `bytes` bytes are to come. Returns false to cancel. May be NULL. */
    bool (*expect)(void *context, uint64_t bytes);
    /* `bytes` bytes were written so far. Returns false to cancel. May be NULL. */
    bool (*go_on)(void *context, uint64_t bytes);
    /* A step begins that takes long. May be NULL. */
    void (*doing)(void *context, const char *what);
    void *context;
} output_watch;

typedef struct output {
    int fd;    /* OUTPUT_MEMORY: none; the buffer grows */
    int error; /* errno of the first failure; EPIPE: the reader went away; ECANCELED: the watch
                  cancelled */
    char *buffer;
    size_t used, size; /* bytes of the buffer */
    unsigned columns;  /* lines are folded to this width when the output ends; 0: not at all */
    int folded;        /* the descriptor for the folded text */
    const output_watch *watch; /* NULL: none */
    uint64_t written;          /* bytes written to the descriptor */
} output;

#define OUTPUT_MEMORY (-1)

/* Starts output. The descriptor stays the caller's. If there is no memory, `error` is ENOMEM. */
void output_start(output *o, int fd);

/* Starts output of lines of text, which are folded to `columns` unless that is 0 (fold.h). Folding
 * keeps the whole text in memory. */
void output_start_lines(output *o, int fd, unsigned columns);

/* Returns how many columns are left in the current line; UINT_MAX without a limit. */
unsigned output_columns_left(const output *o);

/* To be called before the first byte, with the approximate size of the output. Returns false if the
 * watch cancels, which is an error that sticks. */
bool output_expect(output *o, uint64_t bytes);

/* Asks the watch. To be called now and then by code that writes nothing for a long time; otherwise
 * each full buffer asks. Returns false if the watch cancels, which is an error that sticks, or if
 * there was an error before. */
bool output_goes_on(output *o);

/* Writes what is buffered and frees the buffer. Returns `error`. */
int output_finish(output *o);

/* Ends output into memory. Returns what was written, with a NUL, which the caller frees; NULL after
 * an error. */
char *output_take(output *o);

void output_bytes(output *o, const char *bytes, size_t size);
void output_text(output *o, const char *text);
void output_char(output *o, char c);
/* Writes seven bits per byte, lowest first, as in protocol buffers and Thrift. */
void output_varint(output *o, uint64_t value);

/* Writes a decimal number, padded on the left with `fill` to `width`. */
void output_u64(output *o, uint64_t value, int width, char fill);

/* Writes a short text and, after it, a decimal number. */
void output_number(output *o, const char *before, uint64_t value);

/* Slow: not for what is written millions of times. Writes at most 1,023 bytes. */
__attribute__((format(printf, 2, 3))) void output_format(output *o, const char *format, ...);

/* Writes `value` in decimal to the end of a buffer of OUTPUT_U64_MAX bytes, and returns its first
 * digit. */
#define OUTPUT_U64_MAX 20
char *output_u64_digits(uint64_t value, char buffer[OUTPUT_U64_MAX]);

/* Makes room for `size` bytes at `buffer + used`, at most OUTPUT_ROOM_MAX if there is a descriptor.
 * The caller adds to `used` what it wrote. Returns NULL after an error. */
#define OUTPUT_ROOM_MAX (1 << 14)
char *output_room(output *o, size_t size);

/* Writes text from a trace for a terminal. Control characters and those that reverse the direction
 * of text become `?`; bytes that are not UTF-8 become U+FFFD. */
void output_shown(output *o, const char *text);

/* Returns the first character of `*text` in this form, and advances `*text` past it. The text must
 * not be empty. */
typedef struct output_piece {
    const char *bytes;
    size_t size;
} output_piece;
output_piece output_shown_next(const char **text);

/* Writes a quoted JSON string. Bytes that are not UTF-8 become U+FFFD. */
void output_json(output *o, const char *text);
void output_json_part(output *o, const char *text, size_t size); /* of whole characters only */

/* Writes text for programs that require UTF-8. Bytes that are not become U+FFFD. */
void output_utf8(output *o, const char *text);

/* Writes a CSV field in UTF-8, quoted if RFC 4180 requires it. */
void output_csv(output *o, const char *text);

/* Writes the inside of a quoted CSV field. */
void output_csv_inside(output *o, const char *text);

#endif
