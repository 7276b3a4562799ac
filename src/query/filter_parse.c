/* filter_parse.c: parses the text of a filter to its terms, and of a site to its steps. Each error
 * names the character that it is about. */
#include <ctype.h>
#include <fnmatch.h>
#include <math.h>
#include <regex.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "base/utf8.h"
#include "query/filter_internal.h"
#include "query/name_sets.h"

enum { MAX_REASON = 96 };

const filter_values filter_values_of[FILTER_N_KINDS] = {
#define FILTER_VALUES(name, text, values) [FILTER_##name] = VALUES_##values,
    FILTER_TERMS(FILTER_VALUES)
#undef FILTER_VALUES
};

const char *const filter_kind_names[FILTER_N_KINDS] = {
#define FILTER_NAME(name, text, values) [FILTER_##name] = text,
    FILTER_TERMS(FILTER_NAME)
#undef FILTER_NAME
};

filter_kind filter_kind_named(const char *name, size_t size) {
    filter_kind kind = 0;
    while (kind < FILTER_N_KINDS && (strlen(filter_kind_names[kind]) != size ||
                                     strncmp(filter_kind_names[kind], name, size) != 0))
        kind++;
    return kind;
}

typedef struct unit {
    const char *text;
    double factor;
    filter_anchor anchor;
} unit;

static const unit durations[] = {{"us", 1, ANCHOR_NONE},     {"µs", 1, ANCHOR_NONE},
                                 {"ms", 1e3, ANCHOR_NONE},   {"s", 1e6, ANCHOR_NONE},
                                 {"min", 60e6, ANCHOR_NONE}, {"h", 3600e6, ANCHOR_NONE}};
static const unit sizes[] = {{"B", 1, ANCHOR_NONE},        {"K", 1024, ANCHOR_NONE},
                             {"KB", 1024, ANCHOR_NONE},    {"M", 1 << 20, ANCHOR_NONE},
                             {"MB", 1 << 20, ANCHOR_NONE}, {"G", 1 << 30, ANCHOR_NONE},
                             {"GB", 1 << 30, ANCHOR_NONE}, {"w", 1, ANCHOR_WORDS}};

typedef struct parser {
    const char *text, *at;
    filter *filter;
    filter_error *error;
} parser;

/* ---- errors ------------------------------------------------------------------------------ */

static size_t column_of(const char *text, const char *at) {
    return 1 + utf8_count(text, (size_t)(at - text));
}

__attribute__((format(printf, 3, 4))) static bool complain(parser *p, const char *at,
                                                           const char *format, ...) {
    va_list args;
    va_start(args, format);
    vsnprintf(p->error->reason, sizeof p->error->reason, format, args);
    va_end(args);
    p->error->column = column_of(p->text, at);
    return false;
}

static bool no_memory(parser *p) {
    *p->error = (filter_error){.column = 0, .reason = "not enough memory"};
    return false;
}

/* Returns the size of a value or bound. */
static size_t word_size(const char *at) {
    size_t n = 0;
    while (at[n] && !isspace((unsigned char)at[n]) && at[n] != ',' &&
           !(at[n] == '.' && at[n + 1] == '.'))
        n++;
    return n;
}

static int shown(size_t size) {
    return size < MAX_REASON ? (int)size : MAX_REASON;
}

/* ---- ranges ------------------------------------------------------------------------------ */

static bool parse_moment(parser *p, filter_bound *b, size_t size) {
    b->value = 0;
    if (size == 5 && strncmp(p->at, "@peak", size) == 0)
        b->anchor = ANCHOR_PEAK;
    else if (size == 4 && strncmp(p->at, "@end", size) == 0)
        b->anchor = ANCHOR_END;
    else if (!(size == 6 && strncmp(p->at, "@start", size) == 0))
        return complain(p, p->at, "`%.*s` is not one of @start, @peak and @end", shown(size),
                        p->at);
    return true;
}

