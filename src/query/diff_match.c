/* diff_match.c: rows are sorted so that the lines of a function are adjacent, and so are functions
 * of the same name. One walk along both sides then finds all matches. */
#include "query/diff_match.h"

#include <stdlib.h>
#include <string.h>

/* The number of pairs of lines in a function above which no shift is looked for. */
enum { MAX_SHIFTS = 1 << 14 };

/* ---- the rows of a side -------------------------------------------------------------------- */

typedef struct occurrence {
    const hotspots_entry *entry;
    size_t run;
} occurrence;

static int compare_strings(const char *a, const char *b) {
    if (!a || !b)
        return (a != NULL) - (b != NULL);
    return strcmp(a, b);
}

static const char *function_of(const diff_name *n) {
    return n->place ? n->place->function : NULL;
}

static const char *file_of(const diff_name *n) {
    return n->place ? n->place->file : NULL;
}

static uint32_t line_of(const diff_name *n) {
    return n->place ? n->place->line : 0;
}

/* Compares the first parts of names: type, or function of a site. */
static int compare_heads(const diff_name *a, const diff_name *b) {
    int order = compare_strings(a->type, b->type);
    return order ? order : compare_strings(function_of(a), function_of(b));
}

static int compare_functions(const diff_name *a, const diff_name *b) {
    int order = compare_heads(a, b);
    return order ? order : compare_strings(file_of(a), file_of(b));
}

static int compare_names(const diff_name *a, const diff_name *b, hotspots_by by) {
    int order = compare_functions(a, b);
    if (order || by != HOTSPOTS_BY_LINE)
        return order;
    return (line_of(a) > line_of(b)) - (line_of(a) < line_of(b));
}

static diff_name name_of(const occurrence *o) {
    return (diff_name){.place = o->entry->place, .type = o->entry->type};
}

static int compare_occurrences(const void *a, const void *b, void *by) {
    diff_name x = name_of(a), y = name_of(b);
    return compare_names(&x, &y, *(const hotspots_by *)by);
}

static bool add_row(match_rows *m, const diff_name *name, size_t n_runs) {
    if (!vec_reserve(&m->counts, n_runs) || !vec_reserve(&m->costs, n_runs) ||
        !vec_push(&m->rows, ((match_row){.name = *name, .counts = (uint32_t)m->counts.count})))
        return false;
    for (size_t i = 0; i < n_runs; i++) {
        m->counts.items[m->counts.count++] = 0;
        m->costs.items[m->costs.count++] = (cost){0};
    }
    return true;
}

bool match_gather(const hotspots *runs, size_t n_runs, match_rows *result) {
    VEC(occurrence) all = {0};
    bool ok = true;
    hotspots_by by = runs[0].by;
    for (size_t run = 0; run < n_runs; run++)
        for (size_t i = 0; ok && i < runs[run].sites.count; i++)
            ok = vec_push(&all,
                          ((occurrence){.entry = &runs[run].sites.items[i].entry, .run = run}));
    if (ok && all.count)
        qsort_r(all.items, all.count, sizeof *all.items, compare_occurrences, &by);
    for (size_t i = 0; ok && i < all.count; i++) {
        diff_name name = name_of(&all.items[i]);
        size_t last = result->rows.count;
        if (last == 0 || compare_names(&result->rows.items[last - 1].name, &name, by) != 0)
            ok = add_row(result, &name, n_runs);
        if (!ok)
            break;
        size_t at = result->counts.count - n_runs + all.items[i].run;
        result->counts.items[at] += all.items[i].entry->cost.samples;
        cost_add(&result->costs.items[at], &all.items[i].entry->cost);
    }
    vec_free(&all);
    return ok;
}

void match_free(match_rows *m) {
    vec_free(&m->rows);
    vec_free(&m->counts);
    vec_free(&m->costs);
}

/* ---- lines of one function ----------------------------------------------------------------- */

/* The rows [from, to) of one side, such as those of a function. */
typedef struct range {
    const match_row *rows;
    uint32_t from, to;
} range;

static uint32_t size_of(const range *r) {
    return r->to - r->from;
}

static int64_t line_at(const range *r, uint32_t i) {
    return line_of(&r->rows[i].name);
}

/* Returns how many lines are on both sides if all moved by `shift`. */
static uint32_t common_lines(const range *b, const range *a, int64_t shift) {
    uint32_t i = b->from, j = a->from, n = 0;
    while (i < b->to && j < a->to) {
        int64_t d = line_at(a, j) - line_at(b, i) - shift;
        n += d == 0;
        i += d >= 0;
        j += d <= 0;
    }
    return n;
}

/* Returns the shift that explains most lines; of equally good ones, the smallest. */
static int64_t best_shift(const range *b, const range *a) {
    int64_t best = 0;
    uint32_t most = common_lines(b, a, 0);
    if ((uint64_t)size_of(b) * size_of(a) > MAX_SHIFTS)
        return 0;
    for (uint32_t i = b->from; i < b->to; i++)
        for (uint32_t j = a->from; j < a->to; j++) {
            int64_t shift = line_at(a, j) - line_at(b, i);
            uint32_t n = common_lines(b, a, shift);
            if (n > most || (n == most && llabs(shift) < llabs(best))) {
                most = n;
                best = shift;
            }
        }
    return best;
}

