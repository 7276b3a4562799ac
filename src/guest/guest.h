/* guest.h: what the allocation tracer has to know of a guest language, and nothing else of it. A
 * launcher fills this in for its virtual machine and hands it to tracer_create.
 *
 * Problem. A language's users want to know every allocation exactly, by the expression that makes
 * it, in the terms of their language; its virtual machine knows all that, and is slowed down by
 * each question.
 *
 * Way. The launcher calls tracer_count (tracer.h) at each allocation with what it has at hand, and
 * the tracer asks the functions below only for the part of the stack that is new. It counts in a
 * tree of contexts; all reports are made of that tree when the program has ended (view.h, rows.h,
 * report.h). Options (options.h) are the same for all languages, and so are the layouts of texts,
 * which the tools that they come from prescribe (dialect.h).
 *
 * Why not otherwise. A trace would have all of that, too, but a program makes tens of millions of
 * small objects a second, and its users look at a table when it has ended.
 *
 * What must hold. The tracer knows no language, and the guest no report. Counting calls nothing but
 * the functions below, and allocates only where a context is new. Without memory the program goes
 * on and there is no report, rather than one that lacks something.
 *
 * A *site* is an expression of the guest program at which a function is, because it allocates there
 * or calls. The guest names it by a key of its choice, never 0, which means the same as long as the
 * tracer lives. */
#ifndef GUEST_GUEST_H
#define GUEST_GUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* An extent of source: lines from 1, characters from 0, `end` behind the last. All 0: there is
 * none. */
typedef struct guest_extent {
    uint32_t first_line, last_line;
    uint32_t start, end;
} guest_extent;

/* A site. The strings are copied. */
typedef struct guest_place {
    const char *function;   /* NULL: the top level of a file */
    const char *class_name; /* of a method; NULL: it is none */
    const char *file;
    uint32_t line; /* of the expression, as messages of the guest give it */
    bool call;     /* the expression is a call */
    guest_extent expression;
    guest_extent statement; /* the innermost one around it */
    guest_extent body;      /* of the function */
} guest_place;

typedef struct guest {
    void *context; /* handed to all of these */

    void (*describe)(void *context, uint64_t site, guest_place *place);

    /* All of the following are only called during tracer_count. */

    /* The built-in function that allocates; NULL: the program does. The string stays where it is.
     */
    const char *(*builtin)(void *context);

    /* How many frames there are; and, in *kept, how many of the outermost ones have neither
     * returned nor gone on since the last call of this. A guest that can not tell says 0, which
     * only costs time. */
    size_t (*depth)(void *context, size_t *kept);

    /* The sites at which the frames are: `n` from frame `first` on, where 0 is the outermost. */
    void (*sites)(void *context, size_t first, uint64_t *sites, size_t n);
} guest;

#endif
