/* cutter.c: live blocks are a list of blocks, each with the index of its stack. Equal stacks are
 * stored once. Both lists are compacted when a segment begins. A segment starts with the live
 * blocks, in time order, each in a stream of its own domain. */
#include "trace/cutter.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

enum {
    MAX_DEATHS = 1 << 16, /* deaths that wait for their allocations */
    /* Words for a held event's name. */
    NAME_WORDS = (SPAN_TEXT + sizeof(uint64_t) - 1) / sizeof(uint64_t)
};

/* ---- stacks -------------------------------------------------------------------------------- */

/* Returns NULL when out of memory. No sweep has left out a domain before its first event, so a new
 * lane counts as written up to the last sweep. */
static cutter_lane *lane_of(cutter *c, uint16_t domain) {
    while (c->lanes.count <= domain) {
        if (!vec_push(&c->lanes, ((cutter_lane){.written = c->written})))
            return NULL;
        c->n_lagging += c->written <= c->until;
    }
    return &c->lanes.items[domain];
}

static bool is_stack(const cutter_stack *s, const uint64_t *codes, size_t n) {
    return s->n == n && memcmp(s->codes, codes, n * sizeof *codes) == 0;
}

static bool add_stack(cutter *c, uint64_t hash, const uint64_t *codes, size_t n) {
    uint64_t *copy = malloc((n + 1) * sizeof *codes);
    if (!copy ||
        !vec_push(&c->stacks, ((cutter_stack){.codes = copy, .n = (uint32_t)n, .hash = hash}))) {
        free(copy);
        return false;
    }
    memcpy(copy, codes, n * sizeof *codes);
    return true;
}

/* When two stacks have the same hash, both are stored, but only the later one is found. */
static bool find_stack(cutter *c, const uint64_t *codes, size_t n, uint32_t *found) {
    const uint64_t hash = hash_bytes(codes, n * sizeof *codes);
    uint32_t *row = map64_put(&c->stack_rows, hash);
    if (!row)
        return false;
    if (*row == MAP64_NONE || !is_stack(&c->stacks.items[*row], codes, n)) {
        *row = (uint32_t)c->stacks.count;
        if (!add_stack(c, hash, codes, n))
            return false;
    }
    *found = *row;
    return true;
}

/* ---- live blocks --------------------------------------------------------------------------- */

/* Removes dead blocks. Thinned blocks stay, because their deaths are still to come. */
static bool compact_blocks(cutter *c) {
    size_t n = 0;
    c->n_live = 0;
    map64_free(&c->rows);
    for (size_t i = 0; i < c->blocks.count; i++) {
        if (c->blocks.items[i].dead)
            continue;
        uint32_t *row = map64_put(&c->rows, c->blocks.items[i].id);
        if (!row)
            return false;
        *row = (uint32_t)n;
        c->n_live += !c->blocks.items[i].thinned;
        c->blocks.items[n++] = c->blocks.items[i];
    }
    c->blocks.count = n;
    return true;
}

/* Removes stacks that no block uses. */
static bool compact_stacks(cutter *c) {
    uint32_t *moved = calloc(c->stacks.count + 1, sizeof *moved);
    size_t n = 0;
    if (!moved)
        return false;
    for (size_t i = 0; i < c->blocks.count; i++)
        c->stacks.items[c->blocks.items[i].stack].n_users++;
    map64_free(&c->stack_rows);
    bool ok = true;
    for (size_t i = 0; i < c->stacks.count; i++) {
        cutter_stack s = c->stacks.items[i];
        if (s.n_users == 0) {
            free(s.codes);
            continue;
        }
        uint32_t *row = map64_put(&c->stack_rows, s.hash);
        if (row)
            *row = (uint32_t)n;
        ok &= row != NULL;
        s.n_users = 0;
        moved[i] = (uint32_t)n;
        c->stacks.items[n++] = s;
    }
    c->stacks.count = n;
    for (size_t i = 0; i < c->blocks.count; i++)
        c->blocks.items[i].stack = moved[c->blocks.items[i].stack];
    free(moved);
    return ok;
}

