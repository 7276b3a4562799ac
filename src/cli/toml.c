/* toml.c: a recursive descent parser that works line by line. */
#include "cli/toml.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "cli/command.h"
#include "cli/message.h"

enum { FILE_MAX = 1 << 24 };

typedef struct parser {
    const char *at, *line_start;
    unsigned line;
    const toml_taker *taker;
    toml_error *error;
} parser;

bool toml_refuse(toml_error *error, const char *reason) {
    snprintf(error->reason, sizeof error->reason, "%s", reason);
    return false;
}

bool toml_refuse_key(toml_error *error, const char *key, const char *known) {
    snprintf(error->reason, sizeof error->reason, "`%.40s` is none of %s", key, known);
    return false;
}

static unsigned column_of(const parser *p, const char *at) {
    return (unsigned)(at - p->line_start) + 1;
}

static bool fail(parser *p, const char *reason) {
    *p->error = (toml_error){.line = p->line, .column = column_of(p, p->at)};
    return toml_refuse(p->error, reason);
}

/* Sets the place of an error from a callback, unless the callback has set it. */
static bool taken(const parser *p, bool ok, const char *at) {
    if (!ok && p->error->line == 0) {
        p->error->line = p->line;
        p->error->column = column_of(p, at);
    }
    return ok;
}

static void skip_blanks(parser *p) {
    p->at += strspn(p->at, " \t");
}

/* Parses an optional comment and the end of the line. */
static bool end_line(parser *p) {
    skip_blanks(p);
    if (*p->at == '#')
        p->at += strcspn(p->at, "\n");
    if (*p->at == '\r' && p->at[1] == '\n')
        p->at++;
    if (*p->at == '\0')
        return true;
    if (*p->at != '\n')
        return fail(p, "expected the end of the line");
    p->line_start = ++p->at;
    p->line++;
    return true;
}

static const char *keep(parser *p, const char *text, size_t size) {
    const char *kept = intern(p->taker->strings, text, size);
    if (!kept)
        fail(p, "not enough memory");
    return kept;
}

/* ---- values -------------------------------------------------------------------------------- */

static bool is_quote(char c) {
    return c == '"' || c == '\'';
}

static bool escape(parser *p, char *c) {
    static const char from[] = "\"\\tn", to[] = "\"\\\t\n";
    const char *found = *++p->at ? strchr(from, *p->at) : NULL;
    if (!found)
        return fail(p, "this escape is not supported");
    *c = to[found - from];
    return true;
}

static bool parse_string(parser *p, const char **string) {
    char text[TOML_STRING_MAX];
    const char quote = *p->at;
    size_t size = 0;
    for (p->at++; *p->at != quote; p->at++) {
        char c = *p->at;
        if (c == '\0' || c == '\n')
            return fail(p, "the string is not closed");
        if (c == '\\' && quote == '"' && !escape(p, &c))
            return false;
        if (size + 1 == sizeof text)
            return fail(p, "the string is too long");
        text[size++] = c;
    }
    p->at++;
    return (*string = keep(p, text, size));
}

static bool parse_list(parser *p, toml_value *v) {
    for (p->at++, skip_blanks(p); *p->at != ']'; skip_blanks(p)) {
        if (!is_quote(*p->at))
            return fail(p, "expected a string, or `]`");
        if (v->n_items == TOML_LIST_MAX)
            return fail(p, "the list is too long");
        if (!parse_string(p, &v->items[v->n_items++]))
            return false;
        skip_blanks(p);
        if (*p->at == ',')
            p->at++;
        else if (*p->at != ']')
            return fail(p, "expected `,` or `]`");
    }
    p->at++;
    return true;
}

static bool parse_bool(parser *p, const char *word, toml_value *v) {
    const size_t size = strlen(word);
    if (strncmp(p->at, word, size) != 0)
        return false;
    v->kind = TOML_BOOL;
    v->number = *word == 't';
    p->at += size;
    return true;
}

