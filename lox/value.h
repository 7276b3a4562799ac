/* value.h: a Lox value has 64 bits. It is a number or, encoded as a quiet NaN, nil, a boolean or
 * the address of an object (object.h). */
#ifndef LOX_VALUE_H
#define LOX_VALUE_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

typedef uint64_t value;
typedef struct object object;

/* A number is any bit pattern in which not all bits of VALUE_QUIET are set. The NaN that arithmetic
 * produces has only one of the two payload bits set, so a result of arithmetic on numbers is never
 * taken for a tag. */
#define VALUE_QUIET     UINT64_C(0x7ffc000000000000)
#define VALUE_OBJECT    UINT64_C(0xfffc000000000000)
#define VALUE_NIL       (VALUE_QUIET | 1)
#define VALUE_FALSE     (VALUE_QUIET | 2)
#define VALUE_TRUE      (VALUE_QUIET | 3)
#define VALUE_UNDEFINED (VALUE_QUIET | 4) /* a field, cell or global that was never written */

static inline bool value_is_number(value v) {
    return (v & VALUE_QUIET) != VALUE_QUIET;
}
static inline bool value_is_object(value v) {
    return v >= VALUE_OBJECT;
}

static inline double value_number(value v) {
    double d;
    memcpy(&d, &v, sizeof d);
    return d;
}

static inline value value_from_number(double d) {
    value v;
    memcpy(&v, &d, sizeof v);
    return v;
}

static inline value value_from_bool(bool b) {
    return b ? VALUE_TRUE : VALUE_FALSE;
}
static inline value value_from_object(const void *o) {
    return VALUE_OBJECT | (uintptr_t)o;
}
static inline object *value_object(value v) {
    return (object *)(uintptr_t)(v & ~VALUE_OBJECT);
}
static inline bool value_is_false(value v) {
    return v == VALUE_NIL || v == VALUE_FALSE;
}

#endif
