/* span_library.h: a record as tracing libraries publish it, and a library that does. */
#ifndef SPAN_LIBRARY_H
#define SPAN_LIBRARY_H

#include <stdint.h>

struct span_record {
    uint8_t trace[16], span[8];
    uint8_t valid, flags;
    uint16_t size;
};

void span_publish(struct span_record *record);

#endif
