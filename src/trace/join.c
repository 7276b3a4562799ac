/* join.c: blocks are identified by their ids in the recording; for carried blocks, remarks give
 * these ids. Events are rewritten in one pass. When a segment begins, every live block that it does
 * not carry is freed. */
#include "trace/join.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "trace/end.h"

static memtrace_status open_lane(join *j, uint16_t domain, join_lane **lane) {
    while (j->lanes.count <= domain)
        if (!vec_push(&j->lanes, (join_lane){0}))
            return MEMTRACE_NOMEM;
    *lane = &j->lanes.items[domain];
    return (*lane)->stream ? MEMTRACE_OK
                           : memtrace_stream_open(j->out.writer, domain, &(*lane)->stream);
}

/* ---- blocks -------------------------------------------------------------------------------- */

/* Returns the block with this id in the recording, which is added if it is new. NULL when out of
 * memory. */
static join_block *block_of(join *j, uint64_t id, uint32_t *row) {
    if (!vec_reserve(&j->blocks, 1))
        return NULL;
    uint32_t *place = map64_put(&j->rows, id);
    if (!place)
        return NULL;
    if (*place == MAP64_NONE) {
        *place = (uint32_t)j->blocks.count++;
        j->blocks.items[*place] = (join_block){.out = id};
    }
    *row = *place;
    return &j->blocks.items[*place];
}

/* Takes a block's first occurrence. Returns whether any of its samples is kept. */
static bool meet(join *j, uint64_t id, const memtrace_event *e, join_block *b, uint64_t *samples) {
    *samples =
        segment_thin(j->head.recording, id, e->samples, j->head.level, j->head.level + j->halvings);
    b->domain = e->domain;
    b->round = j->round;
    b->live = !b->dead;
    b->thinned = e->samples > 0 && *samples == 0;
    return !b->thinned;
}

static memtrace_status put_alloc(const join *j, const join_lane *lane, const memtrace_event *e,
                                 const join_block *b, uint64_t samples) {
    return memtrace_stream_alloc_as(lane->stream, e->time + j->shift, b->out, e->source, e->length,
                                    samples, lane->codes.items, lane->codes.count, 0);
}

/* Writes a carried block that no earlier segment had. */
static memtrace_status put_carried(join *j, join_lane *lane, const memtrace_event *e,
                                   join_block *b) {
    const uint64_t time = e->time + j->shift;
    uint64_t samples;
    if (!meet(j, lane->block, e, b, &samples))
        return MEMTRACE_OK;
    memtrace_status status =
        segment_writer_remark(&j->out, lane->stream, time, SEGMENT_BLOCK, lane->block);
    if (status == MEMTRACE_OK)
        status = segment_writer_remark(&j->out, lane->stream, time, SEGMENT_AGE, lane->age);
    b->out = j->out.next_id++;
    return status == MEMTRACE_OK ? put_alloc(j, lane, e, b, samples) : status;
}

static memtrace_status take_held(join *j);

/* Frees the blocks that were live before this segment and are not carried by it. */
static memtrace_status free_others(join *j) {
    memtrace_status status = MEMTRACE_OK;
    for (size_t i = 0; i < j->blocks.count && status == MEMTRACE_OK; i++) {
        join_block *b = &j->blocks.items[i];
        if (!b->live || b->round == j->round)
            continue;
        b->live = false;
        b->dead = true;
        if (b->thinned)
            continue;
        j->n_freed++;
        status = memtrace_stream_collect(j->lanes.items[b->domain].stream, j->shift, b->out);
    }
    return status;
}

