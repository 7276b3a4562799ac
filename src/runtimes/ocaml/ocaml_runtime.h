/* ocaml_runtime.h: the OCaml runtime that the program is linked with, found by its symbols: is it
 * one whose heap can be recorded, which functions does that take, and where is a place that it
 * names. Calls nothing that allocates in OCaml's heap, raises, or gives up its lock. */
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
        ocaml_value *root); /* what is there moves with the heap, until it is removed */
    void (*root_remove)(ocaml_value *root);
    void (*c_call)(void); /* in OCaml's own calling convention: only for the stubs */
    void *(*debuginfo_extract)(uintptr_t slot);
    void *(*debuginfo_next)(void *debuginfo);
    void (*debuginfo_location)(void *debuginfo, void *location);
    uintptr_t glue_low,
        glue_high;  /* code that the linker made: it applies closures, starts modules */
    bool is_5;      /* OCaml 5.3 or later; else 4.11 to 4.14 */
    bool may_clash; /* the program, or a plugin of it, may start Memprof itself */
} ocaml_runtime;

/* See record/runtime.h. */
enum runtime_kind ocaml_runtime_find(ocaml_runtime *r, const char **why);

/* The address of MODULE__PART, where __ is whatever this version of the compiler puts there; 0 if
 * there is none. */
uintptr_t ocaml_runtime_symbol(const char *module, const char *part);

/* Is this an entry of a call stack for a frame that belongs to nobody's source? The code of these
 * is at glue_low, and of that size. */
static inline bool ocaml_runtime_is_glue(uintptr_t glue_low, uintptr_t size, uintptr_t slot) {
    return !(slot & 2) && *(const uintptr_t *)slot - glue_low < size;
}

/* The locations of an entry of a call stack, outermost first. `codes` gives the address where the
 * program has no debug information. */
size_t ocaml_runtime_locate(const ocaml_runtime *r, code_table *codes, uintptr_t slot,
                            memtrace_location *locations, size_t max);

#endif
