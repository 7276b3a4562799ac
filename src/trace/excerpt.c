/* excerpt.c: the random number is the count of samples to skip, so that thinning costs time in
 * proportion to the samples kept; of huge blocks, it is how many are kept. Nothing but its id is
 * stored of a block that cannot be kept. */
#include "trace/excerpt.h"

#include <math.h>
#include <string.h>

#include "base/hash.h"

/* From this variance on, their number is as good as normally distributed. */
#define MANY_SAMPLES 1e6

/* ---- thinning ---- */

/* Uniform in (0, 1]. The state advances in steps of the golden ratio (splitmix64). */
static double draw_uniform(excerpt *e) {
    e->random += UINT64_C(0x9E3779B97F4A7C15);
    return (double)((hash_u64(e->random) >> 11) + 1) * 0x1p-53;
}

/* Returns the number of samples to skip before the next kept one: geometrically distributed. */
static uint64_t draw_gap(excerpt *e) {
    const double gap = log(draw_uniform(e)) / log1p(-e->options.keep);
    return gap < 0x1p62 ? (uint64_t)gap : UINT64_C(1) << 62;
}

/* Returns how many of `n` samples are kept, with the normal distribution, from the variance
 * MANY_SAMPLES on. */
static uint64_t draw_many(excerpt *e, double n) {
    const double mean = n * e->options.keep, deviation = sqrt(mean * (1 - e->options.keep));
    const double radius = sqrt(-2 * log(draw_uniform(e)));
    return (uint64_t)(mean + deviation * radius * cos(2 * M_PI * draw_uniform(e)));
}

/* The gap carries over from block to block, so the work is proportional to the samples kept. It may
 * also be drawn anew at any time, as what is left of it has the same distribution. */
uint64_t excerpt_thin(excerpt *e, uint64_t n) {
    const double keep = e->options.keep;
    if (keep >= 1)
        return n;
    if ((double)n * keep * (1 - keep) > MANY_SAMPLES)
        return draw_many(e, (double)n);
    uint64_t taken = 0;
    while (n > e->gap) {
        n -= e->gap + 1;
        e->gap = draw_gap(e);
        taken++;
    }
    e->gap -= n;
    return taken;
}

/* Different traces, and the same trace thinned before, get different random numbers from equal
 * seeds. */
static void start_random(excerpt *e, const memtrace_info *info) {
    uint64_t rate;
    memcpy(&rate, &info->sample_rate, sizeof rate);
    e->random = hash_u64(e->options.seed ^ hash_u64(rate ^ hash_u64(info->start_time ^ info->pid)));
    e->gap = e->options.keep < 1 ? draw_gap(e) : 0;
}

/* ---- the first pass ------- */

/* Special places: the block is not kept; nothing is known of it yet. */
#define DROPPED UINT32_MAX
#define UNMET   (UINT32_MAX - 1)

/* Returns the place of an id, which is added at its first use. NULL when out of memory. */
static uint32_t *place_of(excerpt *e, uint64_t id) {
    const uint32_t known = row_index_find(&e->rows, id);
    if (known != ROW_NONE)
        return &e->places.items[known];
    const size_t row = e->places.count;
    if (row >= UNMET || !vec_push(&e->places, UNMET) || !row_index_add(&e->rows, id, (uint32_t)row))
        return NULL;
    return &e->places.items[row];
}

/* Returns the block of a place that is not DROPPED. NULL when out of memory. */
static excerpt_block *block_of(excerpt *e, uint32_t *place) {
    static const excerpt_block unmet = {.death = UINT64_MAX};
    if (*place != UNMET)
        return &e->blocks.items[*place];
    if (e->unused.count > 0)
        *place = e->unused.items[--e->unused.count];
    else if (vec_reserve(&e->blocks, 1))
        *place = (uint32_t)e->blocks.count++;
    else
        return NULL;
    e->blocks.items[*place] = unmet;
    return &e->blocks.items[*place];
}

/* Whether a block whose allocation was read is kept, as far as its death is known. */
static bool is_kept(const excerpt_options *o, const excerpt_block *b) {
    if (b->time >= o->to || (b->samples == 0 && !b->remark))
        return false;
    return b->time >= o->from || b->lasts || (o->live && !b->remark && b->death >= o->from);
}

/* Forgets a block that can no longer be kept. */
static bool drop(excerpt *e, uint32_t *place) {
    e->blocks.items[*place].known = false;
    const bool ok = vec_push(&e->unused, *place);
    *place = DROPPED;
    return ok;
}

