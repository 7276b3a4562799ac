/* jvm_names.h: what frames and types of Java are called, in numbers that keep their meaning when
 * classes are unloaded: slots (record/runtime.h). Knows nothing of the JVM's interfaces: its user
 * asks the JVM once for each method, and tells it here.
 *
 * A slot is a text's number and a line, or, with the highest bit, a pair: such a frame and the type
 * of what it allocates. Numbers are of this process, and are never given twice. */
#ifndef RUNTIMES_JVM_JVM_NAMES_H
#define RUNTIMES_JVM_JVM_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "allotrace/memtrace.h"

enum { JVM_LINE_BITS = 16 /* as in class files */ };

/* Where the line of a bytecode begins. */
struct jvm_line {
    uint16_t start, line;
};

/* A method, as its user tells it. */
struct jvm_method {
    const void *id;          /* that the JVM gives it, and no other */
    const char *class;       /* a signature: Lcom/example/Main; */
    const char *name, *file; /* method and source file; NULL: unknown */
    struct jvm_line *lines;  /* NULL: there are none; copied */
    size_t n_lines;
};

/* A method that is known. */
typedef struct jvm_known jvm_known;

/* NULL: it was not told yet. */
const jvm_known *jvm_names_method(const void *id);

/* Tells it; another thread may be faster. NULL: there is no memory. */
const jvm_known *jvm_names_tell(const struct jvm_method *method);

/* The slot of a place in a method; 0: it is of the machinery that Java's own stack traces leave
 * out. `at` is the index of the bytecode, negative in native methods. */
uintptr_t jvm_names_frame(const jvm_known *method, int64_t at);

/* The slot of all frames that there was no room for, and of allocations without Java frames. */
uintptr_t jvm_names_full(void);
uintptr_t jvm_names_nowhere(void);

/* The number of a type by its signature, from 1 on. 0: there is no room. */
uint32_t jvm_names_type(const char *signature);

/* The slot of a frame that allocates a type; that of the frame if there is no room. */
uintptr_t jvm_names_pair(uintptr_t frame, uint32_t type);

/* runtime.locate; the first location is the type, if there is one. */
size_t jvm_names_locate(uintptr_t slot, memtrace_location *locations, size_t max);

#endif
