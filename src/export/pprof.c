/* pprof.c: a heap profile as pprof and its relatives read it. Blocks of one stack, heap, type and
 * class are one sample, written as soon as it is known, so that only strings wait for the end. Of
 * stacks of more than 256 frames the middle is left out, and a comment says so. Field numbers are
 * those of profile.proto, which its readers agree on. */
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

/* Stacks are written in full for each sample, which readers of the format can't take thousands of
 * frames of. Longer ones keep their ends. */
enum {
    MOST_FRAMES = 256,
    OUTER_FRAMES = 64, /* of those: the rest is innermost */
    DRAIN_SIZE = 1 << 20,
};

typedef struct pprof {
    const profile *profile;
    const lens *lens;
    output *out; /* what is compressed goes there */
    z_stream gzip;
    output message;          /* the part of the profile that was not compressed yet */
    output part, inner;      /* a message in it, and one in that */
    output text;             /* of a string, in UTF-8: decoders refuse all for one that is not */
    intern_table strings;    /* equal ones are the same pointer */
    map64 string_index;      /* to the index in the string table */
    map64 functions;         /* (name, file), both as string indices, to the function's id */
    VEC(uint64_t) locations; /* of a sample */
    uint64_t next_string;
    bool *hidden;       /* by frame: nothing of it is to be seen, so that it is no location */
    uint32_t *depths;   /* by node of the tree: visible frames of its stack */
    uint32_t *outer;    /* the same: the node on it with OUTER_FRAMES of them, or itself */
    uint64_t shortened; /* samples without the middle of their stacks */
    double objects[2], bytes[2]; /* of the samples so far: of those that ended; that are alive */
    bool failed;                 /* no memory */
} pprof;

/* ---- strings and functions --------------------------------------------------------------- */

/* Its index in the string table, to which a new one is appended. The empty string is the first. */
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
        *id = w->functions.count; /* from 1 on */
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

static bool is_hidden(const pprof *w, uint32_t location) {
    return w->lens->marks[location] & LENS_HIDDEN;
}

/* Whether nothing of a frame is to be seen: it is then no location. */
static bool is_all_hidden(const pprof *w, uint32_t frame) {
    const profile_frame *f = &w->profile->frames.items[frame];
    for (uint32_t i = 0; i < f->n; i++)
        if (!is_hidden(w, f->first + i))
            return false;
    return true;
}

/* A frame is a location; its lines begin with the innermost inlined function. */
static void put_location(pprof *w, uint32_t frame) {
    const profile_frame *f = &w->profile->frames.items[frame];
    w->hidden[frame] = is_all_hidden(w, frame);
    if (w->hidden[frame])
        return;
    protobuf_number(&w->part, LOCATION_ID, frame + UINT64_C(1));
    protobuf_number(&w->part, LOCATION_MAPPING_ID, 1);
    for (uint32_t i = f->n; i-- > 0;) {
        if (is_hidden(w, f->first + i))
            continue;
        const profile_location *l = &w->profile->locations.items[f->first + i];
        protobuf_number(&w->inner, LINE_FUNCTION_ID, function_id(w, l));
        protobuf_number(&w->inner, LINE_LINE, l->line);
        protobuf_message(&w->part, LOCATION_LINE, &w->inner);
    }
    protobuf_message(&w->message, PROFILE_LOCATION, &w->part);
}

/* ---- samples ----------------------------------------------------------------------------- */

static void put_value_type(pprof *w, unsigned field, const char *type, const char *unit) {
    protobuf_number(&w->part, VALUE_TYPE_TYPE, string_id(w, type));
    protobuf_number(&w->part, VALUE_TYPE_UNIT, string_id(w, unit));
    protobuf_message(&w->message, field, &w->part);
}

static void put_label(pprof *w, const char *key, const char *value) {
    protobuf_number(&w->inner, LABEL_KEY, string_id(w, key));
    protobuf_number(&w->inner, LABEL_STR, string_id(w, value));
    protobuf_message(&w->part, SAMPLE_LABEL, &w->inner);
}

