/* import_pprof.c: reads heap profiles of pprof, profile.proto, which Go, jeprof's successors,
 * gperftools' converters and many others write. Names are in tables that may come after what refers
 * to them, so samples are read in a second pass. */
#include <string.h>

#include "base/map64.h"
#include "base/varint.h"
#include "import/import.h"

/* ---- the wire format ----------------------------------------------------------------------- */

typedef struct cursor {
    const uint8_t *start; /* of the whole file; base of offsets */
    const uint8_t *at, *end;
    import_error *error;
    bool failed;
} cursor;

typedef struct field {
    unsigned number, wire;
    uint64_t value; /* of a number */
    cursor bytes;   /* of a field with a length */
} field;

enum { WIRE_NUMBER = 0, WIRE_64 = 1, WIRE_BYTES = 2, WIRE_32 = 5 };

static bool fail(cursor *c, const char *reason) {
    if (!c->failed)
        import_fail(c->error, (size_t)(c->at - c->start), "%s", reason);
    c->failed = true;
    c->at = c->end;
    return false;
}

static bool get_number(cursor *c, uint64_t *value) {
    return varint_read(&c->at, c->end, value) == VARINT_OK || fail(c, "a number does not end");
}

/* Reads the next field. Returns false at the end and on errors. */
static bool next_field(cursor *c, field *f) {
    uint64_t key, size;
    if (c->failed || c->at >= c->end || !get_number(c, &key))
        return false;
    *f = (field){.number = (unsigned)(key >> 3), .wire = key & 7};
    switch (f->wire) {
    case WIRE_NUMBER:
        return get_number(c, &f->value);
    case WIRE_64:
    case WIRE_32:
        size = f->wire == WIRE_64 ? 8 : 4;
        break;
    case WIRE_BYTES:
        if (!get_number(c, &size))
            return false;
        break;
    default:
        return fail(c, "a field has an unknown type");
    }
    if (size > (uint64_t)(c->end - c->at))
        return fail(c, "a field is longer than what holds it");
    f->bytes = (cursor){.start = c->start, .at = c->at, .end = c->at + size, .error = c->error};
    c->at += size;
    return true;
}

/* Calls `each` for each value of a repeated number, packed or not. */
static bool each_number(field *f, bool (*each)(void *, uint64_t), void *context) {
    uint64_t value;
    if (f->wire == WIRE_NUMBER)
        return each(context, f->value);
    while (f->bytes.at < f->bytes.end)
        if (!get_number(&f->bytes, &value) || !each(context, value))
            return false;
    return true;
}

/* ---- the tables ---------------------------------------------------------------------------- */

typedef struct pprof_function {
    uint64_t name, file; /* string indices */
} pprof_function;

typedef struct pprof_mapping {
    uint64_t start, offset, file, build_id;
} pprof_mapping;

typedef struct pprof_line {
    uint64_t function, line;
} pprof_line;

typedef struct pprof_location {
    uint64_t mapping, address;
    size_t first, n; /* its lines, innermost first */
    uint32_t place;  /* index in the import; MAP64_NONE: not added yet */
} pprof_location;

enum { MOST_VALUES = 64 };

enum value_kind { VALUE_NONE, ALLOC_BLOCKS, ALLOC_BYTES, LIVE_BLOCKS, LIVE_BYTES };

typedef struct pprof {
    import *to;
    import_error *error;
    VEC(cursor) strings;
    VEC(pprof_function) functions;
    VEC(pprof_mapping) mappings;
    VEC(pprof_line) lines;
    VEC(pprof_location) locations;
    map64 function_of, mapping_of, location_of;
    uint64_t types[MOST_VALUES], units[MOST_VALUES]; /* string indices */
    size_t n_types;
    enum value_kind kinds[MOST_VALUES];
    uint64_t period, period_type, period_unit;
    bool failed;
} pprof;

static const char *text_at(pprof *p, uint64_t index) {
    if (index >= p->strings.count)
        return "";
    const cursor *c = &p->strings.items[index];
    return import_text(p->to, c->at, (size_t)(c->end - c->at));
}

static bool is_text(pprof *p, uint64_t index, const char *text) {
    return strcmp(text_at(p, index), text) == 0;
}

/* Reads a message of which fields below `n` that are numbers are wanted. */
static void read_numbers(pprof *p, cursor c, uint64_t *numbers, unsigned n) {
    field f;
    while (next_field(&c, &f))
        if (f.number < n)
            numbers[f.number] = f.value;
    p->failed |= c.failed;
}

static void read_value_type(pprof *p, cursor c, uint64_t *type, uint64_t *unit) {
    enum { TYPE = 1, UNIT = 2, N };
    uint64_t of[N] = {0};
    read_numbers(p, c, of, N);
    *type = of[TYPE];
    *unit = of[UNIT];
}

