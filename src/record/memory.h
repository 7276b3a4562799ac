/* memory.h: the recorder's own heap, on pages from the kernel: the recorder lives inside malloc and
 * cannot call it. Small pieces come in sizes of powers of two and are recycled; large ones are
 * mappings of their own. Everything can be given back at once. Any thread may call. */
#ifndef RECORD_MEMORY_H
#define RECORD_MEMORY_H

#include <stddef.h>

#include "record/lock.h"

enum {
    MEMORY_MIN_SHIFT = 4, /* the smallest piece: 16 bytes */
    MEMORY_MAX_SHIFT = 16 /* larger ones are mappings of their own */
};

struct memory_region;

/* Legal when zeroed. */
typedef struct memory {
    lock lock;                        /* guards all that follows */
    struct memory_region *regions;    /* every mapping, newest first */
    char *next, *end;                 /* what is left of the newest one for small pieces */
    void *idle[MEMORY_MAX_SHIFT + 1]; /* freed pieces by size class, linked through themselves */
} memory;

/* Not zeroed; aligned like malloc's. NULL when there is none. */
void *memory_alloc(memory *m, size_t size);

void memory_free(memory *m, void *piece, size_t size);

/* realloc's job in the form that engine and writer want: `size` 0 frees. */
void *memory_realloc(memory *m, void *old, size_t old_size, size_t size);

/* Gives everything back. Takes no lock: nobody else may be using it. */
void memory_release(memory *m);

#endif
