/* profile.c: while reading, frames are only the reader's numbers. Their locations are copied once,
 * at the end. */
#include "profile/profile.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/inline.h"
#include "profile/blocks_add.h"
#include "profile/spans.h"
#include "trace/defects.h"
#include "trace/end.h"
#include "trace/imported.h"
#include "trace/reader_next.h"

const char *const profile_heap_names[CCT_SOURCES + 1] = {
    [MEMTRACE_MINOR] = "minor", [MEMTRACE_MAJOR] = "major", [MEMTRACE_EXTERNAL] = "external"};

/* A flag in the values of `minor`: the block was promoted. The other bits are its samples,
 * saturated. */
#define PROMOTED    0x80000000u
#define MAX_SAMPLES 0x7FFFFFFEu

/* ---- events ------------------------------------------------------------------------------ */

static bool see_domain(profile *p, uint16_t domain) {
    if (domain < p->seen.count && p->seen.items[domain])
        return true;
    size_t more = domain >= p->seen.count ? domain + 1 - p->seen.count : 0;
    if (!vec_reserve(&p->seen, more) || !vec_reserve(&p->paths, more))
        return false;
    for (; more > 0; more--) {
        p->seen.items[p->seen.count++] = false;
        p->paths.items[p->paths.count++] = (cct_path){0};
    }
    p->seen.items[domain] = true;
    p->n_domains++;
    return true;
}

/* A promotion may come before its allocation in the file, if they are of different domains. */
static bool note_minor(profile *p, uint64_t id, uint64_t samples) {
    uint32_t *value = map64_put(&p->minor, id);
    if (!value)
        return false;
    uint32_t kept = samples < MAX_SAMPLES ? (uint32_t)samples : MAX_SAMPLES;
    if (*value != MAP64_NONE && (*value & PROMOTED)) {
        p->promoted_blocks++;
        p->promoted_samples += kept;
        kept |= PROMOTED;
    }
    *value = kept;
    return true;
}

static bool note_promotion(profile *p, uint64_t id) {
    uint32_t *value = map64_put(&p->minor, id);
    if (!value)
        return false;
    if (*value == MAP64_NONE) {
        *value = PROMOTED;
    } else if (!(*value & PROMOTED)) {
        p->promoted_blocks++;
        p->promoted_samples += *value;
        *value |= PROMOTED;
    }
    return true;
}

static bool add_to_tree(profile *p) {
    const size_t n = p->n_added;
    p->n_added = 0;
    return cct_add(&p->tree, p->added, n);
}

/* Moves an entry of `recent` to `added`, to make room for another node. */
static inline bool add_recent(profile *p, const cct_addition *recent) {
    if (recent->blocks == 0)
        return true;
    cct_expect(&p->tree, recent->node);
    p->added[p->n_added++] = *recent;
    return p->n_added < PROFILE_ADDED || add_to_tree(p);
}

static bool add_all_recent(profile *p) {
    for (size_t i = 0; i < PROFILE_RECENT; i++) {
        if (!add_recent(p, &p->recent[i]))
            return false;
        p->recent[i] = (cct_addition){0};
    }
    return true;
}

/* The totals to create: which stacks have blocks of which source, and the index of each. */
typedef struct totals_order {
    uint64_t *bits;  /* by node and source */
    uint32_t *ranks; /* by word of `bits`: how many bits are set before it */
} totals_order;

static inline size_t bit_of(const block_table *b, size_t row) {
    return (size_t)b->node[row] * CCT_SOURCES + b->source[row];
}

static inline uint32_t total_of(const totals_order *o, size_t bit) {
    const uint64_t before = o->bits[bit / 64] & ((UINT64_C(1) << bit % 64) - 1);
    return o->ranks[bit / 64] + bits_count(before);
}

/* Totals lie at random places of memory, so they are prefetched for a batch of rows. */
static bool add_rows_to_tree(profile *p, const totals_order *o) {
    enum { BATCH = 32 };
    const block_table *b = &p->table;
    uint32_t totals[BATCH];
    bool ok = true;
    for (size_t row = 0; ok && row < b->count; row += BATCH) {
        const size_t n = b->count - row < BATCH ? b->count - row : BATCH;
        for (size_t i = 0; i < n; i++) {
            totals[i] = total_of(o, bit_of(b, row + i));
            cct_expect_totals(&p->tree, totals[i]);
        }
        for (size_t i = 0; ok && i < n; i++)
            ok = cct_add_at(&p->tree, totals[i], (cct_sums){blocks_samples(b, row + i), 1});
    }
    return ok;
}

