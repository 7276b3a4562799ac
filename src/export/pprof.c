/* pprof.c: strings, functions and locations are numbered at their first use and written as tables.
 * Field numbers are those of profile.proto. */
#include "export/pprof.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "export/exports.h"
#include "export/protobuf.h"
#include "query/classes.h"
#include "query/cost.h"

enum profile_field {
    PROFILE_SAMPLE_TYPE = 1,
    PROFILE_SAMPLE = 2,
    PROFILE_MAPPING = 3,
    PROFILE_LOCATION = 4,
    PROFILE_FUNCTION = 5,
    PROFILE_STRING_TABLE = 6,
    PROFILE_TIME_NANOS = 9,
    PROFILE_DURATION_NANOS = 10,
    PROFILE_PERIOD_TYPE = 11,
    PROFILE_PERIOD = 12,
    PROFILE_COMMENT = 13,
    PROFILE_DEFAULT_SAMPLE_TYPE = 14,
};
enum value_type_field { VALUE_TYPE_TYPE = 1, VALUE_TYPE_UNIT = 2 };
enum sample_field { SAMPLE_LOCATION_ID = 1, SAMPLE_VALUE = 2, SAMPLE_LABEL = 3 };
enum label_field { LABEL_KEY = 1, LABEL_STR = 2 };
enum mapping_field {
    MAPPING_ID = 1,
    MAPPING_FILENAME = 5,
    MAPPING_HAS_FUNCTIONS = 7,
    MAPPING_HAS_FILENAMES = 8,
    MAPPING_HAS_LINE_NUMBERS = 9,
    MAPPING_HAS_INLINE_FRAMES = 10,
};
enum location_field { LOCATION_ID = 1, LOCATION_MAPPING_ID = 2, LOCATION_LINE = 4 };
enum line_field { LINE_FUNCTION_ID = 1, LINE_LINE = 2 };
enum function_field {
    FUNCTION_ID = 1,
    FUNCTION_NAME = 2,
    FUNCTION_SYSTEM_NAME = 3,
    FUNCTION_FILENAME = 4,
};

/* Stacks are written in full for each sample, and readers of the format cannot handle thousands of
 * frames in each. Longer stacks keep their two ends. */
enum {
    MOST_FRAMES = 256,
    OUTER_FRAMES = 64, /* outermost frames kept; the rest are innermost */
    DRAIN_SIZE = 1 << 20,
    ASK_AFTER = 1 << 14, /* number of groups after which to check whether to go on */
};

struct pprof {
    const profile *profile;
    const lens *lens;
    size_t n_values; /* values of each sample */
    output *out;     /* receives the compressed bytes */
    z_stream gzip;
    output message;       /* the part of the profile not compressed yet */
    output part, inner;   /* a message inside it, and one inside that */
    output text;          /* a string in UTF-8: decoders refuse a profile with an invalid one */
    intern_table strings; /* equal strings are the same pointer */
    map64 string_index;   /* from a string to its index in the string table */
    /* From (name, file), both as string indices, to the id of a function. */
    map64 functions;
    VEC(uint64_t) locations; /* of a sample */
    uint64_t next_string;
    bool *hidden;       /* by frame: hidden as a whole, so not a location */
    uint32_t *ids;      /* by frame: id of its location; 0: not written yet */
    uint32_t n_ids;     /* ids so far; in table order, as some readers require */
    uint32_t gap;       /* id of the location for omitted frames; 0: not written yet */
    uint32_t *depths;   /* by node of the stacks' tree: number of visible frames in its stack */
    uint32_t *outer;    /* by node: the node on its stack with OUTER_FRAMES of them, or itself */
    uint64_t shortened; /* samples whose stacks lack their middle */
    bool failed;        /* out of memory */
};

/* ---- strings and functions --------------------------------------------------------------- */

/* Returns the index of a text in the string table, adding it if it is new. The empty string must be
 * the first. */
static uint64_t string_id(pprof *w, const char *text) {
    w->text.used = 0;
    output_utf8(&w->text, text);
    const char *known = w->text.error ? NULL : intern(&w->strings, w->text.buffer, w->text.used);
    uint32_t *index = known ? map64_put(&w->string_index, (uintptr_t)known) : NULL;
    if (!index) {
        w->failed = true;
        return 0;
    }
    if (*index == MAP64_NONE) {
        *index = (uint32_t)w->next_string++;
        protobuf_bytes(&w->message, PROFILE_STRING_TABLE, known, w->text.used);
    }
    return *index;
}

