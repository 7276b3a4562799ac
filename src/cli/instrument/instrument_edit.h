/* instrument_edit.h: one insertion into a text, and how it looks as a patch; and the two files into
 * which `instrument` inserts: what they get, or why they cannot. */
#ifndef CLI_INSTRUMENT_INSTRUMENT_EDIT_H
#define CLI_INSTRUMENT_INSTRUMENT_EDIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

typedef enum edit_verdict { EDIT_NEEDED, EDIT_PRESENT, EDIT_REFUSED } edit_verdict;

typedef struct edit {
    edit_verdict verdict;
    size_t at;        /* EDIT_NEEDED: where to insert, in bytes */
    char insert[160]; /* and what */
    size_t line;      /* EDIT_REFUSED: where that is, from 1; 0: nowhere */
    char reason[160]; /* EDIT_REFUSED: why. Else a remark, or empty */
} edit;

__attribute__((format(printf, 2, 3))) edit edit_refuse(size_t line, const char *format, ...);

/* Adds the call to the main module of a program. */
edit edit_ml(const char *text, size_t size);

/* Adds the library to the stanza of the dune file that builds `module`. */
edit edit_dune(const char *text, size_t size, const char *module);

/* The text with the insertion; the caller frees it. NULL: no memory. */
char *edit_apply(const edit *e, const char *text, size_t size, size_t *new_size);

/* Writes the change as a unified diff. */
void edit_print(FILE *out, const char *path, const char *old, size_t old_size, const char *new,
                size_t new_size);

#endif
