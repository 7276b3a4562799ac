/* scanner.c: reads each byte once, and never past `end`. */
#include "scanner.h"

#include <string.h>

void scanner_start(scanner *s, const char *text, size_t size, lox_position start) {
    *s = (scanner){.at = text,
                   .end = text + size,
                   .line = start.line,
                   .character = start.character,
                   .line_start = start.character};
    static const char first_line[] = "#!"; /* the first line of a script */
    if (!start.character && size >= 2 && !memcmp(text, first_line, 2))
        while (s->at < s->end && *s->at != '\n')
            s->at++, s->character++;
}

static int scanner_peek(const scanner *s, size_t ahead) {
    return (size_t)(s->end - s->at) > ahead ? (unsigned char)s->at[ahead] : -1;
}

/* Advances one byte. Counts characters by their first bytes. */
static void scanner_step(scanner *s) {
    s->character += (*s->at & 0xC0) != 0x80;
    if (*s->at == '\n') {
        s->line++;
        s->line_start = s->character;
    }
    s->at++;
}

static bool scanner_accept(scanner *s, char c) {
    if (scanner_peek(s, 0) != c)
        return false;
    scanner_step(s);
    return true;
}

static bool is_letter(int c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_digit(int c) {
    return c >= '0' && c <= '9';
}

/* Returns false if a block comment does not end. */
static bool scanner_skip_blank(scanner *s) {
    for (;;) {
        int c = scanner_peek(s, 0), d = scanner_peek(s, 1);
        if (c == ' ' || c == '\t' || c == '\r' || c == '\n') {
            scanner_step(s);
        } else if (c == '/' && d == '/') {
            while (s->at < s->end && *s->at != '\n')
                scanner_step(s);
        } else if (c == '/' && d == '*') {
            scanner_step(s), scanner_step(s);
            while (scanner_peek(s, 0) != '*' || scanner_peek(s, 1) != '/') {
                if (s->at >= s->end)
                    return false;
                scanner_step(s);
            }
            scanner_step(s), scanner_step(s);
        } else {
            return true;
        }
    }
}

static token_type keyword_of(const char *text, size_t size) {
    static const struct {
        const char *spelling;
        token_type type;
    } keywords[] = {
#define KEYWORD(id, text_) {text_, TOKEN_##id},
        KEYWORDS(KEYWORD)
#undef KEYWORD
    };
    for (size_t i = 0; i < sizeof keywords / sizeof *keywords; i++)
        if (keywords[i].spelling[0] == text[0] && strlen(keywords[i].spelling) == size &&
            !memcmp(keywords[i].spelling, text, size))
            return keywords[i].type;
    return TOKEN_NAME;
}

static token_type scanner_number(scanner *s) {
    while (is_digit(scanner_peek(s, 0)))
        scanner_step(s);
    if (scanner_peek(s, 0) == '.' && is_digit(scanner_peek(s, 1))) {
        scanner_step(s);
        while (is_digit(scanner_peek(s, 0)))
            scanner_step(s);
    }
    return TOKEN_NUMBER;
}

static token_type scanner_string(scanner *s) {
    while (s->at < s->end && *s->at != '"')
        scanner_step(s);
    return scanner_accept(s, '"') ? TOKEN_STRING : TOKEN_ERROR;
}

/* Recognizes a hand, whose first byte, \xF0, has been read. */
static token_type scanner_hand(scanner *s) {
    static const struct {
        char rest[4];
        token_type type;
    } hands[] = {{"\x9F\x91\x89", TOKEN_LEFT_HAND},
                 {"\x9F\x91\x88", TOKEN_RIGHT_HAND},
                 {"\x9F\xA4\x9D", TOKEN_INHERITS}};
    for (size_t i = 0; i < sizeof hands / sizeof *hands; i++)
        if (s->end - s->at >= 3 && !memcmp(s->at, hands[i].rest, 3)) {
            s->at += 3;
            return hands[i].type;
        }
    return TOKEN_ERROR;
}

static token_type scanner_sign(scanner *s, int c) {
    switch (c) {
    case '(':
        return TOKEN_LEFT_PAREN;
    case ')':
        return TOKEN_RIGHT_PAREN;
    case '{':
        return TOKEN_LEFT_BRACE;
    case '}':
        return TOKEN_RIGHT_BRACE;
    case '[':
        return TOKEN_LEFT_BRACKET;
    case ']':
        return TOKEN_RIGHT_BRACKET;
    case ',':
        return TOKEN_COMMA;
    case '.':
        return TOKEN_DOT;
    case '-':
        return TOKEN_MINUS;
    case '+':
        return TOKEN_PLUS;
    case ';':
        return TOKEN_SEMICOLON;
    case '/':
        return TOKEN_SLASH;
    case '*':
        return TOKEN_STAR;
    case '!':
        return scanner_accept(s, '=') ? TOKEN_NOT_EQUAL : TOKEN_NOT;
    case '=':
        return scanner_accept(s, '=') ? TOKEN_EQUAL_EQUAL : TOKEN_EQUAL;
    case '<':
        return scanner_accept(s, '=') ? TOKEN_LESS_EQUAL : TOKEN_LESS;
    case '>':
        return scanner_accept(s, '=') ? TOKEN_GREATER_EQUAL : TOKEN_GREATER;
    case 0xF0:
        return scanner_hand(s);
    default:
        return TOKEN_ERROR;
    }
}

static token scanner_message(const scanner *s, token t, const char *message) {
    t.type = TOKEN_ERROR;
    t.text = message;
    t.size = strlen(message);
    t.line = s->line;
    t.end = s->character;
    return t;
}

token scanner_next(scanner *s) {
    token t = {.line = s->line, .start = s->character};
    if (!scanner_skip_blank(s))
        return scanner_message(s, t, "Unterminated comment.");
    t = (token){.text = s->at, .start = s->character};
    int c = scanner_peek(s, 0);
    if (c < 0) {
        t.type = TOKEN_END;
    } else {
        scanner_step(s);
        if (is_letter(c)) {
            while (is_letter(scanner_peek(s, 0)) || is_digit(scanner_peek(s, 0)))
                scanner_step(s);
            t.type = keyword_of(t.text, (size_t)(s->at - t.text));
        } else {
            t.type = is_digit(c) ? scanner_number(s)
                     : c == '"'  ? scanner_string(s)
                                 : scanner_sign(s, c);
        }
    }
    if (t.type == TOKEN_ERROR)
        return scanner_message(s, t, c == '"' ? "Unterminated string." : "Unexpected character.");
    t.size = (size_t)(s->at - t.text);
    t.line = s->line;
    t.end = s->character;
    return t;
}