static uint64_t function_id(pprof *w, const profile_location *l) {
    const uint64_t name = string_id(w, l->function), file = string_id(w, l->file);
    uint32_t *id = map64_put(&w->functions, name << 32 | file);
    if (!id) {
        w->failed = true;
        return 0;
    }
    if (*id == MAP64_NONE) {
        *id = w->functions.count; /* from 1 */
        output function;
        output_start(&function, OUTPUT_MEMORY);
        protobuf_number(&function, FUNCTION_ID, *id);
        protobuf_number(&function, FUNCTION_NAME, name);
        protobuf_number(&function, FUNCTION_SYSTEM_NAME, name);
        protobuf_number(&function, FUNCTION_FILENAME, file);
        protobuf_message(&w->message, PROFILE_FUNCTION, &function);
        output_finish(&function);
    }
    return *id;
}

/* ---- places ------------------------------------------------------------------------------ */

static void put_mapping(pprof *w) {
    protobuf_number(&w->part, MAPPING_ID, 1);
    protobuf_number(&w->part, MAPPING_FILENAME, string_id(w, w->profile->info.executable_name));
    protobuf_number(&w->part, MAPPING_HAS_FUNCTIONS, 1);
    protobuf_number(&w->part, MAPPING_HAS_FILENAMES, 1);
    protobuf_number(&w->part, MAPPING_HAS_LINE_NUMBERS, 1);
    protobuf_number(&w->part, MAPPING_HAS_INLINE_FRAMES, 1);
    protobuf_message(&w->message, PROFILE_MAPPING, &w->part);
}

/* The first number for single locations, which are numbered like frames, after all frames. */
static uint32_t first_single(const pprof *w) {
    return (uint32_t)w->profile->frames.count;
}

/* Whether all of a frame is hidden, so that it is not a location. */
static bool is_all_hidden(const pprof *w, uint32_t frame) {
    const profile_frame *f = &w->profile->frames.items[frame];
    for (uint32_t i = 0; i < f->n; i++)
        if (!lens_hides(w->lens, f->first + i))
            return false;
    return true;
}

static uint32_t begin_location(pprof *w) {
    protobuf_number(&w->part, LOCATION_ID, ++w->n_ids);
    protobuf_number(&w->part, LOCATION_MAPPING_ID, 1);
    return w->n_ids;
}

/* Returns the location of a frame. Its lines begin with the innermost inlined function. If stacks
 * are cut or folded, single locations of the profile are frames. */
static uint32_t location_id(pprof *w, uint32_t frame) {
    const uint32_t first = first_single(w);
    const profile_frame single = {.first = frame - first, .n = 1};
    const profile_frame *f = frame < first ? &w->profile->frames.items[frame] : &single;
    if (w->ids[frame])
        return w->ids[frame];
    w->ids[frame] = begin_location(w);
    for (uint32_t i = f->n; i-- > 0;) {
        if (lens_hides(w->lens, f->first + i))
            continue;
        const profile_location *l = &w->profile->locations.items[f->first + i];
        protobuf_number(&w->inner, LINE_FUNCTION_ID, function_id(w, l));
        protobuf_number(&w->inner, LINE_LINE, l->line);
        protobuf_message(&w->part, LOCATION_LINE, &w->inner);
    }
    protobuf_message(&w->message, PROFILE_LOCATION, &w->part);
    return w->ids[frame];
}

static uint32_t gap_id(pprof *w) {
    static const profile_location gap = {.file = "", .function = "(frames left out)"};
    if (w->gap)
        return w->gap;
    w->gap = begin_location(w);
    protobuf_number(&w->inner, LINE_FUNCTION_ID, function_id(w, &gap));
    protobuf_message(&w->part, LOCATION_LINE, &w->inner);
    protobuf_message(&w->message, PROFILE_LOCATION, &w->part);
    return w->gap;
}

/* ---- samples ----------------------------------------------------------------------------- */

