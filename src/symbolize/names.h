/* names.h: the names of functions and source files in a trace.
 *
 * Functions are demangled as C++ or Rust (without Rust's hashes), or shown by OCaml's module and
 * name, and shortened to fit a trace (`trace/short_name.h`). Files are shown by the path in the
 * debug information, made absolute by its folder, without `.`, `..` and double slashes, so that a
 * file has the same name in all units. Single-threaded. */
#ifndef SYMBOLIZE_NAMES_H
#define SYMBOLIZE_NAMES_H

#include <stdbool.h>

#include "base/intern.h"

/* All return a string of `strings`, or NULL when out of memory. */

const char *name_demangle(intern_table *strings, const char *symbol);
bool name_is_mangled(const char *symbol);

/* Returns the name of an OCaml function, given its symbol, in the style of debug information:
 * `List.map` for camlList__map_613 (OCaml 4) or camlList.map_613 (5), `List.(@)` for
 * camlList__$40_12, and `List` for the code that initializes the module. With `numbered`, and for
 * functions without a name, the number is kept, as in `List.fun_613`. A symbol that is not OCaml's
 * is returned unchanged. */
const char *name_ocaml(intern_table *strings, const char *symbol, bool numbered);
bool name_is_ocaml(const char *symbol);

/* `folder` may be NULL. */
const char *name_path(intern_table *strings, const char *folder, const char *file);

#endif
