/* mapping.c: implements mapping.h. The lock of the regions is never held while an event is
 * written. */
#include "record/mapping.h"

#include <stdatomic.h>

#include "record/native.h"

/* Offset of a mapping's key from its start. Blocks of allocators start at multiples of 16, so no
 * block has this address. */
#define KEY 8

static void *key_of(const region *r) {
    return (void *)(r->start + KEY);
}

static void report_born(const region *r, const struct unwind_site *site) {
    if (!r->reserved)
        native_born(key_of(r), r->end - r->start, r->type, site);
}

struct session *mapping_enter(void) {
    struct session *s = recorder_enter();
    if (!s || !s->maps || self.paused)
        return NULL;
    if (self.mapping || self.sampler.busy) { /* the interrupted code may hold our lock */
        atomic_fetch_add_explicit(&s->lost_busy, 1, memory_order_relaxed);
        return NULL;
    }
    self.mapping = true;
    atomic_signal_fence(memory_order_seq_cst);
    return s;
}

void mapping_leave(void) {
    atomic_signal_fence(memory_order_seq_cst);
    self.mapping = false;
}

/* ---- the table --------------------------------------------------------------------------- */

static void add_locked(struct session *s, region r) {
    if (r.start < r.end && !regions_add(&s->regions, r))
        atomic_fetch_add_explicit(&s->lost_id, 1, memory_order_relaxed);
}

/* Return the parts of `whole` outside of a range. */
static region before_range(region whole, uintptr_t start) {
    whole.end = whole.end < start ? whole.end : start;
    return whole;
}

static region after_range(region whole, uintptr_t end) {
    whole.start = whole.start > end ? whole.start : end;
    return whole;
}

/* Finds the first region that overlaps the range and removes the overlap from the table. The rest
 * of the region stays. Sets *whole to the original region. */
static bool cut_first(struct session *s, uintptr_t start, uintptr_t end, region *whole) {
    lock_acquire(&s->regions_lock);
    bool found = regions_find(&s->regions, start, end, whole);
    if (found) {
        regions_remove(&s->regions, whole->start);
        add_locked(s, before_range(*whole, start));
        add_locked(s, after_range(*whole, end));
    }
    lock_release(&s->regions_lock);
    return found;
}

static void put_back(struct session *s, region whole, uintptr_t start, uintptr_t end) {
    region before = before_range(whole, start), after = after_range(whole, end), known;
    lock_acquire(&s->regions_lock);
    if (before.start < before.end && regions_find(&s->regions, before.start, before.end, &known))
        regions_remove(&s->regions, known.start);
    if (after.start < after.end && regions_find(&s->regions, after.start, after.end, &known))
        regions_remove(&s->regions, known.start);
    add_locked(s, whole);
    lock_release(&s->regions_lock);
}

/* ---- effects of calls -------------------------------------------------------------------- */

static void settle_one(struct session *s, mapping_outs *outs, struct mapping_out *out, bool done,
                       const struct unwind_site *site) {
    if (out->taken)
        native_settle(key_of(&out->whole), out->taken, done);
    if (!done) {
        put_back(s, out->whole, outs->start, outs->end);
        return;
    }
    region before = before_range(out->whole, outs->start);
    region after = after_range(out->whole, outs->end);
    if (before.start < before.end)
        report_born(&before, site);
    if (after.start < after.end)
        report_born(&after, site);
}

void mapping_settle(struct session *s, mapping_outs *outs, bool done,
                    const struct unwind_site *site) {
    for (unsigned i = 0; i < outs->n; i++)
        settle_one(s, outs, &outs->items[i], done, site);
    outs->n = 0;
}

/* If there are more regions than fit, the earlier ones are settled as unmapped: a call that unmaps
 * so much does not fail. */
void mapping_take_out(struct session *s, uintptr_t start, uintptr_t end, mapping_outs *outs) {
    region whole;
    *outs = (mapping_outs){.start = start, .end = end};
    while (cut_first(s, start, end, &whole)) {
        if (outs->n == MAPPING_AT_ONCE) {
            struct unwind_site site;
            unwind_site_here(&site);
            mapping_settle(s, outs, true, &site);
        }
        struct mapping_out *out = &outs->items[outs->n++];
        out->whole = whole;
        out->taken = whole.reserved ? 0 : native_take(key_of(&whole));
    }
}

void mapping_add(struct session *s, region r, const struct unwind_site *site) {
    mapping_outs stale;
    mapping_take_out(s, r.start, r.end, &stale);
    mapping_settle(s, &stale, true, site);
    lock_acquire(&s->regions_lock);
    add_locked(s, r);
    lock_release(&s->regions_lock);
    report_born(&r, site);
}

void mapping_unreserve(struct session *s, uintptr_t start, uintptr_t end,
                       const struct unwind_site *site) {
    region found;
    while (start < end) {
        lock_acquire(&s->regions_lock);
        bool known = regions_find(&s->regions, start, end, &found);
        if (known && found.reserved) {
            region usable = after_range(before_range(found, end), start);
            usable.reserved = false;
            regions_remove(&s->regions, found.start);
            add_locked(s, before_range(found, start));
            add_locked(s, after_range(found, end));
            add_locked(s, usable);
            lock_release(&s->regions_lock);
            report_born(&usable, site);
        } else {
            lock_release(&s->regions_lock);
        }
        if (!known)
            return;
        start = found.end;
    }
}