static void meet(excerpt *e, excerpt_block *b, const memtrace_event *event) {
    b->known = true;
    b->time = event->time;
    b->domain = event->domain;
    b->remark = event->kind != MEMTRACE_ALLOC;
    b->lasts = event->kind == MEMTRACE_THREAD || event->kind == MEMTRACE_SCOPE ||
               event->kind == MEMTRACE_SPAN;
    b->samples = excerpt_thin(e, event->samples);
    e->n_blocks += !b->remark;
    e->n_samples += event->samples;
}

static bool note_event(excerpt *e, const memtrace_event *event) {
    if (event->kind == MEMTRACE_PROMOTE)
        return true;
    uint32_t *place = place_of(e, event->id);
    if (!place || *place == DROPPED)
        return place;
    excerpt_block *b = block_of(e, place);
    if (!b)
        return false;
    if (event->kind == MEMTRACE_GAUGE && e->options.take_gauge) {
        e->options.take_gauge(e->options.user, event);
        return drop(e, place);
    }
    if (event->kind == MEMTRACE_COLLECT)
        b->death = event->time;
    else if (!b->known)
        meet(e, b, event);
    return !b->known || is_kept(&e->options, b) || drop(e, place);
}

static bool reserve_domain(excerpt *e, uint16_t domain) {
    while (e->of_domain.count <= domain)
        if (!vec_push(&e->of_domain, 0))
            return false;
    return true;
}

static bool select_blocks(excerpt *e) {
    for (size_t i = 0; i < e->blocks.count; i++) {
        excerpt_block *b = &e->blocks.items[i];
        b->kept = b->known && is_kept(&e->options, b);
        if (!b->kept)
            continue;
        if (!reserve_domain(e, b->domain))
            return false;
        e->of_domain.items[b->domain]++;
        e->n_kept += !b->remark;
        e->n_taken += b->samples;
    }
    return true;
}

/* Gives each domain consecutive ids, which the format stores compactly. */
static void assign_ids(excerpt *e) {
    e->next_id = e->options.first_id;
    for (size_t i = 0; i < e->of_domain.count; i++) {
        const uint64_t n = e->of_domain.items[i];
        e->of_domain.items[i] = e->next_id;
        e->next_id += n;
    }
    for (size_t i = 0; i < e->places.count; i++) {
        if (e->places.items[i] >= UNMET)
            continue;
        excerpt_block *b = &e->blocks.items[e->places.items[i]];
        if (b->kept)
            b->id = e->of_domain.items[b->domain]++;
    }
}

memtrace_status excerpt_plan(excerpt *e, memtrace_reader *reader, const excerpt_options *options) {
    memtrace_event event;
    memtrace_status status;
    *e = (excerpt){.options = *options};
    start_random(e, memtrace_reader_info(reader));
    while ((status = memtrace_reader_next(reader, &event)) == MEMTRACE_OK) {
        if (event.domain >= e->n_domains)
            e->n_domains = event.domain + UINT32_C(1);
        if (!note_event(e, &event))
            return MEMTRACE_NOMEM;
    }
    if (status != MEMTRACE_END)
        return status;
    if (!select_blocks(e))
        return MEMTRACE_NOMEM;
    assign_ids(e);
    return MEMTRACE_OK;
}

/* ---- the second pass ------- */

static uint64_t time_in_part(const excerpt *e, uint64_t time) {
    const uint64_t from = e->options.from;
    return (time > from ? time - from : 0) + e->options.delay;
}

uint64_t excerpt_end(void *user, uint64_t duration) {
    const excerpt *e = user;
    return time_in_part(e, duration < e->options.to ? duration : e->options.to);
}

bool excerpt_select(void *user, memtrace_event *event) {
    excerpt *e = user;
    const uint32_t row = row_index_find(&e->rows, event->id);
    const uint32_t place = row == ROW_NONE ? DROPPED : e->places.items[row];
    if (place >= UNMET || event->time >= e->options.to)
        return false;
    excerpt_block *b = &e->blocks.items[place];
    const bool begins = event->kind != MEMTRACE_PROMOTE && event->kind != MEMTRACE_COLLECT;
    if (!b->kept || (begins && b->written))
        return false;
    if (begins) {
        b->written = true;
        event->samples = b->samples;
    }
    event->time = time_in_part(e, event->time);
    event->id = b->id;
    return true;
}

void excerpt_head(const excerpt *e, memtrace_info *info) {
    info->start_time += e->options.from;
    info->sample_rate *= e->options.keep;
}

void excerpt_free(excerpt *e) {
    row_index_free(&e->rows);
    vec_free(&e->places);
    vec_free(&e->blocks);
    vec_free(&e->unused);
    vec_free(&e->of_domain);
    *e = (excerpt){0};
}
