/* otlp.c: composes the message from the inside out. Each table of its dictionary has an index by
 * content. The first entry of each table is empty: index 0 means none. */
#include "export/otlp.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/map64.h"
#include "export/protobuf.h"

enum request_field { REQUEST_RESOURCE_PROFILES = 1, REQUEST_DICTIONARY = 2 };
enum resource_profiles_field { RESOURCE_PROFILES_RESOURCE = 1, RESOURCE_PROFILES_SCOPES = 2 };
enum scope_profiles_field { SCOPE_PROFILES_SCOPE = 1, SCOPE_PROFILES_PROFILES = 2 };
enum resource_field { RESOURCE_ATTRIBUTES = 1 };
enum scope_field { SCOPE_NAME = 1 };
enum key_value_field { KEY_VALUE_KEY = 1, KEY_VALUE_VALUE = 2 };
enum any_value_field { ANY_VALUE_STRING = 1 };
enum dictionary_field {
    DICTIONARY_MAPPINGS = 1,
    DICTIONARY_LOCATIONS = 2,
    DICTIONARY_FUNCTIONS = 3,
    DICTIONARY_LINKS = 4,
    DICTIONARY_STRINGS = 5,
    DICTIONARY_ATTRIBUTES = 6,
    DICTIONARY_STACKS = 7,
};
enum profile_field {
    PROFILE_SAMPLE_TYPE = 1,
    PROFILE_SAMPLES = 2,
    PROFILE_TIME = 3,
    PROFILE_DURATION = 4,
    PROFILE_PERIOD_TYPE = 5,
    PROFILE_PERIOD = 6,
    PROFILE_ID = 7,
};
enum value_type_field { VALUE_TYPE_TYPE = 1, VALUE_TYPE_UNIT = 2 };
enum sample_field { SAMPLE_STACK = 1, SAMPLE_ATTRIBUTES = 2, SAMPLE_LINK = 3, SAMPLE_VALUES = 4 };
enum link_field { LINK_TRACE = 1, LINK_SPAN = 2 };
enum attribute_field { ATTRIBUTE_KEY = 1, ATTRIBUTE_VALUE = 2 };
enum stack_field { STACK_LOCATIONS = 1 };
enum location_field { LOCATION_MAPPING = 1, LOCATION_LINES = 3 };
enum line_field { LINE_FUNCTION = 1, LINE_LINE = 2 };
enum function_field { FUNCTION_NAME = 1, FUNCTION_SYSTEM_NAME = 2, FUNCTION_FILE = 3 };
enum mapping_field { MAPPING_FILE = 4 };

/* The tables of the dictionary, in the order in which they are written. */
enum { LINKS, LOCATIONS, FUNCTIONS, STRINGS, STACKS, ATTRIBUTES, N_TABLES };
static const unsigned table_fields[] = {
    [LINKS] = DICTIONARY_LINKS,         [LOCATIONS] = DICTIONARY_LOCATIONS,
    [FUNCTIONS] = DICTIONARY_FUNCTIONS, [STRINGS] = DICTIONARY_STRINGS,
    [STACKS] = DICTIONARY_STACKS,       [ATTRIBUTES] = DICTIONARY_ATTRIBUTES};

/* A table of the dictionary. Its first entry, with index 0, is empty. */
typedef struct table {
    output bytes; /* its entries, as fields of the dictionary */
    map64 known;
    uint32_t count;
} table;

struct otlp {
    const profile *profile;
    const lens *lens;
    pprof_head head;
    output resource; /* its attributes */
    table tables[N_TABLES];
    output profiles[PPROF_VALUES_MAX]; /* the samples of each profile */
    output part, inner, text;
    intern_table texts;     /* equal strings are the same pointer */
    VEC(uint64_t) of_stack; /* locations of the current stack */
    bool failed;            /* out of memory */
};

/* ---- tables ------------------------------------------------------------------------------ */

/* Returns the index of a key. `*is_new`: the caller must append its entry. */
static uint32_t table_index(otlp *w, unsigned number, uint64_t key, bool *is_new) {
    table *t = &w->tables[number];
    uint32_t *index = map64_put(&t->known, key);
    *is_new = false;
    if (!index) {
        w->failed = true;
        return 0;
    }
    if (*index == MAP64_NONE) {
        *is_new = true;
        *index = t->count++;
    }
    return *index;
}

