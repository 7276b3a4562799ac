/* next.h: the original functions to which interposed calls (calls.h) are passed on: those of the
 * allocator that the program would use without the recorder. */
#ifndef RECORD_NEXT_H
#define RECORD_NEXT_H

#include "platform/module.h"
#include "record/calls.h"

/* The original function of each call. At first each points to a stub that resolves it. */
struct next_calls {
#define NEXT_ALLOCATING(name, type, parameters, ...) void *(*name)parameters;
#define NEXT_FREEING(name, parameters, ...)          void(*name) parameters;
#define NEXT_OTHER(result, name, parameters, ...)    result(*name) parameters;
    CALLS_SANDBOX(NEXT_OTHER) /* first: see sandbox_stubs.S */
    CALLS_C(NEXT_ALLOCATING, NEXT_FREEING, NEXT_OTHER)
    CALLS_NEW(NEXT_ALLOCATING)
    CALLS_DELETE(NEXT_FREEING)
    CALLS_EXEC(NEXT_OTHER)
    CALLS_SPAWN(NEXT_OTHER)
    CALLS_EXIT(NEXT_FREEING)
    CALLS_LINK(NEXT_OTHER)
    CALLS_UNLOADING(NEXT_OTHER)
    CALLS_MAPPING(NEXT_OTHER)
    CALLS_BREAK(NEXT_OTHER)
#undef NEXT_ALLOCATING
#undef NEXT_FREEING
#undef NEXT_OTHER
};

extern struct next_calls next __attribute__((visibility("hidden")));

/* Resolves all functions but those of C++, unless that is done. Any thread may call. */
void next_resolve(void);

/* Registers what unwinding needs to know of a C library without unwind tables. Must be called once,
 * outside the loader. */
void next_know_libc(void);

/* Resolves all functions where this library was loaded by dlopen. Must then be called at once. */
void next_be_late(void);

/* Returns whether the program, or a library loaded before this one, has its own `malloc`, so that
 * ours is not called. If `module` is not NULL, it becomes that module, or zeros if there is none.
 * The first answer is kept. */
bool next_is_preempted(struct module *module);

/* Returns whether all recorded blocks are glibc's, none of which takes less than 32 bytes. */
bool next_is_glibc(void);

/* Returns whether a library other than the C library has the malloc after ours. `module` then
 * becomes that library. */
bool next_is_library(struct module *module);

/* If loaded late, returns the function of this name that all modules see; NULL: there is none. Asks
 * the loader. */
void *next_definition(const char *name);

/* Makes the library with the malloc after ours initialize itself. TBB's library asks the loader at
 * its first free, and the loader frees its message about a failed search, such as ours for
 * runtimes. So one would call the other forever. */
void next_wake_library(void);

/* Returns whether this return address is in the allocator after ours. Takes no lock, because the
 * allocator may. */
bool next_is_allocator(const void *caller);

/* Resolves the operators of C++, unless that is done. `caller` is a return address in the module
 * that called one of them: that module is linked to a C++ library even if the program as a whole is
 * not. */
void next_resolve_cxx(const void *caller);

/* These operators are not counted, because the program has replaced some of them. Its own operators
 * run, and their calls of malloc are counted. Valid after next_resolve_cxx. */
extern bool next_cxx_is_replaced __attribute__((visibility("hidden")));

#endif