static void number_it(pprof *p, map64 *map, uint64_t id, size_t index) {
    uint32_t *place = index < UINT32_MAX ? map64_put(map, id) : NULL;
    if (place)
        *place = (uint32_t)index;
    else
        p->to->no_memory = true;
}

static void read_function(pprof *p, cursor c) {
    enum { ID = 1, NAME = 2, FILE_NAME = 4, N };
    uint64_t of[N] = {0};
    read_numbers(p, c, of, N);
    const pprof_function function = {.name = of[NAME], .file = of[FILE_NAME]};
    number_it(p, &p->function_of, of[ID], p->functions.count);
    p->to->no_memory |= !vec_push(&p->functions, function);
}

static void read_mapping(pprof *p, cursor c) {
    enum { ID = 1, START = 2, OFFSET = 4, FILE_NAME = 5, BUILD_ID = 6, N };
    uint64_t of[N] = {0};
    read_numbers(p, c, of, N);
    const pprof_mapping mapping = {
        .start = of[START], .offset = of[OFFSET], .file = of[FILE_NAME], .build_id = of[BUILD_ID]};
    number_it(p, &p->mapping_of, of[ID], p->mappings.count);
    p->to->no_memory |= !vec_push(&p->mappings, mapping);
}

static void read_line(pprof *p, cursor c) {
    enum { FUNCTION = 1, LINE = 2, N };
    uint64_t of[N] = {0};
    read_numbers(p, c, of, N);
    const pprof_line line = {.function = of[FUNCTION], .line = of[LINE]};
    p->to->no_memory |= !vec_push(&p->lines, line);
}

static void read_location(pprof *p, cursor c) {
    pprof_location location = {.first = p->lines.count, .place = MAP64_NONE};
    uint64_t id = 0;
    field f;
    while (next_field(&c, &f)) {
        if (f.number == 1)
            id = f.value;
        else if (f.number == 2)
            location.mapping = f.value;
        else if (f.number == 3)
            location.address = f.value;
        else if (f.number == 4 && f.wire == WIRE_BYTES)
            read_line(p, f.bytes);
    }
    p->failed |= c.failed;
    location.n = p->lines.count - location.first;
    number_it(p, &p->location_of, id, p->locations.count);
    p->to->no_memory |= !vec_push(&p->locations, location);
}

static void read_table(pprof *p, field *f) {
    uint64_t *types = p->n_types < MOST_VALUES ? &p->types[p->n_types] : NULL;
    switch (f->number) {
    case 1:
        if (types && f->wire == WIRE_BYTES)
            read_value_type(p, f->bytes, types, &p->units[p->n_types++]);
        break;
    case 3:
        read_mapping(p, f->bytes);
        break;
    case 4:
        read_location(p, f->bytes);
        break;
    case 5:
        read_function(p, f->bytes);
        break;
    case 6:
        p->to->no_memory |= !vec_push(&p->strings, f->bytes);
        break;
    case 9:
        p->to->start_time = f->value / 1000;
        break;
    case 10:
        p->to->duration = f->value / 1000;
        break;
    case 11:
        read_value_type(p, f->bytes, &p->period_type, &p->period_unit);
        break;
    case 12:
        p->period = f->value;
        break;
    default:
        break;
    }
}

/* ---- samples ------------------------------------------------------------------------------- */

typedef struct pprof_sample {
    pprof *p;
    size_t n_values;
    uint64_t values[MOST_VALUES];
} pprof_sample;

static uint32_t place_of(pprof *p, pprof_location *l) {
    if (l->place != MAP64_NONE)
        return l->place;
    l->place = import_add_place(p->to);
    for (size_t i = l->n; i-- > 0;) {
        const pprof_line *line = &p->lines.items[l->first + i];
        const uint32_t k = map64_get(&p->function_of, line->function);
        const pprof_function none = {0}, *f = k == MAP64_NONE ? &none : &p->functions.items[k];
        import_add_location(p->to, text_at(p, f->name), text_at(p, f->file), line->line);
    }
    if (l->n > 0)
        return l->place;
    const uint32_t k = map64_get(&p->mapping_of, l->mapping);
    const pprof_mapping none = {0}, *m = k == MAP64_NONE ? &none : &p->mappings.items[k];
    import_add_address(p->to, text_at(p, m->file), text_at(p, m->build_id), l->address + 1,
                       m->start, m->offset);
    return l->place;
}

static bool take_location(void *context, uint64_t id) {
    pprof_sample *s = context;
    const uint32_t k = map64_get(&s->p->location_of, id);
    if (k == MAP64_NONE)
        return true; /* drops the frame, like pprof */
    const uint32_t place = place_of(s->p, &s->p->locations.items[k]);
    s->p->to->no_memory |= !vec_push(&s->p->to->frames, place);
    return !s->p->to->no_memory;
}

