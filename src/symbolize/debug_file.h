/* debug_file.h: where the debug information of a module lies, when it was stripped off: by build
 * id, by .gnu_debuglink, or, if asked for, from a debuginfod server. */
#ifndef SYMBOLIZE_DEBUG_FILE_H
#define SYMBOLIZE_DEBUG_FILE_H

#include "symbolize/elf_file.h"

#define DEBUG_FILE_ROOT "/usr/lib/debug"

typedef struct debug_file_options {
    int in;           /* where modules and debug files are, see open_in; 0: in our files */
    const char *root; /* the system's folder of debug files; NULL: DEBUG_FILE_ROOT */
    bool debuginfod;  /* ask the servers that $DEBUGINFOD_URLS names */
} debug_file_options;

/* Opens the debug file of a module: `id` is its build id, `path` its path, `module` its file,
 * closed if it is not there or another one by now (then only the build id counts). True if there is
 * one; otherwise `debug` is closed. */
bool debug_file_find(elf_file *debug, const build_id *id, const char *path, const elf_file *module,
                     const debug_file_options *options);

#endif
