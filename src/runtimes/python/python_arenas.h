/* python_arenas.h: what Python's own allocator takes from the system, in arenas of a megabyte, and
 * how much of that is in use: RSS falls only where a whole arena is free. Knows the arenas by
 * standing before the function that maps them, and what is in use by reading their pools. */
#ifndef PYTHON_ARENAS_H
#define PYTHON_ARENAS_H

#include "runtimes/python/python_layout.h"

/* X(identifier, name in the trace) */
#define PYTHON_GAUGES(X)                                                                           \
    X(ARENAS, "python arenas")                                                                     \
    X(ARENAS_IN_USE, "python arenas in use")

enum python_gauge {
#define PYTHON_GAUGE_ENUM(id, name) PYTHON_GAUGE_##id,
    PYTHON_GAUGES(PYTHON_GAUGE_ENUM)
#undef PYTHON_GAUGE_ENUM
        N_PYTHON_GAUGES
};

/* Does nothing where the interpreter has started already. May be called more than once. */
void python_arenas_arm(const python_runtime *r);

/* The recording ends before the program. */
void python_arenas_disarm(const python_runtime *r);

/* See record/runtime.h, `read_gauges`. */
void python_arenas_read(uint64_t bytes[N_PYTHON_GAUGES]);

#endif