/* Removes spans that no block and no lane uses. Spans are not deduplicated: each request has a new
 * one, and few occur again. */
static bool compact_spans(cutter *c) {
    if (c->spans.count == 0)
        return true;
    uint32_t *moved = calloc(c->spans.count, sizeof *moved);
    size_t n = 1;
    if (!moved)
        return false;
    for (size_t i = 0; i < c->blocks.count; i++)
        c->spans.items[c->blocks.items[i].span].n_users++;
    for (size_t i = 0; i < c->lanes.count; i++)
        c->spans.items[c->lanes.items[i].span].n_users++;
    for (size_t i = 1; i < c->spans.count; i++)
        if (c->spans.items[i].n_users > 0) {
            moved[i] = (uint32_t)n;
            c->spans.items[n++] = (cutter_span){.ids = c->spans.items[i].ids};
        }
    c->spans.items[0].n_users = 0;
    c->spans.count = n;
    for (size_t i = 0; i < c->blocks.count; i++)
        c->blocks.items[i].span = moved[c->blocks.items[i].span];
    for (size_t i = 0; i < c->lanes.count; i++)
        c->lanes.items[i].span = moved[c->lanes.items[i].span];
    free(moved);
    return true;
}

/* Forgets deaths that did not find their allocations in a whole segment. */
static void compact_deaths(cutter *c) {
    size_t n = 0;
    for (size_t i = 0; i < c->deaths.count; i++)
        if (c->deaths.items[i].segment + 1 >= c->number) {
            c->deaths.items[n] = c->deaths.items[i];
            c->deaths.items[n++].repeated = false;
        }
    c->deaths.count = n;
}

/* ---- writing ------------------------------------------------------------------------------- */

static memtrace_status open_stream(cutter *c, uint16_t domain, memtrace_stream **stream) {
    cutter_lane *lane = lane_of(c, domain);
    if (!lane)
        return MEMTRACE_NOMEM;
    memtrace_status status = MEMTRACE_OK;
    if (!lane->stream)
        status = memtrace_stream_open(c->out.writer, domain, &lane->stream);
    *stream = lane->stream;
    return status;
}

/* Converts a time to the segment's. Time 0, its very start, is reserved for carried blocks. */
static uint64_t time_in(const cutter *c, uint64_t time) {
    return c->number == 1 ? time : time > c->start ? time - c->start : 1;
}

/* Writes the names of the thread and the scope of what comes next in the lane. */
static memtrace_status put_names(cutter *c, cutter_lane *lane, uint64_t time,
                                 const uint16_t names[CUTTER_NAMES]) {
    memtrace_status status = MEMTRACE_OK;
    for (int i = 0; i < CUTTER_NAMES && status == MEMTRACE_OK; i++) {
        if (names[i] == lane->written_names[i] || names[i] == 0)
            continue;
        lane->written_names[i] = names[i];
        status = memtrace_stream_remark_as(lane->stream, time, c->out.next_id++,
                                           c->names.items[names[i] - 1], 0);
    }
    return status;
}

/* Writes the remarks of a span. If the recording had enough of them, they keep their ids: an id
 * that does not follow its predecessor costs a new packet. */
static memtrace_status put_span(cutter *c, cutter_lane *lane, uint64_t time, uint32_t span,
                                uint64_t *parts, size_t n_parts) {
    struct span_remark remarks[SPAN_REMARKS];
    if (span == lane->written_span)
        return MEMTRACE_OK;
    const size_t n = span_remark_list(&lane->last_span, &c->spans.items[span].ids, remarks);
    memtrace_status status = MEMTRACE_OK;
    for (size_t i = 0; i < n && status == MEMTRACE_OK; i++)
        status = memtrace_stream_remark_as(lane->stream, time,
                                           n <= n_parts ? parts[n_parts - n + i] : c->out.next_id++,
                                           segment_span_code(remarks[i].which), remarks[i].value);
    lane->written_span = span;
    return status;
}

