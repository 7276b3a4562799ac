/* rewrite.c: the reader decodes, the writer encodes, and the spool orders packets. This file turns
 * frame indices back into codes, and codes into locations.
 *
 * Locations are written after everything was read, and placed before the events: each code once,
 * whichever domains use it, with everything that the input says about it anywhere. OCaml's reader
 * requires each code to be announced, and always in the same way. */
#include "trace/rewrite.h"

#include <errno.h>
#include <string.h>

#include "base/map64.h"
#include "trace/bytes.h"
#include "trace/end.h"
#include "trace/failure.h"
#include "trace/format.h"
#include "trace/replacement.h"
#include "trace/segment.h"
#include "trace/spool.h"
#include "trace/writer_names.h"

/* The state of one domain. */
typedef struct rewrite_lane {
    memtrace_stream *stream;
    uint16_t domain;
    uint64_t time;       /* time of the latest event */
    uint64_t end;        /* 0: the lane ends with its latest event */
    VEC(uint64_t) codes; /* latest backtrace, as read */
    size_t common;       /* leading codes shared with the last one written */
    size_t unedited;     /* leading codes of the last one that were written unedited */
} rewrite_lane;

/* A code that was written. */
typedef struct rewrite_name {
    const rewrite_input *input; /* the input that knows its location */
    /* Frame index in that input; MAP64_NONE: the code comes from `edit`. */
    uint32_t frame;
} rewrite_name;

typedef struct rewrite {
    const rewrite_input *input; /* current input */
    memtrace_reader *reader;    /* the reader of `input` */
    rewrite_options options;    /* the options of `input` */
    memtrace_writer *writer;
    spool spool;
    int os_error; /* reason why the spool or the output failed */

    VEC(uint64_t) named;     /* all codes written, in order of first use */
    VEC(rewrite_name) names; /* one for each of `named` */
    map64 name_of_code;      /* from a code to its index in both */
    size_t next_name;        /* next name to write */

    /* Whether ids are renumbered without gaps from 0, as version 2 requires. */
    bool numbers;
    uint64_t n_ids, n_kept; /* ids assigned, and how many of the first ones are unchanged */
    map64 id_of;            /* from the old ids of the changed ones to the new */

    VEC(uint64_t) codes; /* code written for each frame index */
    map64 frames;        /* from that code to the frame index */
    VEC(rewrite_lane) lanes;
    map64 lane_of_domain;   /* from a domain to its index in `lanes` */
    size_t latest_lane;     /* index in `lanes`; usually the next event's as well */
    memtrace_end end;       /* end of the inputs so far */
    size_t n_ended;         /* inputs that state how they ended */
    VEC(memtrace_gap) gaps; /* of all inputs so far, in the result's times */
    uint64_t n_bytes;       /* size of the inputs, before any repair */
} rewrite;

/* ---- the writer's hooks ---- */

/* The names are at 0, and come first also in a trace that starts then, as some imported ones do. */
static uint64_t behind_names(uint64_t time) {
    return time ? time : 1;
}

/* Receives packets of events. The head, which comes first, is dropped: it is written with the
 * names. */
static int take_events(void *context, const void *packets, size_t size) {
    rewrite *r = context;
    if (!r->writer)
        return 0;
    const uint64_t time = bytes_u64((const uint8_t *)packets + FORMAT_AT_TIME_BEGIN);
    return r->os_error = spool_add(&r->spool, behind_names(time), packets, size);
}

/* Receives the head and the packets of names, which go to the front. */
static int take_names(void *context, const void *packets, size_t size) {
    rewrite *r = context;
    return r->os_error = spool_add(&r->spool, 0, packets, size);
}

size_t rewrite_frame_locations(const memtrace_frame *frame, memtrace_location *locations,
                               size_t max) {
    size_t n = 0;
    if (frame->type && max > 0)
        locations[n++] =
            (memtrace_location){.file = MEMTRACE_TYPE_FILE, .function = frame->type, .line = 0};
    for (size_t i = 0; i < frame->n_locations && n < max; i++)
        locations[n++] = frame->locations[i];
    return n;
}

/* Notes a code at its first use in a domain. Sets `os_error` when out of memory. */
static size_t note_name(void *context, uint64_t code, memtrace_location *locations, size_t max) {
    rewrite *r = context;
    (void)locations;
    (void)max;
    const rewrite_name name = {.input = r->input, .frame = map64_get(&r->frames, code)};
    const bool able = vec_reserve(&r->names, 1) && vec_reserve(&r->named, 1);
    uint32_t *index = able ? map64_put(&r->name_of_code, code) : NULL;
    if (!index) {
        r->os_error = ENOMEM;
    } else if (*index == MAP64_NONE) {
        *index = (uint32_t)r->names.count;
        r->names.items[r->names.count++] = name;
        r->named.items[r->named.count++] = code;
    }
    return WRITER_NAMED_ELSEWHERE;
}

