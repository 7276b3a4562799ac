/* place_table.c: each distinct function and file gets a number, then each pair of a function and a
 * file, then each pair with its line. */
#include "query/place_table.h"

#include "base/map64.h"

typedef struct numbering {
    map64 functions, files, pairs, lines;
} numbering;

static bool number(numbering *n, const profile_location *l, place_by by, uint32_t *place) {
    uint32_t function, file = 0, pair;
    return map64_number(&n->functions, (uintptr_t)l->function, &function) &&
           (by == PLACE_BY_NAME || map64_number(&n->files, (uintptr_t)l->file, &file)) &&
           map64_number(&n->pairs, (uint64_t)function << 32 | file, &pair) &&
           map64_number(&n->lines, (uint64_t)pair << 32 | (by == PLACE_BY_LINE ? l->line : 0),
                        place);
}

static bool number_all(place_table *p, numbering *n, const profile_location *locations,
                       size_t count, place_by by) {
    for (size_t i = 0; i < count; i++) {
        uint32_t *place = &p->of_location[i];
        if (!number(n, &locations[i], by, place) ||
            (*place == p->locations.count && !vec_push(&p->locations, (uint32_t)i)))
            return false;
    }
    return true;
}

bool place_table_make(place_table *p, const profile_location *locations, size_t n, place_by by) {
    numbering of = {0};
    *p = (place_table){.of_location = malloc((n + 1) * sizeof *p->of_location)};
    const bool ok = p->of_location && number_all(p, &of, locations, n, by);
    map64_free(&of.functions);
    map64_free(&of.files);
    map64_free(&of.pairs);
    map64_free(&of.lines);
    if (!ok)
        place_table_free(p);
    return ok;
}

void place_table_free(place_table *p) {
    free(p->of_location);
    vec_free(&p->locations);
    *p = (place_table){0};
}
