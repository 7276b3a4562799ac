/* segment_writer.c: the hooks of the writer, which look up codes among the reader's frames. */
#include "trace/segment_writer.h"

#include "base/file.h"
#include "trace/format.h"
#include "trace/rewrite.h"

/* Does not let a later success hide an error: on a full disk, existing bytes can still be amended
 * although nothing can be appended. */
static int note_error(segment_writer *w, int error) {
    w->os_error = error ? error : w->os_error;
    return error;
}

static int hook_sink(void *context, const void *packets, size_t size) {
    segment_writer *w = context;
    const int error = file_write_at(w->fd, packets, size, w->size);
    w->size += error ? 0 : size;
    return note_error(w, error);
}

static int hook_amend(void *context, uint64_t offset, const void *bytes, size_t size) {
    segment_writer *w = context;
    return note_error(w, file_write_at(w->fd, bytes, size, offset));
}

static size_t hook_locate(void *context, uint64_t code, memtrace_location *locations, size_t max) {
    segment_writer *w = context;
    if (max > 0 && segment_locate(code, locations))
        return 1;
    const uint32_t frame = map64_get(&w->frames, code);
    return frame == MAP64_NONE
               ? 0
               : rewrite_frame_locations(memtrace_reader_frame(w->reader, frame), locations, max);
}

void segment_writer_read(segment_writer *w, memtrace_reader *reader) {
    w->reader = reader;
    vec_clear(&w->codes);
    map64_free(&w->frames);
}

memtrace_status segment_writer_open(segment_writer *w, const memtrace_info *info, int fd) {
    const memtrace_writer_options hooks = {
        .sink = hook_sink, .amend = hook_amend, .locate = hook_locate, .context = w};
    memtrace_info newest = *info;
    newest.version = FORMAT_MAX_VERSION;
    w->fd = fd;
    w->size = 0;
    w->next_id = SEGMENT_IDS;
    w->of = (end_trace){.version = newest.version, .start = info->start_time, .pid = info->pid};
    return memtrace_writer_open(&newest, &hooks, &w->writer, NULL);
}

static bool learn_frames(segment_writer *w) {
    for (uint32_t i = (uint32_t)w->codes.count; i < memtrace_reader_n_frames(w->reader); i++) {
        const uint64_t code = memtrace_reader_frame(w->reader, i)->code;
        uint32_t *index = map64_put(&w->frames, code);
        if (!index || !vec_push(&w->codes, code))
            return false;
        *index = i;
    }
    return true;
}

bool segment_writer_follow(segment_writer *w, segment_backtrace *latest,
                           const memtrace_event *event) {
    const size_t n = event->n_frames;
    if (!learn_frames(w) || !vec_reserve(latest, n))
        return false;
    for (size_t i = event->common_prefix; i < n; i++)
        latest->items[i] = w->codes.items[event->frames[i]];
    latest->count = n;
    return true;
}

memtrace_status segment_writer_remark(segment_writer *w, memtrace_stream *stream, uint64_t time,
                                      segment_remark remark, uint64_t value) {
    return memtrace_stream_remark_as(stream, time, w->next_id++, segment_code(remark), value);
}

memtrace_status segment_writer_head(segment_writer *w, memtrace_stream *stream,
                                    const segment_head *head) {
    const uint64_t values[] = {[SEGMENT_RECORDING] = head->recording,
                               [SEGMENT_NUMBER] = head->number,
                               [SEGMENT_LEVEL] = head->level,
                               [SEGMENT_CARRIES] = head->n_carried};
    memtrace_status status = MEMTRACE_OK;
    for (int i = SEGMENT_RECORDING; i <= SEGMENT_CARRIES && status == MEMTRACE_OK; i++)
        status = segment_writer_remark(w, stream, 0, (segment_remark)i, values[i]);
    return status;
}

memtrace_status segment_writer_gap(segment_writer *w, const memtrace_gap *gap) {
    uint8_t bytes[END_PACKET];
    end_put_gap(bytes, &w->of, gap);
    return hook_sink(w, bytes, sizeof bytes) == 0 ? MEMTRACE_OK : MEMTRACE_IO;
}

memtrace_status segment_writer_close(segment_writer *w, const memtrace_end *end) {
    memtrace_status status = MEMTRACE_OK;
    if (end->how != MEMTRACE_END_UNSAID)
        status = memtrace_writer_end(w->writer, end);
    const memtrace_status closed = memtrace_writer_close(w->writer);
    w->writer = NULL;
    return status == MEMTRACE_OK ? closed : status;
}

void segment_writer_free(segment_writer *w) {
    vec_free(&w->codes);
    map64_free(&w->frames);
    *w = (segment_writer){0};
}
