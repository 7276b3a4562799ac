/* ocaml_trail.h: the codes of an OCaml call stack, found by what differs from the one before. The
 * runtime hands over a whole stack each time, most of which stays as it was. What a frame is called
 * in the trace, and whether it is one at all, is asked only for entries that are new. */
#ifndef OCAML_TRAIL_H
#define OCAML_TRAIL_H

#include <stddef.h>

#include "runtimes/ocaml/ocaml_runtime.h"

typedef struct ocaml_trail ocaml_trail;

/* In so many bytes it holds stacks of up to `depth` entries. */
size_t ocaml_trail_size(size_t depth);
void ocaml_trail_init(ocaml_trail *t, size_t depth);

/* `stack` begins with the innermost of its `n` entries. If these are more than the depth, a remark
 * stands in place of the others. */
struct runtime_stack ocaml_trail_take(ocaml_trail *t, const ocaml_runtime *r,
                                      const ocaml_value *stack, size_t n);

/* The last backtrace in the trace is another one, or may be. */
void ocaml_trail_forget(ocaml_trail *t);

#endif
