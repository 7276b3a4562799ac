/* names.h: how functions and source files are called in a trace.
 *
 * Functions: demangled as C++ or Rust where they are mangled (Rust's hashes left out), and by
 * OCaml's module and name; short enough for a trace (`trace/short_name.h`). Files: the path of the
 * debug information, made absolute by its folder, without `.`, `..` and doubled slashes, so that
 * one file has one name whichever unit speaks of it. Single-threaded. */
#ifndef SYMBOLIZE_NAMES_H
#define SYMBOLIZE_NAMES_H

#include <stdbool.h>

#include "base/intern.h"

/* All return a string of `strings`, or NULL when there is no memory. */

const char *name_demangle(intern_table *strings, const char *symbol);
bool name_is_mangled(const char *symbol);

/* The name of an OCaml function by its symbol, as debug information has it: `List.map` of
 * camlList__map_613 (OCaml 4) or camlList.map_613 (5), `List.(@)` of camlList__$40_12, and `List`
 * of what initialises the module. With `numbered`, and for functions without a name, the number
 * stays, as in `List.fun_613`. The symbol itself if it is none of OCaml's. */
const char *name_ocaml(intern_table *strings, const char *symbol, bool numbered);
bool name_is_ocaml(const char *symbol);

/* `folder` may be NULL. */
const char *name_path(intern_table *strings, const char *folder, const char *file);

#endif
