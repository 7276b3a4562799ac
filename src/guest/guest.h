/* guest.h: what the allocation tracer needs from a guest language, and all that it knows of it. A
 * launcher fills in this interface for its virtual machine and passes it to tracer_create.
 *
 * Problem. Users of a language want to know every allocation exactly, by the expression that makes
 * it, in terms of their language. The virtual machine knows all that, but each question slows it
 * down.
 *
 * Way. The launcher calls tracer_count (tracer.h) at each allocation with what is at hand. The
 * tracer calls the functions below only for the part of the stack that is new since the last
 * allocation. It counts in a tree of contexts. All reports are made from that tree when the program
 * has ended (view.h, rows.h, report.h). The options (options.h) are the same for all languages. So
 * are the text layouts, which are prescribed by the tools that they come from (dialect.h).
 *
 * Why not otherwise. A trace would contain all of that, too. But a program makes tens of millions
 * of small objects a second, and its users only look at a table at the end.
 *
 * What must hold. The tracer knows no language, and the guest knows no report. Counting calls
 * nothing but the functions below, and allocates only when a context is new. If memory runs out,
 * the program goes on, and the report says what is missing, or there is no report.
 *
 * A *site* is the expression of a guest program at which a function currently is, because it
 * allocates or calls there. The guest identifies a site by a key of its choice, which is never 0
 * and keeps its meaning as long as the tracer lives. */
#ifndef GUEST_GUEST_H
#define GUEST_GUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* An extent of source: lines from 1, characters from 0, with `end` exclusive. All zero: none. */
typedef struct guest_extent {
    uint32_t first_line, last_line;
    uint32_t start, end;
} guest_extent;

/* A site. The tracer copies the strings. */
typedef struct guest_place {
    const char *function;   /* NULL: the top level of a file */
    const char *class_name; /* of a method; NULL: not a method */
    const char *file;
    uint32_t line; /* of the expression, as in the guest's messages */
    bool call;     /* the expression is a call */
    guest_extent expression;
    guest_extent statement; /* innermost statement around the expression */
    guest_extent body;      /* of the function */
} guest_place;

typedef struct guest {
    void *context; /* passed to the functions below */

    void (*describe)(void *context, uint64_t site, guest_place *place);

    /* The functions below are called during tracer_count only. */

    /* Returns the built-in function that allocates; NULL: the program does. The string must stay
     * valid. */
    const char *(*builtin)(void *context);

    /* Returns the number of frames. Sets *kept to the number of outermost frames that have neither
     * returned nor advanced since the last call. A guest that cannot tell sets 0, which only costs
     * time. */
    size_t (*depth)(void *context, size_t *kept);

    /* Sets the sites of `n` frames from frame `first` on; frame 0 is the outermost. */
    void (*sites)(void *context, size_t first, uint64_t *sites, size_t n);
} guest;

#endif
