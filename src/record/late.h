/* late.h: intercepts malloc in a process that is already running, whose modules are already bound
 * to other functions. In any process, it also intercepts allocators in libraries that are called by
 * names of their own (imports.h). It replaces the entries in the modules' global offset tables, and
 * restores them later.
 * This reaches calls by name from all modules that are loaded at that moment, including the C
 * library. It does not reach function pointers that were taken before. It does not reach modules
 * that are loaded later, until somebody asks to look for them.
 * Operators of C++ call malloc and are recorded there, except that those of an allocator are
 * imports. */
#ifndef RECORD_LATE_H
#define RECORD_LATE_H

#include <stdbool.h>

/* Returns whether this library was loaded after the C library, by dlopen. Then no module is bound
 * to it. */
bool late_is(void);

/* Intercepts only the imports, in a starting process. There, variables that hold their addresses
 * are replaced, too. */
void late_enter_imports(void);

/* Returns false if there is no memory; then nothing was replaced. This function and the next ones
 * must be called by one thread at a time. */
bool late_enter(void);
void late_look_again(void); /* handles modules that were loaded since */
void late_leave(void);

#endif
