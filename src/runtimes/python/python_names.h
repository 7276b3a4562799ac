/* python_names.h: what a frame of Python is called: file, function and line. They are copied when
 * a frame is first met, since a code object may be freed, and another one take its address. */
#ifndef PYTHON_NAMES_H
#define PYTHON_NAMES_H

#include <stdatomic.h>

#include "runtimes/names.h"
#include "runtimes/python/python_layout.h"

/* A frame in the trace: an entry of the table of names, and a line; or, where the highest bit is
 * set, the number of a pair: a frame that allocates, of Python or not, and the object's type. */
enum { PYTHON_LINE_BITS = 22, PYTHON_PAIR_BITS = 18 };
_Static_assert(PYTHON_LINE_BITS + NAMES_BITS + 1 == RUNTIME_SPLICED_BITS, "all of a slot");

/* All that found no room have one entry, the first. */
enum { PYTHON_SLOT_FULL = 1 };

/* Where decoding the lines of a code object has got to. */
struct python_line_mark {
    uintptr_t code;
    uint32_t epoch;
    uint32_t at;  /* offset in the table of lines */
    int32_t unit; /* the instruction that the entry there begins with */
    int32_t line; /* before it */
};

/* The slot of an instruction of a code object that is alive; 0: it is nothing to be shown. */
uintptr_t python_names_slot(const python_runtime *r, struct python_line_mark *mark, uint32_t epoch,
                            uintptr_t code, uintptr_t instruction);

/* Counts how often a code object that somebody may remember has died. */
extern _Atomic uint32_t python_names_epoch __attribute__((visibility("hidden")));

/* Copies a str, as UTF-8, to where there is room for so many bytes, at least 6: as much as fits.
 * Its size with the NUL; 0: it is none that can be read. */
size_t python_names_text(const python_runtime *r, uintptr_t text, char *to, size_t room);

/* A code object dies. */
void python_names_code_dies(uintptr_t code);

/* The entry of a type's name; 0: there is no room. */
uint32_t python_names_type(const char *name);

/* The code of a frame, which is of no type, with the type of an entry; 0: there is no room. */
uint64_t python_names_pair(uint64_t code, uint32_t type);

/* See record/runtime.h. */
size_t python_names_locate(code_table *codes, uintptr_t slot, memtrace_location *locations,
                           size_t max);

#endif
