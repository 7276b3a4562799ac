/* completion.c: the symbolizer looks up addresses, and trace/rewrite.h writes the trace. This file
 * decides what the trace says about its frames. */
#include "symbolize/completion.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/map64.h"
#include "base/vec.h"
#include "symbolize/allocator_frames.h"
#include "symbolize/perf_map.h"
#include "trace/rewrite.h"
#include "trace/segment.h"

/* A frame of the trace. */
typedef struct place {
    uint64_t code;
    uint32_t request; /* index; NO_REQUEST: it keeps the locations of the input */
    uint32_t made;    /* index in `made`; NO_REQUEST: not code generated at run time */
    /* Number of its innermost locations that belong to the allocator. If these are all of them, the
     * whole frame does, and it is skipped if it is the innermost of a stack. */
    uint32_t n_allocator;
    const char *type; /* type that these allocate; NULL: unknown */
} place;

#define NO_REQUEST UINT32_MAX

/* A frame that became the innermost one of a stack because those inside it were skipped. It needs a
 * code of its own, because a code determines the type. */
typedef struct typed_code {
    uint64_t code;
    uint32_t place;
    const char *type;
} typed_code;

/* All typed codes of one type, to find existing ones. */
typedef struct type_codes {
    const char *type;
    map64 of_place; /* from the index of a place to that of `typed` */
} type_codes;

struct completion {
    memtrace_reader *reader; /* the caller's; owns the strings of the input */
    symbolizer *symbolizer;
    bool shares_symbolizer;
    symbolize_options options;
    completion_summary summary;
    uint32_t n_domains; /* 1 + the highest domain with an event read so far */
    VEC(place) places;  /* by frame index of `reader` */
    completion_questions requests;
    perf_map perf_map;
    bool perf_map_read;
    VEC(memtrace_location) made; /* locations of code generated at run time */
    map64 place_of_code;
    VEC(typed_code) typed;
    map64 typed_of_code;
    VEC(type_codes) types;
};

/* ---- frames as recorded ------------------------------------------------------------------ */

/* A frame as recorded: file `PATH[BUILD-ID]` (the id may be empty), function `NAME+0xOFFSET`. */
typedef struct recorded_address {
    const char *path; /* not NUL-terminated */
    size_t path_size;
    build_id id;
    uint64_t offset; /* a return address, as in the ELF file: just after the call */
} recorded_address;

/* Parses a file of the form PATH[BUILD-ID]. */
static bool parse_module(recorded_address *address, const char *file) {
    size_t size = strlen(file);
    const char *open = memrchr(file, '[', size);
    if (!open || open == file || file[size - 1] != ']')
        return false;
    address->path = file;
    address->path_size = (size_t)(open - file);
    return build_id_parse(&address->id, open + 1, (size_t)(file + size - 1 - (open + 1)));
}

/* Parses a function of the form NAME+0xOFFSET. */
static bool parse_offset(recorded_address *address, const char *function) {
    const char *plus = strrchr(function, '+');
    if (!plus || plus[1] != '0' || plus[2] != 'x' || !plus[3])
        return false;
    char *end;
    address->offset = strtoull(plus + 3, &end, 16);
    return *end == '\0' && address->offset > 0;
}

/* Returns false if the location has another form. */
static bool recorded_address_parse(recorded_address *address, const char *file,
                                   const char *function) {
    return parse_module(address, file) && parse_offset(address, function);
}

bool completion_question(symbolizer *s, const char *file, const char *function,
                         symbolize_request *question, bool *is_address) {
    recorded_address address;
    *is_address = recorded_address_parse(&address, file, function);
    if (!*is_address)
        return true;
    char *path = strndup(address.path, address.path_size);
    uint32_t module = path ? symbolizer_module(s, path, &address.id) : UINT32_MAX;
    free(path);
    *question = (symbolize_request){.module = module, .address = address.offset - 1};
    return module != UINT32_MAX;
}

/* ---- preparing --------------------------------------------------------------------------- */

static bool request_frame(completion *c, const memtrace_location *location, uint32_t *request) {
    symbolize_request new;
    bool is_address;
    if (location->line != 0)
        return true;
    if (!completion_question(c->symbolizer, location->file, location->function, &new, &is_address))
        return false;
    if (!is_address)
        return true;
    *request = (uint32_t)c->requests.count;
    return vec_push(&c->requests, new);
}

