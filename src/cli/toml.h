/* toml.h: reads a small part of TOML, which settings are written in: comments, tables `[name]` and
 * `[[name]]`, and in them `key = value`, where a value is a string (basic or literal, on one line),
 * a number, true or false, or a list of strings on one line. All else is refused, with its line and
 * column.
 *
 * Reports what is there, piece by piece, to whoever knows what it means. */
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
    TOML_NOTHING, /* no value that this reads */
    TOML_STRING,
    TOML_NUMBER,
    TOML_BOOL,
    TOML_LIST,
} toml_kind;

typedef struct toml_value {
    toml_kind kind;
    unsigned line, column;            /* where it begins */
    double number;                    /* of a boolean, 1 or 0 */
    const char *text;                 /* of a string */
    const char *items[TOML_LIST_MAX]; /* of a list */
    size_t n_items;
} toml_value;

/* Strings are those of the table `strings`. */
typedef struct toml_taker {
    /* A table begins in that line: what stands between its brackets, and whether these are two. */
    bool (*table)(void *context, const char *name, bool is_list, unsigned line, toml_error *error);

    /* The number of the key, whatever the taker means by it; false refuses it. Before its value is
     * read. */
    bool (*key)(void *context, const char *key, int *number, toml_error *error);
    bool (*value)(void *context, int key, const toml_value *value, toml_error *error);
    bool (*end)(void *context, toml_error *error); /* of all */
    void *context;
    intern_table *strings;
} toml_taker;

/* Each function that returns false has given its reason, and, if that is elsewhere than at what it
 * was given, its place. */
bool toml_parse(const char *text, const toml_taker *taker, toml_error *error);

/* The same of a file; says what is wrong. Returns a status. */
int toml_read(const char *path, const toml_taker *taker);

/* For these functions: gives the reason; false. */
bool toml_refuse(toml_error *error, const char *reason);

/* Whether it is of this kind; else gives the reason. */
bool toml_is_string(const toml_value *value, toml_error *error);
bool toml_is_number(const toml_value *value, toml_error *error);
bool toml_take_text(const toml_value *value, const char **taken, toml_error *error);
bool toml_take_bool(const toml_value *value, bool *taken, toml_error *error);

#endif