static memtrace_status take_carried(join *j, join_lane *lane, const memtrace_event *e) {
    uint32_t row, *here;
    join_block *b = block_of(j, lane->block, &row);
    if (!b || !(here = map64_put(&j->carried, e->id)))
        return MEMTRACE_NOMEM;
    *here = row;
    lane->carries = false;
    const bool known = b->round > 0;
    b->round = j->round;
    memtrace_status status = known ? MEMTRACE_OK : put_carried(j, lane, e, b);
    const bool was_last = j->n_carried > 0 && --j->n_carried == 0;
    if (status == MEMTRACE_OK && was_last)
        status = take_held(j);
    return status == MEMTRACE_OK && was_last ? free_others(j) : status;
}

static memtrace_status take_alloc(join *j, join_lane *lane, const memtrace_event *e) {
    uint32_t row;
    if (lane->carries)
        return take_carried(j, lane, e);
    join_block *b = block_of(j, e->id, &row);
    uint64_t samples;
    if (!b)
        return MEMTRACE_NOMEM;
    return b->round == 0 && meet(j, e->id, e, b, &samples) ? put_alloc(j, lane, e, b, samples)
                                                           : MEMTRACE_OK;
}

static memtrace_status take_remark(join *j, join_lane *lane, const memtrace_event *e) {
    const size_t n = lane->codes.count;
    const segment_remark remark = segment_remark_of(j->out.reader, e);
    if (remark == SEGMENT_NO_REMARK)
        return memtrace_stream_remark_as(lane->stream, e->time + j->shift,
                                         e->id >= SEGMENT_IDS ? j->out.next_id++ : e->id,
                                         n ? lane->codes.items[n - 1] : 0, e->length);
    if (remark == SEGMENT_BLOCK)
        lane->block = e->length;
    if (remark == SEGMENT_AGE)
        lane->age = e->length;
    lane->carries |= remark == SEGMENT_AGE;
    return MEMTRACE_OK;
}

/* A death counts once, and may come before its allocation. */
static memtrace_status take_fate(join *j, const join_lane *lane, const memtrace_event *e) {
    uint32_t row = map64_get(&j->carried, e->id);
    if (row == MAP64_NONE && e->id >= SEGMENT_IDS)
        return MEMTRACE_OK; /* of a block that was lost in damage */
    join_block *b = row == MAP64_NONE ? block_of(j, e->id, &row) : &j->blocks.items[row];
    const uint64_t time = e->time + j->shift;
    if (!b)
        return MEMTRACE_NOMEM;
    if (b->dead || b->thinned)
        return MEMTRACE_OK;
    if (e->kind == MEMTRACE_PROMOTE)
        return memtrace_stream_promote(lane->stream, time, b->out);
    b->dead = true;
    b->live = false;
    return memtrace_stream_collect(lane->stream, time, b->out);
}

/* ---- waiting events ------------------------------------------------------------------------ */

/* Whether the event must wait. A domain lists its carried blocks before everything else, so all its
 * events can wait from the first death or promotion of an unknown block on. */
static bool must_wait(const join *j, join_lane *lane, const memtrace_event *e) {
    if (j->n_carried > 0 && segment_is_fate(e) && e->id >= SEGMENT_IDS &&
        map64_get(&j->carried, e->id) == MAP64_NONE)
        lane->waits = true;
    const bool is_carried = lane->carries && e->kind == MEMTRACE_ALLOC;
    return lane->waits && !is_carried && segment_remark_of(j->out.reader, e) == SEGMENT_NO_REMARK;
}

/* Holds an event; the lane has its backtrace. */
static memtrace_status hold(join *j, const join_lane *lane, const memtrace_event *e) {
    const size_t n = segment_is_fate(e) ? 0 : lane->codes.count;
    join_held new = {.event = *e, .first = j->held_codes.count, .n = n};
    new.event.frames = NULL; /* they are the reader's and will change */
    new.event.n_frames = 0;
    if (!vec_reserve(&j->held_codes, n) || !vec_push(&j->held, new))
        return MEMTRACE_NOMEM;
    if (n > 0)
        memcpy(j->held_codes.items + new.first, lane->codes.items, n * sizeof *lane->codes.items);
    j->held_codes.count += n;
    return MEMTRACE_OK;
}

