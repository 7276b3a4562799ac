/* format.h: the constants of the memtrace format, for all code that reads or writes it. FORMAT.md
 * explains the fields.
 *
 * A file is a sequence of packets without padding: a header, then events. All integers are
 * little-endian. The first packet holds one TRACE_INFO event and nothing else.
 *
 * This folder contains the format and everything that makes new traces from existing ones. It has
 * three parts, which share only this header and bytes.h:
 *
 *     writing    writer.c describes it: one stream per thread; the streams share only a sink. The
 *                writer runs inside other people's programs and allocates only through its caller.
 *     reading    reader.h: one loop from bytes (input.h) to events. It detects, counts and steps
 *                over all damage.
 *     rewriting  rewrite.h: makes a trace from traces. merge.h, excerpt.h, anonymise.h, relabel.h,
 *                cutter.h and join.h build on it or do similar work, each for one purpose.
 *
 * Why this format: the OCaml library writes it and the OCaml tools read it, so traces can be
 * exchanged in both directions. Data that it has no field for, such as where a recording ends or
 * what a block was before a cut, is stored as events or packets that other readers skip.
 *
 * Invariants: a reader trusts no length. The OCaml tools can read everything that is written. A
 * file consists of whole packets, whenever the writer stops. */
#ifndef TRACE_FORMAT_H
#define TRACE_FORMAT_H

#include <stdint.h>

#define FORMAT_MAGIC UINT32_C(0xC1FC1FC1)

enum {
    FORMAT_MIN_VERSION = 1,
    FORMAT_MAX_VERSION = 3,
    FORMAT_MAX_PACKET = 32768,         /* bytes, header included */
    FORMAT_MAX_PACKET_TIME = 30000000, /* us between a packet's first event and its last */
    FORMAT_ID_CHUNK = 10000,           /* ids that a domain takes at once in version 3 */
};

/* The process id of packets that hold nothing and only reserve room for names added later. */
#define FORMAT_PID_NONE UINT64_C(0)

/* Offsets of the fields of a packet header. */
enum {
    FORMAT_AT_MAGIC = 0,      /* u32 */
    FORMAT_AT_SIZE = 4,       /* u32, in bits, header included */
    FORMAT_AT_TIME_BEGIN = 8, /* u64, us since the Unix epoch */
    FORMAT_AT_TIME_END = 16,  /* u64, us since the Unix epoch */
    FORMAT_AT_FLUSH = 24,     /* u32, 0 */
    FORMAT_AT_VERSION = 28,   /* u16 */
    FORMAT_AT_PID = 30,       /* u64 */
    /* u16, only in version 3; shifts all later fields by 2 */
    FORMAT_AT_DOMAIN = 38,
    FORMAT_HEADER_FRONT = 38, /* size of all fields before the domain */
};

/* The rest of the header: offsets relative to format_header_back(version). */
enum {
    FORMAT_BACK_VERIFY_BUCKET = 0,     /* u16, or FORMAT_VERIFY_NOTHING */
    FORMAT_BACK_VERIFY_PREDICTION = 2, /* u16 */
    FORMAT_BACK_VERIFY_CODE = 4,       /* u64 */
    FORMAT_BACK_ID_BEGIN = 12,         /* u64 */
    FORMAT_BACK_ID_END = 20,           /* u64, one past the packet's last id */
    FORMAT_HEADER_BACK = 28,           /* size of this part */
};

static inline unsigned format_header_back(unsigned version) {
    return version >= 3 ? FORMAT_AT_DOMAIN + 2 : FORMAT_HEADER_FRONT;
}

static inline unsigned format_header_size(unsigned version) {
    return format_header_back(version) + FORMAT_HEADER_BACK;
}

/* An event header is a u32: the event's code and the low bits of its time. */
enum {
    FORMAT_TIME_BITS = 25,
    FORMAT_EVENT_HEADER = 4, /* bytes */

    FORMAT_TRACE_INFO = 0,
    FORMAT_LOCATION = 1,
    FORMAT_ALLOC = 2,
    FORMAT_PROMOTE = 3,
    FORMAT_COLLECT = 4,
    FORMAT_SHORT_ALLOC = 100,    /* + length: an allocation in the minor heap with one sample */
    FORMAT_SHORT_ALLOC_MAX = 16, /* words */
};

/* Sizes in bytes of the longest header (that of version 3), and of that header plus one event
 * header. No version 3 packet with events is smaller than FORMAT_LEAST_PACKET. */
enum {
    FORMAT_EMPTY_PACKET = FORMAT_HEADER_FRONT + 2 + FORMAT_HEADER_BACK,
    FORMAT_LEAST_PACKET = FORMAT_EMPTY_PACKET + FORMAT_EVENT_HEADER,
};

/* A vint is one byte that is the value itself, or one of these bytes followed by the value. */
enum {
    FORMAT_VINT_MAX_BYTE = 252,
    FORMAT_VINT_16 = 253, /* u16 */
    FORMAT_VINT_32 = 254, /* i32 */
    FORMAT_VINT_64 = 255, /* i64 */
    FORMAT_VINT_MAX_SIZE = 9,
};

/* A location is a 48-bit word of these fields, lowest bits first, followed by the new names. */
enum {
    FORMAT_LOCATION_SIZE = 6,
    FORMAT_LINE_BITS = 20,
    FORMAT_START_CHAR_BITS = 8,
    FORMAT_END_CHAR_BITS = 10,
    FORMAT_NAME_BITS = 5, /* width of the file name's code, and of the definition name's */

    /* Entries of a move-to-front table; the code for a new name. */
    FORMAT_NAMES = 31,
};

/* The cache of backtrace codes. A codeword is a u16: the tag in the low bits, the bucket above. */
enum {
    FORMAT_BUCKETS = 16384,
    FORMAT_CODEWORD_SIZE = 2,
    FORMAT_TAG_BITS = 2,
    FORMAT_TAG_HIT = 0,   /* emits the bucket's code */
    FORMAT_TAG_HIT_1 = 1, /* emits the bucket's code and that of its prediction */
    FORMAT_TAG_HIT_N = 2, /* like HIT_1, but follows as many predictions as the next u8 says */
    FORMAT_TAG_MISS = 3,  /* a u64 code follows */
    FORMAT_MAX_RUN = 255, /* the most predictions that one codeword can follow */
    FORMAT_VERIFY_NOTHING = 0xFFFF,
    FORMAT_VERIFY_FIRST = 4242, /* the first bucket that a writer lets readers verify */
    FORMAT_VERIFY_STEP = 5413,  /* the step to the next bucket to verify, modulo FORMAT_BUCKETS */
};

#endif
