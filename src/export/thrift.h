/* thrift.h: the part of Thrift's compact protocol that writing Parquet's headers and footers needs.
 * A struct stores the number of its last field, because the next number is written relative to
 * it. */
#ifndef EXPORT_THRIFT_H
#define EXPORT_THRIFT_H

#include "render/output.h"

typedef enum thrift_type {
    THRIFT_TRUE = 1,
    THRIFT_FALSE = 2,
    THRIFT_I32 = 5,
    THRIFT_I64 = 6,
    THRIFT_BINARY = 8,
    THRIFT_LIST = 9,
    THRIFT_STRUCT = 12
} thrift_type;

/* A struct being written; must be ended with thrift_end. */
typedef struct thrift {
    output *o;
    unsigned last; /* number of the last field */
} thrift;

static inline thrift thrift_struct(output *o) {
    return (thrift){.o = o};
}

/* Write a field. Fields must be in ascending order of their numbers. */
void thrift_bool(thrift *t, unsigned field, bool value);
void thrift_i32(thrift *t, unsigned field, int64_t value);
void thrift_i64(thrift *t, unsigned field, int64_t value);
void thrift_binary(thrift *t, unsigned field, const void *bytes, size_t size);
void thrift_text(thrift *t, unsigned field, const char *text);

/* Begins a field that is a struct. After it was ended with thrift_end, `t` can be continued. */
thrift thrift_inner(thrift *t, unsigned field);
void thrift_end(thrift *t);

/* Writes a struct field without content, as used in unions of names. */
void thrift_empty(thrift *t, unsigned field);

/* Begins a list of `n` items, which must follow: structs, or the items below. */
void thrift_list(thrift *t, unsigned field, thrift_type of, size_t n);
void thrift_item_i32(thrift *t, int64_t value);
void thrift_item_text(thrift *t, const char *text);

/* Writes a number in zigzag encoding, in which small numbers of either sign are short: seven bits
 * per byte. Also for other users of this encoding. */
void thrift_zigzag(output *o, int64_t value);

#endif
