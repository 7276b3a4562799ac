/* tracer.c: counting, see tracer.h. */
#include <string.h>
#include <time.h>

#include "guest/counts.h"
#include "guest/report.h"

static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

tracer *tracer_create(const memtracer_options *options, const guest *g) {
    tracer *t = calloc(1, sizeof *t);
    if (!t)
        return NULL;
    t->options = options;
    t->guest = *g;
    t->deep = options_want_stacks(options);
    t->started = seconds();
    return t;
}

void tracer_free(tracer *t) {
    if (!t)
        return;
    map64_free(&t->site_numbers);
    vec_free(&t->sites);
    tree_free(&t->contexts);
    vec_free(&t->first_leaf);
    vec_free(&t->leaves);
    vec_free(&t->path);
    intern_free(&t->strings);
    free(t);
}

/* The key of the pseudo site that stands for all frames that were cut out of a stack. */
#define CUT UINT64_C(0)

/* ---- sites ----------------------------------------------------------------------------------- */

static const char *keep(tracer *t, const char *s) {
    const char *kept = s ? intern(&t->strings, s, strlen(s)) : NULL;
    if (s && !kept)
        t->failed = true;
    return kept;
}

static const char *name_of(tracer *t, const guest_place *place) {
    if (!place->function)
        return keep(t, "program");
    if (!place->class_name)
        return place->function;
    size_t size = strlen(place->class_name) + 1 + strlen(place->function) + 1;
    char *both = malloc(size);
    const char *name = NULL;
    if (both) {
        snprintf(both, size, "%s.%s", place->class_name, place->function);
        name = keep(t, both);
    }
    t->failed |= !name;
    free(both);
    return name;
}

static void add_site(tracer *t, uint64_t key) {
    guest_place place = {.function = "…"};
    if (key != CUT)
        t->guest.describe(t->guest.context, key, &place);
    place.function = keep(t, place.function);
    place.class_name = keep(t, place.class_name);
    place.file = keep(t, place.file);
    if (t->failed || !vec_push(&t->sites, ((site){place, name_of(t, &place)})))
        t->failed = true;
}

/* The child of the context along the site. */
static uint32_t context_at(tracer *t, uint32_t parent, uint64_t key) {
    uint32_t *number = map64_put(&t->site_numbers, key);
    if (!number)
        return TREE_NONE;
    if (*number == MAP64_NONE) {
        *number = (uint32_t)t->sites.count;
        add_site(t, key);
    }
    return t->failed ? TREE_NONE : tree_child(&t->contexts, parent, *number);
}

/* ---- contexts -------------------------------------------------------------------------------- */

static uint32_t context_innermost(tracer *t, uint64_t key) {
    recent_site *r = &t->recent[key * UINT64_C(0x9E3779B97F4A7C15) >> (64 - RECENT_BITS)];
    if (r->key != key)
        *r = (recent_site){key, context_at(t, TREE_ROOT, key)};
    return r->node;
}

/* Extends the path to `depth` frames. */
static bool path_extend(tracer *t, size_t depth) {
    uint64_t sites[256];
    while (t->path.count < depth) {
        size_t first = t->path.count, n = depth - first;
        if (n > sizeof sites / sizeof *sites)
            n = sizeof sites / sizeof *sites;
        t->guest.sites(t->guest.context, first, sites, n);
        for (size_t i = 0; i < n; i++) {
            uint32_t parent = t->path.count ? t->path.items[t->path.count - 1] : TREE_ROOT;
            uint32_t node = context_at(t, parent, sites[i]);
            if (node == TREE_NONE || !vec_push(&t->path, node))
                return false;
        }
    }
    return true;
}

/* A stack that is too deep keeps its innermost frame and the outermost ones: what is allocated
 * stays with the expression that allocates it. */
static uint32_t context_whole(tracer *t, uint64_t key) {
    size_t depth = t->guest.depth(t->guest.context), kept = t->guest.kept(t->guest.context);
    size_t limit = t->options->stack_limit, whole = depth > limit ? limit - 1 : depth;
    if (t->path.count > kept)
        t->path.count = kept;
    if (t->path.count > whole)
        t->path.count = whole;
    if (!path_extend(t, whole))
        return TREE_NONE;
    uint32_t last = whole ? t->path.items[whole - 1] : TREE_ROOT;
    if (whole == depth)
        return last;
    t->cut++;
    return context_at(t, context_at(t, last, CUT), key);
}

/* ---- leaves ---------------------------------------------------------------------------------- */

static leaf *leaf_add(tracer *t, uint32_t node, const guest_allocation *a, const char *builtin) {
    leaf l = {.next = t->first_leaf.items[node],
              .internal = a->internal,
              .own_type = a->type,
              .own_class = a->class_name,
              .builtin = keep(t, builtin),
              .type = keep(t, a->type),
              .class_name = keep(t, a->class_name)};
    if (t->failed || t->leaves.count >= UINT32_MAX || !vec_push(&t->leaves, l))
        return NULL;
    t->first_leaf.items[node] = (uint32_t)t->leaves.count;
    return &t->leaves.items[t->leaves.count - 1];
}

/* NULL when there is no memory. */
static leaf *leaf_of(tracer *t, uint32_t node, const guest_allocation *a) {
    const char *builtin = t->options->internal ? a->builtin : NULL;
    if (node >= t->first_leaf.count) {
        size_t more = node + 1 - t->first_leaf.count;
        if (!vec_reserve(&t->first_leaf, more))
            return NULL;
        memset(&t->first_leaf.items[t->first_leaf.count], 0, more * sizeof *t->first_leaf.items);
        t->first_leaf.count += more;
    }
    for (uint32_t i = t->first_leaf.items[node]; i; i = t->leaves.items[i - 1].next) {
        leaf *l = &t->leaves.items[i - 1];
        if (l->own_type == a->type && l->own_class == a->class_name && l->internal == a->internal &&
            (l->builtin == builtin || (builtin && l->builtin && !strcmp(l->builtin, builtin))))
            return l;
    }
    return leaf_add(t, node, a, builtin);
}

void tracer_count(tracer *t, const guest_allocation *a) {
    if (t->failed || (a->internal && !t->options->internal))
        return;
    uint32_t node = !a->site  ? TREE_ROOT
                    : t->deep ? context_whole(t, a->site)
                              : context_innermost(t, a->site);
    leaf *l = node == TREE_NONE ? NULL : leaf_of(t, node, a);
    if (!l) {
        t->failed = true;
        return;
    }
    l->tally.count++;
    l->tally.bytes += a->bytes;
    if (t->options->rate < 1) {
        l->tally.samples += a->samples;
        estimate_blocks_add(&l->tally.blocks, a->bytes / GUEST_WORD, t->options->rate);
    }
}

tracer_status tracer_report(tracer *t, char *problem, size_t size) {
    if (t->failed) {
        snprintf(problem, size, "--memtracer ran out of memory; there is no report");
        return TRACER_CANNOT_WRITE;
    }
    return report_write(t, seconds() - t->started, problem, size);
}