/* Sums up the table's columns in one go, into totals that cct_make_totals creates. That is less
 * work than to search the tree for each block whose stack is not a recent one, and takes no
 * memory. */
static bool add_table_to_tree(profile *p) {
    const block_table *b = &p->table;
    const size_t words = cct_words(&p->tree);
    totals_order o = {.bits = calloc(words, sizeof *o.bits),
                      .ranks = malloc(words * sizeof *o.ranks)};
    bool ok = o.bits && o.ranks;
    for (size_t i = 0; ok && i < b->count; i++) {
        const size_t bit = bit_of(b, i);
        o.bits[bit / 64] |= UINT64_C(1) << bit % 64;
    }
    ok = ok && cct_make_totals(&p->tree, o.bits, o.ranks) && add_rows_to_tree(p, &o);
    free(o.bits);
    free(o.ranks);
    return ok;
}

bool profile_sum_up(profile *p) {
    if (p->keep_blocks && !add_table_to_tree(p))
        return false;
    memset(p->samples, 0, sizeof p->samples);
    memset(p->blocks, 0, sizeof p->blocks);
    for (uint32_t i = 0; i < p->tree.totals.count; i++) {
        const unsigned source = p->tree.totals.items[i].source;
        const cct_sums sums = cct_sums_at(&p->tree, i);
        p->samples[source] += sums.samples;
        p->blocks[source] += sums.blocks;
    }
    return cct_number_stacks(&p->tree);
}

static bool add_recent_to_tree(profile *p) {
    return add_all_recent(p) && add_to_tree(p);
}

/* Functions that are not inlined get copies of the event, so that its fields can stay in
 * registers. */
static bool report_block(const profile_options *options, uint32_t node, memtrace_event event) {
    return options->block(options->block_context, node, &event);
}

/* `ids` is `TRACE-SPAN`, or empty for neither. */
static bool add_span(profile *p, uint16_t domain, const char *ids) {
    const size_t n_trace = *ids ? MEMTRACE_TRACE_DIGITS : 0,
                 n_span = *ids ? MEMTRACE_SPAN_DIGITS : 0;
    const char *trace = intern(&p->strings, ids, n_trace),
               *span = intern(&p->strings, ids + n_trace + (n_trace > 0), n_span);
    uint32_t *trace_known = trace ? map64_put(&p->ids, (uintptr_t)trace) : NULL;
    if (!trace_known || !span)
        return false;
    p->n_traces += n_trace && *trace_known == MAP64_NONE;
    *trace_known = 0;
    uint32_t *span_known = map64_put(&p->ids, (uintptr_t)span);
    if (!span_known)
        return false;
    p->n_spans += n_span && *span_known == MAP64_NONE;
    *span_known = 0;
    return !p->keep_blocks || (spans_add(&p->table, SPAN_TRACE_ID, domain, trace) &&
                               spans_add(&p->table, SPAN_SPAN_ID, domain, span));
}

/* Adds a mark, a gauge, or the name of a thread or scope. An event that was read inline is still an
 * allocation without samples, which reader_tell_remark turns into what it is. */
static __attribute__((cold)) bool add_remark(profile *p, memtrace_reader *reader,
                                             memtrace_event event) {
    if (event.kind == MEMTRACE_ALLOC)
        reader_tell_remark(reader, &event);
    if (!event.name)
        return true;
    if (event.kind == MEMTRACE_SPAN)
        return add_span(p, event.domain, event.name);
    const bool gauge = event.kind == MEMTRACE_GAUGE;
    const char *name = intern(&p->strings, event.name, strlen(event.name));
    if (name && (event.kind == MEMTRACE_THREAD || event.kind == MEMTRACE_SCOPE))
        return !p->keep_blocks ||
               spans_add(&p->table, event.kind == MEMTRACE_THREAD ? SPAN_THREAD : SPAN_SCOPE,
                         event.domain, name);
    return name && vec_push(&p->marks, ((profile_mark){.time = event.time,
                                                       .name = name,
                                                       .is_gauge = gauge,
                                                       .value = gauge ? event.length : 0}));
}

static ALWAYS_INLINE bool count_block(profile *p, uint32_t node, unsigned source,
                                      uint64_t samples) {
    cct_addition *recent = &p->recent[node % PROFILE_RECENT];
    if (recent->node == node && recent->source == source) {
        recent->samples += samples;
        recent->blocks++;
        return true;
    }
    if (!add_recent(p, recent))
        return false;
    *recent = (cct_addition){.node = node, .source = source, .samples = samples, .blocks = 1};
    return true;
}

/* The path follows the stacks of marks and gauges, too, because the next stack is encoded relative
 * to theirs. */
