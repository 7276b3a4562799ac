/* similar.c: compares names as a whole and by their parts, since users know functions without their
 * scopes and parameters. If the name is an entry point and nothing is similar, the function in
 * which most stacks begin tells where this program begins. */
#include "cli/similar.h"

#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "cli/message.h"
#include "languages/language.h"
#include "query/cost.h"

enum { LONGEST_NAME = 64 };

/* The characters that separate the parts of a name, and those that begin its parameters. */
typedef struct name_shape {
    const char *separators, *end_marks;
} name_shape;

static const name_shape shapes[] = {[FILTER_NAME_FUNCTION] = {":. ", "(<"},
                                    [FILTER_NAME_FILE] = {"/", ""},
                                    [FILTER_NAME_TYPE] = {":. ", "(<"}};

/* Returns the edit distance between a name, as a whole or any part of it, and the wanted one;
 * parameters are ignored. It is 0 if the name contains the wanted one in any case of letters. */
static size_t distance_of(const name_shape *shape, const char *text, const char *wanted) {
    char name[LONGEST_NAME];
    size_t size = strcspn(text, shape->end_marks);
    while (size > 0 && strchr(shape->separators, text[size - 1]))
        size--;
    if (strcasestr(text, wanted))
        return 0;
    if (size == 0 || size >= sizeof name)
        return SIZE_MAX;
    memcpy(name, text, size);
    name[size] = '\0';
    size_t least = nearest_distance(name, wanted);
    for (char *rest = name, *part; (part = strsep(&rest, shape->separators));) {
        const size_t distance = nearest_distance(part, wanted);
        least = distance < least ? distance : least;
    }
    return least;
}

static size_t names_in(const profile *p, filter_name_of of) {
    return of == FILTER_NAME_TYPE ? p->frames.count : p->locations.count;
}

static const char *name_at(const profile *p, filter_name_of of, size_t i) {
    const char *text = of == FILTER_NAME_TYPE   ? p->frames.items[i].type
                       : of == FILTER_NAME_FILE ? p->locations.items[i].file
                                                : p->locations.items[i].function;
    return text ? text : "";
}

/* Returns the nearest name, the shortest of several equally near; NULL: none is near. */
static const char *nearest_to(const profile *p, filter_name_of of, const char *wanted) {
    const char *best = NULL;
    size_t least = strlen(wanted) / 4; /* one letter in four may be wrong */
    for (size_t i = 0; i < names_in(p, of); i++) {
        const char *text = name_at(p, of, i);
        const size_t distance = distance_of(&shapes[of], text, wanted);
        if (distance < least || (distance == least && (!best || strlen(text) < strlen(best)))) {
            best = text;
            least = distance;
        }
    }
    return best;
}

/* Returns where a function's parameters begin; NULL: it has none. */
static const char *parameters_of(const char *function) {
    const char *begin = *function ? strchr(function + 1, '(') : NULL;
    while (begin && begin[-1] == ':') /* (anonymous namespace) */
        begin = strchr(begin + 1, '(');
    return begin;
}

/* If no name is near, that of a function may have other parameters now. */
static const char *nearest(const profile *p, filter_name_of of, const char *wanted) {
    const char *best = nearest_to(p, of, wanted);
    const char *end = best || of != FILTER_NAME_FUNCTION ? NULL : parameters_of(wanted);
    char *name = end ? strndup(wanted, (size_t)(end - wanted)) : NULL;
    if (name)
        best = nearest_to(p, of, name);
    free(name);
    return best;
}

const char *similar_function(const profile *p, const char *wanted) {
    return nearest(p, FILTER_NAME_FUNCTION, wanted);
}

static bool hint_at_nearest(const profile *p, filter_name_of of, const char *wanted) {
    const char *best = nearest(p, of, wanted);
    if (best)
        message_hint("there is `%s`", best);
    return best != NULL;
}

/* ---- where programs begin ---------------------------------------------------------------- */

/* Returns whether a name is an entry point in some language. */
static bool is_entry(const char *name) {
    static const char *const entries[] = {"main", "_start", "__libc_start_main"};
    bool is = languages_begin_in(name);
    for (size_t i = 0; !is && i < sizeof entries / sizeof *entries; i++)
        is = strcmp(name, entries[i]) == 0;
    return is;
}

/* Returns the function of the frame at `node`, the outermost one of a stack. NULL: the stack was
 * cut off there, or the function has no name. */
static const char *function_at(const profile *p, uint32_t node) {
    const profile_frame *f = &p->frames.items[cct_frame(&p->tree, node)];
    const profile_location *l = f->n ? &p->locations.items[f->first] : NULL;
    return l && l->function[0] != '[' && l->function[0] && !profile_is_address(l) ? l->function
                                                                                  : NULL;
}

/* Returns the outermost node of each node's stack, for all nodes. A parent has a lower index than
 * its children. Returns NULL if there is no memory. */
static uint32_t *first_nodes(const cct *tree) {
    uint32_t *first = calloc(cct_count(tree) + 1, sizeof *first);
    for (uint32_t i = 1; first && i < cct_count(tree); i++) {
        const uint32_t parent = cct_parent(tree, i);
        first[i] = parent ? first[parent] : i;
    }
    return first;
}

/* The few functions in which stacks begin, compared by address since names are interned. */
typedef struct entry_sum {
    const char *function;
    uint64_t samples;
} entry_sum;

typedef VEC(entry_sum) entry_sums;

static bool add_entry(entry_sums *sums, const char *function, uint64_t samples) {
    size_t i = 0;
    while (i < sums->count && sums->items[i].function != function)
        i++;
    if (i == sums->count && !vec_push(sums, ((entry_sum){.function = function})))
        return false;
    sums->items[i].samples += samples;
    return true;
}

/* Names the function in which most of the allocated memory's stacks begin. */
static void hint_at_entry(const profile *p) {
    cost_list costs = {0};
    entry_sums sums = {0};
    entry_sum most = {0};
    uint32_t *first = first_nodes(&p->tree);
    bool ok = first && cost_of_tree(p, &costs);
    for (size_t i = 0; ok && i < costs.count; i++) {
        const uint32_t node = costs.stacks[i] >> 1;
        const char *function = node ? function_at(p, first[node]) : NULL;
        ok = !function || add_entry(&sums, function, cost_columns_samples(&costs.costs, i));
    }
    for (size_t i = 0; i < sums.count; i++)
        most = sums.items[i].samples > most.samples ? sums.items[i] : most;
    if (ok && most.function)
        message_hint("most call stacks begin in `%s`", most.function);
    free(first);
    cost_list_free(&costs);
    vec_free(&sums);
}

void similar_hint(const profile *p, const char *wanted) {
    if (!hint_at_nearest(p, FILTER_NAME_FUNCTION, wanted) && is_entry(wanted))
        hint_at_entry(p);
}

static bool is_known(const profile *p, const filter_name *name) {
    for (size_t i = 0; i < names_in(p, name->of); i++) {
        const char *text = name_at(p, name->of, i);
        if (name->whole ? strcmp(text, name->text) == 0 : strstr(text, name->text) != NULL)
            return true;
    }
    return false;
}

static void hint_at(const profile *p, const filter_name *name) {
    if (name->of == FILTER_NAME_FUNCTION)
        similar_hint(p, name->text);
    else
        hint_at_nearest(p, name->of, name->text);
}

void similar_hint_filter(const profile *p, const filter *f) {
    filter_name name;
    for (size_t i = 0; f && filter_plain_name(f, i, &name); i++)
        if (!is_known(p, &name))
            hint_at(p, &name);
}