static void put_value_type(pprof *w, unsigned field, const char *type, const char *unit) {
    protobuf_number(&w->part, VALUE_TYPE_TYPE, string_id(w, type));
    protobuf_number(&w->part, VALUE_TYPE_UNIT, string_id(w, unit));
    protobuf_message(&w->message, field, &w->part);
}

static void put_label(pprof *w, uint64_t key, uint64_t value) {
    protobuf_number(&w->inner, LABEL_KEY, key);
    protobuf_number(&w->inner, LABEL_STR, value);
    protobuf_message(&w->part, SAMPLE_LABEL, &w->inner);
}

/* The tree of the stacks: the profile's, or the tree that they were cut and folded to. */
static size_t count_nodes(const pprof *w) {
    return w->lens->shape ? w->lens->shape->n : cct_count(&w->profile->tree);
}

static uint32_t parent_of(const pprof *w, uint32_t node) {
    return w->lens->shape ? w->lens->shape->parents[node] : cct_parent(&w->profile->tree, node);
}

static uint32_t frame_of(const pprof *w, uint32_t node) {
    return w->lens->shape ? first_single(w) + w->lens->shape->locations[node]
                          : cct_frame(&w->profile->tree, node);
}

/* Computes `depths` and `outer`, without hidden frames. */
static bool measure_stacks(pprof *w) {
    const size_t n = count_nodes(w);
    w->depths = calloc(n + 1, sizeof *w->depths);
    w->outer = calloc(n + 1, sizeof *w->outer);
    if (!w->depths || !w->outer)
        return false;
    for (uint32_t i = 1; i < n; i++) {
        const uint32_t parent = parent_of(w, i);
        w->depths[i] = w->depths[parent] + !w->hidden[frame_of(w, i)];
        w->outer[i] = w->depths[i] <= OUTER_FRAMES ? i : w->outer[parent];
    }
    return true;
}

/* Adds the locations from a node outward, until there are `most`. */
static void add_locations(pprof *w, uint32_t node, size_t most) {
    for (; node != CCT_ROOT && w->locations.count < most; node = parent_of(w, node)) {
        const uint32_t frame = frame_of(w, node);
        if (w->hidden[frame])
            continue;
        w->locations.items[w->locations.count++] = location_id(w, frame);
    }
}

/* Adds the locations of a stack, from the innermost frame outward. */
static void add_stack(pprof *w, uint32_t node) {
    vec_clear(&w->locations);
    if (w->lens->shape)
        node = w->lens->shape->of[node] == SHAPE_NOWHERE ? CCT_ROOT : w->lens->shape->of[node];
    if (w->depths[node] <= MOST_FRAMES) {
        add_locations(w, node, MOST_FRAMES);
        return;
    }
    add_locations(w, node, MOST_FRAMES - OUTER_FRAMES);
    w->locations.items[w->locations.count++] = gap_id(w);
    add_locations(w, w->outer[node], MOST_FRAMES + 1);
    w->shortened++;
}

static bool drain(pprof *w, bool at_end);

/* Labels are written between begin_sample and end_sample. */
static void begin_sample(pprof *w, uint32_t node, const uint64_t *values) {
    add_stack(w, node);
    protobuf_numbers(&w->part, SAMPLE_LOCATION_ID, w->locations.items, w->locations.count);
    protobuf_numbers(&w->part, SAMPLE_VALUE, values, w->n_values);
}

static void end_sample(pprof *w) {
    protobuf_message(&w->message, PROFILE_SAMPLE, &w->part);
    if (w->message.used > DRAIN_SIZE && !drain(w, false))
        w->failed = true;
}

void pprof_sample(pprof *w, uint32_t node, const uint64_t *values, const pprof_label *labels,
                  size_t n_labels) {
    begin_sample(w, node, values);
    for (size_t i = 0; i < n_labels; i++)
        put_label(w, string_id(w, labels[i].key), string_id(w, labels[i].text));
    end_sample(w);
}

/* ---- the whole --------------------------------------------------------------------------- */