static ALWAYS_INLINE bool add_allocation(profile *p, cct_path *path, memtrace_reader *reader,
                                         const profile_options *options,
                                         const memtrace_event *event) {
    uint32_t node = cct_walk(&p->tree, path, event->frames, event->n_frames, event->common_prefix);
    if (node == CCT_NO_NODE)
        return false;
    if (__builtin_expect(event->samples == 0, 0))
        return add_remark(p, reader, *event);
    p->suspect_blocks += event->suspect;
    if (p->keep_blocks ? !blocks_add(&p->table, node, event)
                       : !count_block(p, node, event->source, event->samples) ||
                             (p->track_promotion && event->source == MEMTRACE_MINOR &&
                              !note_minor(p, event->id, event->samples)))
        return false;
    return !options->block || report_block(options, node, *event);
}

/* With the table, promotions are recorded only there. */
static ALWAYS_INLINE bool add_fate(profile *p, const memtrace_event *event) {
    const bool is_end = event->kind == MEMTRACE_COLLECT;
    p->collected_blocks += is_end;
    if (p->keep_blocks)
        return blocks_add_fate(&p->table, event->id, event->time,
                               is_end ? BLOCKS_DIED : BLOCKS_PROMOTED);
    return is_end || !p->track_promotion || note_promotion(p, event->id);
}

/* ---- reading ----------------------------------------------------------------------------- */

static ALWAYS_INLINE bool add_event(profile *p, cct_path *path, memtrace_reader *reader,
                                    const profile_options *options, const memtrace_event *event) {
    return event->kind == MEMTRACE_PROMOTE || event->kind == MEMTRACE_COLLECT
               ? add_fate(p, event)
               : add_allocation(p, path, reader, options, event);
}

/* Adds the events of a domain's packet that are decoded inline, up to the first that is not. If
 * `*result` is beyond BACKTRACE_UNSET, it says why that one is not. Each kind of event has its own
 * path. */
static __attribute__((noinline)) memtrace_status add_packet(profile *p, cct_path *path,
                                                            memtrace_reader *reader,
                                                            const profile_options *options,
                                                            unsigned *result) {
    memtrace_event event;
    memtrace_status status = MEMTRACE_OK;
    uint64_t last = 0;
    unsigned decoded = BACKTRACE_GOOD;
    for (; reader_has_whole(reader); last = event.time) {
        const uint32_t header = bytes_u32(reader->next);
        bool added;
        if (reader_is_fate(header >> FORMAT_TIME_BITS)) {
            if ((status = reader_next_fate(reader, header, &event)) != MEMTRACE_OK)
                break;
            added = add_fate(p, &event);
        } else if (reader_is_alloc(header >> FORMAT_TIME_BITS)) {
            status = reader_next_alloc(reader, header, &decoded, &event);
            if (status != MEMTRACE_OK || decoded > BACKTRACE_UNSET)
                break;
            added = add_allocation(p, path, reader, options, &event);
        } else {
            break;
        }
        if (!added)
            return MEMTRACE_NOMEM;
    }
    p->duration = last > p->duration ? last : p->duration; /* a domain's times never go back */
    *result = decoded;
    return status;
}

/* Reads the next event, whatever it is. */
static memtrace_status next_any(memtrace_reader *reader, unsigned result, memtrace_event *event) {
    return result <= BACKTRACE_UNSET ? reader_next_slow(reader, event)
                                     : reader_next_after(reader, result, event);
}

/* Adds events up to the end or an error. The first event of a packet or domain is not read
 * inline. */
static memtrace_status add_events(profile *p, memtrace_reader *reader,
                                  const profile_options *options) {
    memtrace_event event;
    memtrace_status status;
    unsigned result = BACKTRACE_GOOD;
    while ((status = next_any(reader, result, &event)) == MEMTRACE_OK) {
        if (!see_domain(p, event.domain) ||
            (p->keep_blocks && !blocks_enter(&p->table, event.domain)))
            return MEMTRACE_NOMEM;
        cct_path *path = &p->paths.items[event.domain];
        p->duration = event.time > p->duration ? event.time : p->duration;
        if (!add_event(p, path, reader, options, &event))
            return MEMTRACE_NOMEM;
        status = add_packet(p, path, reader, options, &result);
        if (status != MEMTRACE_OK)
            return status;
    }
    return status;
}

/* Returns the duration. A trace that is cut short may still be growing, and its next events may
 * have the time at which its last packet ended, so its duration ends at the latest event that was
 * read. */
