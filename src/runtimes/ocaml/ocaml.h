/* ocaml.h: what ocaml.c and the stubs in ocaml_stubs.S have in common. */
#ifndef OCAML_H
#define OCAML_H

/* X(callback): in the order in which the runtime has them in a tracker. */
#define OCAML_CALLBACKS(X)                                                                         \
    X(alloc_minor)                                                                                 \
    X(alloc_major)                                                                                 \
    X(promote)                                                                                     \
    X(dealloc_minor)                                                                               \
    X(dealloc_major)

#endif