static const unit *find_unit(const unit *units, size_t n, const char *text, size_t size) {
    for (size_t i = 0; i < n; i++)
        if (strlen(units[i].text) == size && strncmp(units[i].text, text, size) == 0)
            return &units[i];
    return NULL;
}

static bool apply_unit(parser *p, filter_values kind, filter_bound *b, const char *text,
                       size_t size) {
    const unit *u = NULL;
    if (kind == VALUES_SIZE)
        u = size == 0 ? &sizes[0] : find_unit(sizes, sizeof sizes / sizeof *sizes, text, size);
    else if (kind == VALUES_NUMBER)
        u = size == 0 ? &sizes[0] : NULL;
    else if (size == 0 && b->value == 0)
        u = &durations[0];
    else
        u = find_unit(durations, sizeof durations / sizeof *durations, text, size);
    if (u && !(kind == VALUES_NUMBER && b->value != floor(b->value))) {
        b->value *= u->factor;
        b->anchor = u->anchor;
        return true;
    }
    if (kind == VALUES_SIZE)
        return complain(p, text, "a size must end in B, K, M, G or w (words), not in `%.*s`",
                        shown(size), text);
    if (kind == VALUES_NUMBER)
        return complain(p, u ? p->at : text, "a domain must be a whole number");
    return complain(p, text, "a time must end in us, ms, s, min or h");
}

/* Parses a number with its unit, or a moment. */
static bool parse_bound(parser *p, filter_values kind, filter_bound *b) {
    size_t size = word_size(p->at);
    const char *end = p->at;
    b->set = true;
    if (size == 0)
        return complain(p, p->at, "a value is missing");
    if (*p->at == '@' && kind == VALUES_TIME) {
        if (!parse_moment(p, b, size))
            return false;
        p->at += size;
        return true;
    }
    while (isdigit((unsigned char)*end) || (*end == '.' && end[1] != '.'))
        end++;
    char *parsed;
    b->value = strtod(p->at, &parsed);
    bool is_number = isdigit((unsigned char)*p->at) || *p->at == '.';
    if (!is_number || parsed == p->at)
        return complain(p, p->at, "`%.*s` does not begin with a number", shown(size), p->at);
    if (parsed > end) /* strtod also reads 1e3 and 0x10, but units may begin with such letters */
        b->value = strtod(strndupa(p->at, (size_t)(end - p->at)), NULL);
    if (!apply_unit(p, kind, b, end, (size_t)(p->at + size - end)))
        return false;
    p->at += size;
    return true;
}

/* Parses `<x`, `<=x`, `>x`, `>=x`, `x..y`, `x..`, `..y` or `x`. */
static bool parse_range(parser *p, filter_values kind, filter_value *v) {
    if (*p->at == '<' || *p->at == '>') {
        filter_bound *b = *p->at == '<' ? &v->high : &v->low;
        p->at++;
        b->strict = *p->at != '=';
        p->at += !b->strict;
        return parse_bound(p, kind, b);
    }
    bool open = p->at[0] == '.' && p->at[1] == '.';
    if (!open && !parse_bound(p, kind, &v->low))
        return false;
    if (p->at[0] != '.' || p->at[1] != '.') {
        v->high = v->low;
        return true;
    }
    p->at += 2;
    bool ends = !*p->at || isspace((unsigned char)*p->at) || *p->at == ',';
    if (ends && open)
        return complain(p, p->at, "a value is missing");
    const char *second = p->at;
    if (ends || !parse_bound(p, kind, &v->high))
        return ends;
    if (!open && v->low.anchor == v->high.anchor && v->low.value > v->high.value)
        return complain(p, second, "the range ends before it begins");
    return true;
}

/* ---- patterns ---------------------------------------------------------------------------- */

/* Returns the text up to the closing delimiter, in which `\` before a delimiter is removed. NULL if
 * there is no closing one, or no memory (column 0). */
