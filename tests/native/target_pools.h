/* target_pools.h: an arena and a pool of cells, which tell the recorder of their blocks. How they
 * say what their chunks are is the program's argument. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "allotrace/pool.h"

enum { CHUNK = 1 << 16, CELL = 16 /* closer to each other than malloc's blocks */ };

enum how { SILENT, TAKEN, ANNOUNCED, MAPPED };
static enum how how;

static enum how how_of(const char *word) {
    return strcmp(word, "taken") == 0       ? TAKEN
           : strcmp(word, "announced") == 0 ? ANNOUNCED
           : strcmp(word, "mapped") == 0    ? MAPPED
                                            : SILENT;
}

static void *chunk_new(const void *pool) {
    const long outer = how == TAKEN ? allotrace_pool_take_begin() : 0;
    void *chunk = how == MAPPED ? mmap(NULL, CHUNK, PROT_READ | PROT_WRITE,
                                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
                                : malloc(CHUNK);
    if (how == TAKEN)
        allotrace_pool_take_end(outer);
    if (how == ANNOUNCED || how == MAPPED)
        allotrace_pool_chunk(pool, chunk, CHUNK);
    return chunk;
}

static void chunk_free(void *chunk) {
    if (how == MAPPED)
        munmap(chunk, CHUNK);
    else
        free(chunk);
}

/* ---- a stack of chunks, from whose top blocks are cut; all die together -------------------- */

struct arena {
    char *chunks[64], *next;
    int n;
};

static void arena_new(struct arena *a, const char *name) {
    memset(a, 0, sizeof *a);
    allotrace_pool_create(a, name);
}

static void *arena_give(struct arena *a, size_t bytes) {
    const size_t room = (bytes + 7) / 8 * 8;
    if (a->n == 0 || (size_t)(a->chunks[a->n - 1] + CHUNK - a->next) < room)
        a->next = a->chunks[a->n++] = (char *)chunk_new(a);
    void *block = a->next;
    a->next += room;
    allotrace_pool_alloc(a, block, bytes);
    return block;
}

static void arena_drop_chunks(struct arena *a) {
    while (a->n > 0)
        chunk_free(a->chunks[--a->n]);
}

static void arena_reset(struct arena *a) {
    allotrace_pool_reset(a);
    arena_drop_chunks(a);
}

static void arena_end(struct arena *a) {
    allotrace_pool_destroy(a);
    arena_drop_chunks(a);
}

/* ---- cells of one size, each of which can be given back ------------------------------------ */

struct cells {
    void *free;
};

static void cells_fill(struct cells *c) {
    char *chunk = (char *)chunk_new(c);
    for (size_t at = 0; at + CELL <= CHUNK; at += CELL) {
        memcpy(chunk + at, &c->free, sizeof c->free);
        c->free = chunk + at;
    }
}

static void *cells_give(struct cells *c) {
    if (!c->free)
        cells_fill(c);
    void *cell = c->free;
    memcpy(&c->free, cell, sizeof c->free);
    allotrace_pool_alloc(c, cell, CELL);
    return cell;
}

static void cells_take_back(struct cells *c, void *cell) {
    allotrace_pool_free(c, cell);
    memcpy(cell, &c->free, sizeof c->free);
    c->free = cell;
}
