/* protobuf.c: numbers are varints, and bytes follow their length. Fields with value 0 are omitted,
 * as in proto3. */
#include "export/protobuf.h"

enum { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2 };

static size_t varint_size(uint64_t value) {
    size_t size = 1;
    for (; value >= 0x80; value >>= 7)
        size++;
    return size;
}

static void tag(output *o, unsigned field, unsigned wire) {
    output_varint(o, field << 3 | wire);
}

void protobuf_number(output *o, unsigned field, uint64_t value) {
    if (value == 0)
        return;
    tag(o, field, WIRE_VARINT);
    output_varint(o, value);
}

void protobuf_fixed64(output *o, unsigned field, uint64_t value) {
    tag(o, field, WIRE_FIXED64);
    for (unsigned i = 0; i < sizeof value; i++)
        output_char(o, (char)(value >> 8 * i));
}

void protobuf_bytes(output *o, unsigned field, const char *bytes, size_t size) {
    tag(o, field, WIRE_BYTES);
    output_varint(o, size);
    output_bytes(o, bytes, size);
}

void protobuf_numbers(output *o, unsigned field, const uint64_t *values, size_t n) {
    size_t size = 0;
    for (size_t i = 0; i < n; i++)
        size += varint_size(values[i]);
    if (n == 0)
        return;
    tag(o, field, WIRE_BYTES);
    output_varint(o, size);
    for (size_t i = 0; i < n; i++)
        output_varint(o, values[i]);
}

void protobuf_message(output *o, unsigned field, output *message) {
    protobuf_bytes(o, field, message->buffer, message->used);
    if (message->error && !o->error)
        o->error = message->error;
    message->used = 0;
}
