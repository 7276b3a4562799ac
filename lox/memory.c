/* memory.c: malloc and related functions, with one response to failure: a jump to the handler of
 * this thread, or else exit status 70. */
#include "memory.h"

#include <stdio.h>
#include <stdlib.h>

static _Thread_local jmp_buf *catcher;

void memory_catch(jmp_buf *where) {
    catcher = where;
}

_Noreturn void memory_exhausted(void) {
    jmp_buf *where = catcher;
    catcher = NULL;
    if (where)
        longjmp(*where, 1);
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