/* Looks up code that was generated at run time: it is in no module, and its function is
 * `0xADDRESS`. */
static bool name_made_code(completion *c, const memtrace_location *location, uint32_t *made) {
    const memtrace_info *info = memtrace_reader_info(c->reader);
    memtrace_location found;
    char *end;
    if (strcmp(location->file, MEMTRACE_MADE_FILE) != 0 ||
        strncmp(location->function, "0x", 2) != 0)
        return true;
    uint64_t address = strtoull(location->function + 2, &end, 16);
    if (*end || address == 0)
        return true;
    if (!c->perf_map_read && !perf_map_read(&c->perf_map, info->pid, info->start_time))
        return false;
    c->perf_map_read = true;
    if (!perf_map_find(&c->perf_map, address - 1, &found))
        return true;
    *made = (uint32_t)c->made.count;
    return vec_push(&c->made, found);
}

/* Learns the frames that the reader has added. */
static bool learn_frames(completion *c) {
    while (c->places.count < memtrace_reader_n_frames(c->reader)) {
        uint32_t index = (uint32_t)c->places.count;
        const memtrace_frame *frame = memtrace_reader_frame(c->reader, index);
        place new = {.code = frame->code, .request = NO_REQUEST, .made = NO_REQUEST};
        if (frame->n_locations == 1 && (!request_frame(c, &frame->locations[0], &new.request) ||
                                        !name_made_code(c, &frame->locations[0], &new.made)))
            return false;
        uint32_t *known = map64_put(&c->place_of_code, frame->code);
        if (!known || !vec_push(&c->places, new))
            return false;
        *known = index;
    }
    return true;
}

static memtrace_status read_frames(completion *c, memtrace_error *error) {
    memtrace_event event;
    memtrace_status status;
    while ((status = memtrace_reader_next(c->reader, &event)) == MEMTRACE_OK) {
        if (event.domain >= c->n_domains)
            c->n_domains = event.domain + UINT32_C(1);
        if (!learn_frames(c))
            return MEMTRACE_NOMEM;
    }
    if (status == MEMTRACE_END)
        return learn_frames(c) ? MEMTRACE_OK : MEMTRACE_NOMEM; /* after names only */
    if (error)
        *error = *memtrace_reader_error(c->reader);
    return status;
}

/* Returns the known locations of a place, `*n` of them, outermost first. */
static const memtrace_location *place_locations(const completion *c, const place *p, size_t *n) {
    if (p->request != NO_REQUEST && c->requests.items[p->request].n_locations) {
        *n = c->requests.items[p->request].n_locations;
        return c->requests.items[p->request].locations;
    }
    if (p->made != NO_REQUEST) {
        *n = 1;
        return &c->made.items[p->made];
    }
    const memtrace_frame *frame = memtrace_reader_frame(c->reader, (uint32_t)(p - c->places.items));
    *n = frame->n_locations;
    return frame->locations;
}

/* Counts the allocator's functions at the inner end of a place. */
static void judge_place(const completion *c, place *p) {
    size_t n;
    const memtrace_location *locations = place_locations(c, p, &n);
    for (size_t i = n; i-- > 0;) {
        allocator_frame_kind kind = allocator_frame(locations[i].function, &p->type);
        if (kind == ALLOCATOR_NONE || (kind == ALLOCATOR_INLINED && i == 0))
            return;
        p->n_allocator++;
    }
}

/* Whether an earlier completion found only a function's name: its file is then the module. */
static bool is_lineless(const completion *c, const place *p) {
    size_t n;
    const memtrace_location *locations = place_locations(c, p, &n);
    return p->request == NO_REQUEST && p->made == NO_REQUEST && n == 1 && locations->line == 0 &&
           locations->file[0] == '/';
}

static void summarize(completion *c) {
    for (size_t i = 0; i < c->requests.count; i++) {
        const symbolize_request *r = &c->requests.items[i];
        c->summary.n_lines += r->has_line;
        c->summary.n_names += r->n_locations && !r->has_line;
    }
    for (size_t i = 0; i < c->made.count; i++) {
        c->summary.n_lines += c->made.items[i].line > 0;
        c->summary.n_names += c->made.items[i].line == 0;
    }
    c->summary.n_places = c->requests.count + c->made.count;
    for (size_t i = 0; i < c->places.count; i++) {
        judge_place(c, &c->places.items[i]);
        c->summary.n_lineless += is_lineless(c, &c->places.items[i]);
    }
}