static const char *parse_delimited(parser *p, char delimiter) {
    const char *start = p->at++;
    size_t size = 0;
    char *copy = arena_alloc(&p->filter->strings, strlen(start) + 1);
    if (!copy) {
        no_memory(p);
        return NULL;
    }
    for (; *p->at && *p->at != delimiter; p->at++) {
        if (p->at[0] == '\\' && p->at[1] == delimiter)
            p->at++;
        copy[size++] = *p->at;
    }
    copy[size] = '\0';
    if (!*p->at) {
        complain(p, start, "missing closing %c", delimiter);
        return NULL;
    }
    p->at++;
    if (size == 0)
        complain(p, start, "an empty pattern matches everything; omit the term");
    return size ? copy : NULL;
}

static bool parse_regex(parser *p, filter_pattern *pattern) {
    const char *start = p->at, *text = parse_delimited(p, '/');
    if (!text)
        return false;
    int error = regex_nfa_compile(&pattern->regex, text);
    if (error) {
        char reason[MAX_REASON];
        regerror(error, NULL, reason, sizeof reason);
        return complain(p, start, "%s", reason);
    }
    pattern->how = MATCH_REGEX;
    return true;
}

static bool parse_pattern(parser *p, filter_pattern *pattern) {
    if (*p->at == '/')
        return parse_regex(p, pattern);
    if (*p->at == '"') {
        pattern->text = parse_delimited(p, '"');
    } else {
        size_t size = strcspn(p->at, ", \t\n");
        if (size == 0)
            return complain(p, p->at, "a value is missing");
        pattern->text = arena_strndup(&p->filter->strings, p->at, size);
        if (!pattern->text)
            return no_memory(p);
        p->at += size;
    }
    if (pattern->text && strpbrk(pattern->text, "*?"))
        pattern->how = MATCH_WILDCARD;
    return pattern->text;
}

/* Parses a pattern or `@library`, which only `hide` has. */
static bool parse_hidden(parser *p, filter_pattern *pattern) {
    static const char library[] = "library";
    if (*p->at != '@')
        return parse_pattern(p, pattern);
    const char *name = p->at + 1;
    size_t size = word_size(name);
    if (size != sizeof library - 1 || strncmp(name, library, size) != 0)
        return complain(p, p->at, "`@%.*s` is not @library; put names that begin with @ in quotes",
                        shown(size), name);
    pattern->how = MATCH_LIBRARY;
    p->at = name + size;
    return true;
}

/* Parses digits, or `*` for any id. */
static bool parse_id(parser *p, filter_kind kind, filter_pattern *pattern) {
    const size_t most = kind == FILTER_TRACE ? MEMTRACE_TRACE_DIGITS : MEMTRACE_SPAN_DIGITS,
                 size = strcspn(p->at, ", \t\n"), n = strspn(p->at, "0123456789abcdefABCDEF");
    if (size == 0)
        return complain(p, p->at, "a value is missing");
    const bool any = size == 1 && *p->at == '*';
    if (!any && (n != size || n > most))
        return complain(p, p->at,
                        "`%.*s` is not the id of a %s or the beginning of one, which has %zu "
                        "hexadecimal digits; * stands for any",
                        shown(size), p->at, filter_kind_names[kind], most);
    char *text = arena_strndup(&p->filter->strings, p->at, any ? 0 : size);
    if (!text)
        return no_memory(p);
    for (char *c = text; *c; c++)
        *c = (char)tolower((unsigned char)*c);
    pattern->text = text;
    pattern->how = MATCH_BEGIN;
    p->at += size;
    return true;
}

bool filter_match(const filter_pattern *p, const char *text) {
    switch (p->how) {
    case MATCH_PART:
        return strstr(text, p->text) != NULL;
    case MATCH_NAME:
        return strcmp(text, p->text) == 0;
    case MATCH_WILDCARD:
        return fnmatch(p->text, text, 0) == 0;
    case MATCH_REGEX:
        return regex_nfa_match(p->regex, text);
    case MATCH_LIBRARY:
        return name_is_library(text);
    case MATCH_BEGIN:
        return *text && strncmp(text, p->text, strlen(p->text)) == 0;
    case MATCH_LINE:
        break;
    }
    return false;
}