static size_t locate(void *context, uint64_t code, memtrace_location *locations, size_t max) {
    rewrite *r = context;
    const rewrite_name *name = &r->names.items[r->next_name++];
    const rewrite_options *options = &name->input->options;
    const memtrace_frame *frame =
        name->frame == MAP64_NONE ? NULL : memtrace_reader_frame(name->input->reader, name->frame);
    if (options->locate)
        return options->locate(options->user, code, frame, locations, max);
    return frame ? rewrite_frame_locations(frame, locations, max) : 0;
}

static memtrace_status write_names(rewrite *r, const memtrace_info *info) {
    const memtrace_writer_options hooks = {.sink = take_names, .locate = locate, .context = r};
    return r->os_error ? MEMTRACE_IO
                       : writer_put_names(info, &hooks, 0, r->named.items, r->named.count);
}

/* ---- events ---- */

/* Learns the codes of frames that the reader has added. */
static bool learn_frames(rewrite *r) {
    for (uint32_t i = (uint32_t)r->codes.count; i < memtrace_reader_n_frames(r->reader); i++) {
        const memtrace_frame *frame = memtrace_reader_frame(r->reader, i);
        const uint64_t code =
            r->options.recode ? r->options.recode(r->options.user, frame) : frame->code;
        uint32_t *index = map64_put(&r->frames, code);
        if (!index)
            return false;
        *index = i;
        if (!vec_push(&r->codes, code))
            return false;
    }
    return true;
}

/* Opens a lane, which gets the next index. */
static memtrace_status open_lane(rewrite *r, uint16_t domain) {
    if (!vec_push(&r->lanes, (rewrite_lane){.domain = domain}))
        return MEMTRACE_NOMEM;
    rewrite_lane *new = &r->lanes.items[r->lanes.count - 1];
    const memtrace_status status = memtrace_stream_open(r->writer, domain, &new->stream);
    r->lanes.count -= status != MEMTRACE_OK;
    return status;
}

static memtrace_status find_lane(rewrite *r, uint16_t domain, rewrite_lane **found) {
    if (r->latest_lane >= r->lanes.count || r->lanes.items[r->latest_lane].domain != domain) {
        uint32_t *index = map64_put(&r->lane_of_domain, domain);
        if (!index)
            return MEMTRACE_NOMEM;
        if (*index == MAP64_NONE) {
            const memtrace_status status = open_lane(r, domain);
            if (status != MEMTRACE_OK)
                return status;
            *index = (uint32_t)r->lanes.count - 1;
        }
        r->latest_lane = *index;
    }
    *found = &r->lanes.items[r->latest_lane];
    return MEMTRACE_OK;
}

/* Makes the lane's backtrace that of the event. */
static bool follow(rewrite *r, rewrite_lane *lane, const memtrace_event *event) {
    const size_t n = event->n_frames, kept = event->common_prefix;
    if (!learn_frames(r) || !vec_reserve(&lane->codes, n))
        return false;
    for (size_t i = kept; i < n; i++)
        lane->codes.items[i] = r->codes.items[event->frames[i]];
    lane->codes.count = n;
    if (kept < lane->common)
        lane->common = kept;
    return true;
}

static size_t at_most(size_t a, size_t b) {
    return a < b ? a : b;
}

static memtrace_status put_alloc(const rewrite_lane *lane, const memtrace_event *e, size_t n,
                                 size_t common) {
    return memtrace_stream_alloc_as(lane->stream, e->time, e->id, e->source, e->length, e->samples,
                                    lane->codes.items, n, common);
}

/* Lets the caller edit the inner end of the backtrace, writes the event and undoes the edit. */
static memtrace_status put_edited(rewrite *r, rewrite_lane *lane, const memtrace_event *e) {
    const size_t n = lane->codes.count;
    size_t same = n;
    const size_t left = r->options.edit(r->options.user, e, lane->codes.items, n, &same);
    const size_t common = at_most(lane->common, at_most(same, lane->unedited));
    const memtrace_status status = put_alloc(lane, e, left, common);
    for (size_t i = same; i < n; i++)
        lane->codes.items[i] = r->codes.items[e->frames[i]];
    lane->unedited = same;
    return status;
}

/* Writes a remark, whose innermost frame is all that matters. The last remark of a segment's head
 * flushes the stream: packets with equal times are written in the order in which they were filled,
 * so the head stays in front. */
