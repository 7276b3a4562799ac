/* object.h: the objects of the heap, and functions on them that do not touch the heap.
 *
 * Each object starts with a header word:
 *
 *     63            32 31    24 23   16 15     8 7      0
 *     |   payload     | unused | unused | flags |  type |
 *
 * payload: words after the header, at least 1, to have room for a forwarding address. */
#ifndef LOX_OBJECT_H
#define LOX_OBJECT_H

#include <stddef.h>

#include "table.h"
#include "value.h"

/* X(constant, name in reports) */
#define OBJECT_TYPES(X)                                                                            \
    X(FREE, "free") /* not an object: a free cell of the major heap */                             \
    X(STRING, "LoxString")                                                                         \
    X(ARRAY, "LoxArray")                                                                           \
    X(STORAGE, "LoxArrayStorage") /* elements of an array that grew, or undeclared fields */       \
    X(INSTANCE, "LoxObject")                                                                       \
    X(FUNCTION, "LoxFunction")                                                                     \
    X(CLOSURE, "LoxClosure")                                                                       \
    X(CLASS, "LoxClass")                                                                           \
    X(BOUND, "LoxBoundMethod")                                                                     \
    X(CELL, "LoxUpvalue")                                                                          \
    X(NATIVE, "LoxNative")

typedef enum object_type {
#define OBJECT_ENUM(id, name) OBJECT_##id,
    OBJECT_TYPES(OBJECT_ENUM)
#undef OBJECT_ENUM
        N_OBJECT_TYPES
} object_type;

enum object_flag {
    OBJECT_MARKED = 1 << 8,    /* black or grey in a collection; otherwise white */
    OBJECT_FORWARDED = 1 << 9, /* moved by the current collection; see promote in collect.c */
    OBJECT_INTERNED = 1 << 10, /* a string that is in the table of interned strings */
    OBJECT_HANDS = 1 << 11,    /* an array that is printed with hands instead of brackets */
    OBJECT_LARGE = 1 << 12,    /* has a block of its own */
};

struct object {
    uint64_t header;
};

static inline object_type object_type_of(const object *o) {
    return (object_type)(o->header & 0xff);
}
static inline size_t object_payload(const object *o) {
    return o->header >> 32;
} /* words */

typedef struct string {
    object head;
    uint32_t length; /* bytes */
    uint32_t hash;   /* 0 if not computed; always set in interned strings */
    char text[];     /* NUL-terminated */
} string;

typedef struct storage {
    object head;
    value slots[];
} storage;

/* `cells` points to `own` until the array outgrows it, and then into a storage. Cells from `length`
 * on hold VALUE_UNDEFINED, and so do those below it that were never written. */
typedef struct array {
    object head;
    uint32_t length, capacity;
    value *cells;
    value own[];
} array;

struct function; /* code.h */
struct lox_vm;

typedef struct function_object {
    object head;
    struct function *function;
} function_object;

typedef struct cell {
    object head;
    value value;
} cell;

typedef struct closure {
    object head;
    struct function *function;
    cell *cells[]; /* captured variables, function->n_captures of them */
} closure;

/* Classes and their methods are allocated in the major heap, so they never move, on which inline
 * caches rely. Methods and superclass are complete before anything can call a method. */
typedef struct class {
    object head;
    string *name;
    closure *init;    /* NULL: none */
    table methods;    /* name → closure, inherited ones included */
    table fields;     /* name → slot number; only grows */
    uint32_t n_slots; /* in place in each instance; further slots are in `extra` */
} class;

typedef struct instance {
    object head;
    class *class;
    storage *extra; /* slots from class->n_slots on; NULL: none */
    value slots[];
} instance;

typedef struct bound_method {
    object head;
    value receiver;
    closure *method;
} bound_method;

/* Sets its result in args[-1], or reports a run-time error and returns NATIVE_FAILED. */
typedef enum native_result { NATIVE_DONE, NATIVE_FAILED, NATIVE_ENTER } native_result;
typedef native_result native_call(struct lox_vm *vm, value *args, int n_args);

typedef struct native {
    object head;
    native_call *call;
    int64_t arity; /* negative: any */
    const char *name;
} native;

#define WORDS_OF(type)      (sizeof(type) / sizeof(value) - 1) /* payload without flexible part */
#define STRING_WORDS(bytes) (WORDS_OF(string) + (bytes) / sizeof(value) + 1)

static inline bool value_is(value v, object_type type) {
    return value_is_object(v) && object_type_of(value_object(v)) == type;
}

#define AS(type, v) ((type *)value_object(v))

#endif
