/* places.c: frames are resolved in bulk, since the symbolizer reopens a module for each call. */
#include "push/places.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symbolize/allocator_frames.h"
#include "symbolize/completion.h"

#define NO_REQUEST UINT32_MAX

bool places_begin(places *p, symbolizer *shared, uint64_t recorded_at, int files) {
    const symbolize_options options = {.recorded_at = recorded_at, .debug_files = {.in = files}};
    *p = (places){.symbolizer = shared ? shared : symbolizer_new(&options), .is_shared = shared};
    return p->symbolizer;
}

/* The requests for new frames, and for each frame the index of its request. */
typedef struct questions {
    VEC(symbolize_request) requests;
    VEC(uint32_t) of_frame;
} questions;

static bool ask(places *p, questions *q, const memtrace_frame *frame) {
    const memtrace_location *l = frame->locations;
    symbolize_request new;
    bool is_address = false;
    if (frame->n_locations == 1 && l->line == 0 &&
        !completion_question(p->symbolizer, l->file, l->function, &new, &is_address))
        return false;
    if (!is_address)
        return vec_push(&q->of_frame, NO_REQUEST);
    return vec_push(&q->of_frame, (uint32_t)q->requests.count) && vec_push(&q->requests, new);
}

static bool add_location(places *p, profile *into, const memtrace_location *l) {
    const char *type = NULL;
    const profile_location new = {.file = intern(&into->strings, l->file, strlen(l->file)),
                                  .function =
                                      intern(&into->strings, l->function, strlen(l->function)),
                                  .line = l->line};
    return new.file &&new.function &&vec_push(&into->locations, new) &&
           vec_push(&p->allocator, allocator_frame(l->function, &type) == ALLOCATOR_ALWAYS);
}

/* Adds a frame with its own locations, or with those of the answer. */
static bool add_frame(places *p, profile *into, const memtrace_frame *frame,
                      const symbolize_request *answer) {
    char code[32];
    const memtrace_location unknown = {.file = "", .function = code};
    const memtrace_location *locations = frame->locations;
    uint32_t n = frame->n_locations;
    if (answer && answer->n_locations) {
        locations = answer->locations;
        n = answer->n_locations;
    } else if (n == 0) {
        snprintf(code, sizeof code, "$%" PRId64, (int64_t)frame->code);
        locations = &unknown;
        n = 1;
    }
    profile_frame new = {.first = (uint32_t)into->locations.count, .n = n};
    if (frame->type && !(new.type = intern(&into->strings, frame->type, strlen(frame->type))))
        return false;
    for (uint32_t i = 0; i < n; i++)
        if (!add_location(p, into, &locations[i]))
            return false;
    return vec_push(&into->frames, new);
}

bool places_learn(places *p, const memtrace_reader *reader, profile *into) {
    questions q = {0};
    const uint32_t first = (uint32_t)into->frames.count, n = memtrace_reader_n_frames(reader);
    bool ok = true;
    for (uint32_t i = first; ok && i < n; i++)
        ok = ask(p, &q, memtrace_reader_frame(reader, i));
    ok = ok && symbolizer_resolve(p->symbolizer, q.requests.items, q.requests.count);
    for (uint32_t i = first; ok && i < n; i++) {
        const uint32_t request = q.of_frame.items[i - first];
        ok = add_frame(p, into, memtrace_reader_frame(reader, i),
                       request == NO_REQUEST ? NULL : &q.requests.items[request]);
    }
    vec_free(&q.requests);
    vec_free(&q.of_frame);
    return ok;
}

bool places_lens(const places *p, const profile *of, lens *l) {
    if (!lens_init(l, of, false, NULL))
        return false;
    for (size_t i = 0; i < p->allocator.count; i++)
        if (p->allocator.items[i])
            l->marks[i] |= LENS_HIDDEN;
    return true;
}

void places_free(places *p) {
    if (!p->is_shared)
        symbolizer_free(p->symbolizer);
    vec_free(&p->allocator);
}