static memtrace_status put_remark(const rewrite *r, rewrite_lane *lane, const memtrace_event *e) {
    const size_t n = lane->codes.count;
    lane->unedited = lane->common = n == 1;
    const memtrace_status status = memtrace_stream_remark_as(
        lane->stream, e->time, e->id, n > 0 ? lane->codes.items[n - 1] : 0, e->length);
    return status == MEMTRACE_OK && segment_remark_of(r->reader, e) == SEGMENT_CARRIES
               ? memtrace_stream_flush(lane->stream)
               : status;
}

static memtrace_status put_kept_alloc(rewrite *r, rewrite_lane *lane, const memtrace_event *e) {
    const memtrace_status status = r->options.edit
                                       ? put_edited(r, lane, e)
                                       : put_alloc(lane, e, lane->codes.count, lane->common);
    lane->common = lane->codes.count;
    return status;
}

static bool has_backtrace(const memtrace_event *e) {
    return e->kind != MEMTRACE_PROMOTE && e->kind != MEMTRACE_COLLECT;
}

static memtrace_status put_wanted(rewrite *r, const memtrace_event *e, bool wanted) {
    const uint32_t domain = (uint32_t)e->domain + r->options.first_domain;
    rewrite_lane *lane;
    const memtrace_status status =
        domain > UINT16_MAX ? MEMTRACE_USAGE : find_lane(r, (uint16_t)domain, &lane);
    if (status != MEMTRACE_OK)
        return status;
    if (wanted)
        lane->time = e->time;
    if (e->kind == MEMTRACE_PROMOTE)
        return memtrace_stream_promote(lane->stream, e->time, e->id);
    if (e->kind == MEMTRACE_COLLECT)
        return memtrace_stream_collect(lane->stream, e->time, e->id);
    if (!follow(r, lane, e))
        return MEMTRACE_NOMEM;
    if (!wanted)
        return MEMTRACE_OK;
    return e->kind == MEMTRACE_ALLOC ? put_kept_alloc(r, lane, e) : put_remark(r, lane, e);
}

/* Renumbers the event's block. Returns false if the block was never allocated, as far as is known,
 * or when out of memory, which sets `os_error`. */
static bool renumber(rewrite *r, memtrace_event *e) {
    if (!has_backtrace(e)) {
        const uint32_t id = map64_get(&r->id_of, e->id);
        const bool known = id != MAP64_NONE || e->id < r->n_kept;
        e->id = id != MAP64_NONE ? id : e->id;
        return known;
    }
    const uint64_t id = r->n_ids++;
    if (id == e->id && id == r->n_kept) {
        r->n_kept++;
        return true;
    }
    uint32_t *new = id < MAP64_NONE ? map64_put(&r->id_of, e->id) : NULL;
    if (!new) {
        r->os_error = ENOMEM;
        return false;
    }
    *new = (uint32_t)(e->id = id);
    return true;
}

/* A dropped event still updates the backtrace, because later events refer to it. */
static memtrace_status put_event(rewrite *r, memtrace_event *e) {
    const bool selected = !r->options.select || r->options.select(r->options.user, e),
               wanted = selected && (!r->numbers || renumber(r, e));
    if (r->os_error)
        return MEMTRACE_IO;
    return wanted || has_backtrace(e) ? put_wanted(r, e, wanted) : MEMTRACE_OK;
}

/* ---- the whole ---- */

static memtrace_info head_of(const memtrace_reader *reader, const rewrite_options *options) {
    memtrace_info info = *memtrace_reader_info(reader);
    if (info.version < 2)
        info.version = 2;
    if (options->version)
        info.version = options->version;
    if (options->sample_rate > 0)
        info.sample_rate = options->sample_rate;
    if (options->context)
        info.context = options->context;
    return info;
}

static memtrace_status explain(const rewrite *r, memtrace_status status, memtrace_error *error) {
    if (status == MEMTRACE_OK)
        return status;
    if (status == MEMTRACE_IO)
        return failure(error, status, r->os_error, "the trace cannot be written");
    if (status == MEMTRACE_NOMEM)
        return failure(error, status, 0, "not enough memory to rewrite the trace");
    return failure(error, status, 0, "has several threads or domains, which requires version 3");
}

static memtrace_status copy_events(rewrite *r, memtrace_error *error) {
    memtrace_event event;
    for (;;) {
        memtrace_status status = memtrace_reader_next(r->reader, &event);
        if (status == MEMTRACE_END)
            return MEMTRACE_OK;
        if (status != MEMTRACE_OK) {
            if (error)
                *error = *memtrace_reader_error(r->reader);
            return status;
        }
        status = put_event(r, &event);
        if (status != MEMTRACE_OK)
            return explain(r, status, error);
    }
}

