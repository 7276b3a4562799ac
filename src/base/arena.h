/* arena.h: memory that is freed all at once.
 *
 * Owns chunks of growing size; hands out pieces aligned for any type. Single-threaded. Pieces never
 * move. What must be freed piece by piece does not belong here. */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include <stddef.h>

typedef struct arena_chunk arena_chunk;

/* Legal when zeroed. */
typedef struct arena {
    arena_chunk *chunks; /* newest first */
    char *next, *end;    /* what is left of the newest */
} arena;

/* Returns `size` bytes, uninitialised, or NULL when there is no memory. */
void *arena_alloc(arena *a, size_t size);

/* Copies `size` bytes and adds a NUL. NULL when there is no memory. */
char *arena_strndup(arena *a, const char *s, size_t size);

void arena_free(arena *a);

#endif
