/* ocaml_tokens.c: a hand-written scanner that implements OCaml's lexical rules as far as needed to
 * tell code from other text: comments nest, and strings within comments are skipped. */
#include "cli/instrument/ocaml_tokens.h"

#include <string.h>

typedef struct scanner {
    const char *text, *at, *end;
    size_t line;
    const char *line_start;
    const char *problem; /* NULL: none so far */
} scanner;

static char peek(const scanner *s, size_t ahead) {
    return (size_t)(s->end - s->at) > ahead ? s->at[ahead] : '\0';
}

static void advance(scanner *s, size_t n) {
    for (; n > 0 && s->at < s->end; n--, s->at++)
        if (*s->at == '\n') {
            s->line++;
            s->line_start = s->at + 1;
        }
}

static bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (unsigned char)c >= 0x80;
}

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

static bool is_part_of_word(char c) {
    return is_letter(c) || is_digit(c) || c == '\'';
}

static void skip_string(scanner *s) {
    for (advance(s, 1); s->at < s->end && *s->at != '"'; advance(s, 1))
        if (*s->at == '\\')
            advance(s, 1);
    if (s->at == s->end)
        s->problem = "a string is not closed";
    advance(s, 1);
}

/* Returns the size of a `{id|` at this position, or 0. */
static size_t quote_size(const scanner *s) {
    size_t n = 1;
    while ((peek(s, n) >= 'a' && peek(s, n) <= 'z') || peek(s, n) == '_')
        n++;
    return peek(s, 0) == '{' && peek(s, n) == '|' ? n + 1 : 0;
}

static void skip_quoted(scanner *s, size_t open) {
    const char *id = s->at + 1;
    const size_t size = open - 2;
    for (advance(s, open); s->at < s->end; advance(s, 1))
        if (*s->at == '|' && (size_t)(s->end - s->at) >= size + 2 &&
            memcmp(s->at + 1, id, size) == 0 && s->at[1 + size] == '}') {
            advance(s, size + 2);
            return;
        }
    s->problem = "a quoted string is not closed";
}

/* Returns the size of a character literal. 0: the quote belongs to a type variable. */
static size_t character_size(const scanner *s) {
    if (peek(s, 1) == '\\') {
        size_t n = 3;
        while (n < 12 && peek(s, n) && peek(s, n) != '\'')
            n++;
        return peek(s, n) == '\'' ? n + 1 : 0;
    }
    return peek(s, 1) && peek(s, 2) == '\'' ? 3 : 0;
}

static void skip_comment(scanner *s) {
    size_t depth = 0, quote;
    do {
        if (peek(s, 0) == '(' && peek(s, 1) == '*') {
            depth++;
            advance(s, 2);
        } else if (peek(s, 0) == '*' && peek(s, 1) == ')') {
            depth--;
            advance(s, 2);
        } else if (*s->at == '"') {
            skip_string(s);
        } else if ((quote = quote_size(s))) {
            skip_quoted(s, quote);
        } else {
            advance(s, *s->at == '\'' && character_size(s) ? character_size(s) : 1);
        }
    } while (depth > 0 && s->at < s->end && !s->problem);
    if (depth > 0)
        s->problem = "a comment is not closed";
}

/* Skips a word with everything that is joined to it by dots. */
static void skip_word(scanner *s) {
    while (is_part_of_word(peek(s, 0)) || (peek(s, 0) == '.' && is_letter(peek(s, 1))))
        advance(s, 1);
}

static void skip_number(scanner *s) {
    while (is_part_of_word(peek(s, 0)) || peek(s, 0) == '.')
        advance(s, 1);
}

static ocaml_token_kind skip_token(scanner *s) {
    size_t size;
    if (is_letter(*s->at)) {
        skip_word(s);
        return OCAML_WORD;
    }
    if (is_digit(*s->at))
        skip_number(s);
    else if (*s->at == '"')
        skip_string(s);
    else if ((size = quote_size(s)))
        skip_quoted(s, size);
    else if (*s->at == '\'' && (size = character_size(s)))
        advance(s, size);
    else {
        advance(s, peek(s, 0) == ';' && peek(s, 1) == ';' ? 2 : 1);
        return OCAML_SYMBOL;
    }
    return OCAML_LITERAL;
}

static bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f';
}

/* Skips blanks, then adds a token or skips a comment. */
static bool scan_token(scanner *s, ocaml_tokens *tokens) {
    while (s->at < s->end && is_blank(*s->at))
        advance(s, 1);
    if (s->at == s->end)
        return true;
    if (peek(s, 0) == '(' && peek(s, 1) == '*' && peek(s, 2) != ')') {
        skip_comment(s);
        return !s->problem;
    }
    const char *from = s->at;
    ocaml_token token = {
        .at = (size_t)(from - s->text), .line = s->line, .column = (size_t)(from - s->line_start)};
    token.kind = skip_token(s);
    token.size = (size_t)(s->at - from);
    if (!s->problem && !vec_push(&tokens->all, token))
        s->problem = "not enough memory";
    return !s->problem;
}

bool ocaml_tokens_scan(ocaml_tokens *tokens, const char *text, size_t size, const char **problem,
                       size_t *line) {
    scanner s = {.text = text, .at = text, .end = text + size, .line = 1, .line_start = text};
    *tokens = (ocaml_tokens){.text = text};
    while (s.at < s.end) {
        *line = s.line;
        if (!scan_token(&s, tokens))
            break;
    }
    *problem = s.problem;
    return !s.problem;
}

void ocaml_tokens_free(ocaml_tokens *tokens) {
    vec_free(&tokens->all);
}

bool ocaml_token_is(const ocaml_tokens *tokens, size_t i, const char *text) {
    if (i >= tokens->all.count)
        return false;
    const ocaml_token *t = &tokens->all.items[i];
    return t->size == strlen(text) && memcmp(tokens->text + t->at, text, t->size) == 0;
}

bool ocaml_token_ends(const ocaml_tokens *tokens, size_t i, const char *word) {
    const size_t size = strlen(word);
    if (i >= tokens->all.count || tokens->all.items[i].kind != OCAML_WORD)
        return false;
    const ocaml_token *t = &tokens->all.items[i];
    const char *end = tokens->text + t->at + t->size;
    return t->size >= size && memcmp(end - size, word, size) == 0 &&
           (t->size == size || end[-(ptrdiff_t)size - 1] == '.');
}
