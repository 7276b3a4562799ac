/* vec.h: growable arrays.
 *
 *     VEC(uint32_t) ids = {0};
 *     if (!vec_push(&ids, 7)) return out of memory;
 *     use(ids.items[0], ids.count);
 *     vec_free(&ids);
 */
#ifndef BASE_VEC_H
#define BASE_VEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* Valid when zeroed. Items move when the array grows. */
#define VEC(type)                                                                                  \
    struct {                                                                                       \
        type *items;                                                                               \
        size_t count, capacity;                                                                    \
    }

/* Makes room for `n` more items. Evaluates to false when there is no memory, with the array
 * unchanged. */
#define vec_reserve(v, n)                                                                          \
    ((v)->capacity - (v)->count >= (size_t)(n) ||                                                  \
     vec_grow_((void **)&(v)->items, &(v)->capacity, (v)->count, (size_t)(n), sizeof *(v)->items))

/* Appends an item. Evaluates to false when there is no memory. */
#define vec_push(v, item) (vec_reserve((v), 1) && ((v)->items[(v)->count++] = (item), true))

/* Appends the items of another array. Evaluates to false when there is no memory. */
#define vec_append(v, from)                                                                        \
    (vec_reserve((v), (from)->count) &&                                                            \
     ((from)->count == 0 ||                                                                        \
      memcpy((v)->items + (v)->count, (from)->items, (from)->count * sizeof *(v)->items)) &&       \
     ((v)->count += (from)->count, true))

#define vec_free(v)  (free((v)->items), (v)->items = NULL, (v)->count = (v)->capacity = 0)
#define vec_clear(v) ((v)->count = 0)

static inline bool vec_grow_(void **items, size_t *capacity, size_t count, size_t more,
                             size_t size) {
    size_t want = *capacity ? *capacity * 2 : 16;
    if (more > (size_t)-1 / 2 / size - count)
        return false;
    if (want < count + more)
        want = count + more;
    void *grown = realloc(*items, want * size);
    if (!grown)
        return false;
    *items = grown;
    *capacity = want;
    return true;
}

#endif
