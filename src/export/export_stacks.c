/* export_stacks.c: collapsed stacks and speedscope. Each node with costs in a tree of call paths
 * becomes a line or a sample. The total size is computed beforehand from the nodes' parents. */

#include <math.h>
#include <string.h>

#include "export/exports.h"
#include "paths/path_sums.h"

enum { ASK_AFTER = 1 << 14 /* number of nodes after which to check whether to go on */ };

static bool goes_on(output *o, uint32_t node) {
    return node % ASK_AFTER > 0 ? !o->error : output_goes_on(o);
}

/* The name of a stack without frames. */
static const char nowhere[] = "[unknown]";

static uint64_t weight_at(const profile *p, measure m, const path_column *costs, uint32_t node) {
    const cost c = path_column_at(costs, node);
    return (uint64_t)llround(cost_value(p, m, &c));
}

static uint64_t digits_of(uint64_t n) {
    char buffer[OUTPUT_U64_MAX];
    return (uint64_t)(buffer + sizeof buffer - output_u64_digits(n, buffer));
}

static size_t n_places(const path_tree *t) {
    return t->places->locations.count;
}

/* ---- collapsed stacks -------------------------------------------------------------------- */

/* Writes a name. The format has no quoting, so characters with a meaning are replaced. */
static void collapsed_name(output *o, const char *name) {
    if (!*name)
        name = nowhere;
    for (; *name; name++)
        output_char(o, *name == ';' ? ':' : (unsigned char)*name < ' ' ? ' ' : *name);
}

/* The names of all places, made only once because stacks of thousands of frames repeat them. */
typedef struct collapsed_names {
    output text;
    VEC(size_t) ends; /* ends of the places' names, including the semicolons */
} collapsed_names;

static bool collapsed_names_make(collapsed_names *names, const path_tree *t) {
    output_start(&names->text, OUTPUT_MEMORY);
    for (uint32_t i = 0; i < n_places(t); i++) {
        collapsed_name(&names->text, path_tree_location(t, i)->function);
        output_char(&names->text, ';');
        if (!vec_push(&names->ends, names->text.used))
            return false;
    }
    return !names->text.error;
}

static void collapsed_names_free(collapsed_names *names) {
    output_finish(&names->text);
    vec_free(&names->ends);
}

static void collapsed_stack(output *o, const collapsed_names *names, const path_places *path,
                            uint64_t weight) {
    for (size_t i = 0; i < path->count; i++) {
        const uint32_t place = path->items[i];
        const size_t first = place ? names->ends.items[place - 1] : 0;
        const bool last = i + 1 == path->count;
        output_bytes(o, names->text.buffer + first, names->ends.items[place] - first - last);
    }
    if (path->count == 0)
        output_text(o, nowhere);
    output_char(o, ' ');
    output_u64(o, weight, 0, ' ');
    output_char(o, '\n');
}

/* Returns the size of all lines in bytes; UINT64_MAX when out of memory. */
static uint64_t collapsed_size(const collapsed_names *names, const profile *p, measure m,
                               const path_tree *t, const path_column *costs) {
    uint64_t *lengths = path_tree_lengths(t, names->ends.items), sum = lengths ? 0 : UINT64_MAX;
    for (uint32_t i = 0; lengths && i < t->n; i++)
        if (path_column_any(costs, i))
            sum += lengths[i] + digits_of(weight_at(p, m, costs, i)) + 1; /* the newline */
    free(lengths);
    return sum;
}

bool export_collapsed(output *o, export_subject *subject) {
    const profile *p = subject->lens->profile;
    const measure m = subject->measure;
    path_tree *t = path_tree_see(subject->lens, PLACE_BY_NAME);
    collapsed_names names = {0};
    if (!t)
        return false;
    path_column costs;
    path_places path = {0};
    bool ok = path_column_of(&costs, t, subject->costs) && collapsed_names_make(&names, t);
    const uint64_t size = ok ? collapsed_size(&names, p, m, t, &costs) : UINT64_MAX;
    ok = size != UINT64_MAX;
    if (ok)
        output_expect(o, size);
    for (uint32_t i = 0; ok && i < t->n && goes_on(o, i); i++)
        if (path_column_any(&costs, i)) {
            ok = path_tree_walk(t, i, &path);
            if (ok)
                collapsed_stack(o, &names, &path, weight_at(p, m, &costs, i));
        }
    path_column_free(&costs);
    vec_free(&path);
    collapsed_names_free(&names);
    path_tree_free(t);
    return ok;
}

/* ---- speedscope -------------------------------------------------------------------------- */

