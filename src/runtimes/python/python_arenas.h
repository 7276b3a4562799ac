/* python_arenas.h: how much memory Python's own allocator has taken from the system, in arenas of a
 * megabyte, and how much of it is in use. RSS falls only where a whole arena is free. The arenas
 * are found by wrapping the function that maps them, and the bytes in use by reading their
 * pools. */
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

/* Wraps that function, unless the interpreter has already started. May be called more than once. */
void python_arenas_arm(const python_runtime *r);

/* The recording ends before the program does. */
void python_arenas_disarm(const python_runtime *r);

/* `read_gauges` of record/runtime.h. */
void python_arenas_read(uint64_t bytes[N_PYTHON_GAUGES]);

#endif
