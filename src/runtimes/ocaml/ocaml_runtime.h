/* ocaml_runtime.h: the OCaml runtime that the program is linked with, found by its symbols: whether
 * its heap can be recorded, the functions needed for that, and the locations of call stack entries.
 * Calls nothing that allocates in OCaml's heap, raises, or releases its lock. */
#ifndef OCAML_RUNTIME_H
#define OCAML_RUNTIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "allotrace/memtrace.h"
#include "record/code.h"
#include "record/runtime.h"

typedef intptr_t ocaml_value;
#define OCAML_UNIT ((ocaml_value)1)

typedef struct ocaml_runtime {
    ocaml_value (*memprof_start)(ocaml_value rate, ocaml_value depth, ocaml_value tracker);
    ocaml_value (*memprof_stop)(ocaml_value unit);
    void (*root_add)(
        ocaml_value *root); /* the value is updated when the heap moves, until root_remove */
    void (*root_remove)(ocaml_value *root);
    void (*c_call)(void); /* in OCaml's calling convention: only for the stubs */
    void *(*debuginfo_extract)(uintptr_t slot);
    void *(*debuginfo_next)(void *debuginfo);
    void (*debuginfo_location)(void *debuginfo, void *location);
    uintptr_t glue_low,
        glue_high;  /* code made by the linker: it applies closures, starts modules */
    bool is_5;      /* OCaml 5.3 or later; else 4.11 to 4.14 */
    bool may_clash; /* the program, or one of its plugins, may start Memprof itself */
} ocaml_runtime;

/* `find` of record/runtime.h. */
enum runtime_kind ocaml_runtime_find(ocaml_runtime *r, const char **why);

/* Returns the address of MODULE__PART; 0: there is none. The separator is __ or what else this
 * version of the compiler uses. */
uintptr_t ocaml_runtime_symbol(const char *module, const char *part);

/* Returns whether an entry of a call stack is for a frame of glue code, which belongs to no source
 * file. `size` is that of the glue code, in bytes. */
static inline bool ocaml_runtime_is_glue(uintptr_t glue_low, uintptr_t size, uintptr_t slot) {
    return !(slot & 2) && *(const uintptr_t *)slot - glue_low < size;
}

/* Puts the locations of a call stack entry, outermost first, and returns their number. Where the
 * program has no debug information, `codes` gives the location of the address. */
size_t ocaml_runtime_locate(const ocaml_runtime *r, code_table *codes, uintptr_t slot,
                            memtrace_location *locations, size_t max);

#endif
