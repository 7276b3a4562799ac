/* protobuf.h: the few lines of protocol buffers' wire format that writing takes. Fields are
 * appended to an output; a message within a message is made in an output of its own (OUTPUT_MEMORY)
 * and then appended as bytes. */
#ifndef EXPORT_PROTOBUF_H
#define EXPORT_PROTOBUF_H

#include "render/output.h"

/* Nothing is written for 0, which readers take for absent fields. Negative numbers are to be cast.
 */
void protobuf_number(output *o, unsigned field, uint64_t value);

/* A number of eight bytes, which the field's type must say. */
void protobuf_fixed64(output *o, unsigned field, uint64_t value);

/* A string, bytes or a message. */
void protobuf_bytes(output *o, unsigned field, const char *bytes, size_t size);

/* A repeated field of numbers, packed. Nothing is written if there are none. */
void protobuf_numbers(output *o, unsigned field, const uint64_t *values, size_t n);

/* Appends a message and empties it for the next one. */
void protobuf_message(output *o, unsigned field, output *message);

#endif
