/* import_memray.c: reads captures of memray, in versions 11 to 13 of its format, which memray 1.11
 * to 1.20 write. A capture has all allocations, or those live at the peak and at the end.
 *
 * With all allocations, allocations and frees become events in their order. Times advance with
 * memray's RSS samples, every 10 ms by default. Between these, a change of thread advances time by
 * a microsecond, because only times order events of different threads.
 *
 * An aggregated capture becomes events as well: blocks live at the peak are allocated, then those
 * not live at the end are freed, and the other blocks live at the end are allocated. So both
 * amounts are right, but no others are. */
#include <inttypes.h>
#include <string.h>

#include "base/varint.h"
#include "import/import_memray.h"

enum {
    OLDEST = 11, /* a byte per record with four bits of kind; frames have a line */
    CODES = 12,  /* frames refer to code objects, which have tables of lines */
    NEWEST = 13, /* search paths after the head */
    N_RECENT = 15,
    MOST_THREADS = 1000, /* threads with a domain of their own, since each domain costs a packet */
    MOST_RANGES = 1 << 18,
    MOST_BLOCKS = 1 << 26,
    MS = 1000,
    WORD = 8,
};

enum block_state { BLOCK_DEAD = UINT32_MAX - 1 };

/* What the number of an allocator says about its record. */
typedef enum call_kind { CALL_NONE, CALL_ALLOC, CALL_FREE, CALL_MAP, CALL_UNMAP } call_kind;

/* The kind of a record, in a numbering that does not depend on the version. */
typedef enum record_kind {
    RECORD_BAD,
    RECORD_END,
    RECORD_MEMORY,
    RECORD_NATIVE,
    RECORD_MAP,
    RECORD_IMAGE,
    RECORD_THREAD,
    RECORD_SWITCH,
    RECORD_CODE,
    RECORD_POP,
    RECORD_OBJECT,
    RECORD_PUSH,
    RECORD_CALL,
    RECORD_NATIVE_CALL, /* in version 11 */
    RECORD_SNAPSHOT,    /* this kind and those after it: in aggregated captures */
    RECORD_SUMS,
    RECORD_NODE,
    RECORD_FRAME,
    RECORD_SURVIVOR,
} record_kind;

typedef struct thread {
    uint32_t node;
    uint16_t domain;
    bool is_main;
} thread;

/* Mapped memory, sorted by address. */
typedef struct range {
    uint64_t start, end;
    uint32_t block;
} range;

typedef struct snapshot {
    uint64_t ms, rss, heap; /* since the epoch; bytes */
} snapshot;

/* In the layout of the file, including padding. */
typedef struct sums {
    uint64_t thread;
    uint32_t first; /* in the file: the allocator; later: the first block of the peak to be freed */
    uint32_t padding;
    uint64_t native, node, generation;
    uint64_t peak_blocks, end_blocks, peak_bytes, end_bytes;
} sums;

typedef struct memray {
    import *to;
    import_error *error;
    const uint8_t *start, *at, *end;
    const uint8_t *record; /* start of the current record */
    memray_stacks stacks;
    int32_t version;
    bool has_native, is_aggregated;
    bool is_cut; /* the bytes end within a record */
    uint64_t main_thread;
    uint64_t last_pointer, last_address, last_native, last_frame, last_line;
    uint64_t recent[N_RECENT];
    uint64_t now, last_time; /* µs: current time, and time of the last event */
    uint16_t last_domain;
    VEC(thread) threads;
    map64 thread_of, block_of; /* by address */
    size_t thread;             /* index of the current thread, if there are any */
    VEC(uint32_t) block_records;
    VEC(range) ranges;
    VEC(snapshot) snapshots;
    VEC(sums) sums;
    uint64_t n_blocks;    /* total of the sums */
    uint64_t last_parent; /* of a native frame, in aggregated captures */
    uint32_t gauge;       /* the place of the RSS gauge */
} memray;

static bool fail(memray *m, const char *reason) {
    return import_fail(m->error, (size_t)(m->record - m->start), "%s", reason);
}

/* ---- bytes: each returns false at the end ----------------------------------------------- */

static bool has(memray *m, uint64_t size) {
    const bool is_there = (uint64_t)(m->end - m->at) >= size;
    m->is_cut |= !is_there;
    return is_there;
}

static bool take(memray *m, void *to, size_t size) {
    if (!has(m, size))
        return false;
    memcpy(to, m->at, size);
    m->at += size;
    return true;
}

