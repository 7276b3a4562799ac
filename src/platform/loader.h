/* loader.h: functions of the dynamic loader and of threads that, before glibc 2.34, are not in the
 * C library itself but in separate libraries, which a program may not have loaded. The recorder
 * links only to the C library, and runs with glibc from 2.17 on and with musl. It refers weakly and
 * without a version (LIBC_MAY_LACK) to every function that is newer or may be missing. Such a
 * function is NULL where it is missing. */
#ifndef PLATFORM_LOADER_H
#define PLATFORM_LOADER_H

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>

/* A linker records the version of each symbol that it finds, and a loader refuses a library that
 * refers to a version it lacks, even weakly. A name with an empty version matches whichever version
 * is the default. */
#ifdef PLATFORM_ALONE /* alone.c may define the function */
#define LIBC_MAY_LACK(name) extern __typeof__(name) name __attribute__((weak))
#else
#define LIBC_MAY_LACK(name)                                                                        \
    extern __typeof__(name) name __attribute__((weak));                                            \
    __asm__(".symver " #name "," #name "@")
#endif

/* Returns whether the C library is glibc. If not, it is musl. */
bool loader_is_glibc(void);

/* dlsym, dlopen, dladdr and dladdr1 (with RTLD_DL_SYMENT). They take the loader's locks and may
 * allocate. Where such a function is missing, they find nothing. */
void *loader_symbol(void *handle, const char *name);
void *loader_open(const char *path, int flags);
bool loader_address(const void *address, Dl_info *info);
bool loader_entry(const void *address, Dl_info *info, void **entry);

/* pthread_atfork and at_quick_exit, under whichever name the C library has them. */
void loader_at_fork(void (*before)(void), void (*in_parent)(void), void (*in_child)(void));
void loader_at_quick_exit(void (*handler)(void));

/* pthread_key_create and pthread_setspecific. */
bool loader_key_create(pthread_key_t *key, void (*at_exit)(void *));
void loader_key_set(pthread_key_t key, const void *value);

#endif
