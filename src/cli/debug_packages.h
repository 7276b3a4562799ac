/* debug_packages.h: where a user of Debian, or of what derives from it, gets the symbols of files
 * that have none. */
#ifndef CLI_DEBUG_PACKAGES_H
#define CLI_DEBUG_PACKAGES_H

#include <stddef.h>

enum { DEBUG_PACKAGES_FILES = 8 };                      /* more are not asked about */
typedef char debug_packages[DEBUG_PACKAGES_FILES * 96]; /* their names, separated by blanks */

/* Fills in the packages with the debug information of the files, each once; none where dpkg is
 * missing, or the files are no package's. */
void debug_packages_of(const char *const *paths, size_t n, debug_packages names);

/* Says how the addresses in these files get names in the trace. */
void debug_packages_hint(const char *const *paths, size_t n, const char *trace);

#endif