static bool note_stop(void *context, size_t done, size_t all) {
    completion *c = context;
    c->summary.stopped |= !c->options.progress(c->options.context, done, all);
    return !c->summary.stopped;
}

static memtrace_status prepare(completion *c, memtrace_error *error) {
    symbolize_options options = c->options;
    if (!options.recorded_at)
        options.recorded_at = memtrace_reader_info(c->reader)->start_time;
    if (options.progress) {
        options.progress = note_stop;
        options.context = c;
    }
    if (!c->symbolizer)
        c->symbolizer = symbolizer_new(&options);
    if (!c->symbolizer)
        return MEMTRACE_NOMEM;
    memtrace_status status = read_frames(c, error);
    if (status != MEMTRACE_OK)
        return status;
    if (!symbolizer_resolve(c->symbolizer, c->requests.items, c->requests.count))
        return MEMTRACE_NOMEM;
    summarize(c);
    return MEMTRACE_OK;
}

memtrace_status completion_prepare(completion **c, memtrace_reader *reader, symbolizer *shared,
                                   const symbolize_options *options, memtrace_error *error) {
    if (error)
        *error = (memtrace_error){.status = MEMTRACE_NOMEM, .reason = "no memory for the names"};
    *c = calloc(1, sizeof **c);
    if (!*c)
        return MEMTRACE_NOMEM;
    (*c)->reader = reader;
    (*c)->options = *options;
    (*c)->symbolizer = shared;
    (*c)->shares_symbolizer = shared;
    memtrace_status status = prepare(*c, error);
    if (status == MEMTRACE_OK)
        return status;
    completion_free(*c);
    *c = NULL;
    return status;
}

void completion_free(completion *c) {
    if (!c)
        return;
    for (size_t i = 0; i < c->types.count; i++)
        map64_free(&c->types.items[i].of_place);
    vec_free(&c->types);
    vec_free(&c->typed);
    map64_free(&c->typed_of_code);
    map64_free(&c->place_of_code);
    vec_free(&c->requests);
    vec_free(&c->made);
    perf_map_free(&c->perf_map);
    vec_free(&c->places);
    if (!c->shares_symbolizer)
        symbolizer_free(c->symbolizer);
    free(c);
}

memtrace_status completion_ask(memtrace_reader *reader, symbolizer *shared,
                               completion_questions *questions) {
    completion *c = calloc(1, sizeof *c);
    if (!c)
        return MEMTRACE_NOMEM;
    *c = (completion){.reader = reader,
                      .symbolizer = shared,
                      .shares_symbolizer = true,
                      .perf_map_read = true, /* do not read it here */
                      .requests = *questions};
    const memtrace_status status = read_frames(c, NULL);
    *questions = c->requests;
    memset(&c->requests, 0, sizeof c->requests);
    completion_free(c);
    return status;
}

completion_summary completion_result(const completion *c) {
    return c->summary;
}

const symbolizer *completion_symbolizer(const completion *c) {
    return c->symbolizer;
}

bool completion_keeps_frames(const completion *c) {
    for (size_t i = 0; i < c->places.count; i++) {
        const place *p = &c->places.items[i];
        size_t n;
        place_locations(c, p, &n);
        if (n && p->n_allocator == n)
            return false;
    }
    return true;
}

/* ---- skipping the allocator's frames ----------------------------------------------------- */

static type_codes *codes_of_type(completion *c, const char *type) {
    for (size_t i = 0; i < c->types.count; i++)
        if (strcmp(c->types.items[i].type, type) == 0)
            return &c->types.items[i];
    if (!vec_push(&c->types, (type_codes){.type = type}))
        return NULL;
    return &c->types.items[c->types.count - 1];
}

/* Returns a code that the trace does not use. OCaml's readers keep codes as signed 63-bit
 * numbers. */
static uint64_t unused_code(const completion *c, uint64_t near) {
    for (uint64_t i = 1;; i++) {
        uint64_t code = hash_u64(near + i) & (UINT64_MAX >> 2);
        if (map64_get(&c->place_of_code, code) == MAP64_NONE &&
            map64_get(&c->typed_of_code, code) == MAP64_NONE)
            return code;
    }
}

