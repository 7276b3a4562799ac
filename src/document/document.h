/* document.h: what a report returns: tables (table.h), and sentences about them, in the order in
 * which text shows them. It is made, rendered once or more, and freed. */
#ifndef DOCUMENT_DOCUMENT_H
#define DOCUMENT_DOCUMENT_H

#include "base/arena.h"
#include "base/vec.h"
#include "document/table.h"

typedef enum part_kind {
    PART_ROWS,   /* a table; in JSON an array of objects */
    PART_OBJECT, /* a table of one row; in JSON an object, with the name "" the document's own
                    fields */
    PART_NOTE,   /* a sentence, in text alone */
    PART_HINT,   /* the same, faint: what to do next */
    PART_TITLE,  /* a sentence in bold that the report opens with */
} part_kind;

typedef struct document_part {
    part_kind kind;
    unsigned in;
    const char *heading; /* above it in text; NULL: none */
    table table;
    const char *text; /* of notes and titles */
    size_t strong;    /* of a title: so many bytes of it are bold */
} document_part;

/* Legal when zeroed. Owns texts and tables that it was asked to keep, and nothing else: rows are
 * the report's, and must outlive it. */
typedef struct document {
    VEC(document_part) parts;
    arena arena;
    bool failed; /* there was no memory: it is not whole */
} document;

void document_rows(document *d, const table *t, unsigned in, const char *heading);
void document_object(document *d, const table *t, unsigned in);
void document_section(document *d, const table *t, unsigned in, const char *heading);
__attribute__((format(printf, 2, 3))) void document_note(document *d, const char *format, ...);
__attribute__((format(printf, 2, 3))) void document_hint(document *d, const char *format, ...);

/* Text that lives as long as the document; NULL, and `failed`, when there is no memory. */
__attribute__((format(printf, 2, 3))) const char *document_text(document *d, const char *format,
                                                                ...);

/* `strong` is shown bold, `rest` behind it. */
void document_title(document *d, const char *strong, const char *rest);

/* Memory that lives as long as the document, zeroed; NULL, and `failed`, when there is none. */
void *document_keep(document *d, size_t size);

void document_free(document *d);

#endif