static bool skip(memray *m, uint64_t size) {
    if (!has(m, size))
        return false;
    m->at += size;
    return true;
}

static bool take_number(memray *m, uint64_t *value) {
    const varint_result read = varint_read(&m->at, m->end, value);
    if (read == VARINT_LONG)
        return fail(m, "a number does not end");
    m->is_cut |= read == VARINT_CUT;
    return read == VARINT_OK;
}

static bool take_signed(memray *m, int64_t *value) {
    uint64_t n;
    if (!take_number(m, &n))
        return false;
    *value = varint_signed(n);
    return true;
}

static bool take_delta(memray *m, uint64_t *last) {
    int64_t delta;
    if (!take_signed(m, &delta))
        return false;
    *last += (uint64_t)delta;
    return true;
}

static bool take_text(memray *m, const char **text) {
    const uint8_t *nul = memchr(m->at, '\0', (size_t)(m->end - m->at));
    m->is_cut |= !nul;
    if (!nul)
        return false;
    *text = import_text(m->to, m->at, (size_t)(nul - m->at));
    m->at = nul + 1;
    return true;
}

static uint16_t domain_of(uint32_t number) {
    return (uint16_t)(number < MOST_THREADS ? number : MOST_THREADS);
}

/* ---- events -------------------------------------------------------------------------------- */

static void put(memray *m, uint16_t domain, import_event_kind kind, uint32_t what) {
    if (domain != m->last_domain && m->now == m->last_time)
        m->now++;
    const import_event event = {.time = m->now, .what = what, .domain = domain, .kind = kind};
    m->to->no_memory |= !vec_push(&m->to->events, event);
    m->last_domain = domain;
    m->last_time = m->now;
}

static void put_remark(memray *m, uint16_t domain, uint32_t place, uint64_t value) {
    const import_remark remark = {.place = place, .value = value};
    if (m->to->remarks.count < UINT32_MAX && vec_push(&m->to->remarks, remark))
        put(m, domain, IMPORT_REMARK, (uint32_t)(m->to->remarks.count - 1));
    else
        m->to->no_memory = true;
}

/* Advances the time. The time of an RSS sample may be earlier than that of events before it. */
static bool go_on(memray *m, uint64_t ms) {
    if (ms > INT64_MAX / MS)
        return fail(m, "a time is impossible");
    if (ms * MS > m->now)
        m->now = ms * MS;
    return true;
}

static bool put_rss(memray *m, uint64_t rss) {
    if (rss >> 56)
        return fail(m, "an amount of memory is impossible");
    put_remark(m, m->threads.count > 0 ? m->threads.items[m->thread].domain : 0, m->gauge,
               rss / WORD);
    return true;
}

static bool put_block(memray *m, uint16_t domain, uint32_t record, uint32_t *block) {
    *block = (uint32_t)m->block_records.count;
    if (m->block_records.count >= BLOCK_DEAD)
        return fail(m, "it has more than 4 billion allocations");
    m->to->no_memory |= !vec_push(&m->block_records, record);
    put(m, domain, IMPORT_ALLOC, record);
    return true;
}

/* ---- mapped memory ------------------------------------------------------------------------- */

