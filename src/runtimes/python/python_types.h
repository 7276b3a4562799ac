/* python_types.h: the type of a block that may be a Python object. */
#ifndef PYTHON_TYPES_H
#define PYTHON_TYPES_H

#include "runtimes/python/python_layout.h"

/* A domain's cache; valid when zeroed. */
typedef struct python_types python_types;
size_t python_types_size(void);

/* Clears the words of a new block that could look like an object from the block's earlier use.
 * Nobody has written to the block yet. */
void python_types_clear_type_words(void *block, size_t bytes);

/* `name_object` of record/runtime.h. No other thread may use objects meanwhile. */
bool python_types_name(python_types *t, const python_runtime *r, uint64_t *code,
                       const struct runtime_object *object);

/* Must be called when a type dies. */
void python_types_type_dies(uintptr_t type);

#endif