static void put_head(pprof *w, const pprof_head *head) {
    const memtrace_info *info = &w->profile->info;
    string_id(w, "");
    for (size_t i = 0; i < head->n_values; i++)
        put_value_type(w, PROFILE_SAMPLE_TYPE, head->values[i].type, head->values[i].unit);
    put_value_type(w, PROFILE_PERIOD_TYPE, "space", "bytes");
    protobuf_number(&w->message, PROFILE_PERIOD,
                    (uint64_t)llround(profile_bytes_per_sample(w->profile)));
    protobuf_number(&w->message, PROFILE_DEFAULT_SAMPLE_TYPE,
                    string_id(w, head->shown ? head->shown : "alloc_space"));
    protobuf_number(&w->message, PROFILE_TIME_NANOS, head->time_us * 1000);
    protobuf_number(&w->message, PROFILE_DURATION_NANOS, head->duration_us * 1000);
    if (*info->context)
        protobuf_number(&w->message, PROFILE_COMMENT, string_id(w, info->context));
    put_mapping(w);
}

/* Compresses the part of the message made so far. */
static bool drain(pprof *w, bool at_end) {
    unsigned char piece[OUTPUT_ROOM_MAX];
    int status = Z_OK;
    w->gzip.next_in = (Bytef *)w->message.buffer;
    w->gzip.avail_in = (uInt)w->message.used; /* not much more than DRAIN_SIZE */
    do {
        w->gzip.next_out = piece;
        w->gzip.avail_out = sizeof piece;
        status = deflate(&w->gzip, at_end ? Z_FINISH : Z_NO_FLUSH);
        output_bytes(w->out, (const char *)piece, sizeof piece - w->gzip.avail_out);
    } while (w->gzip.avail_out == 0 || (at_end && status == Z_OK));
    w->message.used = 0;
    return status == Z_OK || status == Z_STREAM_END || status == Z_BUF_ERROR;
}

/* Adds a comment about shortened stacks. */
static void put_shortened(pprof *w) {
    char text[128];
    snprintf(text, sizeof text,
             "%" PRIu64 " samples have more than %d frames and lack those in the middle",
             w->shortened, MOST_FRAMES);
    protobuf_number(&w->message, PROFILE_COMMENT, string_id(w, text));
}

/* Favors speed over the last 10% of the size. */
static bool start_gzip(z_stream *z) {
    enum { WINDOW = 15 + 16 /* the largest, with a gzip header */, MEMORY = 8, LEVEL = 3 };
    return deflateInit2(z, LEVEL, Z_DEFLATED, WINDOW, MEMORY, Z_DEFAULT_STRATEGY) == Z_OK;
}

static void pprof_free(pprof *w) {
    deflateEnd(&w->gzip);
    output_finish(&w->message);
    output_finish(&w->part);
    output_finish(&w->inner);
    output_finish(&w->text);
    intern_free(&w->strings);
    map64_free(&w->string_index);
    map64_free(&w->functions);
    vec_free(&w->locations);
    free(w->hidden);
    free(w->ids);
    free(w->depths);
    free(w->outer);
    free(w);
}

/* Computes the tables by frame and by node before the first sample. */
static bool learn_stacks(pprof *w) {
    const size_t n = w->profile->frames.count, all = n + w->profile->locations.count;
    w->hidden = calloc(all + 1, sizeof *w->hidden);
    w->ids = calloc(all + 1, sizeof *w->ids);
    if (!w->hidden || !w->ids)
        return false;
    for (uint32_t i = 0; i < n; i++)
        w->hidden[i] = is_all_hidden(w, i);
    return measure_stacks(w) && vec_reserve(&w->locations, MOST_FRAMES + 1);
}

pprof *pprof_begin(output *o, const lens *l, const pprof_head *head) {
    pprof *w = malloc(sizeof *w);
    if (!w)
        return NULL;
    *w = (pprof){.profile = l->profile, .lens = l, .out = o, .n_values = head->n_values};
    if (!start_gzip(&w->gzip)) {
        free(w);
        return NULL;
    }
    output_start(&w->message, OUTPUT_MEMORY);
    output_start(&w->part, OUTPUT_MEMORY);
    output_start(&w->inner, OUTPUT_MEMORY);
    output_start(&w->text, OUTPUT_MEMORY);
    if (!learn_stacks(w)) {
        pprof_free(w);
        return NULL;
    }
    put_head(w, head);
    return w;
}

/* Whether memory ran out, so that further samples are pointless. */
static bool pprof_failed(const pprof *w) {
    return w->failed || w->message.error || w->part.error || w->inner.error;
}

