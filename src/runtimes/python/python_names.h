/* python_names.h: the file, function name and line of a Python frame. They are copied when a frame
 * is first met, since a code object may be freed, and another one take its address. */
#ifndef PYTHON_NAMES_H
#define PYTHON_NAMES_H

#include <stdatomic.h>

#include "runtimes/names.h"
#include "runtimes/python/python_layout.h"

/* A frame's slot in the trace: an entry of the table of names, and a line. With the highest bit
 * set, it is the number of a pair: a frame that allocates, of Python or native, and the object's
 * type. */
enum { PYTHON_LINE_BITS = 22, PYTHON_PAIR_BITS = 18 };
_Static_assert(PYTHON_LINE_BITS + NAMES_BITS + 1 == RUNTIME_SPLICED_BITS, "all of a slot");

/* The slot of all frames for which the table had no room. */
enum { PYTHON_SLOT_FULL = 1 };

/* The position that decoding a code object's line table has reached. */
struct python_line_mark {
    uintptr_t code;
    uint32_t epoch;
    uint32_t at;  /* offset in the line table, bytes */
    int32_t unit; /* first instruction of the entry at that offset */
    int32_t line; /* line before that entry */
};

/* Returns the slot of an instruction in a code object that is alive; 0: it is not shown. */
uintptr_t python_names_slot(const python_runtime *r, struct python_line_mark *mark, uint32_t epoch,
                            uintptr_t code, uintptr_t instruction);

/* Counts deaths of code objects that somebody may have cached. */
extern _Atomic uint32_t python_names_epoch __attribute__((visibility("hidden")));

/* Copies as much of a str as fits into `room` bytes, at least 6, as UTF-8. Returns the size with
 * the NUL; 0: it is not a readable str. */
size_t python_names_text(const python_runtime *r, uintptr_t text, char *to, size_t room);

/* Must be called when a code object dies. */
void python_names_code_dies(uintptr_t code);

/* Returns the entry of a type's name; 0: there is no room. */
uint32_t python_names_type(const char *name);

/* Returns the code of a frame together with a type's entry; 0: there is no room. `code` must have
 * no type. */
uint64_t python_names_pair(uint64_t code, uint32_t type);

/* `locate` of record/runtime.h. */
size_t python_names_locate(code_table *codes, uintptr_t slot, memtrace_location *locations,
                           size_t max);

#endif