static memtrace_status add_more_events(rewrite *r, memtrace_error *error) {
    memtrace_event event;
    memtrace_status status = MEMTRACE_OK;
    while (status == MEMTRACE_OK && r->options.add && r->options.add(r->options.user, &event))
        status = put_wanted(r, &event, true);
    return explain(r, status, error);
}

/* Notes the end of the input in the lane with the latest event. */
static memtrace_status note_end(rewrite *r) {
    const uint64_t duration = memtrace_reader_duration(r->reader),
                   end = r->options.end ? r->options.end(r->options.user, duration) : duration;
    size_t latest = 0;
    for (size_t i = 1; i < r->lanes.count; i++)
        if (r->lanes.items[i].time > r->lanes.items[latest].time)
            latest = i;
    if (r->lanes.count == 0 && end > 0) {
        const memtrace_status status = open_lane(r, r->options.first_domain);
        if (status != MEMTRACE_OK)
            return status;
    }
    if (r->lanes.count > 0 && end > r->lanes.items[latest].time)
        r->lanes.items[latest].end = end;
    return MEMTRACE_OK;
}

/* Whether `time` in the input is after the part that is kept. */
static bool is_behind_part(const rewrite *r, uint64_t time) {
    if (!r->options.end)
        return false;
    const uint64_t end = r->options.end(r->options.user, time);
    return end > 0 && r->options.end(r->options.user, time + 1) == end;
}

/* Copies the statements of gaps. A trace made from a damaged one is not damaged, but events are
 * still missing. Gaps before the part are copied as well: what was lost there may have freed blocks
 * of the part. */
static memtrace_status take_gaps(rewrite *r) {
    size_t n;
    uint64_t of = 0;
    const memtrace_gap *gaps = memtrace_reader_gaps(r->reader, &n);
    for (size_t i = 0; i < n; i++) {
        memtrace_gap gap = gaps[i];
        of = gap.of > of ? gap.of : of;
        if (is_behind_part(r, gap.from))
            continue;
        if (r->options.end) {
            gap.from = r->options.end(r->options.user, gap.from);
            gap.to = r->options.end(r->options.user, gap.to);
        }
        if (!vec_push(&r->gaps, gap))
            return MEMTRACE_NOMEM;
    }
    const memtrace_packet *last = memtrace_reader_packet(r->reader);
    r->n_bytes += of ? of : last->offset + last->size;
    return MEMTRACE_OK;
}

static memtrace_status put_gaps(rewrite *r, const memtrace_info *info) {
    const end_trace of = {.version = info->version, .start = info->start_time, .pid = info->pid};
    for (size_t i = 0; i < r->gaps.count; i++) {
        uint8_t bytes[END_PACKET];
        r->gaps.items[i].of = r->n_bytes;
        end_put_gap(bytes, &of, &r->gaps.items[i]);
        r->os_error = spool_add(&r->spool, behind_names(of.start + r->gaps.items[i].from), bytes,
                                sizeof bytes);
        if (r->os_error)
            return MEMTRACE_IO;
    }
    return MEMTRACE_OK;
}

/* Returns how the part of the input that is kept ended. If events are missing at the input's end,
 * the time is where they begin, unless the part ends earlier. */
static memtrace_end end_of_part(const rewrite *r) {
    memtrace_end end = memtrace_reader_end(r->reader);
    const uint64_t time = end.time;
    char why[MEMTRACE_MAX_REASON];
    if (r->options.end)
        end.time = r->options.end(r->options.user, time);
    if (!end_is_missing(&end))
        return end;
    end_explain(&(memtrace_end){.how = end.how}, why, sizeof why);
    if (is_behind_part(r, time))
        return end_make(MEMTRACE_END_WHOLE, end.time, 0, "");
    if (end.how == MEMTRACE_END_OPEN)
        return end_make(MEMTRACE_END_EARLY, end.time, 0, why);
    return end;
}

/* The earliest early end counts. The result is whole only if all inputs say that they are. */
static void combine_ends(rewrite *r) {
    const memtrace_end end = end_of_part(r);
    r->n_ended += end.how != MEMTRACE_END_UNSAID;
    if (end.how == MEMTRACE_END_EARLY &&
        (r->end.how != MEMTRACE_END_EARLY || end.time < r->end.time))
        r->end = end;
    else if (end.how == MEMTRACE_END_WHOLE && r->end.how != MEMTRACE_END_EARLY &&
             (r->end.how == MEMTRACE_END_UNSAID || end.time > r->end.time))
        r->end = end;
}