/* ---- terms ------------------------------------------------------------------------------- */

static bool parse_heap(parser *p, filter_value *v) {
    const char *const *names = profile_heap_names;
    size_t size = word_size(p->at);
    for (unsigned i = 0; names[i]; i++)
        if (strlen(names[i]) == size && strncmp(names[i], p->at, size) == 0) {
            v->heap = (memtrace_source)i;
            p->at += size;
            return true;
        }
    return complain(p, p->at, "`%.*s` is not one of minor, major, external", shown(size), p->at);
}

static bool parse_value(parser *p, filter_kind kind, filter_value *v) {
    switch (filter_values_of[kind]) {
    case VALUES_HEAP:
        return parse_heap(p, v);
    case VALUES_PATTERN:
        return kind == FILTER_HIDE ? parse_hidden(p, &v->pattern) : parse_pattern(p, &v->pattern);
    case VALUES_ID:
        return parse_id(p, kind, &v->pattern);
    default:
        return parse_range(p, filter_values_of[kind], v);
    }
}

static bool parse_values(parser *p, filter_term *term) {
    do {
        filter_value v = {0};
        p->at++; /* the colon, or a comma */
        if (!parse_value(p, term->kind, &v))
            return false;
        if (!vec_push(&term->values, v))
            return no_memory(p);
    } while (*p->at == ',');
    if (*p->at && !isspace((unsigned char)*p->at))
        return complain(p, p->at, "expected a comma or a blank before `%.*s`",
                        shown(strcspn(p->at, " \t\n")), p->at);
    return true;
}

static bool refuse_name(parser *p, const char *name, size_t size) {
    char known[224] = "";
    for (size_t i = 0, used = 0; i < FILTER_N_KINDS && used < sizeof known; i++)
        used += (size_t)snprintf(known + used, sizeof known - used, "%s%s", i ? ", " : "",
                                 filter_kind_names[i]);
    return complain(p, name, "`%.*s` is not one of %s", shown(size) < 24 ? (int)size : 24, name,
                    known);
}

static bool parse_term(parser *p) {
    filter_term term = {.negated = *p->at == '-'};
    const char *start = p->at;
    p->at += term.negated;
    const char *name = p->at;
    size_t size = strcspn(name, ": \t\n");
    term.kind = filter_kind_named(name, size);
    if (term.kind == FILTER_N_KINDS)
        return refuse_name(p, name, size);
    if (term.negated && filter_kind_looks(term.kind))
        return complain(p, start, "%s cannot be negated", filter_kind_names[term.kind]);
    p->at += size;
    bool takes_values = filter_values_of[term.kind] != VALUES_NONE;
    if (takes_values && *p->at != ':')
        return complain(p, p->at, "`%s` needs a value: %s:…", filter_kind_names[term.kind],
                        filter_kind_names[term.kind]);
    if (!takes_values && *p->at == ':')
        return complain(p, p->at, "`%s` takes no value", filter_kind_names[term.kind]);
    term.at = (size_t)(name - p->text);
    term.size = size;
    term.column = column_of(p->text, name);
    if (!vec_push(&p->filter->terms, term))
        return no_memory(p);
    filter_term *pushed = &p->filter->terms.items[p->filter->terms.count - 1];
    if (takes_values && !parse_values(p, pushed))
        return false;
    pushed->whole_at = (size_t)(start - p->text);
    pushed->whole_size = (size_t)(p->at - start);
    return true;
}

static bool parse_terms(parser *p) {
    for (;;) {
        p->at += strspn(p->at, " \t\n");
        if (!*p->at)
            return true;
        if (!parse_term(p))
            return false;
    }
}

