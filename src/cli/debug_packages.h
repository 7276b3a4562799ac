/* debug_packages.h: finds the packages with debug symbols for files that have none, on Debian and
 * its derivatives. */
#ifndef CLI_DEBUG_PACKAGES_H
#define CLI_DEBUG_PACKAGES_H

#include <stddef.h>

enum { DEBUG_PACKAGES_FILES = 8 };                      /* maximum number of files */
typedef char debug_packages[DEBUG_PACKAGES_FILES * 96]; /* package names, separated by blanks */

/* Sets the packages with the debug information of the files, without duplicates. The result is
 * empty if there is no dpkg, or no package contains the files. */
void debug_packages_of(const char *const *paths, size_t n, debug_packages names);

/* Prints a hint how to resolve addresses in these files. */
void debug_packages_hint(const char *const *paths, size_t n, const char *trace);

#endif
