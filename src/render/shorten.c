/* shorten.c: a name that is too long loses what is in its brackets, kind by kind; then what
 * precedes the function's own name; and at last its end. viewer/names.js does the same for the
 * page. */
#include "render/shorten.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "render/figures.h"

#define DOTS "…"

enum { LEAST_FILE = 12 /* columns that a file's name and line get even if there is less room */ };

/* ---- names ------------------------------------------------------------------------------- */

/* Returns the length of a name like `operator<<` at `at`, whose signs are not brackets; 0 if there
 * is none. */
static size_t operator_length(const char *name, const char *at) {
    static const char word[] = "operator";
    const size_t n = sizeof word - 1;
    if (strncmp(at, word, n) != 0 || (at > name && (at[-1] == '_' || (at[-1] | 32) >= 'a')))
        return 0;
    const size_t signs = strspn(at + n, "<>=-!+*/%^&|~");
    const bool brackets = signs == 0 && (at[n] == '(' || at[n] == '[');
    return n + (brackets ? 2 : signs);
}

/* Returns the position after the bracket that closes the one at `at`; the end if there is none. */
static const char *behind_group(const char *at, char open, char close) {
    size_t depth = 0;
    for (; *at; at++) {
        depth += *at == open;
        if (*at == close && at[-1] != '-' && --depth == 0)
            return at + 1;
    }
    return at;
}

/* Copies `name` with the contents of brackets replaced by dots. A bracket at the beginning of a
 * part of the name, as in `(anonymous namespace)`, belongs to the name. */
static void empty_groups(output *o, const char *name, char open, char close) {
    for (const char *p = name; *p;) {
        const size_t skip = operator_length(name, p);
        const bool is_name = p == name || p[-1] == ':' || p[-1] == '.';
        if (skip > 0) {
            output_bytes(o, p, skip);
            p += skip;
        } else if (*p == open && !is_name) {
            const char *end = behind_group(p, open, close);
            if (end - p > 2) {
                output_char(o, open);
                output_text(o, DOTS);
                output_char(o, close);
            } else {
                output_bytes(o, p, (size_t)(end - p));
            }
            p = end;
        } else {
            output_char(o, *p++);
        }
    }
    output_char(o, '\0');
}

/* Returns the next part of a name, after `::`, `.` or a blank outside brackets; NULL if there is
 * none. */
static const char *next_part(const char *name) {
    for (const char *p = name; *p; p++) {
        if (*p == '<' || *p == '(') {
            p = behind_group(p, *p, *p == '<' ? '>' : ')') - 1;
            continue;
        }
        const bool colons = p[0] == ':' && p[1] == ':', between = *p == '.' || *p == ' ';
        if ((colons && p[2]) || (between && p[1] && p[1] != '('))
            return p + (colons ? 2 : 1);
    }
    return NULL;
}

/* Writes as many characters as fit, then dots. */
static void cut(output *o, const char *name, size_t room) {
    for (size_t used = 1; *name && used < room; used++) {
        const char *next = utf8_next(name);
        output_bytes(o, name, (size_t)(next - name));
        name = next;
    }
    output_text(o, DOTS);
}

/* Drops as many leading parts of the name as necessary. */
static void put_tail(output *o, const char *name, size_t room) {
    const char *part = name;
    while (figure_columns(part) + 1 > room && next_part(part))
        part = next_part(part);
    if (part != name)
        output_text(o, DOTS);
    room -= part != name;
    if (figure_columns(part) <= room)
        output_text(o, part);
    else
        cut(o, part, room);
}

void shorten_text(output *o, const char *name, size_t room) {
    output without_arguments, without_templates;
    if (figure_columns(name) <= room) {
        output_text(o, name);
        return;
    }
    output_start(&without_arguments, OUTPUT_MEMORY);
    output_start(&without_templates, OUTPUT_MEMORY);
    empty_groups(&without_arguments, name, '(', ')');
    const char *shorter = without_arguments.error ? name : without_arguments.buffer;
    if (figure_columns(shorter) > room) {
        empty_groups(&without_templates, shorter, '<', '>');
        shorter = without_templates.error ? shorter : without_templates.buffer;
    }
    if (figure_columns(shorter) <= room)
        output_text(o, shorter);
    else
        put_tail(o, shorter, room);
    output_finish(&without_arguments);
    output_finish(&without_templates);
}

/* ---- places ------------------------------------------------------------------------------ */

/* Returns `path/to/file.c:12`; NULL when there is no memory. */
static char *file_text(const profile_location *p, bool by_line) {
    output o;
    output_start(&o, OUTPUT_MEMORY);
    output_shown(&o, p->file);
    if (by_line && p->line)
        output_format(&o, ":%u", (unsigned)p->line);
    return output_take(&o);
}

/* Returns the longest tail of a path that fits: some folders and the file, or at least the end of
 * the file's name. */
static const char *path_tail(const char *path, size_t room) {
    const char *tail = path, *slash;
    while (figure_columns(tail) > room && (slash = strchr(tail, '/')))
        tail = slash + 1;
    while (figure_columns(tail) > room && figure_columns(tail) > LEAST_FILE)
        tail = utf8_next(tail);
    return tail;
}

static void put_path(output *o, const char *path, const char *tail) {
    if (tail != path)
        output_text(o, tail[-1] == '/' ? DOTS "/" : DOTS);
    output_text(o, tail);
}

static char *function_text(const profile_location *p) {
    output o;
    output_start(&o, OUTPUT_MEMORY);
    output_shown(&o, p->function[0] ? p->function : "(unknown function)");
    return output_take(&o);
}

/* Writes file and function. A path that is too long gets at most half of the room. */
static void put_both(output *o, const char *file, const char *function, bool by_line, size_t room) {
    const size_t extra = by_line ? 1 : 3, name = figure_columns(function);
    const size_t left = room == SIZE_MAX                 ? SIZE_MAX
                        : room > name + extra + room / 2 ? room - name - extra
                                                         : room / 2;
    const char *tail = path_tail(file, left > 2 ? left - (left < SIZE_MAX ? 2 : 0) : left);
    const size_t taken = figure_columns(tail) + (tail != file ? 2 : 0) + extra;
    const size_t rest = room == SIZE_MAX ? SIZE_MAX : room > taken ? room - taken : 1;
    if (by_line) {
        put_path(o, file, tail);
        output_char(o, ' ');
        shorten_text(o, function, rest);
        return;
    }
    shorten_text(o, function, rest);
    output_text(o, " (");
    put_path(o, file, tail);
    output_char(o, ')');
}

void shorten_place(output *o, const profile_location *p, bool by_line, size_t room) {
    const bool has_file = p->file[0] && !profile_is_address(p);
    char *file = has_file ? file_text(p, by_line) : NULL, *function = function_text(p);
    if (!function || (has_file && !file))
        o->error = o->error ? o->error : ENOMEM;
    else if (has_file)
        put_both(o, file, function, by_line, room);
    else
        shorten_text(o, function, room);
    free(file);
    free(function);
}
