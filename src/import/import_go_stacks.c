/* import_go_stacks.c: turns the stacks of Go's heap profile into those of an import: with inlined
 * functions, and without the runtime's innermost frames. */
#include <string.h>

#include "import/import_go.h"

static uint32_t make_place(go_stacks *s) {
    const uint32_t place = import_add_place(s->to);
    for (size_t i = s->group.count; i-- > 0;) {
        const go_frame *f = &s->group.items[i];
        import_add_location(s->to, import_text(s->to, f->symbol, strlen(f->symbol)),
                            import_text(s->to, f->file, strlen(f->file)), f->line);
    }
    return place;
}

/* Makes one place of the frames collected in `group`. */
static void end_group(go_stacks *s) {
    enum { MOST_GROUP_BITS = 8 };
    if (s->group.count == 0)
        return;
    uint32_t *place = map64_put(&s->place_of, s->first << MOST_GROUP_BITS | s->group.count);
    if (place && *place == MAP64_NONE)
        *place = make_place(s);
    s->to->no_memory |= !place || !vec_push(&s->to->frames, *place);
    vec_clear(&s->group);
}

/* Adds a frame. It belongs to the current group if the frames there are inlined into it. */
static void add_frame(go_stacks *s, uint64_t address, const go_frame *f) {
    enum { MOST_GROUP = 255 };
    const go_frame *last = s->group.count ? &s->group.items[s->group.count - 1] : NULL;
    if (last && (!last->parent || last->entry != f->entry || strcmp(last->symbol, f->symbol) == 0 ||
                 s->group.count == MOST_GROUP))
        end_group(s);
    if (s->group.count == 0)
        s->first = address;
    s->to->no_memory |= !vec_push(&s->group, *f);
}

static void add_address(go_stacks *s, uint64_t address) {
    const go_frame f = go_names_look(&s->names, address);
    if (f.symbol && strcmp(f.symbol, "runtime.goexit") == 0)
        end_group(s);
    else if (f.symbol)
        add_frame(s, address, &f);
}

static bool is_runtime(const char *symbol) {
    return symbol &&
           (strncmp(symbol, "runtime.", 8) == 0 || strncmp(symbol, "internal/runtime/", 17) == 0);
}

/* Returns the number of innermost frames to skip because they are the runtime's; 0 if all frames
 * are. */
static size_t skip_runtime(go_stacks *s, const uint64_t *frames, size_t n) {
    size_t i = 0;
    while (i < n && is_runtime(go_names_at(&s->names, frames[i])))
        i++;
    return i < n ? i : 0;
}

static void add_frames(go_stacks *s, const uint64_t *frames, size_t n) {
    for (size_t i = 0; i < n; i++)
        add_address(s, frames[i]);
    /* In a truncated stack, the last function may be inlined into others. */
    for (int i = 0; i < 64 && n > 0 && s->group.count > 0; i++) {
        const uint64_t parent = s->group.items[s->group.count - 1].parent;
        if (!parent)
            break;
        add_address(s, parent);
    }
    end_group(s);
}

void go_stacks_add(go_stacks *s, const uint64_t *frames, size_t n) {
    const size_t skipped = skip_runtime(s, frames, n), before = s->to->frames.count;
    add_frames(s, frames + skipped, n - skipped);
    if (s->to->frames.count == before)
        add_frames(s, frames, n);
}

bool go_stacks_open(go_stacks *s, import *to, const go_program *p, int memory,
                    import_error *error) {
    *s = (go_stacks){.to = to};
    return go_names_open(&s->names, p, memory, error);
}

void go_stacks_close(go_stacks *s) {
    go_names_close(&s->names);
    map64_free(&s->place_of);
    vec_free(&s->group);
}
