/* next.h: where the calls that the recorder stands before (calls.h) go on: the allocator that the
 * program would have without us. */
#ifndef RECORD_NEXT_H
#define RECORD_NEXT_H

#include "platform/module.h"
#include "record/calls.h"

/* Where each call goes on: at first to a function that finds out. */
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

/* Finds where all calls but those of C++ go on, unless that is known. Any thread may call. */
void next_resolve(void);

/* Tells what stacks have to know of a C library without tables of unwinding: to be called once,
 * outside of the loader. */
void next_know_libc(void);

/* To be called at once where this library was loaded by dlopen: finds where calls go on. */
void next_be_late(void);

/* Does the program, or a library loaded before this one, bring its own `malloc`, so that ours is
 * not called? Then `module`, if it is not NULL, becomes that module, or zeros if there is none. The
 * answer stays what it was at first. */
bool next_is_preempted(struct module *module);

/* Are all blocks that are recorded glibc's, none of which takes less than 32 bytes? */
bool next_is_glibc(void);

/* Does another library than the C library stand behind us? Then `module` becomes that. */
bool next_is_library(struct module *module);

/* Loaded late, the function of this name that all modules see; NULL: none do. Asks the loader. */
void *next_definition(const char *name);

/* Has a library that stands behind us set itself up. TBB's asks the loader at its first free, and
 * the loader frees what it said of a search in vain, such as ours for runtimes: one would call the
 * other for ever. */
void next_wake_library(void);

/* Is this return address in the allocator that stands behind us? Locks nothing: that one may. */
bool next_is_allocator(const void *caller);

/* Finds where the operators of C++ go on, unless that is known. `caller` is a return address in the
 * module that called one: it knows a C++ library even where the program as a whole does not. */
void next_resolve_cxx(const void *caller);

/* Are these operators not ours to count? So it is if the program has replaced some of them: then
 * its own ones run, and their calls of malloc are counted. Known after next_resolve_cxx. */
extern bool next_cxx_is_replaced __attribute__((visibility("hidden")));

#endif
