/* pprof.c: see pprof.h. Field numbers are those of profile.proto, which its readers agree on. */
#include "present/pprof.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <zlib.h>

#include "analyse/classes.h"
#include "analyse/cost.h"
#include "present/protobuf.h"

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

typedef struct pprof {
    const profile *profile;
    const lens *lens;
    output message;          /* the profile */
    output part, inner;      /* a message in it, and one in that */
    intern_table strings;    /* equal ones are the same pointer */
    map64 string_index;      /* to the index in the string table */
    map64 functions;         /* (name, file), both as string indices, to the function's id */
    VEC(uint64_t) locations; /* of a sample */
    uint64_t next_string;
    bool failed; /* no memory */
} pprof;

/* ---- strings and functions --------------------------------------------------------------- */

/* Its index in the string table, to which a new one is appended. The empty string is the first. */
static uint64_t string_id(pprof *w, const char *text) {
    const char *known = intern(&w->strings, text, strlen(text));
    uint32_t *index = known ? map64_put(&w->string_index, (uintptr_t)known) : NULL;
    if (!index) {
        w->failed = true;
        return 0;
    }
    if (*index == MAP64_NONE) {
        *index = (uint32_t)w->next_string++;
        protobuf_bytes(&w->message, PROFILE_STRING_TABLE, text, strlen(text));
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
    if (is_all_hidden(w, frame))
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

/* Stacks go from the innermost frame outward. */
static void put_sample(pprof *w, const classes_group *g) {
    const cct *tree = &w->profile->tree;
    vec_clear(&w->locations);
    for (uint32_t n = g->node; n != CCT_ROOT; n = cct_parent(tree, n))
        if (!is_all_hidden(w, cct_frame(tree, n)) &&
            !vec_push(&w->locations, cct_frame(tree, n) + UINT64_C(1)))
            w->failed = true;
    const uint64_t objects = (uint64_t)llround(g->blocks.count);
    const uint64_t bytes = (uint64_t)llround(cost_bytes(w->profile, g->samples));
    const bool alive = g->lifetime == LIFETIME_ALIVE;
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

static bool put_profile(pprof *w, const uint8_t *kept) {
    classes_list groups;
    if (!classes_query(w->profile, kept, &groups))
        return false;
    put_head(w);
    for (uint32_t i = 0; i < w->profile->frames.count; i++)
        put_location(w, i);
    for (size_t i = 0; i < groups.count; i++)
        put_sample(w, &groups.items[i]);
    vec_free(&groups);
    return !w->failed && !w->message.error && !w->part.error && !w->inner.error;
}

static bool put_compressed(output *o, const output *plain) {
    enum { GZIP = 15 + 16 /* windowBits: the largest window, and a gzip header */ };
    z_stream z = {.next_in = (Bytef *)plain->buffer};
    unsigned char piece[OUTPUT_ROOM_MAX];
    if (deflateInit2(&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        return false;
    size_t left = plain->used;
    int status = Z_OK;
    while (status == Z_OK) {
        if (z.avail_in == 0) { /* zlib counts in 32 bits */
            z.avail_in = left < UINT32_MAX ? (uInt)left : UINT32_MAX;
            left -= z.avail_in;
        }
        z.next_out = piece;
        z.avail_out = sizeof piece;
        status = deflate(&z, left ? Z_NO_FLUSH : Z_FINISH);
        output_bytes(o, (const char *)piece, sizeof piece - z.avail_out);
    }
    deflateEnd(&z);
    return status == Z_STREAM_END;
}

bool export_pprof(output *o, const lens *l, const uint8_t *kept) {
    pprof w = {.profile = l->profile, .lens = l};
    output_start(&w.message, OUTPUT_MEMORY);
    output_start(&w.part, OUTPUT_MEMORY);
    output_start(&w.inner, OUTPUT_MEMORY);
    const bool ok = put_profile(&w, kept) && put_compressed(o, &w.message);
    output_finish(&w.message);
    output_finish(&w.part);
    output_finish(&w.inner);
    intern_free(&w.strings);
    map64_free(&w.string_index);
    map64_free(&w.functions);
    vec_free(&w.locations);
    return ok;
}
