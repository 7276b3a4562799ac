/* packet.h: decodes packet headers, and judges whether bytes are one.
 *
 * Has no state. Acting on a header is the reader's business. */
#ifndef TRACE_PACKET_H
#define TRACE_PACKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "allotrace/memtrace.h"
#include "trace/format.h"

typedef struct packet_header {
    memtrace_packet packet; /* the reader sets the offset */
    uint16_t version;
    unsigned header_size; /* bytes */
    uint16_t verify_bucket, verify_prediction;
    uint64_t verify_code;
} packet_header;

/* Whether bytes are a packet header, or how they differ from one. */
typedef enum packet_verdict {
    PACKET_GOOD,
    PACKET_SHORT, /* they may be the beginning of one */
    PACKET_BAD_MAGIC,
    PACKET_BAD_VERSION,
    PACKET_BAD_SIZE,
} packet_verdict;

/* Decodes a header from `available` bytes. `version` is that of the trace, or 0 to accept any. */
packet_verdict packet_parse(const uint8_t *bytes, size_t available, unsigned version,
                            packet_header *header);

/* Whether a good header, found where none was expected, makes sense as a whole. */
bool packet_plausible(const packet_header *header);

#endif
