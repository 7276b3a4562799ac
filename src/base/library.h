/* library.h: loads a library that few commands need only when it is used. This saves all others the
 * time that the loader takes for it and for what it needs in turn. */
#ifndef BASE_LIBRARY_H
#define BASE_LIBRARY_H

#include <dlfcn.h>
#include <stddef.h>

typedef struct library {
    const char *const *files; /* names for the loader, tried in order; ends with NULL */
    const char *const *functions;
    size_t n;            /* number of functions */
    const char *missing; /* what to say if there is none of the files, */
    const char *too_old; /* and if a function is missing */
} library;

/* Looks up the functions in order. The library stays loaded. Returns NULL, or what to say. */
static inline const char *library_load(const library *l, void **pointers) {
    void *handle = NULL;
    for (const char *const *file = l->files; !handle && *file; file++)
        handle = dlopen(*file, RTLD_NOW | RTLD_LOCAL);
    if (!handle)
        return l->missing;
    for (size_t i = 0; i < l->n; i++)
        if (!(pointers[i] = dlsym(handle, l->functions[i])))
            return l->too_old;
    return NULL;
}

#endif