static memtrace_status put_carried(cutter *c, cutter_block *b) {
    const cutter_stack *s = &c->stacks.items[b->stack];
    const uint64_t time = b->time > c->start ? b->time - c->start : 0,
                   age = b->time > c->start ? 0 : c->start - b->time;
    memtrace_stream *stream;
    memtrace_status status = open_stream(c, b->domain, &stream);
    if (status == MEMTRACE_OK)
        status = put_names(c, &c->lanes.items[b->domain], time, b->names);
    if (status == MEMTRACE_OK)
        status = put_span(c, &c->lanes.items[b->domain], time, b->span, NULL, 0);
    if (status == MEMTRACE_OK)
        status = segment_writer_remark(&c->out, stream, time, SEGMENT_BLOCK, b->id);
    if (status == MEMTRACE_OK)
        status = segment_writer_remark(&c->out, stream, time, SEGMENT_AGE, age);
    b->out = c->out.next_id++;
    if (status == MEMTRACE_OK)
        status = memtrace_stream_alloc_as(stream, time, b->out, (memtrace_source)b->source,
                                          b->length, b->samples, s->codes, s->n, 0);
    if (status == MEMTRACE_OK && b->promoted)
        status = memtrace_stream_promote(stream, time, b->out);
    return status;
}

static memtrace_status put_again(cutter *c, cutter_death *d) {
    memtrace_stream *stream;
    d->repeated = true;
    const memtrace_status status = open_stream(c, d->domain, &stream);
    return status == MEMTRACE_OK ? memtrace_stream_collect(stream, time_in(c, d->time), d->id)
                                 : status;
}

static memtrace_status put_head(cutter *c) {
    const segment_head head = {.recording = memtrace_reader_info(c->out.reader)->start_time,
                               .number = c->number - 1,
                               .level = c->level,
                               .n_carried = c->n_live};
    memtrace_stream *stream;
    memtrace_status status = open_stream(c, 0, &stream);
    if (status == MEMTRACE_OK)
        status = segment_writer_head(&c->out, stream, &head);
    return status == MEMTRACE_OK ? memtrace_stream_flush(stream) : status;
}

/* Repeats the domain's unmatched deaths before that time, since a stream must be in time order. */
static memtrace_status put_deaths(cutter *c, uint16_t domain, uint64_t time) {
    memtrace_status status = MEMTRACE_OK;
    for (size_t i = 0; i < c->deaths.count && status == MEMTRACE_OK; i++) {
        cutter_death *d = &c->deaths.items[i];
        if (d->domain == domain && d->time < time && !d->repeated)
            status = put_again(c, d);
    }
    return status;
}

static memtrace_status put_live(cutter *c) {
    memtrace_status status = put_head(c);
    for (size_t i = 0; i < c->blocks.count && status == MEMTRACE_OK; i++) {
        cutter_block *b = &c->blocks.items[i];
        if (b->thinned)
            continue;
        status = put_deaths(c, b->domain, b->time);
        if (status == MEMTRACE_OK)
            status = put_carried(c, b);
    }
    for (size_t i = 0; i < c->lanes.count && status == MEMTRACE_OK; i++)
        status = put_deaths(c, (uint16_t)i, UINT64_MAX);
    return status == MEMTRACE_OK ? cutter_flush(c) : status;
}

static memtrace_status open_writer(cutter *c, int fd) {
    memtrace_info info = *memtrace_reader_info(c->out.reader);
    info.start_time += c->start;
    info.sample_rate = ldexp(info.sample_rate, -c->level);
    return segment_writer_open(&c->out, &info, fd);
}

/* All events of the domain before this time have come. */
static uint64_t whole_until(const cutter_lane *lane) {
    return lane->latest > lane->written ? lane->latest : lane->written;
}

/* The result is always later than the segment's start. */
uint64_t cutter_whole_until(const cutter *c) {
    const uint64_t least = c->latest > CUTTER_LATE ? c->latest - CUTTER_LATE : 0;
    uint64_t until = c->latest;
    for (size_t i = 0; i < c->lanes.count; i++)
        if (c->lanes.items[i].latest > 0 && whole_until(&c->lanes.items[i]) < until)
            until = whole_until(&c->lanes.items[i]);
    until = until > least ? until : least;
    return until > c->start + 1 ? until - 1 : c->start + 1;
}

