/* loader.h: calls of the dynamic loader and of threads that, before glibc 2.34, are not in the C
 * library itself but in libraries beside it, which a program need not have. The recorder is linked
 * with nothing but the C library, and runs with each from 2.17 on, and with musl: whatever came
 * later, or is not there, is referred to weakly and without a version (LIBC_MAY_LACK), so that it
 * is NULL where it is missing. */
#ifndef PLATFORM_LOADER_H
#define PLATFORM_LOADER_H

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>

/* Linkers note which version of a symbol they have found, and loaders refuse a library that refers
 * to one they lack, even weakly. A name with an empty version finds whichever is the default. */
#ifdef PLATFORM_ALONE /* alone.c may have it */
#define LIBC_MAY_LACK(name) extern __typeof__(name) name __attribute__((weak))
#else
#define LIBC_MAY_LACK(name)                                                                        \
    extern __typeof__(name) name __attribute__((weak));                                            \
    __asm__(".symver " #name "," #name "@")
#endif

/* Is the C library glibc? If not, it is musl. */
bool loader_is_glibc(void);

/* dlsym, dlopen, dladdr and dladdr1 (with RTLD_DL_SYMENT), with their locks and what they allocate.
 * Where there is none, nothing is found. */
void *loader_symbol(void *handle, const char *name);
void *loader_open(const char *path, int flags);
bool loader_address(const void *address, Dl_info *info);
bool loader_entry(const void *address, Dl_info *info, void **entry);

/* pthread_atfork and at_quick_exit, each by the name that the C library has for it. */
void loader_at_fork(void (*before)(void), void (*in_parent)(void), void (*in_child)(void));
void loader_at_quick_exit(void (*handler)(void));

/* pthread_key_create and pthread_setspecific. */
bool loader_key_create(pthread_key_t *key, void (*at_exit)(void *));
void loader_key_set(pthread_key_t key, const void *value);

#endif
