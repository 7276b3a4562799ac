/* late.h: gets in front of malloc in a process that runs already, whose modules are bound to other
 * functions by now, and of allocators in libraries that are called by names of their own
 * (imports.h), in any: replaces the entries in their global offset tables, and puts them back.
 *
 * Reached that way are calls by name, of every module that is loaded at that moment, the C library
 * included. Not reached are function pointers that were taken before, and modules loaded later,
 * until somebody asks to look for them.
 * Operators of C++ call malloc, and are recorded where they do; those of an allocator are imports.
 */
#ifndef RECORD_LATE_H
#define RECORD_LATE_H

#include <stdbool.h>

/* Was this library loaded after the C library, by dlopen? Then nobody is bound to it. */
bool late_is(void);

/* In a process that begins, for the imports alone; there, also variables that hold their addresses
 * are replaced. */
void late_enter_imports(void);

/* False if there is no memory; then nothing was replaced. To be called by one thread at a time, as
 * is the next. */
bool late_enter(void);
void late_look_again(void); /* for modules that were loaded meanwhile */
void late_leave(void);

#endif