static uint64_t next_start(const cutter *c) {
    return c->is_at_time ? c->latest : cutter_whole_until(c);
}

uint64_t cutter_live_level(const cutter *c) {
    uint8_t level = 0;
    for (size_t i = 0; i < c->blocks.count; i++) {
        const cutter_block *b = &c->blocks.items[i];
        if (!b->dead && !b->thinned && b->level > level)
            level = b->level;
    }
    return level;
}

static uint8_t level_of(uint64_t said) {
    return (uint8_t)(said < SEGMENT_MAX_LEVEL ? said : SEGMENT_MAX_LEVEL);
}

/* Chooses the lowest rate among the live blocks, the lanes and the held events. */
static void choose_level(cutter *c) {
    c->level = (uint8_t)cutter_live_level(c);
    if (c->number == 1 && c->first_level > c->level)
        c->level = c->first_level;
    for (size_t i = 0; i < c->lanes.count; i++)
        if (c->lanes.items[i].level > c->level)
            c->level = c->lanes.items[i].level;
    for (size_t i = 0; i < c->held.count; i++)
        if (c->held.items[i].remark == SEGMENT_LEVEL &&
            level_of(c->held.items[i].length) > c->level)
            c->level = level_of(c->held.items[i].length);
}

static void thin_block(const cutter *c, cutter_block *b) {
    b->samples = segment_thin(memtrace_reader_info(c->out.reader)->start_time, b->id, b->samples,
                              b->level, c->level);
    b->level = c->level;
    b->thinned = b->samples == 0;
}

static void thin_all(cutter *c) {
    choose_level(c);
    for (size_t i = 0; i < c->blocks.count; i++)
        if (!c->blocks.items[i].thinned)
            thin_block(c, &c->blocks.items[i]);
}

static memtrace_status take_held(cutter *c);

memtrace_status cutter_begin(cutter *c, int fd) {
    if (c->number > 0)
        c->start = next_start(c);
    compact_deaths(c);
    c->number++;
    thin_all(c);
    if (!compact_blocks(c) || !compact_stacks(c) || !compact_spans(c))
        return MEMTRACE_NOMEM;
    memtrace_status status = open_writer(c, fd);
    if (status == MEMTRACE_OK)
        status = put_live(c);
    c->carried_size = c->out.size;
    return status == MEMTRACE_OK ? take_held(c) : status;
}

/* ---- events -------------------------------------------------------------------------------- */

/* Whether the death of this block came before its allocation; forgets that death. */
static bool has_died(cutter *c, uint64_t id) {
    for (size_t i = 0; i < c->deaths.count; i++)
        if (c->deaths.items[i].id == id) {
            memmove(&c->deaths.items[i], &c->deaths.items[i + 1],
                    (--c->deaths.count - i) * sizeof *c->deaths.items);
            return true;
        }
    return false;
}

static bool add_block(cutter *c, const cutter_lane *lane, const memtrace_event *e,
                      uint64_t *samples) {
    cutter_block b = {.id = e->id,
                      .out = e->id,
                      .time = e->time,
                      .length = e->length,
                      .samples = e->samples,
                      .span = lane->span,
                      .domain = e->domain,
                      .source = (uint8_t)e->source,
                      .level = lane->level};
    memcpy(b.names, lane->names, sizeof b.names);
    thin_block(c, &b);
    *samples = b.samples;
    if (has_died(c, e->id))
        return true;
    uint32_t *row = map64_put(&c->rows, e->id);
    if (!row || !find_stack(c, lane->codes.items, lane->codes.count, &b.stack))
        return false;
    *row = (uint32_t)c->blocks.count;
    c->n_live += !b.thinned;
    return vec_push(&c->blocks, b);
}