static uint64_t lasts_until(uint64_t latest_event, const memtrace_reader *reader) {
    const uint64_t start = reader->info.start_time;
    return !reader->cut && reader->packets_end > start + latest_event ? reader->packets_end - start
                                                                      : latest_event;
}

/* ---- frames ------------------------------------------------------------------------------ */

static const char *copy(profile *p, const char *s) {
    return intern(&p->strings, s, strlen(s));
}

static bool copy_location(profile *p, const char *file, const char *function, uint32_t line) {
    profile_location l = {.file = copy(p, file), .function = copy(p, function), .line = line};
    return l.file && l.function && vec_push(&p->locations, l);
}

static bool copy_frame(profile *p, const memtrace_frame *frame) {
    profile_frame f = {.first = (uint32_t)p->locations.count,
                       .n = frame->n_locations ? frame->n_locations : 1,
                       .type = frame->type ? copy(p, frame->type) : NULL};
    if (frame->type && !f.type)
        return false;
    for (uint32_t i = 0; i < frame->n_locations; i++) {
        const memtrace_location *l = &frame->locations[i];
        if (!copy_location(p, l->file, l->function, l->line))
            return false;
    }
    if (frame->n_locations == 0) {
        char name[32];
        snprintf(name, sizeof name, "$%" PRId64, (int64_t)frame->code);
        if (!copy_location(p, "", name, 0))
            return false;
    }
    return vec_push(&p->frames, f);
}

static bool copy_frames(profile *p, const memtrace_reader *reader) {
    uint32_t n = memtrace_reader_n_frames(reader);
    for (uint32_t i = 0; i < n; i++)
        if (!copy_frame(p, memtrace_reader_frame(reader, i)))
            return false;
    return true;
}

static bool copy_info(profile *p, const memtrace_info *info) {
    p->info = *info;
    p->info.executable_name = copy(p, info->executable_name);
    p->info.host_name = copy(p, info->host_name);
    p->info.runtime_params = copy(p, info->runtime_params);
    p->info.context = copy(p, info->context);
    p->table.is_ordered = strstr(info->context, MEMTRACE_ORDERED) != NULL;
    return p->info.executable_name && p->info.host_name && p->info.runtime_params &&
           p->info.context;
}

static void sum_up_gaps(profile *p, const memtrace_reader *reader) {
    size_t n;
    const memtrace_gap *gaps = memtrace_reader_gaps(reader, &n);
    p->loss = (profile_loss){.places = n};
    for (size_t i = 0; i < n; i++) {
        if (i == 0 || gaps[i].from < p->loss.from) {
            p->loss.from = gaps[i].from;
            p->loss.to = gaps[i].to;
        }
        p->loss.duration += gaps[i].to - gaps[i].from;
        p->loss.bytes += gaps[i].bytes;
        p->loss.of = gaps[i].of > p->loss.of ? gaps[i].of : p->loss.of;
    }
}

static bool copy_end(profile *p, const memtrace_reader *reader) {
    size_t n;
    char why[2 * MEMTRACE_MAX_REASON];
    const memtrace_warning *warnings = memtrace_reader_warnings(reader, &n);
    const memtrace_end end = memtrace_reader_end(reader);
    p->lacks_events = defects_cost_events(warnings, n);
    sum_up_gaps(p, reader);
    if (end.how == MEMTRACE_END_UNSAID)
        return true;
    end_explain(&end, why, sizeof why);
    p->end = (profile_end){end.how, end.time, end.n_lost, copy(p, why)};
    return p->end.reason;
}

/* ---- the profile ------------------------------------------------------------------------- */

static void free_reading_state(profile *p) {
    for (size_t i = 0; i < p->paths.count; i++)
        cct_path_free(&p->paths.items[i]);
    vec_free(&p->paths);
    vec_free(&p->seen);
    map64_free(&p->ids);
    map64_free(&p->minor);
}

/* Counts promoted blocks from the table, which then has the only record of them. */
static void count_promoted(profile *p) {
    const block_table *b = &p->table;
    if (!p->keep_blocks || !p->track_promotion)
        return;
    p->promoted_blocks = p->promoted_samples = 0;
    for (size_t i = 0; i < b->count; i++)
        if (blocks_was_promoted(b, i)) {
            p->promoted_blocks++;
            p->promoted_samples += blocks_samples(b, i);
        }
}

