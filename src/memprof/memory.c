/* memory.c: the engine's own memory: small pieces are cut from chunks that come from the host's
 * hook. Almost nothing is released before the engine is destroyed, because the owners of the pieces
 * pool them. */
#include "memprof/internal.h"

enum {
    CHUNK = 64 * 1024, /* bytes requested from the host at once */
    LARGE = CHUNK / 4, /* larger pieces get a chunk of their own */
    ALIGNMENT = 16,
};

typedef struct chunk {
    struct chunk *next, *previous;
    size_t size; /* bytes, including this header */
    size_t padding;
} chunk;

_Static_assert(sizeof(chunk) % ALIGNMENT == 0, "pieces of a chunk must be aligned");

static chunk *chunk_new(memprof *engine, size_t size) {
    chunk *c = engine->host.reallocate(engine->host.context, NULL, 0, size);
    if (!c)
        return NULL;
    *c = (chunk){.next = engine->chunks, .size = size};
    if (c->next)
        c->next->previous = c;
    engine->chunks = c;
    return c;
}

static void *bump(memprof *engine, size_t size) {
    if ((size_t)(engine->bump_end - engine->bump) < size) {
        chunk *c = chunk_new(engine, CHUNK);
        if (!c)
            return NULL;
        engine->bump = (char *)(c + 1);
        engine->bump_end = (char *)c + CHUNK;
    }
    void *piece = engine->bump;
    engine->bump += size;
    return piece;
}

void *memory_get(memprof *engine, size_t size) {
    size = (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    memprof_lock_take(&engine->memory);
    void *piece;
    if (size > LARGE) {
        chunk *c = chunk_new(engine, size + sizeof(chunk));
        piece = c ? c + 1 : NULL;
    } else {
        piece = bump(engine, size);
    }
    memprof_lock_drop(&engine->memory);
    return piece;
}

void memory_put(memprof *engine, void *p, size_t size) {
    if (!p || size <= LARGE)
        return;
    chunk *c = (chunk *)p - 1;
    memprof_lock_take(&engine->memory);
    *(c->previous ? &c->previous->next : &engine->chunks) = c->next;
    if (c->next)
        c->next->previous = c->previous;
    engine->host.reallocate(engine->host.context, c, c->size, 0);
    memprof_lock_drop(&engine->memory);
}

void memory_free_all(memprof *engine) {
    for (chunk *c = engine->chunks, *next; c; c = next) {
        next = c->next;
        engine->host.reallocate(engine->host.context, c, c->size, 0);
    }
    engine->chunks = NULL;
}