/* Names the lane after the innermost code of its backtrace. Returns false when out of memory. */
static bool name_lane(cutter *c, cutter_lane *lane, int kind) {
    const uint64_t code = lane->codes.items[lane->codes.count - 1];
    size_t i = 0;
    while (i < c->names.count && c->names.items[i] != code)
        i++;
    if (i == UINT16_MAX || (i == c->names.count && !vec_push(&c->names, code)))
        return i == UINT16_MAX;
    lane->names[kind] = lane->written_names[kind] = (uint16_t)(i + 1);
    return true;
}

/* Takes over a name that the event sets for its lane. */
static bool take_name(cutter *c, cutter_lane *lane, const memtrace_event *e) {
    const bool is_scope = e->kind == MEMTRACE_SCOPE;
    return (e->kind != MEMTRACE_THREAD && !is_scope) || lane->codes.count == 0 ||
           name_lane(c, lane, is_scope ? CUTTER_SCOPE : CUTTER_THREAD);
}

/* Takes one part of a span id. The span is written once its last part is here. */
static memtrace_status take_span(cutter *c, cutter_lane *lane, const memtrace_event *e) {
    if (lane->n_parts == SPAN_REMARKS)
        lane->n_parts = 0; /* its last part was lost */
    lane->parts[lane->n_parts++] = e->id;
    if (!e->name)
        return MEMTRACE_OK;
    const size_t n_parts = lane->n_parts;
    lane->n_parts = 0;
    if ((c->spans.count == 0 && !vec_push(&c->spans, (cutter_span){0})) ||
        (*e->name && !vec_push(&c->spans, (cutter_span){.ids = span_remark_ids(e->name)})))
        return MEMTRACE_NOMEM;
    lane->span = *e->name ? (uint32_t)c->spans.count - 1 : 0;
    return put_span(c, lane, time_in(c, e->time), lane->span, lane->parts, n_parts);
}

static memtrace_status take_alloc(cutter *c, memtrace_stream *stream, const memtrace_event *e,
                                  segment_remark remark) {
    cutter_lane *lane = &c->lanes.items[e->domain];
    if (!take_name(c, lane, e))
        return MEMTRACE_NOMEM;
    const size_t n = lane->codes.count;
    const uint64_t time = time_in(c, e->time);
    if (e->kind == MEMTRACE_SPAN)
        return take_span(c, lane, e);
    memtrace_status before = put_names(c, lane, time, lane->names);
    if (before == MEMTRACE_OK)
        before = put_span(c, lane, time, lane->span, NULL, 0);
    if (before != MEMTRACE_OK)
        return before;
    if (remark == SEGMENT_LEVEL)
        lane->level = level_of(e->length);
    else if (e->kind != MEMTRACE_ALLOC)
        return memtrace_stream_remark_as(stream, time, e->id, n ? lane->codes.items[n - 1] : 0,
                                         e->length);
    uint64_t samples = e->samples;
    if (e->kind != MEMTRACE_ALLOC)
        return MEMTRACE_OK;
    if (samples > 0 && !add_block(c, lane, e, &samples))
        return MEMTRACE_NOMEM;
    return samples == 0 && e->samples > 0
               ? MEMTRACE_OK
               : memtrace_stream_alloc_as(stream, time, e->id, e->source, e->length, samples,
                                          lane->codes.items, n, 0);
}

static bool note_death(cutter *c, const memtrace_event *e) {
    return c->deaths.count >= MAX_DEATHS ||
           vec_push(&c->deaths,
                    ((cutter_death){
                        .id = e->id, .time = e->time, .segment = c->number, .domain = e->domain}));
}

static memtrace_status take_fate(cutter *c, memtrace_stream *stream, const memtrace_event *e) {
    const uint32_t row = map64_get(&c->rows, e->id);
    cutter_block *b = row == MAP64_NONE ? NULL : &c->blocks.items[row];
    const uint64_t id = b ? b->out : e->id, time = time_in(c, e->time);
    const bool thinned = b && b->thinned;
    if (e->kind == MEMTRACE_PROMOTE) {
        if (b)
            b->promoted = true;
        return thinned ? MEMTRACE_OK : memtrace_stream_promote(stream, time, id);
    }
    if (b) {
        c->n_live -= !b->dead && !thinned;
        b->dead = true;
    } else if (!note_death(c, e)) {
        return MEMTRACE_NOMEM;
    }
    return thinned ? MEMTRACE_OK : memtrace_stream_collect(stream, time, id);
}