/* Pairs the lines between two matches. If both sides have the same number, they match in order. */
static bool pair_gap(range b, range a, match_pairs *pairs) {
    bool same = size_of(&b) == size_of(&a);
    for (uint32_t i = b.from; i < b.to; i++)
        if (!vec_push(pairs, ((match_pair){.before = i,
                                           .after = same ? a.from + (i - b.from) : MATCH_NONE})))
            return false;
    for (uint32_t j = a.from; !same && j < a.to; j++)
        if (!vec_push(pairs, ((match_pair){.before = MATCH_NONE, .after = j})))
            return false;
    return true;
}

static bool pair_lines(range b, range a, match_pairs *pairs) {
    int64_t shift = best_shift(&b, &a);
    uint32_t i = b.from, j = a.from;
    while (i < b.to && j < a.to) {
        int64_t d = line_at(&a, j) - line_at(&b, i) - shift;
        if (d == 0) {
            if (!pair_gap((range){b.rows, b.from, i}, (range){a.rows, a.from, j}, pairs) ||
                !vec_push(pairs, ((match_pair){.before = i, .after = j})))
                return false;
            b.from = i + 1;
            a.from = j + 1;
        }
        i += d >= 0;
        j += d <= 0;
    }
    return pair_gap(b, a, pairs);
}

/* ---- functions of one name ----------------------------------------------------------------- */

typedef int compare_name(const diff_name *a, const diff_name *b);

/* Returns the rows from `from` on with equal names, up to `to`. */
static range alike(const match_row *rows, uint32_t from, uint32_t to, compare_name *compare) {
    uint32_t end = from;
    while (end < to && compare(&rows[from].name, &rows[end].name) == 0)
        end++;
    return (range){.rows = rows, .from = from, .to = end};
}

/* Unmatched functions of one name on one side: their number, and the last of them. */
typedef struct leftover {
    range last;
    uint32_t n;
} leftover;

static bool keep_or_pass(leftover *l, range r, bool is_before, match_pairs *pairs) {
    range previous = l->n ? l->last : (range){0};
    *l = (leftover){.last = r, .n = l->n + 1};
    range none = {0};
    return is_before ? pair_gap(previous, none, pairs) : pair_gap(none, previous, pairs);
}

/* Matches functions of the same file; then, if exactly one is left on each side, those two. */
static bool pair_functions(range b, range a, match_pairs *pairs) {
    leftover lb = {0}, la = {0};
    bool ok = true;
    while (ok && (size_of(&b) || size_of(&a))) {
        range x = alike(b.rows, b.from, b.to, compare_functions);
        range y = alike(a.rows, a.from, a.to, compare_functions);
        int order = !size_of(&x)   ? 1
                    : !size_of(&y) ? -1
                                   : compare_functions(&x.rows[x.from].name, &y.rows[y.from].name);
        if (order == 0)
            ok = pair_lines(x, y, pairs);
        else if (order < 0)
            ok = keep_or_pass(&lb, x, true, pairs);
        else
            ok = keep_or_pass(&la, y, false, pairs);
        if (order <= 0)
            b.from = x.to;
        if (order >= 0)
            a.from = y.to;
    }
    range none = {0};
    if (lb.n == 1 && la.n == 1)
        return ok && pair_lines(lb.last, la.last, pairs);
    return ok && pair_gap(lb.last, none, pairs) && pair_gap(none, la.last, pairs);
}

/* Whether a name says too little to be recognized in another file. An address in native code means
 * something else in another build. */
static bool is_anonymous(const diff_name *n) {
    const char *function = function_of(n);
    return function && (function[0] == '\0' || function[0] == '$' || strstr(function, "+0x"));
}

bool match_sides(const match_rows *before, const match_rows *after, match_pairs *pairs) {
    uint32_t i = 0, j = 0;
    uint32_t n_before = (uint32_t)before->rows.count, n_after = (uint32_t)after->rows.count;
    while (i < n_before || j < n_after) {
        compare_name *compare = compare_heads;
        if ((i < n_before && is_anonymous(&before->rows.items[i].name)) ||
            (j < n_after && is_anonymous(&after->rows.items[j].name)))
            compare = compare_functions;
        range b = alike(before->rows.items, i, n_before, compare);
        range a = alike(after->rows.items, j, n_after, compare);
        int order = i == n_before  ? 1
                    : j == n_after ? -1
                                   : compare(&b.rows[i].name, &a.rows[j].name);
        if (order > 0)
            b.to = b.from;
        if (order < 0)
            a.to = a.from;
        if (!pair_functions(b, a, pairs))
            return false;
        i = b.to;
        j = a.to;
    }
    return true;
}
