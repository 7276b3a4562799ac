/* arrays.h: growable arrays, and indexing other than that of an existing cell. */
#ifndef LOX_ARRAYS_H
#define LOX_ARRAYS_H

#include "vm.h"

enum { ARRAY_MAX = 1 << 28 }; /* cells */

/* Arguments are registers, since each function may move objects. Returns false after a run-time
 * error, which was reported. */
bool array_new(lox_vm *vm, value *to, uint32_t capacity, bool hands);
bool array_append(lox_vm *vm, value *holder, value *v);
bool array_get_slow(lox_vm *vm, value *to, value from, value index);
bool array_set_slow(lox_vm *vm, value *holder, value index, value *v);

#endif