static void put_labels(pprof *w, const classes_group *g) {
    static const char *const heaps[] = {
        [MEMTRACE_MINOR] = "minor", [MEMTRACE_MAJOR] = "major", [MEMTRACE_EXTERNAL] = "external"};
    const char *type = profile_type(w->profile, g->node);
    char size[64] = "0 B";
    if (g->size > 0)
        snprintf(size, sizeof size, "%.0f..%.0f B", ldexp(1, (int)g->size - 1),
                 ldexp(1, (int)g->size) - 1);
    put_label(w, "heap", heaps[g->source]);
    if (type)
        put_label(w, "type", type);
    put_label(w, "size class", size);
    put_label(w, "lifetime class", lifetime_class_text(g->lifetime));
}

/* The location of the frames that a stack lacks; behind those of all frames. */
static uint64_t gap_location(const pprof *w) {
    return w->profile->frames.count + UINT64_C(1);
}

/* How deep stacks are, and where their outer ends begin; without hidden frames. */
static bool measure_stacks(pprof *w) {
    const cct *tree = &w->profile->tree;
    w->depths = calloc(cct_count(tree) + 1, sizeof *w->depths);
    w->outer = calloc(cct_count(tree) + 1, sizeof *w->outer);
    if (!w->depths || !w->outer)
        return false;
    for (uint32_t i = 1; i < cct_count(tree); i++) {
        const uint32_t parent = cct_parent(tree, i);
        w->depths[i] = w->depths[parent] + !w->hidden[cct_frame(tree, i)];
        w->outer[i] = w->depths[i] <= OUTER_FRAMES ? i : w->outer[parent];
    }
    return true;
}

/* The locations from a node outward, until there are `most`. */
static void add_locations(pprof *w, uint32_t node, size_t most) {
    const cct *tree = &w->profile->tree;
    for (; node != CCT_ROOT && w->locations.count < most; node = cct_parent(tree, node))
        if (!w->hidden[cct_frame(tree, node)])
            w->locations.items[w->locations.count++] = cct_frame(tree, node) + UINT64_C(1);
}

/* What an amount adds to the whole numbers of those before it, so that they add up to its sum. */
static uint64_t add_rounded(double *sum, double amount) {
    const double before = round(*sum);
    *sum += amount;
    return (uint64_t)(round(*sum) - before);
}

/* Stacks go from the innermost frame outward. */
static void put_sample(pprof *w, const classes_group *g) {
    vec_clear(&w->locations);
    if (w->depths[g->node] <= MOST_FRAMES) {
        add_locations(w, g->node, MOST_FRAMES);
    } else {
        add_locations(w, g->node, MOST_FRAMES - OUTER_FRAMES);
        w->locations.items[w->locations.count++] = gap_location(w);
        add_locations(w, w->outer[g->node], MOST_FRAMES + 1);
        w->shortened++;
    }
    const bool alive = g->lifetime == LIFETIME_ALIVE;
    const uint64_t objects = add_rounded(&w->objects[alive], g->blocks.count);
    const uint64_t bytes = add_rounded(&w->bytes[alive], cost_bytes(w->profile, g->samples));
    const uint64_t values[] = {objects, bytes, alive ? objects : 0, alive ? bytes : 0};
    protobuf_numbers(&w->part, SAMPLE_LOCATION_ID, w->locations.items, w->locations.count);
    protobuf_numbers(&w->part, SAMPLE_VALUE, values, sizeof values / sizeof *values);
    put_labels(w, g);
    protobuf_message(&w->message, PROFILE_SAMPLE, &w->part);
}

/* ---- the whole --------------------------------------------------------------------------- */