static memtrace_status take_in_turn(join *j, join_lane *lane, const memtrace_event *e) {
    if (segment_is_fate(e))
        return take_fate(j, lane, e);
    return e->kind == MEMTRACE_ALLOC ? take_alloc(j, lane, e) : take_remark(j, lane, e);
}

static memtrace_status take_one_held(join *j, const join_held *h) {
    join_lane *lane = &j->lanes.items[h->event.domain];
    const segment_backtrace latest = lane->codes;
    if (!segment_is_fate(&h->event)) {
        lane->codes.items = j->held_codes.items + h->first;
        lane->codes.count = h->n;
    }
    const memtrace_status status = take_in_turn(j, lane, &h->event);
    lane->codes = latest;
    return status;
}

static memtrace_status take_held(join *j) {
    memtrace_status status = MEMTRACE_OK;
    for (size_t i = 0; i < j->lanes.count; i++)
        j->lanes.items[i].waits = false;
    for (size_t i = 0; i < j->held.count && status == MEMTRACE_OK; i++)
        status = take_one_held(j, &j->held.items[i]);
    vec_clear(&j->held);
    vec_clear(&j->held_codes);
    return status;
}

static memtrace_status take(join *j, const memtrace_event *e) {
    join_lane *lane;
    const memtrace_status status = open_lane(j, e->domain, &lane);
    if (status != MEMTRACE_OK)
        return status;
    if (!segment_is_fate(e) && !segment_writer_follow(&j->out, &lane->codes, e))
        return MEMTRACE_NOMEM;
    return must_wait(j, lane, e) ? hold(j, lane, e) : take_in_turn(j, lane, e);
}

/* ---- segments ------------------------------------------------------------------------------ */

/* Writes the head of the result, from the first segment's. */
static memtrace_status put_head(join *j) {
    segment_head head = j->head;
    head.level += j->halvings;
    join_lane *lane;
    const memtrace_status status = open_lane(j, 0, &lane);
    return status == MEMTRACE_OK ? segment_writer_head(&j->out, lane->stream, &head) : status;
}

/* Reads the remarks at the head of the segment. */
static memtrace_status take_head(join *j) {
    segment_head head;
    memtrace_status status = segment_read_head(j->out.reader, &head);
    if (status != MEMTRACE_OK || !head.is_segment)
        return status == MEMTRACE_OK ? MEMTRACE_FORMAT : status;
    const bool first = j->round == 1;
    if (!first && head.number > j->head.number + 1)
        j->n_missing += head.number - j->head.number - 1;
    j->head = head;
    j->n_carried = head.n_carried;
    status = first ? put_head(j) : MEMTRACE_OK;
    return status == MEMTRACE_OK && head.n_carried == 0 ? free_others(j) : status;
}

static void start_segment(join *j, memtrace_reader *reader) {
    const memtrace_info *info = memtrace_reader_info(reader);
    segment_writer_read(&j->out, reader);
    j->round++;
    j->halvings = (uint64_t)lround(fmax(0, log2(info->sample_rate / j->rate)));
    j->shift = info->start_time > j->start ? info->start_time - j->start : 0;
    map64_free(&j->carried);
    for (size_t i = 0; i < j->lanes.count; i++) {
        vec_clear(&j->lanes.items[i].codes);
        j->lanes.items[i].carries = false;
    }
}

/* Whether a failure is the reader's, and not that of writing the result. */
static bool is_readers(const join *j, memtrace_status status) {
    return memtrace_reader_error(j->out.reader)->status == status;
}

static memtrace_status take_gaps(join *j, const memtrace_reader *reader) {
    size_t n;
    const memtrace_gap *gaps = memtrace_reader_gaps(reader, &n);
    const memtrace_packet *last = memtrace_reader_packet(reader);
    j->n_bytes += last->offset + last->size;
    for (size_t i = 0; i < n; i++) {
        memtrace_gap gap = gaps[i];
        gap.from += j->shift;
        gap.to += j->shift;
        if (!vec_push(&j->gaps, gap))
            return MEMTRACE_NOMEM;
    }
    return MEMTRACE_OK;
}

