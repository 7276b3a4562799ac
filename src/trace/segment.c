/* segment.c: remarks are locations in a file name that no source file has, by which both sides
 * recognize them. Thinning tosses a coin for each sample. The coin is a hash of the recording, the
 * block and the sample, so that all segments keep the same samples. */
#include "trace/segment.h"

#include <string.h>

#include "base/hash.h"
#include "trace/span_remark.h"

static const char *const names[] = {
#define SEGMENT_REMARK_NAME(id, name) [SEGMENT_##id] = (name),
    SEGMENT_REMARKS(SEGMENT_REMARK_NAME)
#undef SEGMENT_REMARK_NAME
};

bool segment_locate(uint64_t code, memtrace_location *location) {
    if (code - segment_span_code(0) < SPAN_REMARKS) {
        *location = (memtrace_location){.file = MEMTRACE_SPAN_FILE,
                                        .function = span_remark_names[code - segment_span_code(0)]};
        return true;
    }
    if (code - SEGMENT_CODES >= SEGMENT_N_REMARKS)
        return false;
    *location =
        (memtrace_location){.file = MEMTRACE_SEGMENT_FILE, .function = names[code - SEGMENT_CODES]};
    return true;
}

segment_remark segment_remark_of(const memtrace_reader *reader, const memtrace_event *event) {
    if (event->kind != MEMTRACE_MARK || event->name || event->n_frames == 0)
        return SEGMENT_NO_REMARK;
    const memtrace_frame *frame = memtrace_reader_frame(reader, event->frames[event->n_frames - 1]);
    const memtrace_location *l = frame->n_locations ? &frame->locations[0] : NULL;
    int remark = 0;
    if (!l || strcmp(l->file, MEMTRACE_SEGMENT_FILE) != 0)
        return SEGMENT_NO_REMARK;
    while (remark < SEGMENT_N_REMARKS && strcmp(names[remark], l->function) != 0)
        remark++;
    return (segment_remark)remark;
}

/* Tosses a coin for each sample. Equal arguments give equal results. */
static uint64_t halve(uint64_t block, uint64_t n, uint64_t level) {
    const uint64_t coins = hash_u64(block + hash_u64(level + 1));
    uint64_t kept = 0;
    for (uint64_t i = 0; i < n; i++)
        kept += hash_u64(coins + i) & 1;
    return kept;
}

uint64_t segment_thin(uint64_t recording, uint64_t id, uint64_t n, uint64_t from, uint64_t to) {
    const uint64_t block = hash_u64(recording) + id;
    for (; from < to && n > 0; from++)
        n = halve(block, n, from);
    return n;
}

/* Stores what the remark says. Returns whether more is to come. */
static bool take(segment_head *head, segment_remark remark, uint64_t value) {
    if (remark == SEGMENT_RECORDING)
        head->recording = value;
    if (remark == SEGMENT_NUMBER)
        head->number = value;
    if (remark == SEGMENT_LEVEL)
        head->level = value < SEGMENT_MAX_LEVEL ? value : SEGMENT_MAX_LEVEL;
    if (remark == SEGMENT_CARRIES) {
        head->n_carried = value;
        head->is_segment = head->recording > 0;
    }
    return remark < SEGMENT_CARRIES;
}

memtrace_status segment_read_head(memtrace_reader *reader, segment_head *head) {
    memtrace_event event;
    memtrace_status status;
    *head = (segment_head){0};
    while ((status = memtrace_reader_next(reader, &event)) == MEMTRACE_OK)
        if (!take(head, segment_remark_of(reader, &event), event.length))
            break;
    return status == MEMTRACE_END ? MEMTRACE_OK : status;
}
