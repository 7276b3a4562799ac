/* thrift.h: what writing takes of Thrift's compact protocol, in which Parquet's headers and footers
 * are. A struct knows the number of its last field, from which the next one's is counted. */
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

/* Ends with thrift_end. */
typedef struct thrift {
    output *o;
    unsigned last; /* field */
} thrift;

static inline thrift thrift_struct(output *o) {
    return (thrift){.o = o};
}

/* Fields in ascending order of their numbers. */
void thrift_bool(thrift *t, unsigned field, bool value);
void thrift_i32(thrift *t, unsigned field, int64_t value);
void thrift_i64(thrift *t, unsigned field, int64_t value);
void thrift_binary(thrift *t, unsigned field, const void *bytes, size_t size);
void thrift_text(thrift *t, unsigned field, const char *text);

/* A field that is a struct; it ends with thrift_end, and then `t` goes on. */
thrift thrift_inner(thrift *t, unsigned field);
void thrift_end(thrift *t);

/* A field without content of its own, as unions of names have them. */
void thrift_empty(thrift *t, unsigned field);

/* A field that is a list, of which the `n` items follow: structs, or these. */
void thrift_list(thrift *t, unsigned field, thrift_type of, size_t n);
void thrift_item_i32(thrift *t, int64_t value);
void thrift_item_text(thrift *t, const char *text);

/* Also for others who write numbers so: seven bits a byte; and small ones of either sign. */
void thrift_zigzag(output *o, int64_t value);

#endif
