/* names.h: how functions and source files are called in a trace.
 *
 * Functions: demangled as C++ or Rust where they are mangled (Rust's hashes left out), and short
 * enough for a trace (`trace/short_name.h`). Files: the
 * path of the debug information, made absolute by its folder, without `.`, `..` and doubled
 * slashes, so that one file has one name whichever unit speaks of it. Single-threaded. */
#ifndef SYMBOLIZE_NAMES_H
#define SYMBOLIZE_NAMES_H

#include "base/intern.h"

/* All return a string of `strings`, or NULL when there is no memory. */

const char *name_demangle(intern_table *strings, const char *symbol);

/* `folder` may be NULL. */
const char *name_path(intern_table *strings, const char *folder, const char *file);

#endif
