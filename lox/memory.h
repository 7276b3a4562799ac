/* memory.h: memory outside the heap. Allocation does not fail: if there is no memory, what runs in
 * the VM ends. */
#ifndef LOX_MEMORY_H
#define LOX_MEMORY_H

#include <setjmp.h>
#include <stddef.h>

void *memory_new(size_t size); /* zeroed */
void *memory_resize(void *old, size_t size);
void memory_free(void *p);
_Noreturn void memory_exhausted(void);

/* Sets where this thread jumps, once, if there is no memory; NULL: the process ends with a
 * message. */
void memory_catch(jmp_buf *where);

/* Appends an element, growing the array if necessary. A growable array is a pointer, a count and a
 * capacity. */
#define MEMORY_PUSH(items, n, capacity, ...)                                                       \
    do {                                                                                           \
        if ((n) == (capacity)) {                                                                   \
            (capacity) = (capacity) ? (capacity)*2 : 16;                                           \
            (items) = memory_resize((items), (size_t)(capacity) * sizeof *(items));                \
        }                                                                                          \
        (items)[(n)++] = __VA_ARGS__;                                                              \
    } while (0)

#endif