static void put_head(pprof *w) {
    const memtrace_info *info = &w->profile->info;
    string_id(w, "");
    put_value_type(w, PROFILE_SAMPLE_TYPE, "alloc_objects", "count");
    put_value_type(w, PROFILE_SAMPLE_TYPE, "alloc_space", "bytes");
    put_value_type(w, PROFILE_SAMPLE_TYPE, "inuse_objects", "count");
    put_value_type(w, PROFILE_SAMPLE_TYPE, "inuse_space", "bytes");
    put_value_type(w, PROFILE_PERIOD_TYPE, "space", "bytes");
    protobuf_number(&w->message, PROFILE_PERIOD,
                    (uint64_t)llround(profile_bytes_per_sample(w->profile)));
    protobuf_number(&w->message, PROFILE_DEFAULT_SAMPLE_TYPE, string_id(w, "alloc_space"));
    protobuf_number(&w->message, PROFILE_TIME_NANOS, info->start_time * 1000);
    protobuf_number(&w->message, PROFILE_DURATION_NANOS, w->profile->duration * 1000);
    if (*info->context)
        protobuf_number(&w->message, PROFILE_COMMENT, string_id(w, info->context));
    put_mapping(w);
}

/* Compresses what there is of the message. */
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

static bool put_samples(pprof *w, const classes_list *groups) {
    for (size_t i = 0; i < groups->count && !w->failed; i++) {
        put_sample(w, &groups->items[i]);
        if (w->message.used > DRAIN_SIZE && !drain(w, false))
            return false;
    }
    return !w->failed;
}

/* What is to be known where stacks were shortened. */
static void put_gap(pprof *w) {
    static const profile_location gap = {.file = "", .function = "(frames left out)"};
    protobuf_number(&w->part, LOCATION_ID, gap_location(w));
    protobuf_number(&w->part, LOCATION_MAPPING_ID, 1);
    protobuf_number(&w->inner, LINE_FUNCTION_ID, function_id(w, &gap));
    protobuf_message(&w->part, LOCATION_LINE, &w->inner);
    protobuf_message(&w->message, PROFILE_LOCATION, &w->part);
    char text[128];
    snprintf(text, sizeof text,
             "%" PRIu64 " samples have more than %d frames and lack those in the middle",
             w->shortened, MOST_FRAMES);
    protobuf_number(&w->message, PROFILE_COMMENT, string_id(w, text));
}

static bool put_profile(pprof *w, const uint8_t *kept) {
    classes_list groups;
    if (!classes_query(w->profile, kept, &groups))
        return false;
    put_head(w);
    for (uint32_t i = 0; i < w->profile->frames.count; i++)
        put_location(w, i);
    bool ok =
        vec_reserve(&w->locations, MOST_FRAMES + 1) && measure_stacks(w) && put_samples(w, &groups);
    vec_free(&groups);
    if (w->shortened > 0)
        put_gap(w);
    ok = ok && !w->failed && !w->message.error && !w->part.error && !w->inner.error;
    return ok && drain(w, true);
}

/* Speed is worth more here than the last tenth of the size. */
static bool start_gzip(z_stream *z) {
    enum { WINDOW = 15 + 16 /* the largest, and a gzip header */, MEMORY = 8, LEVEL = 3 };
    return deflateInit2(z, LEVEL, Z_DEFLATED, WINDOW, MEMORY, Z_DEFAULT_STRATEGY) == Z_OK;
}

bool export_pprof(output *o, export_subject *s) {
    const lens *l = s->lens;
    pprof w = {.profile = l->profile,
               .lens = l,
               .out = o,
               .hidden = calloc(l->profile->frames.count + 1, sizeof *w.hidden)};
    if (!w.hidden || !start_gzip(&w.gzip)) {
        free(w.hidden);
        return false;
    }
    output_start(&w.message, OUTPUT_MEMORY);
    output_start(&w.part, OUTPUT_MEMORY);
    output_start(&w.inner, OUTPUT_MEMORY);
    output_start(&w.text, OUTPUT_MEMORY);
    const bool ok = put_profile(&w, s->kept);
    deflateEnd(&w.gzip);
    output_finish(&w.message);
    output_finish(&w.part);
    output_finish(&w.inner);
    output_finish(&w.text);
    intern_free(&w.strings);
    map64_free(&w.string_index);
    map64_free(&w.functions);
    vec_free(&w.locations);
    free(w.hidden);
    free(w.depths);
    free(w.outer);
    return ok;
}