static memtrace_status put_end(rewrite *r, size_t n_inputs) {
    if (r->end.how == MEMTRACE_END_UNSAID ||
        (r->end.how == MEMTRACE_END_WHOLE && r->n_ended < n_inputs))
        return MEMTRACE_OK;
    return memtrace_writer_end(r->writer, &r->end);
}

/* Closes the streams of an input and forgets its codes. Returns the first failure. */
static memtrace_status close_lanes(rewrite *r) {
    memtrace_status first = MEMTRACE_OK;
    for (size_t i = 0; i < r->lanes.count; i++) {
        const rewrite_lane *lane = &r->lanes.items[i];
        const memtrace_status status = memtrace_stream_close_at(lane->stream, lane->end);
        if (first == MEMTRACE_OK)
            first = status;
        vec_free(&r->lanes.items[i].codes);
    }
    vec_free(&r->codes);
    vec_free(&r->lanes);
    map64_free(&r->frames);
    map64_free(&r->lane_of_domain);
    return first;
}

static memtrace_status add_input(rewrite *r, const rewrite_input *input, memtrace_error *error) {
    r->input = input;
    r->reader = input->reader;
    r->options = input->options;
    memtrace_status status = copy_events(r, error);
    if (status == MEMTRACE_OK)
        status = add_more_events(r, error);
    if (status == MEMTRACE_OK)
        status = explain(r, note_end(r), error);
    if (status == MEMTRACE_OK)
        status = explain(r, take_gaps(r), error);
    combine_ends(r);
    const memtrace_status closed = close_lanes(r);
    return status == MEMTRACE_OK ? explain(r, closed, error) : status;
}

static memtrace_status rewrite_spooled(rewrite *r, const memtrace_info *info,
                                       const rewrite_input *inputs, size_t n_inputs, int fd,
                                       compression how, memtrace_error *error) {
    const memtrace_writer_options hooks = {.sink = take_events, .locate = note_name, .context = r};
    memtrace_status status = memtrace_writer_open(info, &hooks, &r->writer, error);
    if (status != MEMTRACE_OK)
        return status;
    for (size_t i = 0; i < n_inputs && status == MEMTRACE_OK; i++)
        status = add_input(r, &inputs[i], error);
    if (status == MEMTRACE_OK)
        status = explain(r, put_end(r, n_inputs), error);
    if (status == MEMTRACE_OK)
        status = explain(r, put_gaps(r, info), error);
    const memtrace_status closed = memtrace_writer_close(r->writer);
    if (status == MEMTRACE_OK)
        status = explain(r, closed, error);
    if (status == MEMTRACE_OK)
        status = explain(r, write_names(r, info), error);
    if (status != MEMTRACE_OK)
        return status;
    compressor to;
    r->os_error = compressor_open(&to, fd, how);
    if (!r->os_error)
        r->os_error = compressor_close(&to, spool_write(&r->spool, &to));
    return explain(r, r->os_error ? MEMTRACE_IO : MEMTRACE_OK, error);
}

memtrace_status rewrite_traces(const memtrace_info *info, const rewrite_input *inputs,
                               size_t n_inputs, int fd, compression how, memtrace_error *error) {
    rewrite r = {.numbers = info->version == 2};
    const int os_error = spool_open(&r.spool);
    if (os_error)
        return failure(error, MEMTRACE_IO, os_error,
                       "cannot create a temporary file for the trace");
    const memtrace_status status = rewrite_spooled(&r, info, inputs, n_inputs, fd, how, error);
    spool_close(&r.spool);
    vec_free(&r.named);
    vec_free(&r.names);
    vec_free(&r.gaps);
    map64_free(&r.name_of_code);
    map64_free(&r.id_of);
    return status;
}

memtrace_status rewrite_trace(memtrace_reader *reader, const rewrite_options *options, int fd,
                              compression how, memtrace_error *error) {
    const rewrite_input input = {.reader = reader,
                                 .options = options ? *options : (rewrite_options){0}};
    const memtrace_info info = head_of(reader, &input.options);
    return rewrite_traces(&info, &input, 1, fd, how, error);
}

memtrace_status rewrite_to_file(memtrace_reader *reader, const rewrite_options *options,
                                const char *path, memtrace_error *error) {
    replacement file;
    memtrace_status status = replacement_begin(&file, path, error);
    if (status != MEMTRACE_OK)
        return status;
    status = rewrite_trace(reader, options, file.fd, compression_of(path), error);
    if (status == MEMTRACE_OK)
        return replacement_commit(&file, error);
    replacement_abort(&file);
    return status;
}
