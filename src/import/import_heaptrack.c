/* import_heaptrack.c: reads recordings of heaptrack, in version 3 of its format, which heaptrack
 * 1.4 writes: lines of hexadecimal numbers. They have all allocations and frees in order, so the
 * result is a trace like any other, with two exceptions: times are in steps of some milliseconds,
 * and a free only states the size and stack of its block, not which of several such blocks it
 * is. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "import/import.h"

enum { MOST_DEPTH = 4096, MOST_FRAMES = 1 << 27 };

typedef struct step {
    uint32_t place, parent; /* numbers from 1; 0: none */
} step;

typedef struct heaptrack {
    import *to;
    import_error *error;
    const char *start, *at, *end; /* at: in the line, or after it */
    const char *line, *line_end;
    uint64_t now; /* µs */
    VEC(const char *) strings;
    VEC(step) steps;
} heaptrack;

static bool fail(heaptrack *h, const char *reason) {
    return import_fail(h->error, (size_t)(h->line - h->start), "%s", reason);
}

static bool next_line(heaptrack *h) {
    if (h->at >= h->end)
        return false;
    const char *newline = memchr(h->at, '\n', (size_t)(h->end - h->at));
    h->line = h->at;
    h->line_end = newline ? newline : h->end;
    h->at += h->at < h->line_end; /* skip the letter */
    return true;
}

/* Reads the next number of the line; false at its end. */
static bool get(heaptrack *h, uint64_t *value) {
    while (h->at < h->line_end && *h->at == ' ')
        h->at++;
    const char *first = h->at;
    *value = 0;
    for (; h->at < h->line_end; h->at++) {
        const char c = *h->at;
        const unsigned digit = c >= '0' && c <= '9'   ? (unsigned)(c - '0')
                               : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a' + 10)
                                                      : 16;
        if (digit == 16 || *value >> 60)
            break;
        *value = *value << 4 | digit;
    }
    return h->at > first;
}

static const char *string_at(const heaptrack *h, uint64_t number) {
    return number > 0 && number <= h->strings.count ? h->strings.items[number - 1] : "";
}

/* Reads `s 5 three`. The text may contain newlines. */
static bool read_string(heaptrack *h) {
    uint64_t size;
    if (!get(h, &size) || h->at >= h->end || *h->at != ' ' || size > (uint64_t)(h->end - h->at - 1))
        return fail(h, "a string is not `s LENGTH TEXT`");
    h->to->no_memory |= !vec_push(&h->strings, import_text(h->to, h->at + 1, (size_t)size));
    h->at += 1 + size;
    const char *newline = memchr(h->at, '\n', (size_t)(h->end - h->at));
    h->line_end = newline ? newline : h->end;
    return true;
}

/* Reads `i ADDRESS MODULE [FUNCTION FILE LINE]…`, innermost first. */
static bool read_place(heaptrack *h) {
    uint64_t address, module, part[3 * MEMTRACE_MAX_LOCATIONS];
    char name[32];
    size_t n = 0;
    if (!get(h, &address) || !get(h, &module))
        return fail(h, "a place is not `i ADDRESS MODULE …`");
    while (n < sizeof part / sizeof *part && get(h, &part[n]))
        n++;
    import_add_place(h->to);
    for (size_t i = n / 3; i-- > 0;)
        if (part[3 * i])
            import_add_location(h->to, string_at(h, part[3 * i]), string_at(h, part[3 * i + 1]),
                                part[3 * i + 2]);
    snprintf(name, sizeof name, "0x%" PRIx64, address);
    if (n < 3 || !part[0])
        import_add_location(h->to, import_text(h->to, name, strlen(name)), string_at(h, module), 0);
    return true;
}

/* Reads `t PLACE PARENT`. */
static bool read_step(heaptrack *h) {
    uint64_t place, parent;
    if (!get(h, &place) || !get(h, &parent) || place > h->to->places.count ||
        parent > h->steps.count)
        return fail(h, "a stack is of places or stacks that did not come before it");
    h->to->no_memory |=
        !vec_push(&h->steps, ((step){.place = (uint32_t)place, .parent = (uint32_t)parent}));
    return true;
}

/* Reads `a SIZE STACK`: a class of blocks of one size and stack, numbered by such lines from 0. */
static bool read_class(heaptrack *h) {
    uint64_t size, at;
    import_record record = {.first = h->to->frames.count};
    if (!get(h, &size) || !get(h, &at) || at > h->steps.count || size >> 56)
        return fail(h, "a size or its stack is impossible");
    record.bytes = size;
    for (size_t depth = 0; at > 0 && depth < MOST_DEPTH; depth++) {
        const step *s = &h->steps.items[at - 1];
        if (s->place)
            h->to->no_memory |= !vec_push(&h->to->frames, s->place - 1);
        at = s->parent;
    }
    if (h->to->frames.count > MOST_FRAMES)
        return fail(h, "its stacks have too many frames");
    import_add_record(h->to, record);
    return true;
}

static bool read_event(heaptrack *h, import_event_kind kind) {
    uint64_t class;
    if (!get(h, &class) || class >= h->to->records.count)
        return fail(h, "an event is of blocks that were not described before it");
    const import_event event = {.time = h->now, .what = (uint32_t) class, .kind = kind};
    h->to->no_memory |= !vec_push(&h->to->events, event);
    return true;
}

static bool read_time(heaptrack *h) {
    uint64_t ms;
    if (!get(h, &ms) || ms > INT64_MAX / 1000)
        return fail(h, "a time is impossible");
    if (ms * 1000 > h->now)
        h->now = ms * 1000;
    h->to->duration = h->now;
    return true;
}

static bool read_line(heaptrack *h) {
    switch (*h->line) {
    case 's':
        return read_string(h);
    case 'i':
        return read_place(h);
    case 't':
        return read_step(h);
    case 'a':
        return read_class(h);
    case '+':
        return read_event(h, IMPORT_ALLOC);
    case '-':
        return read_event(h, IMPORT_FREE_LATEST);
    case 'c':
        return read_time(h);
    case 'X':
        if (h->line_end - h->line > 2)
            h->to->program = import_text(h->to, h->line + 2, (size_t)(h->line_end - h->line - 2));
        return true;
    default:
        return true; /* memory use of the whole process, and comments */
    }
}

static bool read_all(heaptrack *h) {
    uint64_t version, format;
    if (!next_line(h) || *h->line != 'v' || !get(h, &version) || !get(h, &format))
        return fail(h, "it does not begin with `v` and two numbers");
    if (format != 3)
        return fail(h, "its version of the format is not 3; heaptrack 1.4 writes that");
    for (;;) {
        h->at = h->line_end < h->end ? h->line_end + 1 : h->end;
        if (!next_line(h))
            return !h->to->no_memory;
        if (h->to->no_memory || (h->line < h->line_end && !read_line(h)))
            return false;
    }
}

bool import_heaptrack(import *to, const uint8_t *bytes, size_t size, import_error *error) {
    heaptrack h = {.to = to,
                   .error = error,
                   .start = (const char *)bytes,
                   .at = (const char *)bytes,
                   .line = (const char *)bytes,
                   .end = (const char *)bytes + size};
    to->format = "a recording of heaptrack";
    to->has_events = true;
    const bool good = read_all(&h);
    vec_free(&h.strings);
    vec_free(&h.steps);
    return good;
}
