/* ocaml_conflict.h: does the program call Gc.Memprof.start itself? A runtime has one Memprof, and
 * whoever starts it second dies of an exception. It must not be the program: so this errs on the
 * side of yes. */
#ifndef RECORD_OCAML_CONFLICT_H
#define RECORD_OCAML_CONFLICT_H

#include <stdbool.h>

struct ocaml_runtime;

bool ocaml_conflict_found(const struct ocaml_runtime *r);

#endif
