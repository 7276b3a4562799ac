/* import_v8.c: reads heap profiles of V8, `.heapprofile`: JSON with a tree of call frames and the
 * sizes of their live blocks. node writes them with --heap-prof, Chromium from its developer
 * tools. */
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "import/import.h"

enum { MOST_FRAMES = 1 << 26 };

typedef struct tree {
    import *to;
    import_error *error;
    VEC(uint32_t) path; /* places, outermost first */
} tree;

static const char *text_of(tree *t, json_t *value) {
    return json_is_string(value)
               ? import_text(t->to, json_string_value(value), json_string_length(value))
               : "";
}

/* Adds the place of a call frame. V8's lines count from 0. */
static uint32_t place_of(tree *t, json_t *frame) {
    const uint32_t place = import_add_place(t->to);
    const char *name = text_of(t, json_object_get(frame, "functionName"));
    json_t *line = json_object_get(frame, "lineNumber");
    const json_int_t number = json_is_integer(line) ? json_integer_value(line) : -1;
    import_add_location(t->to, *name ? name : "(anonymous)",
                        text_of(t, json_object_get(frame, "url")),
                        number < 0 ? 0 : (uint64_t)number + 1);
    return place;
}

static bool add_blocks(tree *t, uint64_t blocks, uint64_t bytes) {
    const import_record record = {
        .first = t->to->frames.count, .live = blocks, .live_bytes = bytes};
    if (t->to->frames.count + t->path.count > MOST_FRAMES)
        return import_fail(t->error, 0, "its stacks have more than %d frames", MOST_FRAMES);
    for (size_t i = t->path.count; i-- > 0;)
        t->to->no_memory |= !vec_push(&t->to->frames, t->path.items[i]);
    if (!t->to->no_memory)
        import_add_record(t->to, record);
    return !t->to->no_memory;
}

/* Adds a node and those below it. A node states how many bytes are live. How many blocks that is,
 * only the samples say. */
static bool read_node(tree *t, json_t *node, bool is_root) {
    json_t *frame = json_object_get(node, "callFrame"), *child;
    json_t *size = json_object_get(node, "selfSize");
    size_t i;
    if (!json_is_object(node) || !json_is_object(frame) || !json_is_number(size))
        return import_fail(t->error, 0, "a node lacks `callFrame` or `selfSize`");
    const double bytes = json_number_value(size);
    if (!(bytes >= 0 && bytes < 0x1p56))
        return import_fail(t->error, 0, "a node has an impossible `selfSize`");
    if (!is_root && !vec_push(&t->path, place_of(t, frame)))
        return !(t->to->no_memory = true);
    if (bytes > 0 && !add_blocks(t, 1, (uint64_t)bytes))
        return false;
    json_array_foreach(json_object_get(node, "children"), i, child) {
        if (!read_node(t, child, false))
            return false;
    }
    t->path.count -= !is_root;
    return true;
}

/* Estimates the sampling period, which the file does not state. No sample stands for less than the
 * period, and samples of small blocks for hardly more. */
static double period_of(json_t *samples) {
    double least = 0;
    size_t i;
    json_t *sample;
    json_array_foreach(samples, i, sample) {
        const double size = json_number_value(json_object_get(sample, "size"));
        if (size > 0 && (least == 0 || size < least))
            least = size;
    }
    return least;
}

bool import_v8(import *to, const uint8_t *bytes, size_t size, import_error *error) {
    json_error_t wrong;
    tree t = {.to = to, .error = error};
    to->format = "a heap profile of V8";
    to->missing = "times, numbers of blocks or freed blocks";
    json_t *root = json_loadb((const char *)bytes, size, JSON_REJECT_DUPLICATES, &wrong);
    if (!root)
        return import_fail(error, wrong.position < 0 ? 0 : (size_t)wrong.position, "%.150s",
                           wrong.text);
    json_t *head = json_object_get(root, "head");
    const bool good = head ? read_node(&t, head, true)
                           : import_fail(error, 0, "it has no `head`, so it is no heap profile");
    to->period = period_of(json_object_get(root, "samples"));
    json_decref(root);
    vec_free(&t.path);
    return good && !to->no_memory;
}