static bool take_value(void *context, uint64_t value) {
    pprof_sample *s = context;
    if (s->n_values < MOST_VALUES)
        s->values[s->n_values++] = value;
    return true;
}

/* Reads the label with the size of the blocks, which Go and others write. */
static void read_label(pprof *p, cursor c, uint64_t *size) {
    enum { KEY = 1, NUMBER = 3, N };
    uint64_t of[N] = {0};
    read_numbers(p, c, of, N);
    if (is_text(p, of[KEY], "bytes") && of[NUMBER] <= INT64_MAX)
        *size = of[NUMBER];
}

static bool read_sample(pprof *p, cursor c) {
    pprof_sample s = {.p = p};
    import_record record = {.first = p->to->frames.count};
    const size_t offset = (size_t)(c.at - c.start);
    field f;
    while (next_field(&c, &f)) {
        if (f.number == 1 && !each_number(&f, take_location, &s))
            c.failed |= f.bytes.failed;
        else if (f.number == 2 && !each_number(&f, take_value, &s))
            c.failed |= f.bytes.failed;
        else if (f.number == 3 && f.wire == WIRE_BYTES)
            read_label(p, f.bytes, &record.size);
    }
    if (c.failed || p->failed)
        return false;
    for (size_t i = 0; i < s.n_values && i < p->n_types; i++) {
        uint64_t *to = p->kinds[i] == ALLOC_BLOCKS  ? &record.blocks
                       : p->kinds[i] == ALLOC_BYTES ? &record.bytes
                       : p->kinds[i] == LIVE_BLOCKS ? &record.live
                       : p->kinds[i] == LIVE_BYTES  ? &record.live_bytes
                                                    : NULL;
        if (to && s.values[i] > INT64_MAX / 2)
            return import_fail(p->error, offset,
                               "a value is negative: the profile is a difference of two");
        if (to)
            *to = s.values[i];
    }
    import_add_record(p->to, record);
    return true;
}

/* ---- the whole ----------------------------------------------------------------------------- */

static const struct {
    const char *type;
    enum value_kind kind;
} value_names[] = {
    {"alloc_objects", ALLOC_BLOCKS}, {"alloc_space", ALLOC_BYTES}, {"inuse_objects", LIVE_BLOCKS},
    {"inuse_space", LIVE_BYTES},     {"objects", LIVE_BLOCKS},     {"space", LIVE_BYTES},
    {"allocations", ALLOC_BLOCKS},   {"allocated", ALLOC_BYTES},
};

static bool choose_values(pprof *p) {
    bool has_bytes = false, has_all = false;
    for (size_t i = 0; i < p->n_types; i++)
        for (size_t k = 0; k < sizeof value_names / sizeof *value_names; k++)
            if (is_text(p, p->types[i], value_names[k].type)) {
                p->kinds[i] = value_names[k].kind;
                has_bytes |= p->kinds[i] == ALLOC_BYTES || p->kinds[i] == LIVE_BYTES;
                has_all |= p->kinds[i] == ALLOC_BYTES;
            }
    p->to->missing = has_all ? "times" : "times and no freed blocks";
    if (has_bytes)
        return true;
    return import_fail(p->error, 0, "it is no heap profile: its values are %.40s%s%.40s",
                       p->n_types > 0 ? text_at(p, p->types[0]) : "unnamed",
                       p->n_types > 1 ? ", " : "", p->n_types > 1 ? text_at(p, p->types[1]) : "");
}

static bool read_all(pprof *p, const uint8_t *bytes, size_t size) {
    const cursor whole = {.start = bytes, .at = bytes, .end = bytes + size, .error = p->error};
    cursor c = whole;
    field f;
    while (!p->failed && !p->to->no_memory && next_field(&c, &f))
        read_table(p, &f);
    if (p->failed || c.failed || p->to->no_memory)
        return false;
    if (p->strings.count == 0)
        return import_fail(p->error, 0, "it has no table of strings");
    if (!choose_values(p))
        return false;
    p->to->period = is_text(p, p->period_unit, "bytes") ? (double)p->period : 0;
    if (p->mappings.count > 0 && *text_at(p, p->mappings.items[0].file))
        p->to->program = text_at(p, p->mappings.items[0].file);
    for (c = whole; next_field(&c, &f);)
        if (f.number == 2 && f.wire == WIRE_BYTES && !read_sample(p, f.bytes))
            return false;
    return !p->to->no_memory;
}

bool import_pprof(import *to, const uint8_t *bytes, size_t size, import_error *error) {
    pprof p = {.to = to, .error = error};
    to->format = "a pprof profile";
    const bool good = read_all(&p, bytes, size);
    vec_free(&p.strings);
    vec_free(&p.functions);
    vec_free(&p.mappings);
    vec_free(&p.lines);
    vec_free(&p.locations);
    map64_free(&p.function_of);
    map64_free(&p.mapping_of);
    map64_free(&p.location_of);
    return good;
}
