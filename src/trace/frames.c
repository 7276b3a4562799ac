/* frames.c: a code that is announced again keeps its locations, unless they were incomplete or
 * suspect. A first location that names a type becomes the frame's type. */
#include "trace/frames.h"

#include <string.h>

#include "trace/mtf.h"

uint32_t frame_table_index(frame_table *t, uint64_t code) {
    uint32_t *index = map64_put(&t->by_code, code);
    if (!index)
        return FRAME_NONE;
    if (*index != MAP64_NONE)
        return *index;
    /* If this fails, the code has no index and the reader stops: see map64.h. */
    if (!vec_push(&t->frames, (memtrace_frame){.code = code}))
        return FRAME_NONE;
    return *index = (uint32_t)t->frames.count - 1;
}

static bool frame_is_complete(const memtrace_frame *f) {
    for (uint32_t i = 0; i < f->n_locations; i++)
        if (f->locations[i].file == names_unknown || f->locations[i].function == names_unknown)
            return false;
    return f->n_locations > 0 || f->type;
}

bool frame_table_announce(frame_table *t, uint64_t code, const memtrace_location *locations,
                          uint32_t n, bool suspect) {
    uint32_t index = frame_table_index(t, code);
    if (index == FRAME_NONE)
        return false;
    memtrace_frame *f = &t->frames.items[index];
    if (frame_is_complete(f) && (!f->suspect || suspect))
        return true;
    f->suspect = suspect;
    if (n > 0 && strcmp(locations[0].file, MEMTRACE_TYPE_FILE) == 0) {
        f->type = locations[0].function;
        locations++;
        n--;
    }
    if (n == 0)
        return true;
    memtrace_location *copy = arena_alloc(&t->locations, n * sizeof *copy);
    if (!copy)
        return false;
    memcpy(copy, locations, n * sizeof *copy);
    f->locations = copy;
    f->n_locations = n;
    return true;
}

bool frame_table_knows(const frame_table *t, uint64_t code) {
    uint32_t index = map64_get(&t->by_code, code);
    return index != MAP64_NONE && t->frames.items[index].n_locations > 0;
}

void frame_table_free(frame_table *t) {
    vec_free(&t->frames);
    map64_free(&t->by_code);
    arena_free(&t->locations);
}
