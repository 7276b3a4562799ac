/* ocaml_yield.h: stops our sampling if the program samples its heap itself. A runtime has only one
 * Memprof, and starting it a second time raises an exception, which must not hit the program. So
 * Memprof's start is patched: the program's call ends our sampling first, and then starts its own.
 * Only programs that may start Memprof at all are patched. */
#ifndef OCAML_YIELD_H
#define OCAML_YIELD_H

#include <stdbool.h>

struct ocaml_runtime;

/* Must be called right after Memprof was started for us, before the program runs. False: the code
 * cannot be patched. `r` must stay valid. */
bool ocaml_yield_prepare(const struct ocaml_runtime *r);

#endif