memtrace_status profile_read(profile *p, memtrace_reader *reader, const profile_options *options) {
    if (!copy_info(p, memtrace_reader_info(reader)))
        return MEMTRACE_NOMEM;
    p->track_promotion = options->track_promotion;
    p->keep_blocks = options->keep_blocks;
    p->table.keep_order = options->keep_order;
    p->table.without_places = options->columns && !(options->columns & BLOCKS_HAS(after));
    const memtrace_status status = add_events(p, reader, options);
    p->duration = lasts_until(p->duration, reader);
    if (status == MEMTRACE_NOMEM)
        return status;
    if (options->all_read)
        options->all_read(options->all_read_context);
    if (!add_recent_to_tree(p))
        return MEMTRACE_NOMEM;
    cct_finish(&p->tree); /* what follows takes as much memory */
    free_reading_state(p);
    if (!blocks_finish(&p->table) || !profile_sum_up(p) || !copy_frames(p, reader) ||
        !copy_end(p, reader))
        return MEMTRACE_NOMEM;
    count_promoted(p);
    return status == MEMTRACE_END ? MEMTRACE_OK : status;
}

static bool copy_marks(const profile *p, profile *to) {
    for (size_t i = 0; i < p->marks.count; i++) {
        profile_mark m = p->marks.items[i];
        m.name = copy(to, m.name);
        if (!m.name || !vec_push(&to->marks, m))
            return false;
    }
    return true;
}

/* Gives the names in the copied table to this profile; they belong to the other one. */
static bool own_spans(profile *p) {
    for (size_t i = 0; i < p->table.spans.count; i++)
        if (!(p->table.spans.items[i].text = copy(p, p->table.spans.items[i].text)))
            return false;
    return true;
}

/* The copy lasts until the latest event that was added; the reader may be in the middle of the
 * next. */
bool profile_snapshot(profile *p, const memtrace_reader *reader, profile *to) {
    if (!add_recent_to_tree(p))
        return false;
    *to = *p;
    to->tree = (cct){0};
    to->table = (block_table){0};
    memset(&to->frames, 0, sizeof to->frames);
    memset(&to->locations, 0, sizeof to->locations);
    memset(&to->marks, 0, sizeof to->marks);
    memset(&to->paths, 0, sizeof to->paths);
    memset(&to->seen, 0, sizeof to->seen);
    to->ids = (map64){0};
    to->minor = (map64){0};
    to->strings = (intern_table){0};
    bool ok = copy_info(to, &p->info) && cct_copy(&p->tree, &to->tree) &&
              blocks_copy(&p->table, &to->table) && own_spans(to) && profile_sum_up(to) &&
              copy_frames(to, reader) && copy_marks(p, to);
    if (!ok) {
        profile_free(to);
        return false;
    }
    count_promoted(to);
    return true;
}

void profile_free(profile *p) {
    free_reading_state(p);
    blocks_free(&p->table);
    cct_free(&p->tree);
    vec_free(&p->frames);
    vec_free(&p->locations);
    vec_free(&p->marks);
    intern_free(&p->strings);
    *p = (profile){0};
}

double profile_bytes_per_sample(const profile *p) {
    return p->info.word_size / 8.0 / p->info.sample_rate;
}

/* ---- places ------------------------------------------------------------------------------ */

bool profile_is_address(const profile_location *l) {
    const size_t size = l ? strlen(l->file) : 0;
    return size > 0 && l->line == 0 && l->file[size - 1] == ']' && strchr(l->file, '[') &&
           strstr(l->function, "+0x");
}

/* Whether only symbolizing can have named the location: it is a function with the file that holds
 * it and without a line, or a line in the source of a native language. Runtimes name their places
 * themselves. */
static bool is_named_later(const profile_location *l) {
    static const char *const sources[] = {".c",   ".cc",  ".cpp", ".cxx", ".h", ".hh",
                                          ".hpp", ".hxx", ".rs",  ".s",   ".S", ".go"};
    const char *const extension = strrchr(l->file, '.');
    if (l->line == 0)
        return l->file[0] == '/' && !profile_is_address(l);
    for (size_t i = 0; extension && i < sizeof sources / sizeof *sources; i++)
        if (strcmp(extension, sources[i]) == 0)
            return true;
    return false;
}

bool profile_is_imported(const profile *p) {
    const char *const context = p->info.context;
    return context && imported_is(context);
}

bool profile_has_times(const profile *p) {
    return !p->info.context || imported_has_times(p->info.context);
}

bool profile_is_symbolized(const profile *p) {
    for (size_t i = 0; i < p->locations.count; i++)
        if (is_named_later(&p->locations.items[i]))
            return true;
    return false;
}

const char *profile_type(const profile *p, uint32_t node) {
    uint32_t frame = cct_frame(&p->tree, node);
    return frame == CCT_NO_FRAME ? NULL : p->frames.items[frame].type;
}
