/* memory.h: the memory outside the heap: it is there, or the process ends with a message. */
#ifndef LOX_MEMORY_H
#define LOX_MEMORY_H

#include <stddef.h>

void *memory_new(size_t size); /* zeroed */
void *memory_resize(void *old, size_t size);
void memory_free(void *p);
_Noreturn void memory_exhausted(void);

/* Makes room for one more element: a growable array is a pointer, a count and a capacity. */
#define MEMORY_PUSH(items, n, capacity, ...)                                                       \
    do {                                                                                           \
        if ((n) == (capacity)) {                                                                   \
            (capacity) = (capacity) ? (capacity)*2 : 16;                                           \
            (items) = memory_resize((items), (size_t)(capacity) * sizeof *(items));                \
        }                                                                                          \
        (items)[(n)++] = __VA_ARGS__;                                                              \
    } while (0)

#endif
