/* writer_open.c: begins and ends a trace: the head, the room for names, the statement of the end,
 * and the writer's own lifetime. Streams and events are in writer.c, whose rules hold here as well:
 * this runs inside the malloc of arbitrary programs. */
#include <stdlib.h>

#include "trace/end.h"
#include "trace/room.h"
#include "trace/writer_packet.h"

/* ---- the end ----------------------------------------------------------------------------- */

static void put_end(uint8_t bytes[END_PACKET], const memtrace_writer *w, const memtrace_end *end) {
    const end_trace of = {.version = w->version, .start = w->start_time, .pid = w->pid};
    end_put(bytes, &of, end);
}

memtrace_status memtrace_writer_end(memtrace_writer *w, const memtrace_end *end) {
    uint8_t bytes[END_PACKET];
    put_end(bytes, w, end);
    atomic_store(&w->end_said, true);
    if (w->end_at && w->hooks.amend(w->hooks.context, w->end_at, bytes, sizeof bytes) == 0)
        return MEMTRACE_OK;
    return atomic_load(&w->broken) || w->hooks.sink(w->hooks.context, bytes, sizeof bytes) != 0
               ? MEMTRACE_IO
               : MEMTRACE_OK;
}

memtrace_status writer_break(memtrace_writer *w, uint64_t time, int os_error) {
    const memtrace_end end =
        end_make(MEMTRACE_END_EARLY, time - w->start_time, os_error, "the trace cannot be written");
    if (!atomic_exchange(&w->broken, true) && w->end_at &&
        memtrace_writer_end(w, &end) != MEMTRACE_OK)
        return MEMTRACE_IO; /* the trace then has no end */
    return MEMTRACE_IO;
}

/* ---- the head ---------------------------------------------------------------------------- */

static void *libc_reallocate(void *context, void *old, size_t old_size, size_t size) {
    (void)context;
    (void)old_size;
    if (size > 0)
        return realloc(old, size);
    free(old);
    return NULL;
}

static uint8_t *put_info_string(uint8_t *p, const char *s) {
    return s ? put_string(p, s, strnlen(s, MEMTRACE_MAX_NAME)) : put_u8(p, 0);
}

static uint8_t *put_info(uint8_t *p, const memtrace_info *info) {
    uint64_t rate;
    memcpy(&rate, &info->sample_rate, sizeof rate);
    p = put_event_header(p, FORMAT_TRACE_INFO, info->start_time);
    p = put_u64(p, rate);
    p = put_u8(p, info->word_size ? info->word_size : 64);
    p = put_info_string(p, info->executable_name);
    p = put_info_string(p, info->host_name);
    p = put_info_string(p, info->runtime_params);
    p = put_u64(p, info->pid);
    return put_info_string(p, info->context);
}

/* After the head, writes the statement of an open end, to be replaced later. */
static void put_end_to_come(memtrace_writer *w, packet *head) {
    const memtrace_end open = {.how = MEMTRACE_END_OPEN};
    w->end_at = (uint64_t)(head->used - head->bytes);
    put_end(head->used, w, &open);
    head->used += END_PACKET;
}

static memtrace_status write_trace_head(memtrace_writer *w, const memtrace_info *info) {
    packet *head = writer_get_memory(w, sizeof *head);
    if (!head)
        return MEMTRACE_NOMEM;
    packet_clear(w, head);
    packet_begin(head, info->start_time, 0);
    head->used = put_info(head->used, info);
    packet_head(w, 0, head);
    if (w->hooks.amend)
        put_end_to_come(w, head);
    w->head_error =
        w->hooks.sink(w->hooks.context, head->bytes, (size_t)(head->used - head->bytes));
    writer_give_back(w, head, sizeof *head);
    return w->head_error ? MEMTRACE_IO : MEMTRACE_OK;
}