/* Appends the entry in `entry` to a table, and empties it. */
static void table_add(otlp *w, unsigned number, output *entry) {
    protobuf_message(&w->tables[number].bytes, table_fields[number], entry);
}

static uint32_t string_index(otlp *w, const char *text) {
    bool is_new;
    if (!*text)
        return 0;
    w->text.used = 0;
    output_utf8(&w->text, text);
    const char *known = w->text.error ? NULL : intern(&w->texts, w->text.buffer, w->text.used);
    if (!known) {
        w->failed = true;
        return 0;
    }
    const uint32_t index = table_index(w, STRINGS, (uintptr_t)known, &is_new);
    if (is_new)
        protobuf_bytes(&w->tables[STRINGS].bytes, DICTIONARY_STRINGS, known, w->text.used);
    return index;
}

static uint32_t function_index(otlp *w, const profile_location *l) {
    bool is_new;
    const uint32_t name = string_index(w, l->function), file = string_index(w, l->file);
    const uint32_t index = table_index(w, FUNCTIONS, (uint64_t)name << 32 | file, &is_new);
    if (is_new) {
        protobuf_number(&w->part, FUNCTION_NAME, name);
        protobuf_number(&w->part, FUNCTION_SYSTEM_NAME, name);
        protobuf_number(&w->part, FUNCTION_FILE, file);
        table_add(w, FUNCTIONS, &w->part);
    }
    return index;
}

/* Returns the location of a frame, or 0 if all of the frame is hidden. Its lines begin with the
 * innermost inlined function. If stacks are cut or folded, single locations of the profile are
 * frames, numbered after all others. */
static uint32_t location_index(otlp *w, uint32_t frame) {
    bool is_new;
    const uint32_t n_frames = (uint32_t)w->profile->frames.count;
    const profile_frame single = {.first = frame - n_frames, .n = 1};
    const profile_frame *f = frame < n_frames ? &w->profile->frames.items[frame] : &single;
    uint32_t shown = 0;
    for (uint32_t i = 0; i < f->n; i++)
        shown += !lens_hides(w->lens, f->first + i);
    const uint32_t index = shown ? table_index(w, LOCATIONS, frame, &is_new) : 0;
    if (!shown || !is_new)
        return index;
    output lines;
    output_start(&lines, OUTPUT_MEMORY);
    protobuf_number(&lines, LOCATION_MAPPING, 1);
    for (uint32_t i = f->n; i-- > 0;) {
        if (lens_hides(w->lens, f->first + i))
            continue;
        const profile_location *l = &w->profile->locations.items[f->first + i];
        const uint32_t function = function_index(w, l);
        protobuf_number(&w->inner, LINE_FUNCTION, function);
        protobuf_number(&w->inner, LINE_LINE, l->line);
        protobuf_message(&lines, LOCATION_LINES, &w->inner);
    }
    table_add(w, LOCATIONS, &lines);
    output_finish(&lines);
    return index;
}

static void add_location(otlp *w, uint32_t frame) {
    const uint32_t location = location_index(w, frame);
    if (location && !vec_push(&w->of_stack, (uint64_t)location))
        w->failed = true;
}

static void add_shaped(otlp *w, uint32_t node) {
    const stack_shape *s = w->lens->shape;
    for (; node != SHAPE_ROOT && node != SHAPE_NOWHERE; node = s->parents[node])
        add_location(w, (uint32_t)w->profile->frames.count + s->locations[node]);
}

/* Returns the index of a stack, which lists its frames from the innermost outward. */
static uint32_t stack_index(otlp *w, uint32_t node) {
    bool is_new;
    const cct *tree = &w->profile->tree;
    const uint32_t index = table_index(w, STACKS, node, &is_new);
    if (!is_new)
        return index;
    vec_clear(&w->of_stack);
    if (w->lens->shape)
        add_shaped(w, w->lens->shape->of[node]);
    for (; !w->lens->shape && node != CCT_ROOT; node = cct_parent(tree, node))
        add_location(w, cct_frame(tree, node));
    protobuf_numbers(&w->part, STACK_LOCATIONS, w->of_stack.items, w->of_stack.count);
    table_add(w, STACKS, &w->part);
    return index;
}

