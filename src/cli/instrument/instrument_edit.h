/* instrument_edit.h: an insertion into a text, and its form as a patch. edit_ml and edit_dune
 * decide what to insert into the two files of a program, or why that is impossible. */
#ifndef CLI_INSTRUMENT_INSTRUMENT_EDIT_H
#define CLI_INSTRUMENT_INSTRUMENT_EDIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

typedef enum edit_verdict { EDIT_NEEDED, EDIT_PRESENT, EDIT_REFUSED } edit_verdict;

typedef struct edit {
    edit_verdict verdict;
    size_t at;        /* EDIT_NEEDED: byte offset of the insertion */
    char insert[160]; /* EDIT_NEEDED: the inserted text */
    size_t line;      /* EDIT_REFUSED: line of the cause, from 1; 0: none */
    char reason[160]; /* EDIT_REFUSED: the cause. Otherwise a warning, or empty */
} edit;

__attribute__((format(printf, 2, 3))) edit edit_refuse(size_t line, const char *format, ...);

/* Adds the call to the main module of a program. */
edit edit_ml(const char *text, size_t size);

/* Adds the library to the stanza of the dune file that builds `module`. */
edit edit_dune(const char *text, size_t size, const char *module);

/* Returns the text with the insertion, to be freed by the caller. Returns NULL if there is no
 * memory. */
char *edit_apply(const edit *e, const char *text, size_t size, size_t *new_size);

/* Prints the change as a unified diff. */
void edit_print(FILE *out, const char *path, const char *old, size_t old_size, const char *new,
                size_t new_size);

#endif