/* ---- events after a planned cut ------------------------------------------------------------ */

static void count_behind(cutter *c) {
    c->n_lagging = 0;
    for (size_t i = 0; i < c->lanes.count; i++)
        c->n_lagging += whole_until(&c->lanes.items[i]) <= c->until;
}

static void note_time(cutter *c, cutter_lane *lane, uint64_t time) {
    const bool was_lagging = whole_until(lane) <= c->until;
    lane->latest = time > lane->latest ? time : lane->latest;
    c->n_lagging -= was_lagging && whole_until(lane) > c->until;
}

/* Notes that everything up to `time` is written, except in the domains that the sweep left out. The
 * remark is ignored if the number of LEFT remarks differs from `n_left`: then some were lost, or
 * they are from an earlier sweep that never finished. */
static void note_written(cutter *c, uint64_t time, uint64_t n_left) {
    const bool is_known = c->n_left == n_left;
    if (is_known && c->written <= time)
        c->written = time + 1;
    for (size_t i = 0; i < c->lanes.count; i++) {
        cutter_lane *lane = &c->lanes.items[i];
        if (is_known && !lane->left && lane->written <= time)
            lane->written = time + 1;
        lane->left = false;
    }
    c->n_left = 0;
    count_behind(c);
}

/* Returns false when out of memory. */
static bool note_sweep(cutter *c, const memtrace_event *e, segment_remark remark) {
    if (remark == SEGMENT_WRITTEN) {
        note_written(c, e->time, e->length);
    } else if (e->length <= UINT16_MAX) {
        cutter_lane *lane = lane_of(c, (uint16_t)e->length);
        if (!lane)
            return false;
        lane->left = true;
        c->n_left++;
    }
    return true;
}

/* Copies the name of a span, since the reader reuses its buffer at the next call. */
static bool hold_name(cutter *c, const char *name) {
    const size_t count = c->held_words.count;
    if (!vec_reserve(&c->held_words, NAME_WORDS))
        return false;
    char *copy = (char *)(c->held_words.items + count);
    memset(copy, 0, NAME_WORDS * sizeof *c->held_words.items);
    memcpy(copy, name, strnlen(name, SPAN_TEXT - 1));
    c->held_words.count = count + NAME_WORDS;
    return true;
}

static memtrace_status hold(cutter *c, cutter_lane *lane, const memtrace_event *e,
                            segment_remark remark) {
    const bool has_name = e->kind == MEMTRACE_SPAN && e->name;
    cutter_held h = {.time = e->time,
                     .id = e->id,
                     .length = e->length,
                     .samples = e->samples,
                     .domain = e->domain,
                     .kind = (uint8_t)e->kind,
                     .source = (uint8_t)e->source,
                     .remark = (uint8_t)remark,
                     .has_name = has_name};
    lane->waits = true;
    if (!segment_is_fate(e)) {
        h.n_frames = e->n_frames;
        h.common = e->common_prefix;
    }
    const size_t n = h.n_frames - h.common;
    if (n > 0 && !segment_writer_follow(&c->out, &c->held_codes, e))
        return MEMTRACE_NOMEM;
    if (!vec_reserve(&c->held_words, n))
        return MEMTRACE_NOMEM;
    if (n > 0)
        memcpy(c->held_words.items + c->held_words.count, c->held_codes.items + h.common,
               n * sizeof *c->held_words.items);
    c->held_words.count += n;
    if (has_name && !hold_name(c, e->name))
        return MEMTRACE_NOMEM;
    return vec_push(&c->held, h) ? MEMTRACE_OK : MEMTRACE_NOMEM;
}

/* ---- taking events ------------------------------------------------------------------------- */

bool cutter_is_due(const cutter *c) {
    for (size_t i = 0; i < c->lanes.count; i++)
        if (c->lanes.items[i].level > c->level)
            return true;
    return false;
}

