/* thrift.c: uses short forms where possible: the header of a field is one byte if its number is at
 * most 15 above the last one, and so is that of a list with at most 14 items. */
#include "export/thrift.h"

#include <string.h>

enum { SHORT_FIELD = 15, SHORT_LIST = 15 };

void thrift_zigzag(output *o, int64_t value) {
    output_varint(o, (uint64_t)value << 1 ^ (uint64_t)(value >> 63));
}

static void begin_field(thrift *t, unsigned field, thrift_type type) {
    const unsigned step = field - t->last;
    if (step <= SHORT_FIELD) {
        output_char(t->o, (char)(step << 4 | type));
    } else {
        output_char(t->o, (char)type);
        thrift_zigzag(t->o, field);
    }
    t->last = field;
}

void thrift_bool(thrift *t, unsigned field, bool value) {
    begin_field(t, field, value ? THRIFT_TRUE : THRIFT_FALSE);
}

void thrift_i32(thrift *t, unsigned field, int64_t value) {
    begin_field(t, field, THRIFT_I32);
    thrift_zigzag(t->o, value);
}

void thrift_i64(thrift *t, unsigned field, int64_t value) {
    begin_field(t, field, THRIFT_I64);
    thrift_zigzag(t->o, value);
}

void thrift_binary(thrift *t, unsigned field, const void *bytes, size_t size) {
    begin_field(t, field, THRIFT_BINARY);
    output_varint(t->o, size);
    output_bytes(t->o, bytes, size);
}

void thrift_text(thrift *t, unsigned field, const char *text) {
    thrift_binary(t, field, text, strlen(text));
}

thrift thrift_inner(thrift *t, unsigned field) {
    begin_field(t, field, THRIFT_STRUCT);
    return thrift_struct(t->o);
}

void thrift_end(thrift *t) {
    output_char(t->o, 0);
}

void thrift_empty(thrift *t, unsigned field) {
    thrift inner = thrift_inner(t, field);
    thrift_end(&inner);
}

void thrift_list(thrift *t, unsigned field, thrift_type of, size_t n) {
    begin_field(t, field, THRIFT_LIST);
    output_char(t->o, (char)((n < SHORT_LIST ? n : SHORT_LIST) << 4 | of));
    if (n >= SHORT_LIST)
        output_varint(t->o, n);
}

void thrift_item_i32(thrift *t, int64_t value) {
    thrift_zigzag(t->o, value);
}

void thrift_item_text(thrift *t, const char *text) {
    output_varint(t->o, strlen(text));
    output_text(t->o, text);
}
