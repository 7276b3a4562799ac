/* filter_complete.c: completion only knows where terms and values begin and end. Their meaning is
 * left to the parser (filter_parse.c). */
#include "query/filter_complete.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "query/filter_internal.h"
#include "query/module.h"

/* ---- terms ------------------------------------------------------------------------------- */

static bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\n';
}

/* Returns the end of the value that begins at `at`. Only patterns have delimiters, but no other
 * value begins with one. */
static size_t end_of_value(const char *text, size_t at) {
    char delimiter = text[at];
    if (delimiter == '"' || delimiter == '/')
        for (at++; text[at] && text[at] != delimiter; at++)
            at += text[at] == '\\' && text[at + 1];
    while (text[at] && !is_blank(text[at]) && text[at] != ',')
        at++;
    return at;
}

static filter_span span_at(const char *text, size_t start) {
    filter_span s = {.start = start, .negated = text[start] == '-'};
    s.name = start + s.negated;
    s.name_size = strcspn(text + s.name, ": \t\n");
    s.value = s.end = s.name + s.name_size;
    if (text[s.end] != ':')
        return s;
    s.value++;
    do
        s.end = end_of_value(text, s.end + 1);
    while (text[s.end] == ',');
    return s;
}

bool filter_find_terms(const char *text, filter_spans *spans) {
    *spans = (filter_spans){0};
    for (size_t at = strspn(text, " \t\n"); text[at]; at += strspn(text + at, " \t\n")) {
        filter_span s = span_at(text, at);
        if (!vec_push(spans, s)) {
            vec_free(spans);
            return false;
        }
        at = s.end;
    }
    return true;
}

/* ---- what could stand there -------------------------------------------------------------- */

typedef struct completer {
    const char *typed; /* the text so far, of this size */
    size_t typed_size, most;
    filter_completion *result;
    intern_table modules; /* their names, once used */
} completer;

/* Takes the text over; NULL: there is no memory. */
static bool add(completer *c, char *text, const char *detail) {
    const bool ok =
        text && vec_push(&c->result->choices, ((filter_choice){.text = text, .detail = detail}));
    if (!ok)
        free(text);
    return ok;
}

static bool add_word(completer *c, const char *word, const char *suffix, const char *detail) {
    char *text;
    if (c->result->choices.count >= c->most || strncmp(word, c->typed, c->typed_size) != 0)
        return true;
    return asprintf(&text, "%s%s", word, suffix) >= 0 && add(c, text, detail);
}

static bool add_terms(completer *c) {
    static const char *const details[] = {
        [VALUES_NONE] = "",
        [VALUES_TIME] = "a..b, @peak",
        [VALUES_DURATION] = "<1ms, >=10s",
        [VALUES_SIZE] = ">=1K, 8w",
        [VALUES_NUMBER] = "a..b",
        [VALUES_HEAP] = "minor, major, external",
        [VALUES_PATTERN] = "word, wild*card, /regex/",
        [VALUES_ID] = "hexadecimal digits, *",
    };
    for (int i = 0; i < FILTER_N_KINDS; i++) {
        filter_values values = filter_values_of[i];
        if (!add_word(c, filter_kind_names[i], values == VALUES_NONE ? "" : ":", details[values]))
            return false;
    }
    return true;
}

static bool add_words(completer *c, const char *const *words, const char *detail) {
    for (; *words; words++)
        if (!add_word(c, *words, "", detail))
            return false;
    return true;
}

/* Returns the name as a pattern: quoted if a blank, comma or delimiter would end it. */
static char *quote(const char *name) {
    size_t size = strlen(name), used = 0;
    char *text = malloc(2 * size + 3);
    bool plain = !strpbrk(name, " ,\t\n\"") && name[0] != '/';
    if (!text)
        return NULL;
    if (!plain)
        text[used++] = '"';
    for (size_t i = 0; i < size; i++) {
        if (!plain && (name[i] == '"' || (name[i] == '\\' && name[i + 1] == '"')))
            text[used++] = '\\';
        text[used++] = name[i];
    }
    if (!plain)
        text[used++] = '"';
    text[used] = '\0';
    return text;
}

static bool contains(const char *name, const char *part, size_t size) {
    return memmem(name, strlen(name), part, size) != NULL;
}

static bool is_of_file(filter_kind kind) {
    return kind == FILTER_FILE || kind == FILTER_HIDE_FILE;
}

static bool is_of_module(filter_kind kind) {
    return kind == FILTER_MODULE || kind == FILTER_HIDE_MODULE;
}

static const char *name_at(completer *c, const profile *p, filter_kind kind, size_t i) {
    if (kind == FILTER_TYPE)
        return p->frames.items[i].type;
    if (filter_kind_spans(kind) != SPAN_N_KINDS) {
        const blocks_span *span = &p->table.spans.items[i];
        return span->kind == filter_kind_spans(kind) ? span->text : NULL;
    }
    const profile_location *l = &p->locations.items[i];
    if (is_of_module(kind))
        return module_name_of(&c->modules, l);
    return is_of_file(kind) ? l->file : l->function;
}

