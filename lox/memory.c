/* memory.c: malloc with an end to its failures. */
#include "memory.h"

#include <stdio.h>
#include <stdlib.h>

_Noreturn void memory_exhausted(void) {
    fputs("lox: the system has no more memory\n", stderr);
    exit(70);
}

void *memory_new(size_t size) {
    void *p = calloc(1, size ? size : 1);
    if (!p)
        memory_exhausted();
    return p;
}

void *memory_resize(void *old, size_t size) {
    void *p = realloc(old, size ? size : 1);
    if (!p)
        memory_exhausted();
    return p;
}

void memory_free(void *p) {
    free(p);
}
