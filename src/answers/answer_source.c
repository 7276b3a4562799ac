/* answer_source.c: `/api/source`: the lines around a place, with what each allocates. */
#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#include "answers/asked_paths.h"
#include "answers/endpoints.h"
#include "answers/source_file.h"
#include "answers/write.h"
#include "paths/functions.h"

enum { LINES_AROUND = 100, LINES_MAX = 2000, LINE_BYTES = 2000 };

typedef struct source_asked {
    asked question;
    const profile_location *place;
    uint64_t from, to; /* line numbers from 1, inclusive */
    source_file file;
    VEC(functions_entry) lines; /* lines of the file that allocate, by number */
} source_asked;

static bool parse(request *r, source_asked *s) {
    uint64_t id = UINT64_MAX;
    if (!request_integer(r, "place", 0, UINT32_MAX, &id) || !asked_open(r, &s->question))
        return false;
    const profile *p = &s->question.reading->profile;
    if (id >= p->locations.count)
        return request_refuse(r, "place", 0, "the id of a place");
    s->place = &p->locations.items[id];
    uint64_t line = s->place->line;
    s->from = line > LINES_AROUND ? line - LINES_AROUND : 1;
    if (!request_integer(r, "from", 1, MEMTRACE_MAX_LINE, &s->from))
        return false;
    s->to = s->from + 2 * LINES_AROUND;
    if (!request_integer(r, "to", 1, MEMTRACE_MAX_LINE + LINES_MAX, &s->to))
        return false;
    if (s->to < s->from || s->to - s->from >= LINES_MAX)
        return request_refuse(r, "to", 0, "at most %d lines from `from` on", LINES_MAX);
    return true;
}

/* ---- costs ------------------------------------------------------------------------------- */

static int compare_lines(const void *a, const void *b) {
    const functions_entry *x = a, *y = b;
    return (x->place->line > y->place->line) - (x->place->line < y->place->line);
}

static bool choose_lines(source_asked *s, const functions_list *all) {
    for (size_t i = 0; i < all->count; i++) {
        const functions_entry *e = &all->items[i];
        uint32_t line = e->place->line;
        if (line >= s->from && line <= s->to && !vec_push(&s->lines, *e))
            return false;
    }
    if (s->lines.count)
        qsort(s->lines.items, s->lines.count, sizeof *s->lines.items, compare_lines);
    return true;
}

static bool find_costs(request *r, source_asked *s) {
    const callpaths_spec spec = {.shape = CALLPATHS_DOWN, .by_line = true};
    functions_list all = {0};
    asked_paths p;
    const bool ok = asked_paths_of(r, &s->question, NULL, &spec, &p) &&
                    functions_query_lines(&p.view, s->place->file, &all) && choose_lines(s, &all);
    asked_paths_release(r, &p);
    vec_free(&all);
    return ok || request_no_memory(r);
}

/* ---- writing ----------------------------------------------------------------------------- */

static void write_line(output *o, const char *line, size_t size) {
    char copy[LINE_BYTES + 1];
    if (size > 0 && line[size - 1] == '\r')
        size--;
    size = size < LINE_BYTES ? size : LINE_BYTES;
    memcpy(copy, line, size);
    copy[size] = '\0';
    output_json(o, copy);
}

static void write_text(output *o, const source_asked *s) {
    const char *at = s->file.text;
    uint64_t line = 1, shown = 0;
    output_format(o, ",\"first\":%" PRIu64 ",\"lines\":[", s->from);
    for (; *at; line++) {
        size_t size = strcspn(at, "\n");
        if (line >= s->from && line <= s->to) {
            output_text(o, shown++ ? "," : "");
            write_line(o, at, size);
        }
        at += size;
        at += *at == '\n';
    }
    output_format(o, "],\"count\":%" PRIu64, line - 1);
}

static void write_costs(output *o, const source_asked *s) {
    const write_things all = WRITE_THINGS(s->lines);
    output_text(o, ",\n\"costs\":{");
    write_figures(o, &s->question, all, offsetof(functions_entry, total), true);
    WRITE_COLUMN(o, "line", s->lines, e, e->place->line);
    write_selves(o, &s->question, all, offsetof(functions_entry, self));
    output_char(o, '}');
}

static void write_source(request *r, source_asked *s) {
    output *o = r->o;
    const char *name = profile_is_address(s->place) ? "" : s->place->file;
    bool found = source_file_read(&s->file, r->viewer->sources, name);
    output_char(o, '{');
    write_head(o, &s->question);
    output_text(o, ",\n\"file\":");
    output_json(o, s->place->file);
    output_text(o, ",\"function\":");
    output_json(o, s->place->function);
    output_format(o, ",\"line\":%" PRIu32 ",\"found\":%s", s->place->line,
                  found ? "true" : "false");
    if (found && s->file.path) {
        output_text(o, ",\"path\":");
        output_json(o, s->file.path);
    }
    if (found)
        write_text(o, s);
    else
        output_format(o, ",\"reason\":\"%s\"", s->file.reason);
    source_file_free(&s->file);
    write_costs(o, s);
    output_text(o, "}\n");
}

bool answer_source(request *r) {
    source_asked s = {0};
    const bool ok = parse(r, &s) && find_costs(r, &s);
    if (ok)
        write_source(r, &s);
    vec_free(&s.lines);
    asked_close(r, &s.question);
    return ok;
}