/* Remarks that the recorder writes for the cutter alone. */
static bool is_of_sweep(segment_remark remark) {
    return remark == SEGMENT_LEFT || remark == SEGMENT_WRITTEN;
}

/* Takes an event. Unless it is a death or promotion, the lane has its backtrace. */
static memtrace_status take(cutter *c, const memtrace_event *e, segment_remark remark) {
    memtrace_stream *stream;
    if (is_of_sweep(remark))
        return MEMTRACE_OK;
    const memtrace_status status = open_stream(c, e->domain, &stream);
    if (status != MEMTRACE_OK)
        return status;
    c->latest = e->time > c->latest ? e->time : c->latest;
    return segment_is_fate(e) ? take_fate(c, stream, e) : take_alloc(c, stream, e, remark);
}

memtrace_status cutter_take(cutter *c, const memtrace_event *e) {
    cutter_lane *lane = lane_of(c, e->domain);
    if (!lane)
        return MEMTRACE_NOMEM;
    const segment_remark remark =
        segment_is_fate(e) ? SEGMENT_NO_REMARK : segment_remark_of(c->out.reader, e);
    note_time(c, lane, e->time);
    if (is_of_sweep(remark) && !note_sweep(c, e, remark))
        return MEMTRACE_NOMEM;
    lane = &c->lanes.items[e->domain];
    if (c->plans && (lane->waits || e->time > c->until))
        return hold(c, lane, e, remark);
    return segment_is_fate(e) || segment_writer_follow(&c->out, &lane->codes, e)
               ? take(c, e, remark)
               : MEMTRACE_NOMEM;
}

memtrace_status cutter_flush(cutter *c) {
    memtrace_status first = MEMTRACE_OK;
    for (size_t i = 0; i < c->lanes.count; i++) {
        memtrace_stream *stream = c->lanes.items[i].stream;
        if (!stream || memtrace_stream_oldest(stream) == UINT64_MAX)
            continue;
        const memtrace_status status = memtrace_stream_flush(stream);
        first = first == MEMTRACE_OK ? status : first;
    }
    return first;
}

/* ---- planned cuts -------------------------------------------------------------------------- */

void cutter_plan(cutter *c) {
    if (!c->plans) {
        c->plans = true;
        c->until = c->latest;
        count_behind(c);
    }
}

/* Makes the held backtrace that of the lane. Returns false when out of memory. */
static bool follow_held(cutter_lane *lane, const cutter_held *h, const uint64_t *words) {
    if (!vec_reserve(&lane->codes, h->n_frames))
        return false;
    if (h->n_frames > h->common)
        memcpy(lane->codes.items + h->common, words, (h->n_frames - h->common) * sizeof *words);
    lane->codes.count = h->n_frames;
    return true;
}

static memtrace_status take_one_held(cutter *c, const cutter_held *h, const uint64_t *words) {
    const memtrace_event e = {.kind = (memtrace_event_kind)h->kind,
                              .domain = h->domain,
                              .time = h->time,
                              .id = h->id,
                              .source = (memtrace_source)h->source,
                              .length = h->length,
                              .samples = h->samples,
                              .n_frames = h->n_frames,
                              .name = h->has_name ? (const char *)(words + h->n_frames - h->common)
                                                  : NULL};
    if (!segment_is_fate(&e) && !follow_held(&c->lanes.items[h->domain], h, words))
        return MEMTRACE_NOMEM;
    return take(c, &e, (segment_remark)h->remark);
}

static memtrace_status take_held(cutter *c) {
    memtrace_status status = MEMTRACE_OK;
    const uint64_t *words = c->held_words.items;
    c->plans = false;
    for (size_t i = 0; i < c->lanes.count; i++)
        c->lanes.items[i].waits = false;
    for (size_t i = 0; i < c->held.count && status == MEMTRACE_OK; i++) {
        const cutter_held *h = &c->held.items[i];
        status = take_one_held(c, h, words);
        const size_t n = h->n_frames - h->common + (h->has_name ? NAME_WORDS : 0);
        if (n > 0) /* otherwise there may be no words at all */
            words += n;
    }
    if (status != MEMTRACE_OK)
        return status; /* keep the held events, which end_of_failed needs */
    vec_free(&c->held);
    vec_free(&c->held_words);
    return status;
}

