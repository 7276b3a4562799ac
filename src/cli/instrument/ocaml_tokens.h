/* ocaml_tokens.h: the words of an OCaml source file, without comments. No grammar: what they mean
 * together is instrument_ml.c's business. */
#ifndef CLI_INSTRUMENT_OCAML_TOKENS_H
#define CLI_INSTRUMENT_OCAML_TOKENS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/vec.h"

typedef enum ocaml_token_kind {
    OCAML_WORD,    /* a keyword, an identifier, or a path like Unix.fork: one token */
    OCAML_LITERAL, /* a number, a string or a character */
    OCAML_SYMBOL,  /* `;;`, or any other single character */
} ocaml_token_kind;

typedef struct ocaml_token {
    ocaml_token_kind kind;
    size_t at, size; /* in the text, bytes */
    size_t line;     /* from 1 */
    size_t column;   /* from 0, bytes */
} ocaml_token;

typedef struct ocaml_tokens {
    const char *text;
    VEC(ocaml_token) all;
} ocaml_tokens;

/* False if it cannot be done: `*problem` says why (static), `*line` where. */
bool ocaml_tokens_scan(ocaml_tokens *tokens, const char *text, size_t size, const char **problem,
                       size_t *line);
void ocaml_tokens_free(ocaml_tokens *tokens);

/* Is token `i`, if there is one, that text? */
bool ocaml_token_is(const ocaml_tokens *tokens, size_t i, const char *text);

/* Is it a path whose last part is that word, or that word alone? */
bool ocaml_token_ends(const ocaml_tokens *tokens, size_t i, const char *word);

#endif
