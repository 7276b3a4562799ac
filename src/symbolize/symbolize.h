/* symbolize.h: from (module, address) to functions, files and lines, inlined functions included.
 *
 * Problem. A trace of a native program has addresses. What they mean is in debug information of up
 * to gigabytes, perhaps compressed, perhaps in a file of its own or not on this machine, of a
 * module that may have been replaced since.
 *
 * Way. After the run, outside of the program. The answer is the best that can be had: lines from
 * debug information (dwarf_info.h, in the module or in a separate debug file, debug_file.h), else a
 * function's name from the symbol table (elf_file.h, mini_debug.h), else nothing; code that was
 * made at run time is known by a map that its maker wrote (perf_map.h). Questions are answered in
 * bulk, module by module, and a module is closed before the next one is opened: memory follows the
 * largest module, not their sum. A question that was answered before takes no module. completion.h
 * asks for all that a trace needs and puts the answers into it.
 *
 * Why not otherwise. libdwfl answers the same, address by address, dozens of times slower, and
 * inflates whole sections for one function (CONTRIBUTING.md has the measurements).
 *
 * What must hold. A module whose build id is not the recorded one answers nothing: wrong names are
 * worse than none. No file that is read is trusted. Single-threaded. */
#ifndef SYMBOLIZE_SYMBOLIZE_H
#define SYMBOLIZE_SYMBOLIZE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "allotrace/memtrace.h"
#include "symbolize/debug_file.h"

typedef struct symbolizer symbolizer;

/* One question and its answer. */
typedef struct symbolize_request {
    uint32_t module;  /* from symbolizer_module */
    uint64_t address; /* of an instruction, as in the ELF file: of a call, not of its return */

    const memtrace_location *locations; /* outermost first; valid until symbolizer_free */
    uint32_t n_locations;               /* 0: nothing is known */
    bool has_line;                      /* the answer comes from debug information */
} symbolize_request;

typedef enum symbolize_state {
    MODULE_READ = 0,   /* or not yet needed */
    MODULE_MISSING,    /* its file cannot be opened */
    MODULE_CHANGED,    /* its file is not the recorded one any more */
    MODULE_UNREADABLE, /* its file is no ELF file */
} symbolize_state;

/* What became of the questions about a module. */
typedef struct symbolize_module {
    const char *path;
    build_id id; /* as recorded */
    symbolize_state state;
    int os_error;               /* why it is missing; else 0 */
    bool unreadable_debug_info; /* its own or in a separate file */
    const char *lost_dwo;       /* a .dwo file of it that could not be read; NULL: none */
    size_t n_lines;             /* addresses answered with a line */
    size_t n_names;             /* … with a function's name alone */
    size_t n_unresolved;
} symbolize_module;

typedef struct symbolize_options {
    debug_file_options debug_files;
    uint64_t
        recorded_at; /* us since the Unix epoch; newer files without build id are not trusted */

    /* Called now and then with the number of questions answered so far; NULL: never. False ends
     * the work: what is not answered yet stays without answer. */
    bool (*progress)(void *context, size_t done, size_t all);
    void *context;
} symbolize_options;

/* NULL when there is no memory. */
symbolizer *symbolizer_new(const symbolize_options *options);
void symbolizer_free(symbolizer *s); /* NULL is allowed */

/* The number of a module, the same for the same path and build id; UINT32_MAX: no memory. */
uint32_t symbolizer_module(symbolizer *s, const char *path, const build_id *id);

size_t symbolizer_n_modules(const symbolizer *s);
const symbolize_module *symbolizer_module_at(const symbolizer *s, uint32_t module);

/* Fills in the answers. False when there is no memory. To ask on behalf of many traces, ask first
 * what all of them ask, so that each module is opened once; then each finds its answers. */
bool symbolizer_resolve(symbolizer *s, symbolize_request *requests, size_t n);

#endif
