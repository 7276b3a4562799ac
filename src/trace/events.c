/* events.c: computes the length of an event from its kind and its counts. Codewords are skipped,
 * not decoded, so no state is needed. */
#include "trace/events.h"

#include <stddef.h>

#include "trace/backtrace.h"
#include "trace/bytes.h"

static const uint8_t *alloc_skip(const uint8_t *p, const uint8_t *end, unsigned kind) {
    uint64_t unused;
    uint32_t n;
    if (kind == FORMAT_ALLOC) {
        p = bytes_vint(bytes_vint(p, &unused), &unused) + 1;
        p = bytes_vint(p, &unused);
        n = bytes_u16(p);
        p += 2;
    } else {
        p = bytes_vint(p, &unused);
        n = *p++;
    }
    return backtrace_skip(p, end, n);
}

const uint8_t *event_skip(const uint8_t *p, const uint8_t *end, unsigned *n_locations) {
    uint64_t unused;
    *n_locations = 0;
    if (end - p < FORMAT_EVENT_HEADER)
        return NULL;
    unsigned kind = bytes_u32(p) >> FORMAT_TIME_BITS;
    p += FORMAT_EVENT_HEADER;
    if (kind == FORMAT_LOCATION) {
        *n_locations = p[8];
        p += 9;
    } else if (kind == FORMAT_PROMOTE || kind == FORMAT_COLLECT) {
        p = bytes_vint(p, &unused);
    } else if (kind == FORMAT_ALLOC ||
               (kind > FORMAT_SHORT_ALLOC && kind <= FORMAT_SHORT_ALLOC + FORMAT_SHORT_ALLOC_MAX)) {
        return alloc_skip(p, end, kind);
    } else {
        return NULL;
    }
    return p <= end ? p : NULL;
}
