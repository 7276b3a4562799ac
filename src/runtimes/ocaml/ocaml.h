/* ocaml.h: the callbacks that ocaml.c and the stubs in ocaml_stubs.S share. */
#ifndef OCAML_H
#define OCAML_H

/* X(callback): in the order of the fields of the runtime's tracker. */
#define OCAML_CALLBACKS(X)                                                                         \
    X(alloc_minor)                                                                                 \
    X(alloc_major)                                                                                 \
    X(promote)                                                                                     \
    X(dealloc_minor)                                                                               \
    X(dealloc_major)

#endif
