/* ocaml_errors.h: exceptions of the unix library, whose C functions have other names in OCaml 5. */
#ifndef MEMTRACE_OCAML_ERRORS_H
#define MEMTRACE_OCAML_ERRORS_H

#include <caml/alloc.h>
#include <caml/unixsupport.h>
#include <caml/version.h>

/* Raises Unix.Unix_error (error, function, ""). */
static inline void raise_errno(int error, const char *function) {
#if OCAML_VERSION >= 50000
    caml_unix_error(error, function, caml_copy_string(""));
#else
    unix_error(error, function, caml_copy_string(""));
#endif
}

#endif
