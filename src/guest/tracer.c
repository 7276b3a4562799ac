/* tracer.c: a context is a node of a tree of sites. The tracer keeps the path to the last context,
 * and the guest says how much of its stack is unchanged, so only the rest has to be looked up.
 * Small caches in front of the maps make the common case a comparison. */
#include <string.h>
#include <time.h>

#include "guest/counts.h"
#include "guest/report.h"
#include "platform/clock.h"

#define NOINLINE __attribute__((noinline)) /* keeps the hot path small */

/* Bytes set aside for the report: a minimum, and so many for each context. Most contexts share
 * functions, so this suffices. Memory that is not touched costs address space only. */
enum { RESERVE = 1 << 20, RESERVE_EACH = 160 };

static double seconds(void) {
    return (double)clock_monotonic_us() / 1e6;
}

tracer *tracer_create(const memtracer_options *options, const guest *g) {
    tracer *t = calloc(1, sizeof *t);
    if (!t)
        return NULL;
    t->options = options;
    t->guest = *g;
    t->deep = options_want_stacks(options);
    t->simple = !t->deep && !options->internal && options->rate >= 1;
    t->started = seconds();
    t->reserve = malloc(RESERVE);
    t->reserved = t->reserve ? RESERVE : 0;
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
    free(t->reserve);
    free(t);
}

/* The key of the pseudo site for the frames that were cut out of a stack. */
#define CUT UINT64_C(0)

/* Sets enough memory aside to report what is counted so far. Returns false when there is no
 * memory. */
static bool keep_reserve(tracer *t) {
    size_t wanted = RESERVE + t->contexts.nodes.count * RESERVE_EACH;
    if (wanted <= t->reserved)
        return true;
    wanted += wanted / 2;
    void *more = realloc(t->reserve, wanted);
    if (!more)
        return false;
    t->reserve = more;
    t->reserved = wanted;
    return true;
}

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

/* ---- contexts -------------------------------------------------------------------------------- */

static size_t recent_index(uint64_t key, uint32_t parent, const char *name) {
    uint64_t mixed = key + ((uint64_t)parent << 13) + (uintptr_t)name;
    return mixed * UINT64_C(0x9E3779B97F4A7C15) >> (64 - RECENT_BITS);
}

static uint32_t find_context(tracer *t, uint32_t parent, uint64_t key) {
    uint32_t *number = map64_put(&t->site_numbers, key);
    if (!number)
        return TREE_NONE;
    if (*number == MAP64_NONE) {
        *number = (uint32_t)t->sites.count;
        add_site(t, key);
    }
    return t->failed || !keep_reserve(t) ? TREE_NONE : tree_child(&t->contexts, parent, *number);
}

/* Returns the child of a context for a site. */
static uint32_t context_at(tracer *t, uint32_t parent, uint64_t key) {
    recent_context *r = &t->recent_contexts[recent_index(key, parent, NULL)];
    if (key == CUT)
        return find_context(t, parent, key);
    if (r->key != key || r->parent != parent)
        *r = (recent_context){.key = key, .parent = parent, .node = find_context(t, parent, key)};
    return r->node;
}

/* Extends the path to `depth` frames. */
static bool path_extend(tracer *t, size_t depth) {
    uint64_t sites[64];
    uint32_t node = t->path.count ? t->path.items[t->path.count - 1] : TREE_ROOT;
    if (!vec_reserve(&t->path, depth - t->path.count))
        return false;
    while (t->path.count < depth) {
        size_t first = t->path.count, n = depth - first;
        if (n > sizeof sites / sizeof *sites)
            n = sizeof sites / sizeof *sites;
        t->guest.sites(t->guest.context, first, sites, n);
        for (size_t i = 0; i < n; i++) {
            node = context_at(t, node, sites[i]);
            if (node == TREE_NONE)
                return false;
            t->path.items[t->path.count++] = node;
        }
    }
    return true;
}

/* Returns the context of the frame that called the innermost one. Of a stack that is too deep, the
 * innermost frame and the outermost ones are kept, so that an allocation stays with the expression
 * that makes it. */
static uint32_t context_of_caller(tracer *t) {
    size_t kept, depth = t->guest.depth(t->guest.context, &kept);
    size_t limit = t->options->stack_limit, callers = (depth > limit ? limit : depth) - 1;
    if (t->path.count > kept)
        t->path.count = kept;
    if (t->path.count > callers)
        t->path.count = callers;
    if (t->path.count < callers && !path_extend(t, callers))
        return TREE_NONE;
    uint32_t last = callers ? t->path.items[callers - 1] : TREE_ROOT;
    if (depth <= limit)
        return last;
    t->cut++;
    return context_at(t, last, CUT);
}