/* Each slot consists of two fillers. The first one is long, and all zeros except its beginning. */
static memtrace_status write_room(memtrace_writer *w) {
    const size_t n_slots = (w->hooks.room + ROOM_SLOT - 1) / ROOM_SLOT;
    uint8_t fillers[2 * ROOM_FILLER]; /* the end of a slot and the beginning of the next */
    room_put_filler(fillers, ROOM_FILLER, w->start_time);
    room_put_filler(fillers + ROOM_FILLER, FORMAT_MAX_PACKET, w->start_time);
    const size_t hole = FORMAT_MAX_PACKET - ROOM_FILLER;
    const memtrace_writer_options *const h = &w->hooks;
    int failed = h->sink(h->context, fillers + ROOM_FILLER, ROOM_FILLER);
    if (!failed)
        failed = h->sink_spread(h->context, fillers, sizeof fillers, hole, n_slots - 1);
    if (!failed)
        failed = h->sink_spread(h->context, fillers, ROOM_FILLER, hole, 1);
    w->head_error = failed;
    return failed ? writer_break(w, w->start_time, failed) : MEMTRACE_OK;
}

static memtrace_status refuse(memtrace_error *error, memtrace_status status, int os_error,
                              const char *reason) {
    if (!error)
        return status;
    *error = (memtrace_error){.status = status, .os_error = os_error};
    for (size_t i = 0; reason[i] && i + 1 < sizeof error->reason; i++)
        error->reason[i] = reason[i];
    return status;
}

static const char *what_is_wrong(const memtrace_info *info,
                                 const memtrace_writer_options *options) {
    if (!options->sink)
        return "a writer needs a sink";
    if (info->version != 0 && info->version != 2 && info->version != 3)
        return "only versions 2 and 3 can be written";
    if (info->word_size != 0 && info->word_size != 32 && info->word_size != 64)
        return "words have 32 or 64 bits";
    if (!(info->sample_rate > 0 && info->sample_rate <= 1))
        return "the sampling rate must be more than 0 and at most 1";
    return NULL;
}

static void writer_init(memtrace_writer *w, const memtrace_info *info,
                        const memtrace_writer_options *hooks) {
    memset(w, 0, sizeof *w);
    w->hooks = *hooks;
    w->start_time = info->start_time;
    w->pid = info->pid;
    w->version = info->version ? info->version : FORMAT_MAX_VERSION;
    w->header_size = format_header_size(w->version);
}

/* ---- the writer -------------------------------------------------------------------------- */

memtrace_status memtrace_writer_open(const memtrace_info *info,
                                     const memtrace_writer_options *options,
                                     memtrace_writer **writer, memtrace_error *error) {
    *writer = NULL;
    const char *wrong = what_is_wrong(info, options);
    if (wrong)
        return refuse(error, MEMTRACE_USAGE, 0, wrong);
    memtrace_writer_options hooks = *options;
    if (!hooks.reallocate)
        hooks.reallocate = libc_reallocate;
    memtrace_writer *w = hooks.reallocate(hooks.context, NULL, 0, sizeof *w);
    if (!w)
        return refuse(error, MEMTRACE_NOMEM, 0, "not enough memory for the trace writer");
    writer_init(w, info, &hooks);
    memtrace_status status = write_trace_head(w, info);
    if (status == MEMTRACE_OK && hooks.sink_spread && hooks.room && w->version == ROOM_VERSION)
        status = write_room(w);
    if (status != MEMTRACE_OK) {
        const int os_error = w->head_error;
        writer_give_back(w, w, sizeof *w);
        return refuse(error, status, os_error, "the head of the trace cannot be written");
    }
    *writer = w;
    return MEMTRACE_OK;
}

static memtrace_status writer_say_whole(memtrace_writer *w) {
    const uint64_t latest = atomic_load(&w->latest);
    const memtrace_end whole = {.how = MEMTRACE_END_WHOLE,
                                .time = latest > w->start_time ? latest - w->start_time : 0};
    return memtrace_writer_end(w, &whole);
}

memtrace_status memtrace_writer_close(memtrace_writer *writer) {
    if (atomic_load(&writer->open_streams) != 0)
        return MEMTRACE_USAGE;
    memtrace_status status = atomic_load(&writer->broken) ? MEMTRACE_IO : MEMTRACE_OK;
    if (status == MEMTRACE_OK && writer->end_at && !atomic_load(&writer->end_said))
        status = writer_say_whole(writer);
    writer_give_back(writer, writer, sizeof *writer);
    return status;
}
