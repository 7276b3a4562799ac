/* protobuf.h: the small part of the protocol buffers' wire format that writing needs. Fields are
 * appended to an output. A nested message is made in an output of its own (OUTPUT_MEMORY) and then
 * appended as bytes. */
#ifndef EXPORT_PROTOBUF_H
#define EXPORT_PROTOBUF_H

#include "render/output.h"

/* Writes nothing for 0, which readers assume for absent fields. Negative numbers must be cast. */
void protobuf_number(output *o, unsigned field, uint64_t value);

/* Writes a number of eight bytes, for fields of such a type. */
void protobuf_fixed64(output *o, unsigned field, uint64_t value);

/* Writes a string, bytes or a message. */
void protobuf_bytes(output *o, unsigned field, const char *bytes, size_t size);

/* Writes a packed repeated field of numbers. Writes nothing if there are none. */
void protobuf_numbers(output *o, unsigned field, const uint64_t *values, size_t n);

/* Appends a message, and empties it for the next one. */
void protobuf_message(output *o, unsigned field, output *message);

#endif