/* ---- the request ------------------------------------------------------------------------- */

/* Returns the index of an attribute of samples. */
static uint32_t attribute_index(otlp *w, const otlp_attribute *a) {
    bool is_new;
    const uint32_t key = string_index(w, a->key), text = string_index(w, a->value);
    const uint32_t index = table_index(w, ATTRIBUTES, (uint64_t)key << 32 | text, &is_new);
    if (!is_new)
        return index;
    w->text.used = 0;
    output_utf8(&w->text, a->value);
    protobuf_bytes(&w->inner, ANY_VALUE_STRING, w->text.buffer, w->text.used);
    protobuf_number(&w->part, ATTRIBUTE_KEY, key);
    protobuf_message(&w->part, ATTRIBUTE_VALUE, &w->inner);
    table_add(w, ATTRIBUTES, &w->part);
    return index;
}

static uint32_t link_index(otlp *w, const otlp_link *link) {
    bool is_new;
    const uint32_t index = table_index(w, LINKS, link->number, &is_new);
    if (!is_new)
        return index;
    const char *ids = (const char *)link->span->ids;
    protobuf_bytes(&w->part, LINK_TRACE, ids, MEMTRACE_TRACE_ID);
    protobuf_bytes(&w->part, LINK_SPAN, ids + MEMTRACE_TRACE_ID, MEMTRACE_SPAN_ID);
    table_add(w, LINKS, &w->part);
    return index;
}

static void put_attribute(otlp *w, const otlp_attribute *a) {
    output value;
    output_start(&value, OUTPUT_MEMORY);
    w->text.used = 0;
    output_utf8(&w->text, a->value);
    protobuf_bytes(&value, ANY_VALUE_STRING, w->text.buffer, w->text.used);
    w->text.used = 0;
    output_utf8(&w->text, a->key);
    protobuf_bytes(&w->part, KEY_VALUE_KEY, w->text.buffer, w->text.used);
    protobuf_message(&w->part, KEY_VALUE_VALUE, &value);
    protobuf_message(&w->resource, RESOURCE_ATTRIBUTES, &w->part);
    output_finish(&value);
}

static void start(otlp *w) {
    for (size_t i = 0; i < N_TABLES; i++) {
        table *each = &w->tables[i];
        each->count = 1;
        output_start(&each->bytes, OUTPUT_MEMORY);
        protobuf_bytes(&each->bytes, table_fields[i], "", 0);
    }
    for (size_t i = 0; i < w->head.n_values; i++)
        output_start(&w->profiles[i], OUTPUT_MEMORY);
    output_start(&w->resource, OUTPUT_MEMORY);
    output_start(&w->part, OUTPUT_MEMORY);
    output_start(&w->inner, OUTPUT_MEMORY);
    output_start(&w->text, OUTPUT_MEMORY);
}

otlp *otlp_begin(const lens *l, const pprof_head *head, const otlp_attribute *attributes,
                 size_t n_attributes) {
    otlp *w = calloc(1, sizeof *w);
    if (!w)
        return NULL;
    w->profile = l->profile;
    w->lens = l;
    w->head = *head;
    start(w);
    for (size_t i = 0; i < n_attributes; i++)
        put_attribute(w, &attributes[i]);
    return w;
}

void otlp_sample(otlp *w, uint32_t node, const uint64_t *values, const otlp_attribute *attributes,
                 size_t n_attributes, const otlp_link *link) {
    uint64_t told[OTLP_SAMPLE_ATTRIBUTES_MAX];
    const uint32_t stack = stack_index(w, node), of = link ? link_index(w, link) : 0;
    for (size_t i = 0; i < n_attributes; i++)
        told[i] = attribute_index(w, &attributes[i]);
    for (size_t i = 0; i < w->head.n_values; i++) {
        if (values[i] == 0)
            continue;
        protobuf_number(&w->part, SAMPLE_STACK, stack);
        if (n_attributes)
            protobuf_numbers(&w->part, SAMPLE_ATTRIBUTES, told, n_attributes);
        protobuf_number(&w->part, SAMPLE_LINK, of);
        protobuf_numbers(&w->part, SAMPLE_VALUES, &values[i], 1);
        protobuf_message(&w->profiles[i], PROFILE_SAMPLES, &w->part);
    }
}