/* Returns the code of a place as the innermost frame of a stack that allocates `type`. When out of
 * memory, returns the place's own code, and the trace lacks the type. */
static uint64_t typed_code_of(completion *c, uint32_t index, const char *type) {
    uint64_t own = c->places.items[index].code;
    type_codes *codes = codes_of_type(c, type);
    uint32_t *known =
        codes && vec_reserve(&c->typed, 1) ? map64_put(&codes->of_place, index) : NULL;
    if (!known)
        return own;
    if (*known != MAP64_NONE)
        return c->typed.items[*known].code;
    typed_code new = {.code = unused_code(c, own), .place = index, .type = codes->type};
    *known = (uint32_t)c->typed.count;
    uint32_t *back = map64_put(&c->typed_of_code, new.code);
    if (back)
        *back = *known;
    c->typed.items[c->typed.count++] = new;
    return back ? new.code : own;
}

/* Whether all locations of a place belong to the allocator. `*type` is set to what it allocates. */
static bool is_allocator(const completion *c, uint32_t index, const char **type) {
    size_t n;
    const place *p = &c->places.items[index];
    place_locations(c, p, &n);
    if (!n || p->n_allocator < n)
        return false;
    if (p->type)
        *type = p->type;
    return true;
}

/* The hook rewrite_options.edit: drops the allocator's frames at the inner end of a stack. */
static size_t drop_allocator(void *user, const memtrace_event *event, uint64_t *codes, size_t n,
                             size_t *same) {
    completion *c = user;
    (void)event;
    uint32_t index = n ? map64_get(&c->place_of_code, codes[n - 1]) : MAP64_NONE;
    const char *type = index == MAP64_NONE ? NULL : memtrace_reader_frame(c->reader, index)->type;
    size_t left = n;
    while (left > 1 && index != MAP64_NONE && is_allocator(c, index, &type))
        index = map64_get(&c->place_of_code, codes[--left - 1]);
    *same = left;
    if (left < n && type && index != MAP64_NONE) {
        codes[left - 1] = typed_code_of(c, index, type);
        *same = left - 1;
    }
    return left;
}

/* The hook rewrite_options.locate. */
static size_t locate(void *user, uint64_t code, const memtrace_frame *frame,
                     memtrace_location *locations, size_t max) {
    completion *c = user;
    uint32_t typed = map64_get(&c->typed_of_code, code);
    uint32_t index =
        typed == MAP64_NONE ? map64_get(&c->place_of_code, code) : c->typed.items[typed].place;
    const char *type = typed != MAP64_NONE ? c->typed.items[typed].type
                       : frame             ? frame->type
                                           : NULL;
    if (index == MAP64_NONE)
        return frame ? rewrite_frame_locations(frame, locations, max) : 0;
    const place *p = &c->places.items[index];
    size_t n;
    memtrace_frame completed = {.code = code};
    completed.locations = place_locations(c, p, &n);
    /* An innermost frame: skip the allocator's functions that were inlined into it. */
    if (type && p->n_allocator < n) {
        n -= p->n_allocator;
        type = p->type ? p->type : type;
    }
    completed.n_locations = (uint32_t)n;
    completed.type = type;
    return rewrite_frame_locations(&completed, locations, max);
}

/* Segments of a ring refer to blocks by their ids, which version 2 would change. */
static bool is_segment(const completion *c) {
    return map64_get(&c->place_of_code, segment_code(SEGMENT_RECORDING)) != MAP64_NONE;
}

bool completion_lowers_version(const completion *c) {
    return memtrace_reader_info(c->reader)->version == 3 && c->n_domains <= 1 && !is_segment(c);
}

memtrace_status completion_write(completion *c, memtrace_reader *reader, uint16_t version,
                                 const char *path, memtrace_error *error) {
    rewrite_options options = {
        .version = version, .locate = locate, .edit = drop_allocator, .user = c};
    return rewrite_to_file(reader, &options, path, error);
}

memtrace_status completion_relabel(completion *c, relabel *names, const char *path,
                                   memtrace_error *error) {
    return relabel_write(names, locate, c, path, error);
}
