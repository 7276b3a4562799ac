/* document.h: the result of a report: tables (table.h) and sentences about them, in the order in
 * which text shows them. A document is made, rendered once or more, and freed. */
#ifndef DOCUMENT_DOCUMENT_H
#define DOCUMENT_DOCUMENT_H

#include "base/arena.h"
#include "base/vec.h"
#include "document/table.h"

typedef enum part_kind {
    PART_ROWS,   /* a table; in JSON an array of objects */
    PART_OBJECT, /* a table of one row; in JSON an object; named "": fields of the document */
    PART_NOTE,   /* a sentence, only in text */
    PART_HINT,   /* a faint sentence, only in text: what to do next */
    PART_TITLE,  /* a sentence at the top of the report, with a bold beginning */
} part_kind;

typedef struct document_part {
    part_kind kind;
    unsigned in;
    const char *heading; /* shown above the part in text; NULL: none */
    table table;
    const char *text; /* of notes, hints and titles */
    size_t strong;    /* of a title: bytes at its start that are bold */
} document_part;

/* Valid when zeroed. Owns the texts and tables that it was asked to keep, and nothing else: rows
 * belong to the report, and must outlive the document. */
typedef struct document {
    VEC(document_part) parts;
    arena arena;
    bool failed; /* out of memory: the document is incomplete */
} document;

void document_rows(document *d, const table *t, unsigned in, const char *heading);
void document_object(document *d, const table *t, unsigned in);
void document_section(document *d, const table *t, unsigned in, const char *heading);
__attribute__((format(printf, 2, 3))) void document_note(document *d, const char *format, ...);
__attribute__((format(printf, 2, 3))) void document_hint(document *d, const char *format, ...);

/* Returns text that lives as long as the document. Out of memory: returns NULL and sets
 * `failed`. */
__attribute__((format(printf, 2, 3))) const char *document_text(document *d, const char *format,
                                                                ...);

/* Adds a title: `strong` in bold, followed by `rest`. */
void document_title(document *d, const char *strong, const char *rest);

/* Returns zeroed memory that lives as long as the document. Out of memory: returns NULL and sets
 * `failed`. */
void *document_keep(document *d, size_t size);

void document_free(document *d);

#endif