static memtrace_status put_gaps(join *j) {
    memtrace_status status = MEMTRACE_OK;
    for (size_t i = 0; i < j->gaps.count && status == MEMTRACE_OK; i++) {
        j->gaps.items[i].of = j->n_bytes;
        status = segment_writer_gap(&j->out, &j->gaps.items[i]);
    }
    return status;
}

memtrace_status join_add(join *j, memtrace_reader *reader) {
    memtrace_event event;
    start_segment(j, reader);
    memtrace_status status = take_head(j);
    while (status == MEMTRACE_OK && (status = memtrace_reader_next(reader, &event)) == MEMTRACE_OK)
        status = take(j, &event);
    if (status == MEMTRACE_END || is_readers(j, status)) {
        const memtrace_status held = take_held(j); /* left over from a truncated segment */
        status = held == MEMTRACE_OK ? status : held;
    }
    const uint64_t end = j->shift + memtrace_reader_duration(reader);
    j->end = end > j->end ? end : j->end;
    return status == MEMTRACE_END || is_readers(j, status) ? take_gaps(j, reader) : status;
}

memtrace_status join_begin(join *j, const memtrace_info *first, double rate, int fd) {
    memtrace_info info = *first;
    *j = (join){.rate = rate, .start = first->start_time};
    info.sample_rate = rate;
    return segment_writer_open(&j->out, &info, fd);
}

/* ---- the end ------------------------------------------------------------------------------- */

static memtrace_status close_lanes(join *j) {
    memtrace_status first = MEMTRACE_OK;
    uint64_t end = j->end;
    for (size_t i = 0; i < j->lanes.count; i++) {
        if (!j->lanes.items[i].stream)
            continue;
        const memtrace_status status = memtrace_stream_close_at(j->lanes.items[i].stream, end);
        first = first == MEMTRACE_OK ? status : first;
        j->lanes.items[i].stream = NULL;
        end = 0; /* one stream states the end for all of them */
    }
    return first;
}

/* Returns the end that the last segment states, in the result's times. */
static memtrace_end end_in(const join *j) {
    memtrace_end end = memtrace_reader_end(j->out.reader);
    char why[MEMTRACE_MAX_REASON];
    end.time = j->is_recording ? j->end : end.time + j->shift;
    if (end.how != MEMTRACE_END_OPEN)
        return end;
    end_explain(&(memtrace_end){.how = end.how}, why, sizeof why);
    return end_make(MEMTRACE_END_EARLY, end.time, 0, why);
}

void join_extend(join *j, uint64_t until) {
    if (until > j->start + j->end)
        j->end = until - j->start;
    j->is_recording = true;
}

memtrace_status join_end(join *j) {
    const memtrace_end end = end_in(j);
    memtrace_status status = close_lanes(j);
    if (status == MEMTRACE_OK)
        status = put_gaps(j);
    const memtrace_status closed = segment_writer_close(&j->out, &end);
    return status == MEMTRACE_OK ? closed : status;
}

void join_free(join *j) {
    if (j->out.writer) {
        const memtrace_status ignored = close_lanes(j),
                              closed = memtrace_writer_close(j->out.writer);
        (void)ignored, (void)closed;
    }
    for (size_t i = 0; i < j->lanes.count; i++)
        vec_free(&j->lanes.items[i].codes);
    vec_free(&j->held);
    vec_free(&j->held_codes);
    vec_free(&j->gaps);
    vec_free(&j->blocks);
    map64_free(&j->rows);
    map64_free(&j->carried);
    vec_free(&j->lanes);
    segment_writer_free(&j->out);
    *j = (join){0};
}
