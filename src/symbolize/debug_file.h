/* debug_file.h: finds the separate debug information of a stripped module: by build id, by
 * .gnu_debuglink, or, if requested, from a debuginfod server. */
#ifndef SYMBOLIZE_DEBUG_FILE_H
#define SYMBOLIZE_DEBUG_FILE_H

#include <limits.h>

#include "symbolize/elf_file.h"

#define DEBUG_FILE_ROOT "/usr/lib/debug"

typedef struct debug_file_options {
    int in;           /* root of modules and debug files, see open_in; 0: our own */
    const char *root; /* folder of debug files; NULL: DEBUG_FILE_ROOT */
    bool debuginfod;  /* ask the servers in $DEBUGINFOD_URLS */
} debug_file_options;

/* Opens the debug file of a module. `id` is the module's build id, `path` its path, and `module`
 * its file, which is closed if it is missing or has been replaced (then only the build id counts).
 * Returns true if a debug file was found; otherwise `debug` is closed. */
bool debug_file_find(elf_file *debug, const build_id *id, const char *path, const elf_file *module,
                     const debug_file_options *options);

/* Sets `path` to where the debug file of a build id is looked for first. Returns false if there is
 * no such path. */
bool debug_file_path(const build_id *id, const debug_file_options *options, char path[PATH_MAX]);

/* Returns the name of the debug file that the module's .gnu_debuglink names, and sets its checksum;
 * NULL: it names none. */
const char *debug_file_link(const elf_file *module, uint32_t *checksum);

#endif
