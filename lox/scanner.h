/* scanner.h: splits source text into tokens. Characters outside ASCII are allowed in strings and
 * comments; the three hands are tokens. */
#ifndef LOX_SCANNER_H
#define LOX_SCANNER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lox.h"

/* Keywords. X(constant, spelling) */
#define KEYWORDS(X)                                                                                \
    X(AND, "and")                                                                                  \
    X(CLASS, "class")                                                                              \
    X(ELSE, "else")                                                                                \
    X(FALSE, "false")                                                                              \
    X(FOR, "for")                                                                                  \
    X(FUN, "fun")                                                                                  \
    X(IF, "if")                                                                                    \
    X(NIL, "nil")                                                                                  \
    X(OR, "or")                                                                                    \
    X(PRINT, "print")                                                                              \
    X(RETURN, "return")                                                                            \
    X(SELF, "self")                                                                                \
    X(SUPER, "super")                                                                              \
    X(THIS, "this")                                                                                \
    X(TRUE, "true")                                                                                \
    X(VAR, "var")                                                                                  \
    X(WHILE, "while")

typedef enum token_type {
    TOKEN_END,
    TOKEN_ERROR, /* `text` is a message */
    TOKEN_NAME,
    TOKEN_STRING,
    TOKEN_NUMBER,
#define TOKEN_ENUM(id, spelling) TOKEN_##id,
    KEYWORDS(TOKEN_ENUM)
#undef TOKEN_ENUM
        TOKEN_LEFT_PAREN,
    TOKEN_RIGHT_PAREN,
    TOKEN_LEFT_BRACE,
    TOKEN_RIGHT_BRACE,
    TOKEN_LEFT_BRACKET,  /* [ */
    TOKEN_RIGHT_BRACKET, /* ] */
    TOKEN_LEFT_HAND,     /* 👉, also a bracket */
    TOKEN_RIGHT_HAND,    /* 👈 */
    TOKEN_COMMA,
    TOKEN_DOT,
    TOKEN_MINUS,
    TOKEN_PLUS,
    TOKEN_SEMICOLON,
    TOKEN_SLASH,
    TOKEN_STAR,
    TOKEN_NOT,
    TOKEN_NOT_EQUAL,
    TOKEN_EQUAL,
    TOKEN_EQUAL_EQUAL,
    TOKEN_GREATER,
    TOKEN_GREATER_EQUAL,
    TOKEN_LESS,
    TOKEN_LESS_EQUAL,
    TOKEN_INHERITS, /* 🤝 */
    N_TOKENS
} token_type;

typedef struct token {
    token_type type;
    const char *text;
    size_t size; /* bytes */
    uint32_t line;
    uint32_t start, end; /* characters from the start of the file */
} token;

typedef struct scanner {
    const char *at, *end;
    uint32_t line;
    uint32_t character;  /* number of the character at `at` */
    uint32_t line_start; /* first character of the line */
} scanner;

/* `start` is the position of the text in its file; it must begin a line. */
void scanner_start(scanner *s, const char *text, size_t size, lox_position start);
token scanner_next(scanner *s);

#endif
