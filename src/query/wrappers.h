/* wrappers.h: recognizes functions that merely allocate by their names: xmalloc, g_malloc0_n,
 * jv_mem_alloc.
 *
 * In C programs, such a function allocates nearly everything, and the place of interest is its
 * caller. This is the only list of the words in such names. In doubt, a function is not a wrapper:
 * a constructor (jvp_string_alloc, node_new) is a place of interest. Of C++ functions, only the
 * name after the last `::` counts. Functions that resize (realloc) must be in namespaces, because
 * String::realloc(int) is about strings. Templates and names that are not identifiers never match,
 * except a class's own `operator new` and `operator new[]`.
 *
 * A name is a sequence of words, separated by underscores or by a change of case:
 *
 *   [library] {generic word} core {suffix}
 *   g_malloc0_n, PyMem_RawMalloc, sqlite3DbMallocRaw
 *
 * The word of the core may begin with glued prefixes (xmalloc, safesysmalloc) and end with digits
 * (malloc0). The library may be any single word except an OBJECT (table_realloc resizes a table,
 * test_malloc tests). `alloc` and `allocate` are so common that they must have a generic word or a
 * glued prefix before them, or stand alone. */
#ifndef QUERY_WRAPPERS_H
#define QUERY_WRAPPERS_H

#include <stdbool.h>

/* Whether a function of this name merely allocates. */
bool wrapper_name(const char *function);

#endif