static bool parse_value(parser *p, toml_value *v) {
    *v = (toml_value){.line = p->line, .column = column_of(p, p->at)};
    if (is_quote(*p->at)) {
        v->kind = TOML_STRING;
        return parse_string(p, &v->text);
    }
    if (*p->at == '[') {
        v->kind = TOML_LIST;
        return parse_list(p, v);
    }
    if (parse_bool(p, "true", v) || parse_bool(p, "false", v))
        return true;
    const size_t size = number_read(p->at, &v->number);
    v->kind = size > 0 ? TOML_NUMBER : TOML_NOTHING;
    p->at += size;
    return true;
}

bool toml_is_string(const toml_value *value, toml_error *error) {
    return value->kind == TOML_STRING || toml_refuse(error, "expected a string");
}

bool toml_is_number(const toml_value *value, toml_error *error) {
    return value->kind == TOML_NUMBER || toml_refuse(error, "expected a number");
}

bool toml_take_text(const toml_value *value, const char **taken, toml_error *error) {
    *taken = value->text;
    return toml_is_string(value, error);
}

bool toml_take_bool(const toml_value *value, bool *taken, toml_error *error) {
    if (value->kind != TOML_BOOL)
        return toml_refuse(error, "expected true or false");
    *taken = value->number > 0;
    return true;
}

/* ---- lines --------------------------------------------------------------------------------- */

static bool parse_table(parser *p) {
    const char *start = p->at;
    const bool is_list = p->at[1] == '[';
    p->at += is_list ? 2 : 1;
    const size_t size = strcspn(p->at, "]\r\n");
    const char *name = keep(p, p->at, size), *closing = is_list ? "]]" : "]";
    if (!name)
        return false;
    if (strncmp(p->at + size, closing, strlen(closing)) != 0) {
        p->at += size;
        return fail(p, is_list ? "expected `]]`" : "expected `]`");
    }
    p->at += size + strlen(closing);
    return taken(p, p->taker->table(p->taker->context, name, is_list, p->line, p->error), start);
}

static bool parse_pair(parser *p) {
    const char *start = p->at;
    const size_t size = strcspn(p->at, "= \t\r\n#");
    const char *name = keep(p, p->at, size);
    toml_value value;
    int key = 0;
    if (!name || !taken(p, p->taker->key(p->taker->context, name, &key, p->error), start))
        return false;
    p->at += size;
    skip_blanks(p);
    if (*p->at != '=')
        return fail(p, "expected `=`");
    p->at++;
    skip_blanks(p);
    start = p->at;
    return parse_value(p, &value) &&
           taken(p, p->taker->value(p->taker->context, key, &value, p->error), start);
}

bool toml_parse(const char *text, const toml_taker *taker, toml_error *error) {
    parser p = {.at = text, .line_start = text, .line = 1, .taker = taker, .error = error};
    *error = (toml_error){0};
    while (*p.at) {
        skip_blanks(&p);
        bool ok = true;
        if (*p.at == '[')
            ok = parse_table(&p);
        else if (*p.at && !strchr("#\r\n", *p.at))
            ok = parse_pair(&p);
        if (!ok || !end_line(&p))
            return false;
    }
    return taken(&p, taker->end(taker->context, error), p.at);
}

/* ---- files --------------------------------------------------------------------------------- */

/* Returns NULL with errno set if the file cannot be read, or is too large. */
static char *read_all(const char *path) {
    FILE *in = fopen(path, "re");
    char *text = in ? malloc(FILE_MAX + 1) : NULL; /* takes only as much memory as is read */
    const size_t size = text ? fread(text, 1, FILE_MAX, in) : 0;
    int error = !text || ferror(in) ? errno : size == FILE_MAX ? EFBIG : 0;
    if (text)
        text[size] = '\0';
    if (in)
        fclose(in);
    if (!error)
        return text;
    free(text);
    errno = error;
    return NULL;
}

int toml_read(const char *path, const toml_taker *taker) {
    toml_error error;
    char *text = read_all(path);
    if (!text)
        return message_error("%s: %s", path, strerror(errno));
    const bool ok = toml_parse(text, taker, &error);
    free(text);
    if (ok)
        return STATUS_OK;
    return message_error("%s:%u:%u: %s", path, error.line, error.column, error.reason);
}
