/* ocaml_conflict.h: may the program call Gc.Memprof.start itself? If in doubt, the answer is
 * yes. */
#ifndef OCAML_CONFLICT_H
#define OCAML_CONFLICT_H

#include <stdbool.h>

struct ocaml_runtime;

bool ocaml_conflict_find(const struct ocaml_runtime *r);

#endif
