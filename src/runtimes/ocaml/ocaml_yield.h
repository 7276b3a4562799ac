/* ocaml_yield.h: gives way to a program that samples its heap itself. A runtime has one Memprof,
 * and whoever starts it second dies of an exception, which must not be the program. So its start is
 * turned aside: ours ends, and the program's begins. Only in programs that may start it at all:
 * no other's code is touched. */
#ifndef OCAML_YIELD_H
#define OCAML_YIELD_H

#include <stdbool.h>

struct ocaml_runtime;

/* To be called when Memprof has just been started for us, before the program runs. False if it
 * cannot be arranged. `r` must stay. */
bool ocaml_yield_prepare(const struct ocaml_runtime *r);

#endif
