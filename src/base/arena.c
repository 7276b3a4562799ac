/* arena.c: chunks double in size up to a megabyte, which keeps their number small and a small arena
 * small. */
#include "base/arena.h"

#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

struct arena_chunk {
    arena_chunk *older;
    size_t size;
    alignas(max_align_t) char bytes[];
};

enum { FIRST_CHUNK = 4096, LAST_CHUNK = 1 << 20 };

static size_t round_up(size_t size) {
    const size_t align = alignof(max_align_t);
    return (size + align - 1) & ~(align - 1);
}

static int add_chunk(arena *a, size_t size) {
    size_t want = a->chunks ? a->chunks->size * 2 : FIRST_CHUNK;
    if (want > LAST_CHUNK)
        want = LAST_CHUNK;
    if (want < size)
        want = size;
    arena_chunk *chunk = malloc(sizeof *chunk + want);
    if (!chunk)
        return -1;
    *chunk = (arena_chunk){.older = a->chunks, .size = want};
    a->chunks = chunk;
    a->next = chunk->bytes;
    a->end = chunk->bytes + want;
    return 0;
}

void *arena_alloc(arena *a, size_t size) {
    if (size > (size_t)-1 / 2)
        return NULL;
    size = round_up(size ? size : 1);
    if ((size_t)(a->end - a->next) < size && add_chunk(a, size) != 0)
        return NULL;
    void *piece = a->next;
    a->next += size;
    return piece;
}

char *arena_strndup(arena *a, const char *s, size_t size) {
    char *copy = arena_alloc(a, size + 1);
    if (!copy)
        return NULL;
    memcpy(copy, s, size);
    copy[size] = '\0';
    return copy;
}

void arena_free(arena *a) {
    for (arena_chunk *chunk = a->chunks; chunk;) {
        arena_chunk *older = chunk->older;
        free(chunk);
        chunk = older;
    }
    *a = (arena){0};
}
