/* guest.h: what the allocation tracer has to know of a guest language, and nothing else of it. A
 * launcher fills this in for its virtual machine and hands it to tracer_create.
 *
 * A *site* is an expression of the guest program at which a function is, because it allocates
 * there or calls. The guest names it by a key of its choice, never 0, which means the same as long
 * as the tracer lives. */
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

/* An allocation. The strings stay where they are as long as the tracer lives. */
typedef struct guest_allocation {
    const char *type;
    const char *class_name; /* of an object; NULL: it has none */
    const char *builtin;    /* the built-in function that allocates; NULL: the program does */
    bool internal;          /* nothing in the program asked for it: the runtime's own */
    size_t bytes;           /* all that the heap took, header included */
    uint64_t samples;       /* sampled words; ignored if every allocation is counted */
    uint64_t site;          /* of the innermost frame; 0: no function of the guest is active */
} guest_allocation;

typedef struct guest {
    void *context; /* handed to all of these */

    void (*describe)(void *context, uint64_t site, guest_place *place);

    /* How many frames there are, and the sites at which they are: at most `max` from frame `first`
     * on, where 0 is the outermost. Only called during tracer_count. */
    size_t (*depth)(void *context);
    void (*sites)(void *context, size_t first, uint64_t *sites, size_t max);

    /* How many of the outermost frames have neither returned nor gone on since the last call of
     * this. A guest that can not tell returns 0, which only costs time. */
    size_t (*kept)(void *context);
} guest;

#endif