static void speedscope_frame(output *o, const profile_location *l) {
    output_text(o, "{\"name\":");
    output_json(o, *l->function ? l->function : nowhere);
    if (*l->file) {
        output_text(o, ",\"file\":");
        output_json(o, l->file);
    }
    if (l->line)
        output_format(o, ",\"line\":%u", l->line);
    output_char(o, '}');
}

/* An additional frame after those of the places stands for stacks without frames. */
static void speedscope_frames(output *o, const path_tree *t) {
    output_text(o, "\"shared\":{\"frames\":[\n");
    for (uint32_t i = 0; i < n_places(t); i++) {
        speedscope_frame(o, path_tree_location(t, i));
        output_text(o, ",\n");
    }
    speedscope_frame(o, &(profile_location){.file = "", .function = nowhere});
    output_text(o, "\n]}");
}

/* Returns the size of samples and weights in bytes; UINT64_MAX when out of memory. */
static uint64_t speedscope_size(const profile *p, measure m, const path_tree *t,
                                const path_column *costs) {
    VEC(size_t) ends = {0}; /* ends of the places' numbers, including the commas */
    bool ok = true;
    for (size_t i = 0, end = 0; ok && i < n_places(t); i++)
        ok = vec_push(&ends, end += digits_of(i) + 1);
    uint64_t *lengths = ok ? path_tree_lengths(t, ends.items) : NULL,
             sum = lengths ? 0 : UINT64_MAX;
    for (uint32_t i = 0; lengths && i < t->n; i++)
        if (path_column_any(costs, i))
            sum += lengths[i] + digits_of(weight_at(p, m, costs, i)) + strlen("\n[],,");
    free(lengths);
    vec_free(&ends);
    return sum;
}

static bool speedscope_samples(output *o, const path_tree *t, const path_column *costs) {
    path_places path = {0};
    bool first = true, ok = true;
    output_text(o, "\"samples\":[");
    for (uint32_t i = 0; ok && i < t->n && goes_on(o, i); i++) {
        if (!path_column_any(costs, i))
            continue;
        ok = path_tree_walk(t, i, &path) &&
             (path.count > 0 || vec_push(&path, (uint32_t)n_places(t)));
        output_text(o, first ? "\n[" : ",\n[");
        for (size_t j = 0; ok && j < path.count; j++) {
            if (j > 0)
                output_char(o, ',');
            output_u64(o, path.items[j], 0, ' ');
        }
        output_char(o, ']');
        first = false;
    }
    output_text(o, "\n]");
    vec_free(&path);
    return ok;
}

static void speedscope_weights(output *o, const profile *p, measure m, const path_tree *t,
                               const path_column *costs) {
    bool first = true;
    output_text(o, ",\"weights\":[");
    for (uint32_t i = 0; i < t->n; i++)
        if (path_column_any(costs, i)) {
            if (!first)
                output_char(o, ',');
            output_u64(o, weight_at(p, m, costs, i), 0, ' ');
            first = false;
        }
    output_char(o, ']');
}

static uint64_t sum_of_weights(const profile *p, measure m, const path_tree *t,
                               const path_column *costs) {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < t->n; i++)
        sum += weight_at(p, m, costs, i);
    return sum;
}

bool export_speedscope(output *o, export_subject *subject) {
    const profile *p = subject->lens->profile;
    const measure m = subject->measure;
    path_tree *t = path_tree_see(subject->lens, PLACE_BY_LINE);
    if (!t)
        return false;
    path_column costs;
    const uint64_t size =
        path_column_of(&costs, t, subject->costs) ? speedscope_size(p, m, t, &costs) : UINT64_MAX;
    bool ok = size != UINT64_MAX;
    if (ok && output_expect(o, size)) {
        output_text(o, "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\n"
                       "\"exporter\":\"allotrace\",\"name\":");
        output_json(o, subject->title);
        output_text(o, ",\"activeProfileIndex\":0,\n");
        speedscope_frames(o, t);
        bool bytes = measure_infos[m].unit == UNIT_BYTES;
        output_format(o,
                      ",\n\"profiles\":[{\"type\":\"sampled\",\"name\":\"%s\",\"unit\":\"%s\","
                      "\"startValue\":0,\"endValue\":",
                      measure_infos[m].name, bytes ? "bytes" : "none");
        output_u64(o, sum_of_weights(p, m, t, &costs), 0, ' ');
        output_text(o, ",\n");
        ok = speedscope_samples(o, t, &costs);
        speedscope_weights(o, p, m, t, &costs);
        output_text(o, "}]}\n");
    }
    path_column_free(&costs);
    path_tree_free(t);
    return ok;
}
