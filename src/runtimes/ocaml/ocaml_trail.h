/* ocaml_trail.h: the codes of an OCaml call stack, computed from its difference to the previous
 * stack. The runtime passes a whole stack each time, most of which has not changed. Only for new
 * entries must we find the code, and whether the frame is shown at all. */
#ifndef OCAML_TRAIL_H
#define OCAML_TRAIL_H

#include <stddef.h>

#include "runtimes/ocaml/ocaml_runtime.h"

typedef struct ocaml_trail ocaml_trail;

/* ocaml_trail_size returns the bytes needed for stacks of up to `depth` entries. */
size_t ocaml_trail_size(size_t depth);
void ocaml_trail_init(ocaml_trail *t, size_t depth);

/* Takes a stack of `n` entries, innermost first. If `n` exceeds the depth, a remark replaces the
 * outer entries. */
struct runtime_stack ocaml_trail_take(ocaml_trail *t, const ocaml_runtime *r,
                                      const ocaml_value *stack, size_t n);

/* The last backtrace in the trace is, or may be, another one. */
void ocaml_trail_forget(ocaml_trail *t);

#endif