static void put_value_type(otlp *w, output *o, unsigned field, const char *type, const char *unit) {
    protobuf_number(&w->part, VALUE_TYPE_TYPE, string_index(w, type));
    protobuf_number(&w->part, VALUE_TYPE_UNIT, string_index(w, unit));
    protobuf_message(o, field, &w->part);
}

/* Identifies the profile by 16 bytes, made from the process, the time and the value. */
static void put_id(otlp *w, output *o, size_t value) {
    const uint64_t id[2] = {w->profile->info.start_time ^ w->profile->info.pid << 48,
                            w->head.time_us << 3 | value};
    protobuf_bytes(o, PROFILE_ID, (const char *)id, sizeof id);
}

/* Viewers file the profile under the name of its period type. */
static void put_profile(otlp *w, size_t value, output *scope) {
    output *o = &w->profiles[value];
    const pprof_value *type = &w->head.values[value];
    if (o->used == 0)
        return;
    put_value_type(w, o, PROFILE_SAMPLE_TYPE, type->type, type->unit);
    protobuf_fixed64(o, PROFILE_TIME, w->head.time_us * 1000);
    protobuf_number(o, PROFILE_DURATION, w->head.duration_us * 1000);
    put_value_type(w, o, PROFILE_PERIOD_TYPE, "memory", "bytes");
    protobuf_number(o, PROFILE_PERIOD, (uint64_t)llround(profile_bytes_per_sample(w->profile)));
    put_id(w, o, value);
    protobuf_message(scope, SCOPE_PROFILES_PROFILES, o);
}

static void put_profiles(otlp *w, output *o) {
    static const char name[] = "allotrace";
    output scope, resource;
    output_start(&scope, OUTPUT_MEMORY);
    output_start(&resource, OUTPUT_MEMORY);
    protobuf_bytes(&w->part, SCOPE_NAME, name, strlen(name));
    protobuf_message(&scope, SCOPE_PROFILES_SCOPE, &w->part);
    for (size_t i = 0; i < w->head.n_values; i++)
        put_profile(w, i, &scope);
    protobuf_message(&resource, RESOURCE_PROFILES_RESOURCE, &w->resource);
    protobuf_message(&resource, RESOURCE_PROFILES_SCOPES, &scope);
    protobuf_message(o, REQUEST_RESOURCE_PROFILES, &resource);
    output_finish(&scope);
    output_finish(&resource);
}

static void put_dictionary(otlp *w, output *o) {
    output all;
    output_start(&all, OUTPUT_MEMORY);
    protobuf_bytes(&all, DICTIONARY_MAPPINGS, "", 0);
    protobuf_number(&w->part, MAPPING_FILE, string_index(w, w->profile->info.executable_name));
    protobuf_message(&all, DICTIONARY_MAPPINGS, &w->part);
    for (size_t i = 0; i < N_TABLES; i++) {
        const output *entries = &w->tables[i].bytes;
        output_bytes(&all, entries->buffer, entries->used);
        w->failed |= entries->error != 0;
    }
    protobuf_message(o, REQUEST_DICTIONARY, &all);
    output_finish(&all);
}

static void otlp_free(otlp *w) {
    for (size_t i = 0; i < N_TABLES; i++) {
        output_finish(&w->tables[i].bytes);
        map64_free(&w->tables[i].known);
    }
    for (size_t i = 0; i < w->head.n_values; i++)
        output_finish(&w->profiles[i]);
    output_finish(&w->resource);
    output_finish(&w->part);
    output_finish(&w->inner);
    output_finish(&w->text);
    intern_free(&w->texts);
    vec_free(&w->of_stack);
    free(w);
}

bool otlp_end(otlp *w, output *o) {
    put_profiles(w, o);
    put_dictionary(w, o);
    const bool ok = !w->failed && !o->error && !w->part.error && !w->inner.error;
    otlp_free(w);
    return ok;
}
