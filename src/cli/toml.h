/* toml.h: reads a small subset of TOML for settings: comments, tables `[name]` and `[[name]]`, and
 * pairs `key = value`. A value is a string (basic or literal, on one line), a number, true or
 * false, or a list of strings on one line. Everything else is an error, reported with line and
 * column.
 *
 * The parser passes each item to callbacks, which know its meaning. */
#ifndef CLI_TOML_H
#define CLI_TOML_H

#include <stdbool.h>
#include <stddef.h>

#include "base/intern.h"

enum { TOML_LIST_MAX = 16, TOML_STRING_MAX = 1024 };

typedef struct toml_error {
    unsigned line, column; /* from 1; columns count bytes */
    char reason[256];
} toml_error;

typedef enum toml_kind {
    TOML_NOTHING, /* not a supported value */
    TOML_STRING,
    TOML_NUMBER,
    TOML_BOOL,
    TOML_LIST,
} toml_kind;

typedef struct toml_value {
    toml_kind kind;
    unsigned line, column;            /* where the value begins */
    double number;                    /* of a number; of a boolean, 1 or 0 */
    const char *text;                 /* if a string */
    const char *items[TOML_LIST_MAX]; /* if a list */
    size_t n_items;
} toml_value;

/* The callbacks. Strings passed to them belong to `strings`. */
typedef struct toml_taker {
    /* A table begins in line `line`. `is_list`: its name is in double brackets. */
    bool (*table)(void *context, const char *name, bool is_list, unsigned line, toml_error *error);

    /* Called before the value is read. Sets a number that identifies the key, for `value`. Returns
     * false to refuse the key. */
    bool (*key)(void *context, const char *key, int *number, toml_error *error);
    bool (*value)(void *context, int key, const toml_value *value, toml_error *error);
    bool (*end)(void *context, toml_error *error); /* after the last line */
    void *context;
    intern_table *strings;
} toml_taker;

/* Parses a text. A callback that returns false has set the error's reason, and its place if that is
 * not the current item. */
bool toml_parse(const char *text, const toml_taker *taker, toml_error *error);

/* Parses a file, and reports errors. Returns an exit status. */
int toml_read(const char *path, const toml_taker *taker);

/* For callbacks: sets the error's reason, and returns false. */
bool toml_refuse(toml_error *error, const char *reason);

/* The same for a key that is not one of those in the list `known`. */
bool toml_refuse_key(toml_error *error, const char *key, const char *known);

/* Return whether the value has this type; toml_take_... also store it. Otherwise set the error's
 * reason. */
bool toml_is_string(const toml_value *value, toml_error *error);
bool toml_is_number(const toml_value *value, toml_error *error);
bool toml_take_text(const toml_value *value, const char **taken, toml_error *error);
bool toml_take_bool(const toml_value *value, bool *taken, toml_error *error);

#endif
