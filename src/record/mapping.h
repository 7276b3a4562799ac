/* mapping.h: records memory that a program maps itself. A call affects a range of addresses, which
 * may cover parts of several mappings; this module converts such calls into births and deaths of
 * blocks.
 * A mapping is a block. When a part of it is unmapped, the block dies, and each remaining part
 * becomes a new block, born in the call that unmapped the part. realloc is recorded in the same
 * way. The key of a mapping among all blocks is an address within it that no allocator returns. */
#ifndef RECORD_MAPPING_H
#define RECORD_MAPPING_H

#include "platform/unwind_trail.h"
#include "record/recorder.h"
#include "record/regions.h"

/* Returns the session that records mappings, to be left with mapping_leave. Returns NULL if there
 * is none, or in a signal handler that interrupted a thread while it recorded mappings. */
struct session *mapping_enter(void);
void mapping_leave(void);

/* The mappings that a call is about to unmap, until it is known whether the call succeeded. */
enum { MAPPING_AT_ONCE = 8 };
typedef struct mapping_outs {
    unsigned n;
    uintptr_t start, end;
    struct mapping_out {
        region whole;
        uint64_t taken; /* result of native_take */
    } items[MAPPING_AT_ONCE];
} mapping_outs;

/* mapping_take_out must be called BEFORE the call, because other threads may get the addresses at
 * once. mapping_settle must be called after it; `done` says whether the call succeeded. */
void mapping_take_out(struct session *s, uintptr_t start, uintptr_t end, mapping_outs *outs);
void mapping_settle(struct session *s, mapping_outs *outs, bool done,
                    const struct unwind_site *site);

/* Records that a range was mapped, AFTER the call. Earlier mappings in that range must have been
 * unmapped unseen, and end. */
void mapping_add(struct session *s, region r, const struct unwind_site *site);

/* Records that the reserved parts of a range can be used from now on. */
void mapping_unreserve(struct session *s, uintptr_t start, uintptr_t end,
                       const struct unwind_site *site);

#endif