bool filter_parse(const char *text, filter **f, filter_error *error) {
    parser p = {.text = text, .at = text, .error = error, .filter = calloc(1, sizeof *p.filter)};
    *error = (filter_error){0};
    *f = NULL;
    if (!p.filter)
        return no_memory(&p);
    if (!parse_terms(&p)) {
        filter_free(p.filter);
        return false;
    }
    *f = p.filter;
    return true;
}

bool filter_parse_time(const char *text, uint64_t *micros, filter_error *error) {
    parser p = {.text = text, .at = text, .error = error};
    filter_bound b = {0};
    *error = (filter_error){0};
    if (!parse_bound(&p, VALUES_DURATION, &b))
        return false;
    if (*p.at)
        return complain(&p, p.at, "expected one time");
    *micros = b.value < 0x1p63 ? (uint64_t)(b.value + 0.5) : UINT64_MAX - 1;
    return true;
}

void filter_free(filter *f) {
    if (!f)
        return;
    for (size_t i = 0; i < f->terms.count; i++) {
        filter_term *t = &f->terms.items[i];
        for (size_t j = 0; j < t->values.count; j++)
            if (t->values.items[j].pattern.how == MATCH_REGEX)
                regex_nfa_free(t->values.items[j].pattern.regex);
        vec_free(&t->values);
    }
    vec_free(&f->terms);
    arena_free(&f->strings);
    free(f);
}

static const filter_name_of kinds_of_names[] = {
    [FILTER_FN] = FILTER_NAME_FUNCTION,    [FILTER_FILE] = FILTER_NAME_FILE,
    [FILTER_TYPE] = FILTER_NAME_TYPE,      [FILTER_BELOW] = FILTER_NAME_FUNCTION,
    [FILTER_ABOVE] = FILTER_NAME_FUNCTION, [FILTER_PATH] = FILTER_NAME_FUNCTION};

static bool has_names(const filter_term *t) {
    return !t->negated && (t->kind == FILTER_FN || t->kind == FILTER_FILE ||
                           t->kind == FILTER_TYPE || filter_kind_cuts(t->kind));
}

bool filter_plain_name(const filter *f, size_t i, filter_name *name) {
    for (size_t t = 0; t < f->terms.count; t++) {
        const filter_term *term = &f->terms.items[t];
        for (size_t v = 0; has_names(term) && v < term->values.count; v++) {
            const filter_pattern *p = &term->values.items[v].pattern;
            if ((p->how != MATCH_PART && p->how != MATCH_NAME) || i-- > 0)
                continue;
            *name = (filter_name){
                .of = kinds_of_names[term->kind], .text = p->text, .whole = p->how == MATCH_NAME};
            return true;
        }
    }
    return false;
}

/* ---- sites ------------------------------------------------------------------------------- */

struct call_site {
    VEC(filter_pattern) steps;
    filter filter; /* owns the strings */
};

static bool is_function(const profile *p, const char *name) {
    for (size_t i = 0; i < p->locations.count; i++)
        if (strcmp(p->locations.items[i].function, name) == 0)
            return true;
    return false;
}

/* Splits `name.c:12` into file and line. A function of that name takes precedence. */
static void take_line(char *text, filter_pattern *step) {
    const size_t file = path_line(text, strlen(text), &step->line);
    if (file == 0)
        return;
    text[file] = '\0';
    step->how = MATCH_LINE;
}

/* Parses one step, up to ` > ` or the end. */
static bool parse_step(parser *p, const profile *names_of, filter_pattern *step) {
    if (*p->at == '/')
        return parse_regex(p, step);
    const char *end = strstr(p->at, " > ");
    size_t size = end ? (size_t)(end - p->at) : strlen(p->at);
    while (size > 0 && p->at[size - 1] == ' ')
        size--;
    if (size == 0)
        return complain(p, p->at, "missing function name");
    char *text = arena_strndup(&p->filter->strings, p->at, size);
    if (!text)
        return no_memory(p);
    step->text = text;
    p->at += size;
    step->how = is_function(names_of, step->text)   ? MATCH_NAME
                : strpbrk(step->text, "*?") != NULL ? MATCH_WILDCARD
                                                    : MATCH_PART;
    if (step->how == MATCH_PART)
        take_line(text, step);
    return true;
}

