/* jvm_names.h: names of Java frames and types, as slots (record/runtime.h), which stay valid when
 * classes are unloaded. This file does not know the JVM's interfaces: its user asks the JVM once
 * for each method, and passes the result here.
 *
 * A slot is the number of a name and a line. With the highest bit set, it is the number of a pair:
 * a frame, and the type that it allocates. Numbers are unique in the process and are never
 * reused. */
#ifndef RUNTIMES_JVM_JVM_NAMES_H
#define RUNTIMES_JVM_JVM_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "allotrace/memtrace.h"

enum { JVM_LINE_BITS = 16 /* as in class files */ };

/* A line, and the bytecode index where it begins. */
struct jvm_line {
    uint16_t start, line;
};

/* A method, as the user passes it. */
struct jvm_method {
    const void *id;          /* the JVM's identifier, unique */
    const char *class;       /* a signature: Lcom/example/Main; */
    const char *name, *file; /* method and source file; NULL: unknown */
    struct jvm_line *lines;  /* NULL: none; copied */
    size_t n_lines;
};

/* A method that was passed. */
typedef struct jvm_known jvm_known;

/* Returns a method; NULL: it was not passed yet. */
const jvm_known *jvm_names_method(const void *id);

/* Adds a method, unless another thread has done so; NULL: out of memory. */
const jvm_known *jvm_names_tell(const struct jvm_method *method);

/* Returns the slot of a place in a method; 0: it belongs to the internals that Java's own stack
 * traces leave out. `at` is the bytecode index, negative in native methods. */
uintptr_t jvm_names_frame(const jvm_known *method, int64_t at);

/* Return the slot of all frames for which there was no room, and the slot of allocations without
 * Java frames. */
uintptr_t jvm_names_full(void);
uintptr_t jvm_names_nowhere(void);

/* Returns the number of a type with this signature, from 1 on; 0: there is no room. */
uint32_t jvm_names_type(const char *signature);

/* Returns the slot of a frame that allocates a type, or `frame` if there is no room. */
uintptr_t jvm_names_pair(uintptr_t frame, uint32_t type);

/* `locate` of record/runtime.h. The first location is the type, if there is one. */
size_t jvm_names_locate(uintptr_t slot, memtrace_location *locations, size_t max);

#endif