memtrace_status cutter_put_off(cutter *c) {
    const memtrace_status status = take_held(c);
    cutter_plan(c);
    return status;
}

/* ---- the end ------------------------------------------------------------------------------- */

/* Closes the streams, and forgets what was written to them: a segment starts with new streams. */
static memtrace_status close_streams(cutter *c, uint64_t time) {
    memtrace_status first = MEMTRACE_OK;
    for (size_t i = 0; i < c->lanes.count; i++) {
        if (!c->lanes.items[i].stream)
            continue;
        const memtrace_status status = memtrace_stream_close_at(c->lanes.items[i].stream, time);
        first = first == MEMTRACE_OK ? status : first;
        c->lanes.items[i].stream = NULL;
        memset(c->lanes.items[i].written_names, 0, sizeof c->lanes.items[i].written_names);
        c->lanes.items[i].written_span = 0;
        c->lanes.items[i].last_span = (memtrace_span){0};
        time = 0; /* one stream states the end for all of them */
    }
    return first;
}

/* The end to state if nothing more can be written: all events that are still in memory are
 * missing. */
static memtrace_end end_of_failed(const cutter *c) {
    uint64_t time = cutter_whole_until(c), n_lost = 0;
    for (size_t i = 0; i < c->held.count; i++)
        time = c->held.items[i].time < time ? c->held.items[i].time : time;
    time = time_in(c, time);
    for (size_t i = 0; i < c->lanes.count; i++) {
        const memtrace_stream *stream = c->lanes.items[i].stream;
        const uint64_t oldest = stream ? memtrace_stream_oldest(stream) : UINT64_MAX;
        time = oldest < time ? oldest : time;
        n_lost += stream ? memtrace_stream_pending(stream) : 0;
    }
    memtrace_end failed = end_make(MEMTRACE_END_EARLY, time, 0, "the segments cannot be written");
    failed.n_lost = n_lost;
    return failed;
}

memtrace_status cutter_end(cutter *c, const memtrace_end *end) {
    memtrace_end failed = end_of_failed(c);
    c->is_at_time = !end && cutter_is_ripe(c);
    const memtrace_status taken = c->is_at_time ? MEMTRACE_OK : take_held(c);
    const uint64_t duration = end ? memtrace_reader_duration(c->out.reader) : c->latest;
    memtrace_end in = end             ? *end
                      : c->is_at_time ? end_make(MEMTRACE_END_WHOLE, c->latest, 0, SEGMENT_GOES_ON)
                                      : (memtrace_end){.how = MEMTRACE_END_UNSAID};
    in.time = time_in(c, in.time);
    const memtrace_status status = close_streams(c, time_in(c, duration));
    failed.os_error = c->out.os_error;
    const memtrace_status closed =
        segment_writer_close(&c->out, status == MEMTRACE_IO ? &failed : &in);
    return taken != MEMTRACE_OK ? taken : status == MEMTRACE_OK ? closed : status;
}

void cutter_free(cutter *c) {
    if (c->out.writer) {
        const memtrace_status ignored = cutter_end(c, NULL);
        (void)ignored;
    }
    for (size_t i = 0; i < c->stacks.count; i++)
        free(c->stacks.items[i].codes);
    for (size_t i = 0; i < c->lanes.count; i++)
        vec_free(&c->lanes.items[i].codes);
    vec_free(&c->blocks);
    map64_free(&c->rows);
    vec_free(&c->stacks);
    map64_free(&c->stack_rows);
    vec_free(&c->deaths);
    vec_free(&c->lanes);
    vec_free(&c->names);
    vec_free(&c->spans);
    vec_free(&c->held);
    vec_free(&c->held_words);
    vec_free(&c->held_codes);
    segment_writer_free(&c->out);
    *c = (cutter){0};
}
