/* memory.c: implements memory.h with a list of free pieces for each power of two. A lock guards
 * everything. Regions are linked, so that memory_release can free all of them. */
#include "record/memory.h"

#include <stdalign.h>
#include <stdint.h>
#include <string.h>

#include "platform/pages.h"

#define REGION_SIZE ((size_t)1 << 20)

/* The header of each mapping. */
struct memory_region {
    alignas(64) struct memory_region *newer; /* NULL: this is the first one, memory.regions */
    struct memory_region *older;
    size_t size; /* size of the mapping, bytes */
};

static struct memory_region *region_alloc_locked(memory *m, size_t size) {
    struct memory_region *region = pages_alloc(size);
    if (!region)
        return NULL;
    *region = (struct memory_region){.older = m->regions, .size = size};
    if (m->regions)
        m->regions->newer = region;
    return m->regions = region;
}

static void region_free_locked(memory *m, struct memory_region *region) {
    if (region->newer)
        region->newer->older = region->older;
    else
        m->regions = region->older;
    if (region->older)
        region->older->newer = region->newer;
    pages_free(region, region->size);
}

static bool is_large(size_t size) {
    return size > (size_t)1 << MEMORY_MAX_SHIFT;
}

static unsigned shift_of(size_t size) {
    unsigned shift = MEMORY_MIN_SHIFT;
    while ((size_t)1 << shift < size)
        shift++;
    return shift;
}

static void *large_alloc_locked(memory *m, size_t size) {
    if (size > PTRDIFF_MAX)
        return NULL;
    struct memory_region *region = region_alloc_locked(m, sizeof *region + size);
    return region ? region + 1 : NULL;
}

static void *small_alloc_locked(memory *m, unsigned shift) {
    size_t size = (size_t)1 << shift;
    void *piece = m->idle[shift];
    if (piece) {
        memcpy(&m->idle[shift], piece, sizeof(void *));
        return piece;
    }
    if ((size_t)(m->end - m->next) < size) {
        struct memory_region *region = region_alloc_locked(m, REGION_SIZE);
        if (!region)
            return NULL;
        m->next = (char *)(region + 1);
        m->end = (char *)region + REGION_SIZE;
    }
    piece = m->next;
    m->next += size;
    return piece;
}

void *memory_alloc(memory *m, size_t size) {
    lock_acquire(&m->lock);
    void *piece =
        is_large(size) ? large_alloc_locked(m, size) : small_alloc_locked(m, shift_of(size));
    lock_release(&m->lock);
    return piece;
}

void memory_free(memory *m, void *piece, size_t size) {
    if (!piece)
        return;
    lock_acquire(&m->lock);
    if (is_large(size)) {
        region_free_locked(m, (struct memory_region *)piece - 1);
    } else {
        unsigned shift = shift_of(size);
        memcpy(piece, &m->idle[shift], sizeof(void *));
        m->idle[shift] = piece;
    }
    lock_release(&m->lock);
}

void *memory_realloc(memory *m, void *old, size_t old_size, size_t size) {
    if (size == 0) {
        memory_free(m, old, old_size);
        return NULL;
    }
    if (old && !is_large(old_size) && !is_large(size) && shift_of(old_size) == shift_of(size))
        return old;
    void *piece = memory_alloc(m, size);
    if (piece && old) {
        memcpy(piece, old, old_size < size ? old_size : size);
        memory_free(m, old, old_size);
    }
    return piece;
}

void memory_release(memory *m) {
    for (struct memory_region *region = m->regions, *older; region; region = older) {
        older = region->older;
        pages_free(region, region->size);
    }
    *m = (memory){0};
}
