/* memory.h: the recorder's own heap, on pages from the kernel. The recorder runs inside malloc and
 * cannot call it. Small pieces have sizes that are powers of two and are recycled. Large pieces are
 * mappings of their own. Everything can be freed at once. Any thread may call. */
#ifndef RECORD_MEMORY_H
#define RECORD_MEMORY_H

#include <stddef.h>

#include "record/lock.h"

enum {
    MEMORY_MIN_SHIFT = 4, /* log2 of the smallest piece: 16 bytes */
    MEMORY_MAX_SHIFT = 16 /* log2 of the largest size that is not a mapping of its own */
};

struct memory_region;

/* Valid when zeroed. */
typedef struct memory {
    lock lock;                        /* guards all fields below */
    struct memory_region *regions;    /* every mapping, newest first */
    char *next, *end;                 /* unused rest of the newest region for small pieces */
    void *idle[MEMORY_MAX_SHIFT + 1]; /* freed pieces by size class, linked through themselves */
} memory;

/* Allocates memory that is not zeroed, aligned like malloc's. Returns NULL if there is none. */
void *memory_alloc(memory *m, size_t size);

void memory_free(memory *m, void *piece, size_t size);

/* Resizes a piece as realloc does, in the form that the engine and the writer need: `size` 0
 * frees. */
void *memory_realloc(memory *m, void *old, size_t old_size, size_t size);

/* Frees everything. Takes no lock: nobody else may be using the heap. */
void memory_release(memory *m);

#endif
