/* intern.c: an open hash table of pointers into an arena, at most half full. Strings are compared,
 * so hash collisions do no harm. */
#include "base/intern.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

static const char **find(const char **slots, size_t n_slots, const char *s, size_t size) {
    size_t i = hash_bytes(s, size) & (n_slots - 1);
    while (slots[i] && (strncmp(slots[i], s, size) != 0 || slots[i][size] != '\0'))
        i = (i + 1) & (n_slots - 1);
    return &slots[i];
}

static int grow(intern_table *t) {
    size_t n = t->n_slots ? t->n_slots * 2 : 64;
    const char **slots = calloc(n, sizeof *slots);
    if (!slots)
        return -1;
    for (size_t i = 0; i < t->n_slots; i++)
        if (t->slots[i])
            *find(slots, n, t->slots[i], strlen(t->slots[i])) = t->slots[i];
    free(t->slots);
    t->slots = slots;
    t->n_slots = n;
    return 0;
}

const char *intern(intern_table *t, const char *s, size_t size) {
    if (t->count >= t->n_slots / 2 && grow(t) != 0)
        return NULL;
    const char **slot = find(t->slots, t->n_slots, s, size);
    if (!*slot) {
        *slot = arena_strndup(&t->strings, s, size);
        t->count += *slot != NULL;
    }
    return *slot;
}

void intern_free(intern_table *t) {
    free(t->slots);
    arena_free(&t->strings);
    *t = (intern_table){0};
}