/* With `begin`, adds names that begin with the typed text, else names that only contain it. */
static bool add_names(completer *c, const profile *p, filter_kind kind, bool begin, map64 *known) {
    const bool is_own = kind == FILTER_TYPE || filter_kind_spans(kind) != SPAN_N_KINDS;
    const char *detail = is_own               ? filter_kind_names[kind]
                         : is_of_file(kind)   ? "file"
                         : is_of_module(kind) ? "module"
                                              : "function";
    size_t n = kind == FILTER_TYPE                       ? p->frames.count
               : filter_kind_spans(kind) != SPAN_N_KINDS ? p->table.spans.count
                                                         : p->locations.count;
    for (size_t i = 0; i < n && c->result->choices.count < c->most; i++) {
        const char *name = name_at(c, p, kind, i);
        if (!name || !*name || (strncmp(name, c->typed, c->typed_size) == 0) != begin ||
            !contains(name, c->typed, c->typed_size))
            continue;
        uint32_t *seen = map64_put(known, (uintptr_t)name);
        if (!seen)
            return false;
        bool is_new = *seen == MAP64_NONE;
        *seen = 0;
        if (is_new && !add(c, quote(name), detail))
            return false;
    }
    return true;
}

static bool add_patterns(completer *c, const profile *p, filter_kind kind) {
    map64 known = {0};
    if (c->typed_size > 0 && (*c->typed == '/' || memchr(c->typed, '*', c->typed_size) ||
                              memchr(c->typed, '?', c->typed_size)))
        return true; /* the user writes a pattern */
    if (c->typed_size > 0 && *c->typed == '"') {
        c->typed++;
        c->typed_size--;
    }
    bool ok = add_names(c, p, kind, true, &known) && add_names(c, p, kind, false, &known);
    map64_free(&known);
    return ok;
}

static bool add_values(completer *c, const profile *p, filter_kind kind) {
    static const char *const moments[] = {"@start", "@peak", "@end", NULL};
    switch (filter_values_of[kind]) {
    case VALUES_TIME:
        return add_words(c, moments, "moment");
    case VALUES_HEAP:
        return add_words(c, profile_heap_names, "heap");
    case VALUES_PATTERN:
    case VALUES_ID:
        return (kind != FILTER_HIDE || add_word(c, "@library", "", "functions of libraries")) &&
               add_patterns(c, p, kind);
    default:
        return true;
    }
}

/* Finds the value that the cursor is in or, in a range, the bound. */
static void find_value(const char *text, const filter_span *s, size_t cursor,
                       filter_completion *c) {
    c->start = s->value;
    for (size_t end = end_of_value(text, c->start); end < cursor && text[end] == ',';
         end = end_of_value(text, c->start))
        c->start = end + 1;
    c->end = end_of_value(text, c->start);
    if (text[c->start] == '"' || text[c->start] == '/')
        return;
    for (size_t i = c->start; i + 1 < cursor; i++)
        if (text[i] == '.' && text[i + 1] == '.')
            c->start = i + 2;
}

static bool complete_in(completer *c, const char *text, size_t cursor, const profile *p,
                        const filter_span *s) {
    filter_completion *r = c->result;
    bool in_name = !s || cursor <= s->name + s->name_size;
    if (in_name) {
        r->start = s ? s->name : cursor;
        r->end = s ? s->value : cursor;
    } else {
        find_value(text, s, cursor, r);
    }
    c->typed = text + r->start;
    c->typed_size = cursor > r->start ? cursor - r->start : 0;
    if (in_name)
        return add_terms(c);
    filter_kind kind = filter_kind_named(text + s->name, s->name_size);
    return kind == FILTER_N_KINDS || add_values(c, p, kind);
}

bool filter_complete(const char *text, size_t cursor, const profile *p, size_t most,
                     filter_completion *result) {
    filter_spans spans;
    const filter_span *at = NULL;
    *result = (filter_completion){0};
    completer c = {.most = most, .result = result};
    if (!filter_find_terms(text, &spans))
        return false;
    for (size_t i = 0; i < spans.count; i++)
        if (spans.items[i].start <= cursor && cursor <= spans.items[i].end)
            at = &spans.items[i];
    bool ok = complete_in(&c, text, cursor, p, at);
    vec_free(&spans);
    intern_free(&c.modules);
    if (!ok)
        filter_completion_free(result);
    return ok;
}

void filter_completion_free(filter_completion *c) {
    for (size_t i = 0; i < c->choices.count; i++)
        free(c->choices.items[i].text);
    vec_free(&c->choices);
    *c = (filter_completion){0};
}
