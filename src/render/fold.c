/* fold.c: a line is broken at a gap between columns if that leaves it at least half full, or else
 * at the last blank. A number stays with its unit. Escape sequences of the terminal have no
 * width. */
#include "render/fold.h"

#include <string.h>

#include "base/utf8.h"

enum { FURTHER_IN = 4, LONGEST_UNIT = 6 };

/* Returns the length of an escape sequence such as \033[1m at `s`; 0 if there is none. */
static size_t command_length(const char *s, const char *end) {
    if (end - s < 2 || s[0] != '\033' || s[1] != '[')
        return 0;
    const char *p = s + 2;
    while (p < end && !(*p >= '@' && *p <= '~'))
        p++;
    return (size_t)(p - s) + (p < end);
}

size_t fold_columns(const char *text, size_t size) {
    const char *end = text + size;
    size_t n = 0;
    while (text < end) {
        const size_t command = command_length(text, end);
        const char *next = command ? text + command : utf8_next_within(text, end);
        n += command ? 0 : utf8_columns(text, (size_t)(next - text));
        text = next;
    }
    return n;
}

static size_t blanks_at(const char *s, const char *end) {
    const char *p = s;
    while (p < end && *p == ' ')
        p++;
    return (size_t)(p - s);
}

/* Whether a line may end at `blank`. A number stays with a short word after it, which is its
 * unit. */
static bool may_end_at(const char *line, const char *blank, const char *next, const char *end) {
    const char *number = blank, *unit = next;
    while (number > line && number[-1] != ' ')
        number--;
    while (unit < end && *unit != ' ')
        unit++;
    return blank > line &&
           !(next - blank == 1 && *number >= '0' && *number <= '9' && unit - next <= LONGEST_UNIT);
}

/* Returns where a line of `columns` ends: at the last gap that fits, if the line is then at least
 * half full; else at the last blank that fits; else at the first blank there is. */
static const char *line_end(const char *line, const char *end, size_t columns) {
    const char *blank = NULL, *gap = NULL;
    size_t at = 0;
    for (const char *p = line; p < end;) {
        const size_t command = command_length(p, end), blanks = blanks_at(p, end);
        if (at > columns && blank)
            break;
        const bool may = blanks && may_end_at(line, p, p + blanks, end);
        if (may && at <= columns) {
            blank = p;
            gap = blanks > 1 && 2 * at >= columns ? p : gap;
        } else if (may) {
            return p;
        }
        const size_t size = command  ? command
                            : blanks ? blanks
                                     : (size_t)(utf8_next_within(p, end) - p);
        at += command ? 0 : blanks ? blanks : utf8_columns(p, size);
        p += size;
    }
    return gap ? gap : blank ? blank : end;
}

static void put_blanks(output *o, size_t n) {
    while (n-- > 0)
        output_char(o, ' ');
}

static const char *without_blanks(const char *text, const char *end) {
    while (end > text && end[-1] == ' ')
        end--;
    return end;
}

static void fold_line(output *o, const char *text, const char *end, size_t columns) {
    end = without_blanks(text, end);
    size_t in = blanks_at(text, end), deepest = columns / 4, room = columns - in;
    if (in >= columns) /* only a mark far to the right: let the terminal fold it */
        room = columns;
    put_blanks(o, in);
    text += in;
    in = (in < deepest ? in : deepest) + FURTHER_IN;
    while (fold_columns(text, (size_t)(end - text)) > room) {
        const char *stop = line_end(text, end, room);
        output_bytes(o, text, (size_t)(stop - text));
        text = stop + blanks_at(stop, end);
        if (text == end)
            break;
        output_char(o, '\n');
        put_blanks(o, in);
        room = columns - in;
    }
    output_bytes(o, text, (size_t)(end - text));
}

void fold_lines(output *o, const char *text, size_t size, size_t columns) {
    const char *end = text + size;
    while (text < end && !o->error) {
        const char *newline = memchr(text, '\n', (size_t)(end - text));
        fold_line(o, text, newline ? newline : end, columns);
        if (newline)
            output_char(o, '\n');
        text = newline ? newline + 1 : end;
    }
}