/* Returns the first range that ends after an address. */
static size_t range_behind(const memray *m, uint64_t address) {
    size_t low = 0, high = m->ranges.count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (m->ranges.items[middle].end <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool add_range(memray *m, size_t i, range r) {
    if (m->ranges.count >= MOST_RANGES)
        return fail(m, "it has too many stretches of mapped memory at a time");
    if (!vec_reserve(&m->ranges, 1))
        return m->to->no_memory = true;
    memmove(m->ranges.items + i + 1, m->ranges.items + i,
            (m->ranges.count - i) * sizeof *m->ranges.items);
    m->ranges.items[i] = r;
    m->ranges.count++;
    return true;
}

/* Makes a new block of the rest of a mapping that a call leaves, because a block has one size. */
static bool keep_rest(memray *m, uint16_t domain, size_t *i, range whole, uint64_t start,
                      uint64_t end) {
    range rest = {.start = start, .end = end};
    uint32_t record;
    if (start >= end)
        return true;
    memray_stacks_resized(&m->stacks, m->block_records.items[whole.block], end - start, &record);
    return put_block(m, domain, record, &rest.block) && add_range(m, (*i)++, rest);
}

static bool unmap(memray *m, uint16_t domain, uint64_t start, uint64_t end) {
    size_t i = range_behind(m, start);
    while (!m->to->no_memory && i < m->ranges.count && m->ranges.items[i].start < end) {
        const range whole = m->ranges.items[i];
        put(m, domain, IMPORT_FREE, whole.block);
        m->ranges.count--;
        memmove(m->ranges.items + i, m->ranges.items + i + 1,
                (m->ranges.count - i) * sizeof *m->ranges.items);
        if (!keep_rest(m, domain, &i, whole, whole.start, start) ||
            !keep_rest(m, domain, &i, whole, end, whole.end))
            return false;
    }
    return true;
}

/* ---- calls --------------------------------------------------------------------------------- */

static call_kind kind_of_call(const memray *m, unsigned allocator) {
    if (allocator == 0 || allocator > 15)
        return CALL_NONE;
    if (m->version < CODES)
        return allocator == 2 || allocator == 15 ? CALL_FREE
               : allocator == 10                 ? CALL_MAP
               : allocator == 11                 ? CALL_UNMAP
                                                 : CALL_ALLOC;
    return allocator == 1 || allocator == 5 ? CALL_FREE
           : allocator == 14                ? CALL_MAP
           : allocator == 15                ? CALL_UNMAP
                                            : CALL_ALLOC;
}

static void free_block(memray *m, uint16_t domain, uint64_t address) {
    const uint32_t block = map64_get(&m->block_of, address);
    if (block >= BLOCK_DEAD)
        return; /* allocated before the capture */
    *map64_put(&m->block_of, address) = BLOCK_DEAD;
    put(m, domain, IMPORT_FREE, block);
}

/* Adds a block. If the address is in use, the free of the block there was missed. */
static bool alloc_block(memray *m, uint16_t domain, uint64_t address, uint32_t record) {
    uint32_t block;
    free_block(m, domain, address);
    if (!put_block(m, domain, record, &block))
        return false;
    uint32_t *place = map64_put(&m->block_of, address);
    if (place)
        *place = block;
    else
        m->to->no_memory = true;
    return true;
}

static bool map_block(memray *m, uint16_t domain, uint64_t start, uint64_t size, uint32_t record) {
    range made = {.start = start, .end = start + size};
    if (made.end < start)
        return fail(m, "memory is mapped beyond the end of the address space");
    if (size == 0)
        return true;
    return unmap(m, domain, start, made.end) && put_block(m, domain, record, &made.block) &&
           add_range(m, range_behind(m, start), made);
}

static bool put_call(memray *m, call_kind kind, uint64_t address, uint64_t size, uint64_t native) {
    uint32_t record = 0;
    if (m->threads.count == 0)
        return fail(m, "an allocation is of no thread");
    const thread *t = &m->threads.items[m->thread];
    if (size >> 56 || native > m->stacks.natives.count)
        return fail(m, "a size or a native frame is impossible");
    if ((kind == CALL_ALLOC || kind == CALL_MAP) &&
        !memray_stacks_record(&m->stacks, t->node, (uint32_t)native,
                              (uint32_t)m->stacks.generations.count, t->is_main, size, &record))
        return fail(m, "its stacks have too many frames");
    if (m->to->no_memory)
        return true;
    switch (kind) {
    case CALL_ALLOC:
        return alloc_block(m, t->domain, address, record);
    case CALL_MAP:
        return map_block(m, t->domain, address, size, record);
    case CALL_UNMAP:
        return unmap(m, t->domain, address, address + size < address ? UINT64_MAX : address + size);
    default:
        free_block(m, t->domain, address);
        return true;
    }
}

/* Reads an address: one of the last few by its index, or a new one. */
static bool take_recent(memray *m, unsigned which, uint64_t *address) {
    if (which < N_RECENT) {
        *address = m->recent[which];
        return true;
    }
    if (!take_delta(m, &m->last_pointer))
        return false;
    *address = m->last_pointer << 3;
    memmove(m->recent + 1, m->recent, (N_RECENT - 1) * sizeof *m->recent);
    m->recent[0] = *address;
    return true;
}

static bool read_call(memray *m, unsigned flags) {
    uint64_t address, size = 0;
    uint8_t allocator = flags & 7;
    if (!take_recent(m, flags >> 3 & 15, &address) || (allocator == 0 && !take(m, &allocator, 1)))
        return false;
    const call_kind kind = kind_of_call(m, allocator);
    if (kind == CALL_NONE)
        return fail(m, "its allocator is unknown");
    if (kind != CALL_FREE &&
        ((m->has_native && !take_delta(m, &m->last_native)) || !take_number(m, &size)))
        return false;
    return put_call(m, kind, address, size,
                    m->has_native && kind != CALL_FREE ? m->last_native : 0);
}

static bool read_old_call(memray *m, unsigned allocator, bool has_native) {
    uint64_t size = 0;
    const call_kind kind = kind_of_call(m, allocator);
    if (kind == CALL_NONE)
        return fail(m, "its allocator is unknown");
    if (!take_delta(m, &m->last_pointer) ||
        ((has_native || kind != CALL_FREE) && !take_number(m, &size)) ||
        (has_native && !take_delta(m, &m->last_native)))
        return false;
    return put_call(m, kind, m->last_pointer, size, has_native ? m->last_native : 0);
}

/* Skips Python objects, which are inside blocks that are recorded anyway. */
static bool read_object(memray *m, unsigned flags) {
    uint64_t address;
    return take_recent(m, flags >> 1 & 15, &address) &&
           (!m->has_native || !(flags & 1) || take_delta(m, &m->last_native));
}

static bool read_survivor(memray *m) {
    uint64_t skipped;
    return take_number(m, &skipped) && (!m->has_native || take_number(m, &skipped));
}

/* ---- frames -------------------------------------------------------------------------------- */

static bool read_code(memray *m) {
    uint64_t id, size;
    memray_code code = {0};
    if (!take_number(m, &id) || !take_text(m, &code.function) || !take_text(m, &code.file) ||
        !take_delta(m, &m->last_line) || !take_number(m, &size))
        return false;
    code.line = (int32_t)m->last_line;
    code.line_table = m->at;
    code.line_table_size = (size_t)size;
    if (!skip(m, size))
        return false;
    memray_stacks_code(&m->stacks, id, code);
    return true;
}

/* Returns the key of a frame. Frames called from C are distinct from others. */
static uint64_t old_frame(uint64_t id, bool is_entry) {
    return id << 1 | is_entry;
}

static bool read_old_frame(memray *m, bool is_entry) {
    memray_code code = {0};
    if (!take_delta(m, &m->last_frame) || !take_text(m, &code.function) ||
        !take_text(m, &code.file) || !take_delta(m, &m->last_line))
        return false;
    code.line = (int32_t)m->last_line;
    memray_stacks_code(&m->stacks, old_frame(m->last_frame, is_entry), code);
    return true;
}

static bool push_frame(memray *m, uint64_t code, int64_t offset, bool is_entry) {
    uint32_t frame;
    if (m->threads.count == 0)
        return fail(m, "a frame is of no thread");
    if (!memray_stacks_frame(&m->stacks, code, offset, is_entry, &frame))
        return fail(m, "a frame is of code that was not described before it");
    thread *t = &m->threads.items[m->thread];
    if (!m->to->no_memory)
        t->node = memray_stacks_node(&m->stacks, t->node, frame);
    return true;
}

static bool read_push(memray *m, unsigned flags) {
    uint64_t code;
    int64_t offset;
    return take_number(m, &code) && take_signed(m, &offset) &&
           push_frame(m, code, offset, flags & 1);
}

static bool is_old_entry(const memray *m, uint64_t id) {
    return map64_get(&m->stacks.code_of, old_frame(id, true)) != MAP64_NONE;
}

static bool read_old_push(memray *m) {
    if (!take_delta(m, &m->last_frame))
        return false;
    const uint64_t id = m->last_frame;
    const bool is_entry = is_old_entry(m, id);
    return push_frame(m, old_frame(id, is_entry), 0, is_entry);
}

static bool read_pop(memray *m, unsigned flags) {
    for (unsigned n = flags + 1; n > 0; n--) {
        thread *t = m->threads.count > 0 ? &m->threads.items[m->thread] : NULL;
        if (!t || t->node == 0)
            return fail(m, "more frames end than began");
        t->node = m->stacks.nodes.items[t->node].parent;
    }
    return true;
}

static bool read_native(memray *m, uint64_t *last_parent) {
    if (!take_delta(m, &m->last_address) || !take_delta(m, last_parent))
        return false;
    if (*last_parent > m->stacks.natives.count || m->stacks.natives.count >= UINT32_MAX)
        return fail(m, "a native frame has a caller that did not come before it");
    const memray_native made = {.address = m->last_address, .parent = (uint32_t)*last_parent};
    m->to->no_memory |= !vec_push(&m->stacks.natives, made);
    return true;
}

static bool read_image(memray *m) {
    const char *file;
    uint64_t n, base, address, size;
    if (!take_text(m, &file) || !take_number(m, &n) || !take(m, &base, sizeof base))
        return false;
    for (; n > 0 && !m->to->no_memory; n--) {
        uint8_t kind;
        if (!take(m, &kind, 1) || !take(m, &address, sizeof address) || !take_number(m, &size))
            return false;
        if (kind != 8)
            return fail(m, "a module has something that is no segment");
        if (!memray_stacks_image(&m->stacks, file, base, address, size))
            return fail(m, "it has too many modules");
    }
    return true;
}

/* ---- threads ------------------------------------------------------------------------------- */

static bool read_switch(memray *m) {
    uint64_t id;
    uint32_t number;
    if (!take(m, &id, sizeof id))
        return false;
    if (!map64_number(&m->thread_of, id, &number))
        return m->to->no_memory = true;
    m->thread = number;
    const thread made = {.domain = domain_of(number), .is_main = id == m->main_thread};
    if (number == m->threads.count && !vec_push(&m->threads, made))
        m->to->no_memory = true;
    return true;
}

static uint32_t remark_place(memray *m, const char *name, const char *file) {
    const uint32_t place = import_add_place(m->to);
    import_add_location(m->to, name, file, 0);
    return place;
}

static bool read_thread(memray *m) {
    const char *name;
    if (!take_text(m, &name))
        return false;
    if (m->threads.count == 0)
        return fail(m, "a name is of no thread");
    const uint16_t domain = m->threads.items[m->thread].domain;
    if (*name && domain < MOST_THREADS)
        put_remark(m, domain, remark_place(m, name, MEMTRACE_THREAD_FILE), 0);
    return true;
}

static bool read_memory(memray *m) {
    uint64_t rss, ms;
    return take_number(m, &rss) && take_number(m, &ms) && go_on(m, ms) && put_rss(m, rss);
}

/* ---- aggregated captures ------------------------------------------------------------------- */

static bool read_snapshot(memray *m) {
    snapshot s;
    if (!take(m, &s, sizeof s))
        return false;
    m->to->no_memory |= !vec_push(&m->snapshots, s);
    return true;
}

static bool read_old_frame_index(memray *m) {
    uint64_t id;
    int32_t line;
    uint8_t is_entry;
    memray_code code = {0};
    if (!take(m, &id, sizeof id) || !take_text(m, &code.function) || !take_text(m, &code.file) ||
        !take(m, &line, sizeof line) || !take(m, &is_entry, 1))
        return false;
    code.line = line;
    memray_stacks_code(&m->stacks, old_frame(id, is_entry), code);
    return true;
}

static bool read_frame_index(memray *m) {
    uint64_t id, code;
    int64_t offset;
    uint8_t is_entry;
    uint32_t frame;
    if (!take_number(m, &id) || !take_number(m, &code) || !take_signed(m, &offset) ||
        !take(m, &is_entry, 1))
        return false;
    if (!memray_stacks_frame(&m->stacks, code, offset, is_entry, &frame))
        return fail(m, "a frame is of code that was not described before it");
    return m->to->no_memory || frame == id || fail(m, "a frame does not have the next number");
}

/* Reads a node, and returns the number of its frame. */
static bool take_old_node(memray *m, uint64_t *frame, uint64_t *parent) {
    uint64_t id;
    uint32_t of, number = UINT32_MAX;
    if (!take(m, &id, sizeof id) || !take(m, &of, sizeof of))
        return false;
    const bool is_entry = is_old_entry(m, id);
    if (!memray_stacks_frame(&m->stacks, old_frame(id, is_entry), 0, is_entry, &number))
        number = UINT32_MAX;
    *frame = number;
    *parent = of;
    return true;
}

static bool read_node(memray *m) {
    uint64_t frame, parent;
    if (m->version < CODES ? !take_old_node(m, &frame, &parent)
                           : !take_number(m, &frame) || !take_number(m, &parent))
        return false;
    const size_t n = m->stacks.nodes.count ? m->stacks.nodes.count : 1;
    if (frame >= m->stacks.frames.count || parent >= n)
        return m->to->no_memory || fail(m, "a stack is of frames that did not come before it");
    const uint32_t node = memray_stacks_node(&m->stacks, (uint32_t)parent, (uint32_t)frame);
    return m->to->no_memory || node == n || fail(m, "a stack comes twice");
}

/* Reads the totals of blocks at one place: those at the peak and those at the end. */
static bool read_sums(memray *m) {
    sums s;
    if (!take(m, &s, sizeof s))
        return false;
    if (s.node >= (m->stacks.nodes.count ? m->stacks.nodes.count : 1) ||
        s.native > m->stacks.natives.count)
        return fail(m, "blocks have a stack that did not come before them");
    if (s.peak_blocks > MOST_BLOCKS || s.end_blocks > MOST_BLOCKS ||
        (m->n_blocks += s.peak_blocks + s.end_blocks) > MOST_BLOCKS)
        return fail(m, "it has more than 64 million blocks at the peak and at the end");
    if (s.peak_bytes >> 56 || s.end_bytes >> 56)
        return fail(m, "an amount of memory is impossible");
    m->to->no_memory |= !vec_push(&m->sums, s);
    return true;
}

typedef struct lot {
    uint64_t blocks, bytes;
} lot;

/* Allocates blocks. Only their mean size is known, so their sizes differ by at most one byte. */
static bool put_lot(memray *m, const sums *s, lot of) {
    uint32_t record = 0, block, thread_number;
    if (!map64_number(&m->thread_of, s->thread, &thread_number))
        return m->to->no_memory = true;
    const uint16_t domain = domain_of(thread_number);
    for (uint64_t i = 0; i < of.blocks && !m->to->no_memory; i++) {
        if (i == 0 || i == of.bytes % of.blocks) {
            const uint64_t bytes = of.bytes / of.blocks + (i < of.bytes % of.blocks);
            if (!memray_stacks_record(&m->stacks, (uint32_t)s->node, (uint32_t)s->native,
                                      s->generation < UINT32_MAX ? (uint32_t)s->generation : 0,
                                      s->thread == m->main_thread, bytes, &record))
                return fail(m, "its stacks have too many frames");
        }
        if (!put_block(m, domain, record, &block))
            return false;
    }
    return true;
}

/* Returns the blocks of the peak that still exist at the end, as far as the totals tell. */
static lot lot_kept(const sums *s) {
    if (s->end_blocks > s->peak_blocks
            ? s->end_bytes >= s->peak_bytes
            : s->end_blocks == s->peak_blocks && s->end_bytes == s->peak_bytes)
        return (lot){s->peak_blocks, s->peak_bytes};
    if (s->end_blocks < s->peak_blocks && s->end_bytes <= s->peak_bytes)
        return (lot){s->end_blocks, s->end_bytes};
    return (lot){0, 0};
}

static bool put_peak(memray *m) {
    for (size_t i = 0; i < m->sums.count; i++) {
        sums *s = &m->sums.items[i];
        const lot kept = lot_kept(s);
        if (!put_lot(m, s, kept))
            return false;
        s->first = (uint32_t)m->block_records.count;
        if (!put_lot(m, s, (lot){s->peak_blocks - kept.blocks, s->peak_bytes - kept.bytes}))
            return false;
    }
    return true;
}

static bool put_end(memray *m) {
    for (size_t i = 0; i < m->sums.count && !m->to->no_memory; i++) {
        const sums *s = &m->sums.items[i];
        const uint64_t n = s->peak_blocks - lot_kept(s).blocks;
        for (uint64_t k = 0; k < n; k++)
            put(m, m->last_domain, IMPORT_FREE, s->first + (uint32_t)k);
    }
    for (size_t i = 0; i < m->sums.count; i++) {
        const sums *s = &m->sums.items[i];
        const lot kept = lot_kept(s);
        if (!put_lot(m, s, (lot){s->end_blocks - kept.blocks, s->end_bytes - kept.bytes}))
            return false;
    }
    return true;
}

/* The peak is where the heap was largest in memray's samples. */
static bool put_sums(memray *m) {
    const uint64_t start = m->to->start_time / MS;
    size_t peak = 0;
    for (size_t i = 0; i < m->snapshots.count; i++)
        if (m->snapshots.items[i].heap > m->snapshots.items[peak].heap)
            peak = i;
    for (size_t i = 0; i < m->snapshots.count; i++) {
        const snapshot *s = &m->snapshots.items[i];
        if (!go_on(m, s->ms > start ? s->ms - start : 0) || (i == peak && !put_peak(m)) ||
            !put_rss(m, s->rss))
            return false;
    }
    if (m->snapshots.count == 0 && !put_peak(m))
        return false;
    if (m->to->duration > m->now)
        m->now = m->to->duration;
    return put_end(m);
}

/* ---- records ------------------------------------------------------------------------------- */

static record_kind kind_of_old(unsigned byte) {
    static const record_kind kinds[16] = {
        [1] = RECORD_CALL,    [2] = RECORD_NATIVE_CALL, [3] = RECORD_FRAME,  [4] = RECORD_PUSH,
        [5] = RECORD_NATIVE,  [6] = RECORD_MAP,         [7] = RECORD_IMAGE,  [9] = RECORD_POP,
        [10] = RECORD_THREAD, [11] = RECORD_MEMORY,     [12] = RECORD_SWITCH};
    return byte == 16 ? RECORD_END : kinds[byte & 15];
}

static record_kind kind_of(unsigned byte) {
    static const record_kind kinds[16] = {
        [1] = RECORD_END,   [2] = RECORD_MEMORY,  [5] = RECORD_NATIVE,  [6] = RECORD_MAP,
        [7] = RECORD_IMAGE, [10] = RECORD_THREAD, [12] = RECORD_SWITCH, [14] = RECORD_CODE};
    return byte & 128  ? RECORD_CALL
           : byte & 64 ? RECORD_PUSH
           : byte & 32 ? RECORD_OBJECT
           : byte & 16 ? RECORD_POP
                       : kinds[byte];
}

static record_kind kind_of_sums(unsigned byte) {
    static const record_kind kinds[16] = {
        [1] = RECORD_SNAPSHOT, [2] = RECORD_SUMS,      [3] = RECORD_NODE,  [4] = RECORD_FRAME,
        [5] = RECORD_NATIVE,   [6] = RECORD_MAP,       [7] = RECORD_IMAGE, [10] = RECORD_THREAD,
        [12] = RECORD_SWITCH,  [13] = RECORD_SURVIVOR, [14] = RECORD_CODE, [15] = RECORD_END};
    return byte < 16 ? kinds[byte] : RECORD_BAD;
}

static bool read_frame(memray *m, unsigned byte) {
    return !m->is_aggregated    ? read_old_frame(m, !(byte >> 4 & 1))
           : m->version < CODES ? read_old_frame_index(m)
                                : read_frame_index(m);
}

static bool read_record(memray *m, record_kind kind, unsigned byte) {
    const bool is_old = m->version < CODES;
    switch (kind) {
    case RECORD_MEMORY:
        return read_memory(m);
    case RECORD_NATIVE:
        return read_native(m, m->is_aggregated ? &m->last_parent : &m->last_native);
    case RECORD_MAP:
        memray_stacks_map(&m->stacks);
        return true;
    case RECORD_IMAGE:
        return read_image(m);
    case RECORD_THREAD:
        return read_thread(m);
    case RECORD_SWITCH:
        return read_switch(m);
    case RECORD_CODE:
        return read_code(m);
    case RECORD_POP:
        return read_pop(m, is_old ? byte >> 4 : byte & 15);
    case RECORD_OBJECT:
        return read_object(m, byte);
    case RECORD_PUSH:
        return is_old ? read_old_push(m) : read_push(m, byte);
    case RECORD_CALL:
        return is_old ? read_old_call(m, byte >> 4, false) : read_call(m, byte);
    case RECORD_NATIVE_CALL:
        return read_old_call(m, byte >> 4, true);
    case RECORD_SNAPSHOT:
        return read_snapshot(m);
    case RECORD_SUMS:
        return read_sums(m);
    case RECORD_NODE:
        return read_node(m);
    case RECORD_FRAME:
        return read_frame(m, byte);
    case RECORD_SURVIVOR:
        return read_survivor(m);
    default:
        return fail(m, "a record is of an unknown kind");
    }
}

/* Reads all records. If the program was killed, the file ends with zeros, because memray extends
 * its file in advance. Returns false if the capture is damaged. */
static bool read_records(memray *m) {
    for (record_kind kind = RECORD_BAD; !m->to->no_memory;) {
        m->record = m->at;
        if (m->at >= m->end) {
            m->is_cut = true;
            return true;
        }
        const unsigned byte = *m->at++;
        kind = m->is_aggregated     ? kind_of_sums(byte)
               : m->version < CODES ? kind_of_old(byte)
                                    : kind_of(byte);
        if (kind == RECORD_END)
            return true;
        if (!read_record(m, kind, byte))
            return m->is_cut;
    }
    return true;
}

/* ---- the head ------------------------------------------------------------------------------ */

static bool skip_texts(memray *m) {
    const char *text;
    do
        if (!take_text(m, &text))
            return false;
    while (*text);
    return true;
}

static bool take_head(memray *m) {
    uint8_t has_native, is_aggregated;
    int64_t stats[4]; /* allocations, frames, start and end in ms since the epoch */
    int32_t pid;
    uint64_t skipped;
    if ((m->version >= CODES && !take(m, &m->stacks.python, sizeof m->stacks.python)) ||
        !take(m, &has_native, 1) || !take(m, &is_aggregated, 1) || !take(m, stats, sizeof stats) ||
        !take_text(m, &m->to->program) || !take(m, &pid, sizeof pid) ||
        !take(m, &m->main_thread, sizeof m->main_thread) || !take(m, &skipped, sizeof skipped) ||
        !skip(m, m->version >= CODES ? 3 : 2)) /* flags: Python allocators, Python objects */
        return false;
    if (m->version >= NEWEST &&
        (!take_text(m, &(const char *){NULL}) || !skip_texts(m) || !skip_texts(m)))
        return false;
    if (is_aggregated > 1 || stats[2] < 0 || stats[2] > INT64_MAX / MS)
        return fail(m, "its head has an unknown kind of capture or an impossible time");
    m->has_native = has_native;
    m->is_aggregated = is_aggregated;
    m->stacks.skipped = skipped;
    m->to->start_time = (uint64_t)stats[2] * MS;
    m->to->duration = stats[3] > stats[2] && stats[3] <= INT64_MAX / MS
                          ? (uint64_t)(stats[3] - stats[2]) * MS
                          : 0;
    m->to->pid = pid > 0 ? (uint64_t)pid : 0;
    return true;
}

static bool read_head(memray *m) {
    char magic[7];
    if (!take(m, magic, sizeof magic) || memcmp(magic, "memray", sizeof magic) != 0)
        return fail(m, "it does not begin with `memray`");
    if (!take(m, &m->version, sizeof m->version))
        return fail(m, "it ends within its head");
    if (m->version < OLDEST || m->version > NEWEST)
        return import_fail(m->error, sizeof magic,
                           "its version of the format is %d; those from %d to %d are known, which "
                           "memray 1.11 to 1.20 write: record it by one of these",
                           m->version, OLDEST, NEWEST);
    if (take_head(m))
        return true;
    return *m->error->reason ? false : fail(m, "it ends within its head");
}

static bool read_all(memray *m) {
    if (!read_head(m))
        return false;
    m->gauge = remark_place(m, "rss", MEMTRACE_GAUGE_FILE);
    m->to->format = m->is_aggregated ? "an aggregated capture of memray" : "a capture of memray";
    if (m->is_aggregated)
        m->to->missing = "times, but " IMPORT_PEAK " and at the end";
    if (!read_records(m) || m->to->no_memory)
        return false;
    *m->error->reason = '\0';
    if (m->is_cut && m->is_aggregated)
        return fail(m, "it ends too early");
    if (m->is_cut)
        m->to->caveat = "the capture has no end: its program was killed or goes on, and what it "
                        "did last is missing";
    if (m->is_aggregated && !put_sums(m))
        return false;
    if (m->to->duration < m->now)
        m->to->duration = m->now;
    return !m->to->no_memory;
}

static const uint8_t *written_end(const uint8_t *bytes, size_t size) {
    while (size > 0 && bytes[size - 1] == 0)
        size--;
    return bytes + size;
}

bool import_memray(import *to, const uint8_t *bytes, size_t size, import_error *error) {
    memray m = {.to = to,
                .error = error,
                .start = bytes,
                .at = bytes,
                .record = bytes,
                .end = written_end(bytes, size),
                .stacks = {.to = to}};
    to->has_events = to->is_ordered = true;
    const bool good = read_all(&m);
    memray_stacks_free(&m.stacks);
    map64_free(&m.thread_of);
    map64_free(&m.block_of);
    vec_free(&m.threads);
    vec_free(&m.block_records);
    vec_free(&m.ranges);
    vec_free(&m.snapshots);
    vec_free(&m.sums);
    return good;
}