bool pprof_end(pprof *w) {
    if (w->shortened > 0)
        put_shortened(w);
    const bool ok = !pprof_failed(w) && drain(w, true);
    pprof_free(w);
    return ok;
}

/* ---- export of a trace ---------------------------------------------------------------- */

enum { OBJECTS, SPACE, LIVE_OBJECTS, LIVE_SPACE, N_VALUES };

const pprof_value pprof_heap_values[] = {[OBJECTS] = {"alloc_objects", "count"},
                                         [SPACE] = {"alloc_space", "bytes"},
                                         [LIVE_OBJECTS] = {"inuse_objects", "count"},
                                         [LIVE_SPACE] = {"inuse_space", "bytes"}};

/* Returns the integer that an amount adds to those before it, such that the integers add up to the
 * rounded sum. */
static uint64_t add_rounded(double *sum, double amount) {
    const double before = round(*sum);
    *sum += amount;
    return (uint64_t)(round(*sum) - before);
}

/* The state of writing samples. They have few distinct texts, which are numbered once: those of the
 * profile, and the constants here. */
typedef struct heap_writing {
    pprof *pprof;
    uint64_t n_groups;
    double sums[2][2];  /* of freed and of live blocks: their number and their bytes */
    map64 texts;        /* from the address of a text to its index in the string table */
    char sizes[65][64]; /* names of size classes; empty: not used yet */
} heap_writing;

static uint64_t text_id(heap_writing *h, const char *text) {
    uint32_t *id = map64_put(&h->texts, (uintptr_t)text);
    if (!id) {
        h->pprof->failed = true;
        return 0;
    }
    if (*id == MAP64_NONE)
        *id = (uint32_t)string_id(h->pprof, text);
    return *id;
}

static void put_group_label(heap_writing *h, const char *key, const char *value) {
    if (value)
        put_label(h->pprof, text_id(h, key), text_id(h, value));
}

static const char *size_text(heap_writing *h, unsigned class) {
    char *text = h->sizes[class];
    if (!*text && class == 0)
        snprintf(text, sizeof *h->sizes, "0 B");
    else if (!*text)
        snprintf(text, sizeof *h->sizes, "%.0f..%.0f B", ldexp(1, (int)class - 1),
                 ldexp(1, (int)class) - 1);
    return text;
}

static bool put_group(void *context, const classes_group *g) {
    static const char *const heaps[] = {
        [MEMTRACE_MINOR] = "minor", [MEMTRACE_MAJOR] = "major", [MEMTRACE_EXTERNAL] = "external"};
    heap_writing *h = context;
    pprof *w = h->pprof;
    const bool alive = g->lifetime == LIFETIME_ALIVE;
    const uint64_t objects = add_rounded(&h->sums[alive][0], g->blocks.count);
    const uint64_t bytes = add_rounded(&h->sums[alive][1], cost_bytes(w->profile, g->samples));
    const uint64_t values[N_VALUES] = {objects, bytes, alive ? objects : 0, alive ? bytes : 0};
    begin_sample(w, g->node, values);
    put_group_label(h, "heap", heaps[g->source]);
    put_group_label(h, "size class", size_text(h, g->size));
    put_group_label(h, "lifetime class", lifetime_class_text(g->lifetime));
    put_group_label(h, "type", profile_type(w->profile, g->node));
    put_group_label(h, PPROF_THREAD, g->thread);
    put_group_label(h, PPROF_SCOPE, g->scope);
    end_sample(w);
    return !pprof_failed(w) &&
           (h->n_groups++ % ASK_AFTER > 0 ? !w->out->error : output_goes_on(w->out));
}

bool export_pprof(output *o, export_subject *s) {
    const lens *l = s->lens;
    const pprof_head head = {.values = pprof_heap_values,
                             .n_values = N_VALUES,
                             .shown = s->measure == MEASURE_LIVE ? "inuse_space" : NULL,
                             .time_us = l->profile->info.start_time,
                             .duration_us = l->profile->duration};
    heap_writing h = {.pprof = pprof_begin(o, l, &head)};
    if (!h.pprof)
        return false;
    const bool ok = classes_query(l->profile, s->kept, put_group, &h) || o->error;
    map64_free(&h.texts);
    return pprof_end(h.pprof) && ok;
}
