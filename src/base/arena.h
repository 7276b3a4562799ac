/* arena.h: memory that is freed all at once.
 *
 * An arena owns chunks of growing size and hands out pieces of them, aligned for any type. Pieces
 * never move, and cannot be freed one by one. Single-threaded. */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include <stddef.h>

typedef struct arena_chunk arena_chunk;

/* Valid when zeroed. */
typedef struct arena {
    arena_chunk *chunks; /* newest first */
    char *next, *end;    /* what is left of the newest chunk */
} arena;

/* Returns `size` bytes, uninitialized, or NULL when there is no memory. */
void *arena_alloc(arena *a, size_t size);

/* Copies `size` bytes and adds a NUL. Returns NULL when there is no memory. */
char *arena_strndup(arena *a, const char *s, size_t size);

void arena_free(arena *a);

#endif
