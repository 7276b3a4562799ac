/* ocaml_tokens.h: the tokens of an OCaml source file, without comments. Their meaning is left to
 * instrument_ml.c. */
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
    size_t at, size; /* byte offset and size in the text */
    size_t line;     /* from 1 */
    size_t column;   /* from 0, bytes */
} ocaml_token;

typedef struct ocaml_tokens {
    const char *text;
    VEC(ocaml_token) all;
} ocaml_tokens;

/* Returns false on failure, with the cause in `*problem` (a static string) and its place in
 * `*line`. */
bool ocaml_tokens_scan(ocaml_tokens *tokens, const char *text, size_t size, const char **problem,
                       size_t *line);
void ocaml_tokens_free(ocaml_tokens *tokens);

/* Returns whether token `i` exists and is equal to `text`. */
bool ocaml_token_is(const ocaml_tokens *tokens, size_t i, const char *text);

/* Returns whether token `i` is the word, or a path whose last part is the word. */
bool ocaml_token_ends(const ocaml_tokens *tokens, size_t i, const char *word);

#endif
