/* loader.c: implements loader.h. Before glibc 2.34, libdl may not be loaded. glibc then has private
 * functions for loading libraries, and this file uses them to load libdl. */
#include "platform/loader.h"

#include <gnu/libc-version.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/hot.h"

LIBC_MAY_LACK(dlsym);
LIBC_MAY_LACK(dlopen);
LIBC_MAY_LACK(dladdr);
LIBC_MAY_LACK(dladdr1);
LIBC_MAY_LACK(pthread_key_create);
LIBC_MAY_LACK(pthread_setspecific);

/* Private functions of the C library. */
void *__libc_dlopen_mode(const char *path, int mode);
void *__libc_dlsym(void *handle, const char *name);
LIBC_MAY_LACK(__libc_dlopen_mode);
LIBC_MAY_LACK(__libc_dlsym);

enum { LIBC_DLOPEN = (int)0x80000000 }; /* glibc sets this bit where it calls dlopen itself */

static void *beside_libc(const char *library, const char *name) {
    if (!__libc_dlopen_mode || !__libc_dlsym)
        return NULL;
    void *handle = __libc_dlopen_mode(library, RTLD_LAZY | LIBC_DLOPEN);
    return handle ? __libc_dlsym(handle, name) : NULL;
}

/* Defines call_NAME, which returns the function or NULL. The first caller looks it up; if two
 * threads do so at once, they find the same. */
#define CALL(name, library)                                                                        \
    static __typeof__(name) *call_##name(void) {                                                   \
        static _Atomic(uintptr_t) found;                                                           \
        if (__builtin_expect(name != NULL, 1))                                                     \
            return name;                                                                           \
        if (!found)                                                                                \
            found = (uintptr_t)beside_libc(library, #name);                                        \
        return (__typeof__(name) *)found;                                                          \
    }
CALL(dlsym, "libdl.so.2")
CALL(dlopen, "libdl.so.2")
CALL(dladdr, "libdl.so.2")
CALL(dladdr1, "libdl.so.2")
CALL(pthread_key_create, "libpthread.so.0")
CALL(pthread_setspecific, "libpthread.so.0")

HOT_CODE void *loader_symbol(void *handle, const char *name) {
    __typeof__(dlsym) *call = call_dlsym();
    return call ? call(handle, name) : NULL;
}

LIBC_MAY_LACK(gnu_get_libc_version);

bool loader_is_glibc(void) {
    return gnu_get_libc_version;
}

/* glibc's private functions and the public ones, which musl has. */
int __register_atfork(void (*before)(void), void (*in_parent)(void), void (*in_child)(void),
                      void *module);
int __cxa_at_quick_exit(void (*handler)(void *), void *module);
LIBC_MAY_LACK(__register_atfork);
LIBC_MAY_LACK(__cxa_at_quick_exit);
LIBC_MAY_LACK(pthread_atfork);
LIBC_MAY_LACK(at_quick_exit);
extern void *__dso_handle __attribute__((visibility("hidden")));

void loader_at_fork(void (*before)(void), void (*in_parent)(void), void (*in_child)(void)) {
    if (__register_atfork)
        __register_atfork(before, in_parent, in_child, __dso_handle);
    else if (pthread_atfork)
        pthread_atfork(before, in_parent, in_child);
}

void loader_at_quick_exit(void (*handler)(void)) {
    if (__cxa_at_quick_exit)
        __cxa_at_quick_exit((void (*)(void *))(uintptr_t)handler, __dso_handle);
    else if (at_quick_exit)
        at_quick_exit(handler);
}

void *loader_open(const char *path, int flags) {
    __typeof__(dlopen) *call = call_dlopen();
    return call ? call(path, flags) : NULL;
}

bool loader_address(const void *address, Dl_info *info) {
    __typeof__(dladdr) *call = call_dladdr();
    return call && call(address, info);
}

bool loader_entry(const void *address, Dl_info *info, void **entry) {
    __typeof__(dladdr1) *call = call_dladdr1();
    return call && call(address, info, entry, RTLD_DL_SYMENT);
}

bool loader_key_create(pthread_key_t *key, void (*at_exit)(void *)) {
    __typeof__(pthread_key_create) *call = call_pthread_key_create();
    return call && call_pthread_setspecific() && call(key, at_exit) == 0;
}

void loader_key_set(pthread_key_t key, const void *value) {
    call_pthread_setspecific()(key, value);
}