static bool parse_steps(parser *p, const profile *names_of, call_site *s) {
    for (;;) {
        filter_pattern step = {0};
        p->at += strspn(p->at, " ");
        if (!parse_step(p, names_of, &step))
            return false;
        if (!vec_push(&s->steps, step))
            return no_memory(p);
        p->at += strspn(p->at, " ");
        if (!*p->at)
            return true;
        if (*p->at != '>')
            return complain(p, p->at, "expected ` > ` or the end");
        p->at++;
    }
}

bool call_site_parse(const char *text, const profile *p, call_site **s, filter_error *error) {
    call_site *made = calloc(1, sizeof *made);
    parser state = {.text = text, .at = text, .error = error};
    *error = (filter_error){0};
    *s = NULL;
    if (!made)
        return no_memory(&state);
    state.filter = &made->filter;
    if (!parse_steps(&state, p, made)) {
        call_site_free(made);
        return false;
    }
    *s = made;
    return true;
}

bool call_site_of(const char *const *functions, size_t n, call_site **s) {
    call_site *made = *s = calloc(1, sizeof *made);
    for (size_t i = 0; made && i < n; i++) {
        const char *f = functions[i];
        filter_pattern step = {.how = MATCH_NAME,
                               .text = arena_strndup(&made->filter.strings, f, strlen(f))};
        if (!step.text || !vec_push(&made->steps, step)) {
            call_site_free(made);
            made = *s = NULL;
        }
    }
    return made;
}

static bool parse_search(parser *p, filter_pattern *pattern) {
    if (*p->at == '/')
        return parse_regex(p, pattern) &&
               (!*p->at || complain(p, p->at, "expected the end after the closing /"));
    pattern->text = arena_strndup(&p->filter->strings, p->at, strlen(p->at));
    if (!pattern->text)
        return no_memory(p);
    if (strpbrk(pattern->text, "*?"))
        pattern->how = MATCH_WILDCARD;
    return true;
}

bool call_site_search(const char *text, call_site **s, filter_error *error) {
    call_site *made = calloc(1, sizeof *made);
    parser state = {.text = text, .at = text, .error = error};
    filter_pattern pattern = {0};
    *error = (filter_error){0};
    *s = NULL;
    if (!made)
        return no_memory(&state);
    state.filter = &made->filter;
    bool parsed = parse_search(&state, &pattern);
    bool pushed = (parsed || pattern.how == MATCH_REGEX) && vec_push(&made->steps, pattern);
    if (parsed && pushed) {
        *s = made;
        return true;
    }
    if (!pushed && pattern.how == MATCH_REGEX)
        regex_nfa_free(pattern.regex);
    call_site_free(made);
    return parsed ? no_memory(&state) : false;
}

void call_site_free(call_site *s) {
    if (!s)
        return;
    for (size_t i = 0; i < s->steps.count; i++)
        if (s->steps.items[i].how == MATCH_REGEX)
            regex_nfa_free(s->steps.items[i].regex);
    vec_free(&s->steps);
    arena_free(&s->filter.strings);
    free(s);
}

size_t call_site_steps(const call_site *s) {
    return s->steps.count;
}

bool call_site_match(const call_site *s, size_t step, const char *function) {
    return filter_match(&s->steps.items[step], function);
}

bool call_site_match_place(const call_site *s, size_t step, const profile_location *place) {
    const filter_pattern *p = &s->steps.items[step];
    if (p->how != MATCH_LINE)
        return filter_match(p, place->function);
    return place->line == p->line && path_ends(place->file, p->text, strlen(p->text));
}

bool call_site_has_lines(const call_site *s) {
    for (size_t i = 0; i < s->steps.count; i++)
        if (s->steps.items[i].how == MATCH_LINE)
            return true;
    return false;
}
