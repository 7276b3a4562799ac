/* profile_names.c: frames of the allocator itself, at the inner end of a stack, are removed, since
 * the allocation site is their caller. If a frame has no other location, it becomes a function that
 * every query skips. */
#include "cli/profile_names.h"

#include <string.h>

#include "symbolize/allocator_frames.h"
#include "symbolize/completion.h"

#define ALLOCATOR "malloc" /* skipped as a wrapper, see query/wrappers.h */

typedef struct naming {
    symbolizer *symbolizer;
    profile *profile;
    VEC(uint32_t) frames; /* frames of the profile; each has the question with the same index */
    completion_questions questions;
} naming;

static bool ask(naming *n) {
    profile *p = n->profile;
    for (uint32_t i = 0; i < p->frames.count; i++) {
        const profile_frame *f = &p->frames.items[i];
        const profile_location *l = &p->locations.items[f->first];
        symbolize_request question;
        bool is_address;
        if (f->n != 1 || l->line != 0)
            continue;
        if (!completion_question(n->symbolizer, l->file, l->function, &question, &is_address))
            return false;
        if (is_address && !(vec_push(&n->frames, i) && vec_push(&n->questions, question)))
            return false;
    }
    return symbolizer_resolve(n->symbolizer, n->questions.items, n->questions.count);
}

/* Returns the number of locations, from the outermost one, before the allocator's own functions. */
static uint32_t own_locations(const symbolize_request *answer) {
    uint32_t n = answer->n_locations;
    const char *type = NULL;
    while (n > 0) {
        const allocator_frame_kind kind = allocator_frame(answer->locations[n - 1].function, &type);
        if (kind == ALLOCATOR_NONE || (kind == ALLOCATOR_INLINED && n == 1))
            break;
        n--;
    }
    return n;
}

static bool add_location(profile *p, const char *file, const char *function, uint32_t line) {
    const profile_location made = {.file = intern(&p->strings, file, strlen(file)),
                                   .function = intern(&p->strings, function, strlen(function)),
                                   .line = line};
    return made.file && made.function && vec_push(&p->locations, made);
}

static bool name_frame(profile *p, profile_frame *f, const symbolize_request *answer) {
    const uint32_t first = (uint32_t)p->locations.count, n = own_locations(answer);
    bool ok = n > 0 || add_location(p, "", ALLOCATOR, 0);
    for (uint32_t i = 0; ok && i < n; i++) {
        const memtrace_location *l = &answer->locations[i];
        ok = add_location(p, l->file, l->function, l->line);
    }
    if (ok) {
        f->first = first;
        f->n = n > 0 ? n : 1;
    }
    return ok;
}

bool profile_names_give(symbolizer *s, profile *p) {
    naming n = {.symbolizer = s, .profile = p};
    bool ok = ask(&n);
    for (size_t i = 0; ok && i < n.questions.count; i++)
        if (n.questions.items[i].n_locations > 0)
            ok = name_frame(p, &p->frames.items[n.frames.items[i]], &n.questions.items[i]);
    vec_free(&n.frames);
    vec_free(&n.questions);
    return ok;
}
