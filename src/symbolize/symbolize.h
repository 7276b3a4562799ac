/* symbolize.h: turns (module, address) into functions, files and lines, including inlined
 * functions.
 *
 * Problem. A trace of a native program contains addresses. Their meaning is in debug information of
 * up to gigabytes, which may be compressed, in a separate file or not on this machine, and whose
 * module may have been replaced since.
 *
 * Approach. Names are looked up after the run, outside the program. The answer is the best one
 * available: lines from debug information (dwarf_info.h, in the module or in a separate file found
 * by debug_file.h), or else a function's name from the symbol table (elf_file.h, mini_debug.h), or
 * else nothing. Code generated at run time is found in a map written by the code generator
 * (perf_map.h). Requests are answered in bulk, module by module, and a module is closed before the
 * next one is opened, so that memory depends on the largest module rather than on their sum. A
 * request that was answered before opens no module. completion.h requests everything that a trace
 * needs, and writes the answers into it.
 *
 * Alternatives. libdwfl answers address by address, which takes dozens of times longer, and
 * decompresses whole sections for a single function (CONTRIBUTING.md has the measurements).
 *
 * Invariants. A module whose build id differs from the recorded one gives no answers: wrong names
 * are worse than none. No file that is read is trusted. Single-threaded. */
#ifndef SYMBOLIZE_SYMBOLIZE_H
#define SYMBOLIZE_SYMBOLIZE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "allotrace/memtrace.h"
#include "symbolize/debug_file.h"

typedef struct symbolizer symbolizer;

/* A question and its answer. */
typedef struct symbolize_request {
    uint32_t module;  /* from symbolizer_module */
    uint64_t address; /* of an instruction, as in the ELF file: the call, not its return */

    const memtrace_location *locations; /* outermost first; valid until symbolizer_free */
    uint32_t n_locations;               /* 0: unknown */
    bool has_line;                      /* the answer comes from debug information */
} symbolize_request;

typedef enum symbolize_state {
    MODULE_READ = 0,   /* read, or not needed so far */
    MODULE_MISSING,    /* the file cannot be opened */
    MODULE_CHANGED,    /* the file is no longer the recorded one */
    MODULE_UNREADABLE, /* the file is not an ELF file */
} symbolize_state;

/* The results of the requests about a module. */
typedef struct symbolize_module {
    const char *path;
    build_id id; /* as recorded */
    symbolize_state state;
    int os_error;               /* reason for MODULE_MISSING, otherwise 0 */
    bool unreadable_debug_info; /* in the module or in a separate file */
    bool lacks_debug_file;      /* the module has no debug information, and no file has it */
    const char *debug_link; /* … although .gnu_debuglink names this one; NULL: it names none */
    const char *lost_dwo;   /* one of its .dwo files that could not be read; NULL: none */
    size_t n_lines;         /* addresses answered with a line */
    size_t n_names;         /* addresses answered with only a function's name */
    size_t n_unresolved;
} symbolize_module;

typedef struct symbolize_options {
    debug_file_options debug_files;
    uint64_t recorded_at; /* us since the Unix epoch; newer files without build id are not used */

    /* Called regularly with the number of requests answered so far; NULL: never called. Returning
     * false stops the work: the remaining requests get no answer. */
    bool (*progress)(void *context, size_t done, size_t all);
    void *context;
} symbolize_options;

/* Returns NULL when out of memory. */
symbolizer *symbolizer_new(const symbolize_options *options);
void symbolizer_free(symbolizer *s); /* NULL is allowed */

/* Returns the number of a module, which is equal for equal paths and build ids. UINT32_MAX when out
 * of memory. */
uint32_t symbolizer_module(symbolizer *s, const char *path, const build_id *id);

size_t symbolizer_n_modules(const symbolizer *s);
const symbolize_module *symbolizer_module_at(const symbolizer *s, uint32_t module);

/* Fills in the answers. Returns false when out of memory. For several traces, first pass the
 * requests of all of them, so that each module is opened once; later requests for each trace find
 * these answers. */
bool symbolizer_resolve(symbolizer *s, symbolize_request *requests, size_t n);

#endif