/* ---- leaves ---------------------------------------------------------------------------------- */

static leaf *leaf_add(tracer *t, uint32_t node, const recent_leaf *r) {
    leaf l = {.next = t->first_leaf.items[node],
              .internal = r->internal,
              .own_type = r->type,
              .own_class = r->class_name,
              .builtin = r->builtin,
              .type = keep(t, r->type),
              .class_name = keep(t, r->class_name)};
    const leaf *before = t->leaves.items;
    if (t->failed || t->leaves.count >= UINT32_MAX || !vec_push(&t->leaves, l))
        return NULL;
    if (t->leaves.items != before) /* the array moved */
        memset(t->recent_leaves, 0, sizeof t->recent_leaves);
    t->first_leaf.items[node] = (uint32_t)t->leaves.count;
    return &t->leaves.items[t->leaves.count - 1];
}

/* Returns NULL when there is no memory. */
static leaf *leaf_of(tracer *t, uint32_t node, const recent_leaf *r) {
    if (node >= t->first_leaf.count) {
        size_t more = node + 1 - t->first_leaf.count;
        if (!vec_reserve(&t->first_leaf, more))
            return NULL;
        memset(&t->first_leaf.items[t->first_leaf.count], 0, more * sizeof *t->first_leaf.items);
        t->first_leaf.count += more;
    }
    for (uint32_t i = t->first_leaf.items[node]; i; i = t->leaves.items[i - 1].next) {
        leaf *l = &t->leaves.items[i - 1];
        if (l->own_type == r->type && l->own_class == r->class_name && l->builtin == r->builtin &&
            l->internal == r->internal)
            return l;
    }
    return leaf_add(t, node, r);
}

/* Fills `r` for an allocation. Returns NULL when there is no memory. */
static NOINLINE tally *recent_find(tracer *t, recent_leaf *r, uint32_t parent, uint64_t key,
                                   const char *type, const char *class_name, const char *builtin,
                                   bool internal) {
    recent_leaf wanted = {.key = key,
                          .type = type,
                          .class_name = class_name,
                          .builtin = builtin,
                          .parent = parent,
                          .internal = internal};
    uint32_t node = key && parent != TREE_NONE ? context_at(t, parent, key) : parent;
    leaf *l = node == TREE_NONE ? NULL : leaf_of(t, node, &wanted);
    if (!l) {
        t->failed = true, t->simple = false;
        return NULL;
    }
    *r = wanted;
    return r->tally = &l->tally;
}

/* Returns the tally of an allocation; NULL when there is no memory. */
static inline tally *recent_tally(tracer *t, uint32_t parent, uint64_t key, const char *type,
                                  const char *class_name, const char *builtin, bool internal) {
    recent_leaf *r = &t->recent_leaves[recent_index(key, parent, class_name)];
    if (r->key == key && r->parent == parent && r->type == type && r->class_name == class_name &&
        r->builtin == builtin && r->internal == internal)
        return r->tally;
    return recent_find(t, r, parent, key, type, class_name, builtin, internal);
}

static NOINLINE void count(tracer *t, uint64_t key, const char *type, const char *class_name,
                           bool internal, size_t bytes, uint64_t samples) {
    if (t->failed)
        return;
    const char *builtin = t->options->internal ? t->guest.builtin(t->guest.context) : NULL;
    uint32_t parent = t->deep && key ? context_of_caller(t) : TREE_ROOT;
    tally *sum = recent_tally(t, parent, key, type, class_name, builtin, internal);
    if (!sum)
        return;
    sum->count++;
    sum->bytes += bytes;
    if (t->options->rate < 1) {
        sum->samples += samples;
        estimate_blocks_add(&sum->blocks, bytes / GUEST_WORD, t->options->rate);
    }
}

void tracer_count(tracer *t, uint64_t key, const char *type, const char *class_name, size_t bytes,
                  uint64_t samples) {
    const recent_leaf *r = &t->recent_leaves[recent_index(key, TREE_ROOT, class_name)];
    if (t->simple && r->key == key && r->type == type && r->class_name == class_name) {
        r->tally->count++;
        r->tally->bytes += bytes;
    } else {
        count(t, key, type, class_name, false, bytes, samples);
    }
}

void tracer_count_internal(tracer *t, uint64_t key, const char *type, const char *class_name,
                           size_t bytes, uint64_t samples) {
    if (t->options->internal)
        count(t, key, type, class_name, true, bytes, samples);
}

tracer_status tracer_report(tracer *t, char *problem, size_t size) {
    t->partial = t->failed;
    t->failed = false;
    free(t->reserve);
    t->reserve = NULL;
    return report_write(t, seconds() - t->started, problem, size);
}
