/* ocaml_conflict.h: does the program call Gc.Memprof.start itself? A runtime has one Memprof, and
 * whoever starts it second dies of an exception. It must not be the program: so this errs on the
 * side of yes. */
#ifndef RECORD_OCAML_CONFLICT_H
#define RECORD_OCAML_CONFLICT_H

struct ocaml_runtime;

enum ocaml_conflict {
    OCAML_CONFLICT_NONE,
    OCAML_CONFLICT_MAYBE, /* it has Gc as a value: a functor's argument, or included elsewhere */
    OCAML_CONFLICT_CALL
};

enum ocaml_conflict ocaml_conflict_find(const struct ocaml_runtime *r);

#endif
