/* mapping.h: what a recording learns of the memory that a program maps itself: turns ranges of
 * addresses, which may cover parts of several mappings, into blocks that come to be and die.
 *
 * A mapping is a block. Where a part of it is unmapped, it dies, and what is left of it is a new
 * block that comes to be in the call which unmapped the part; so realloc is told, too. Its key
 * among all blocks is an address within it that no allocator gives out. */
#ifndef RECORD_MAPPING_H
#define RECORD_MAPPING_H

#include "platform/unwind_trail.h"
#include "record/recorder.h"
#include "record/regions.h"

/* The session that records mappings; NULL: none does, or a signal handler came upon a thread that
 * is at them. Then ends with mapping_leave. */
struct session *mapping_enter(void);
void mapping_leave(void);

/* What a call is about to unmap, until it is known whether it did. */
enum { MAPPING_AT_ONCE = 8 };
typedef struct mapping_outs {
    unsigned n;
    uintptr_t start, end;
    struct mapping_out {
        region whole;
        uint64_t taken; /* see native_take */
    } items[MAPPING_AT_ONCE];
} mapping_outs;

/* To be called BEFORE the call: other threads may be given the addresses at once. */
void mapping_take_out(struct session *s, uintptr_t start, uintptr_t end, mapping_outs *outs);
void mapping_settle(struct session *s, mapping_outs *outs, bool done,
                    const struct unwind_site *site);

/* A range has been mapped, AFTER the call. Whatever was known to be there has gone unseen. */
void mapping_add(struct session *s, region r, const struct unwind_site *site);

/* What is reserved in a range can be used from now on. */
void mapping_unreserve(struct session *s, uintptr_t start, uintptr_t end,
                       const struct unwind_site *site);

#endif
