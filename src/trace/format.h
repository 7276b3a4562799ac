/* format.h: the constants of the memtrace format, for all that read or write it. What the fields
 * mean is told in FORMAT.md.
 *
 * A file is a sequence of packets without padding: a header, then events. All integers are
 * little-endian. The first packet holds one TRACE_INFO event and nothing else.
 *
 * This folder is the format, and all that makes a trace of traces. Three parts, which share nothing
 * but this header and bytes.h:
 *
 *     writing    writer.c describes it: streams, one a thread, that meet only in a sink. It runs
 *                inside of other people's programs and allocates only through its caller.
 *     reading    reader.h: one loop from bytes (input.h) to events, with all damage met, counted
 *                and stepped over.
 *     rewriting  rewrite.h: a trace from traces. merge.h, excerpt.h, anonymise.h, relabel.h,
 *                cutter.h and join.h are its users or kin, each for one purpose.
 *
 * Why this format: the OCaml library writes it, and its tools read it, so that traces go both ways.
 * What it has no field for, such as where a recording ends or what a block had been before a cut,
 * stands in it as events or packets that other readers pass over.
 *
 * What must hold. A reader trusts no length. Whatever is written, the OCaml tools read. A file
 * consists of whole packets, whenever its writing ends. */
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

/* The process of packets that hold nothing: they are kept for names to come. */
#define FORMAT_NOBODY UINT64_C(0)

/* Where the fields of a packet header stand. */
enum {
    FORMAT_AT_MAGIC = 0,      /* u32 */
    FORMAT_AT_SIZE = 4,       /* u32, in bits, header included */
    FORMAT_AT_TIME_BEGIN = 8, /* u64, us since the Unix epoch, as is the next */
    FORMAT_AT_TIME_END = 16,  /* u64 */
    FORMAT_AT_FLUSH = 24,     /* u32, 0 */
    FORMAT_AT_VERSION = 28,   /* u16 */
    FORMAT_AT_PID = 30,       /* u64 */
    FORMAT_AT_DOMAIN = 38,    /* u16, only in version 3: there the rest stands 2 bytes later */
    FORMAT_HEADER_FRONT = 38, /* size of all that before the domain */
};

/* The rest of the header, relative to its beginning, format_header_back(version). */
enum {
    FORMAT_BACK_VERIFY_BUCKET = 0,     /* u16, or FORMAT_VERIFY_NOTHING */
    FORMAT_BACK_VERIFY_PREDICTION = 2, /* u16 */
    FORMAT_BACK_VERIFY_CODE = 4,       /* u64 */
    FORMAT_BACK_ID_BEGIN = 12,         /* u64 */
    FORMAT_BACK_ID_END = 20,           /* u64, one past the packet's last */
    FORMAT_HEADER_BACK = 28,           /* size */
};

static inline unsigned format_header_back(unsigned version) {
    return version >= 3 ? FORMAT_AT_DOMAIN + 2 : FORMAT_HEADER_FRONT;
}

static inline unsigned format_header_size(unsigned version) {
    return format_header_back(version) + FORMAT_HEADER_BACK;
}

/* The header of an event is a u32: its code and the low bits of its time. */
enum {
    FORMAT_TIME_BITS = 25,
    FORMAT_EVENT_HEADER = 4, /* bytes */

    FORMAT_TRACE_INFO = 0,
    FORMAT_LOCATION = 1,
    FORMAT_ALLOC = 2,
    FORMAT_PROMOTE = 3,
    FORMAT_COLLECT = 4,
    FORMAT_SHORT_ALLOC = 100,    /* + length: one sample, minor heap */
    FORMAT_SHORT_ALLOC_MAX = 16, /* words */
};

/* Bytes: the longest header, which is that of version 3; the same with the header of an event: no
 * packet of that version is smaller, unless it has no events. */
enum {
    FORMAT_EMPTY_PACKET = FORMAT_HEADER_FRONT + 2 + FORMAT_HEADER_BACK,
    FORMAT_LEAST_PACKET = FORMAT_EMPTY_PACKET + FORMAT_EVENT_HEADER,
};

/* A vint is a byte that is the value itself, or one of these followed by it. */
enum {
    FORMAT_VINT_MAX_BYTE = 252,
    FORMAT_VINT_16 = 253, /* u16 */
    FORMAT_VINT_32 = 254, /* i32 */
    FORMAT_VINT_64 = 255, /* i64 */
    FORMAT_VINT_MAX_SIZE = 9,
};

/* A location is a 48-bit word of these fields, from the lowest bit up, and then the new names. */
enum {
    FORMAT_LOCATION_SIZE = 6,
    FORMAT_LINE_BITS = 20,
    FORMAT_START_CHAR_BITS = 8,
    FORMAT_END_CHAR_BITS = 10,
    FORMAT_NAME_BITS = 5, /* of the file name's code, then of the definition name's */

    FORMAT_NAMES = 31, /* entries of a move-to-front table; as a code: a new name follows */
};

/* The cache of backtrace codes. A codeword is a u16: tag in the low bits, bucket above. */
enum {
    FORMAT_BUCKETS = 16384,
    FORMAT_CODEWORD_SIZE = 2,
    FORMAT_TAG_BITS = 2,
    FORMAT_TAG_HIT = 0,   /* the bucket's code */
    FORMAT_TAG_HIT_1 = 1, /* and that of its prediction */
    FORMAT_TAG_HIT_N = 2, /* and those of as many predictions as the following u8 says */
    FORMAT_TAG_MISS = 3,  /* a u64 code follows */
    FORMAT_MAX_RUN = 255, /* predictions that one codeword can follow */
    FORMAT_VERIFY_NOTHING = 0xFFFF,
    FORMAT_VERIFY_FIRST = 4242, /* the first bucket that a writer lets readers verify */
    FORMAT_VERIFY_STEP = 5413,  /* and how far the next is, modulo FORMAT_BUCKETS */
};

#endif
