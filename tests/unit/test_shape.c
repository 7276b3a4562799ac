/* Tests that stacks are cut and folded as a filter's terms say, one after the other, which is done
 * here again with lists of names; and that blocks of the stacks that are left, and no others, are
 * kept. */
#include <stdio.h>

#include "query/query.h"
#include "random_stacks.h"

/* ---- what the terms mean ----------------------------------------------------------------- */

typedef struct names {
    const char *at[2 * DEEPEST]; /* outermost first */
    size_t n;
} names;

static void drop(names *s, size_t from, size_t to) {
    memmove(s->at + from, s->at + to, (s->n - to) * sizeof *s->at);
    s->n -= to - from;
}

static bool below(names *s, const char *function) {
    for (size_t i = 0; i < s->n; i++)
        if (strcmp(s->at[i], function) == 0) {
            drop(s, 0, i);
            return true;
        }
    return false;
}

static bool above(names *s, const char *function) {
    while (s->n > 0 && strcmp(s->at[s->n - 1], function) != 0)
        s->n--;
    return s->n > 0;
}

/* Functions separated by commas, from the outermost on. */
static bool path(names *s, const char *functions) {
    char *copy = strdup(functions), *rest = copy;
    size_t n = 0;
    bool ok = true;
    for (const char *f; ok && (f = strsep(&rest, ",")); n++)
        ok = n < s->n && strcmp(s->at[n], f) == 0;
    free(copy);
    if (ok)
        drop(s, 0, n - 1);
    return ok;
}

/* From the outside: a function that is there already takes the stack back to where it was. */
static bool recursion(names *s, const char *function) {
    for (size_t i = 0, k; i < s->n; i++) {
        if (strcmp(s->at[i], function) != 0)
            continue;
        for (k = 0; k < i && s->at[k] != s->at[i]; k++)
            ;
        drop(s, k, i);
        i = k;
    }
    return true;
}

static bool repeats(names *s, const char *function) {
    for (size_t i = 1; i < s->n; i++)
        if (strcmp(s->at[i], function) == 0 && s->at[i - 1] == s->at[i])
            drop(s, i, i + 1), i--;
    return true;
}

static bool hide(names *s, const char *function) {
    for (size_t i = s->n; i-- > 0;)
        if (strcmp(s->at[i], function) == 0)
            drop(s, i, i + 1);
    return true;
}

/* Of these tests, each function but one of the library is alone in a file of its name. */
static bool hide_file(names *s, const char *file) {
    const char *function = strcmp(file, "eval.c") == 0 ? "eval" : "List.map";
    return hide(s, function);
}

static const struct {
    const char *name;
    bool (*apply)(names *s, const char *value);
} terms[] = {{"below", below},         {"above", above},     {"path", path},
             {"recursion", recursion}, {"repeats", repeats}, {"hide", hide},
             {"hide-file", hide_file}};

/* Hidden functions are in no stack that a term looks at. */
static bool apply(names *s, const char *text) {
    bool kept = true;
    for (int hides = 1; hides >= 0; hides--) {
        char *copy = strdup(text), *rest = copy;
        for (char *term; kept && (term = strsep(&rest, " "));) {
            char *value = strchr(term, ':');
            *value++ = '\0';
            for (size_t i = 0; i < sizeof terms / sizeof *terms; i++)
                if (strcmp(terms[i].name, term) == 0 && (terms[i].name[0] == 'h') == hides)
                    kept = terms[i].apply(s, value);
        }
        free(copy);
    }
    return kept;
}

/* ---- that a lens sees the same ------------------------------------------------------------- */

static names see(const lens *l, uint32_t node) {
    names inward = {0}, outward = {0};
    for (lens_cursor at = lens_innermost(l, node); at.location != LENS_NOWHERE;
         at = lens_outward(l, at))
        outward.at[outward.n++] = lens_location(l, at.location)->function;
    while (outward.n > 0)
        inward.at[inward.n++] = outward.at[--outward.n];
    return inward;
}

static bool find_entry(cost_entry *found, const query_result *q, const cost_entry *like) {
    for (size_t i = 0; i < q->costs.count; i++) {
        *found = cost_list_at(&q->costs, i);
        if (found->node == like->node && found->external == like->external)
            return true;
    }
    return false;
}

/* How many stacks are left. */
static size_t expect_as_listed(const profile *p, const char *text) {
    filter *f;
    filter_error error;
    query_result all, q;
    size_t n = 0;
    ck_assert_msg(filter_parse(text, &f, &error), "%s: %s", text, error.reason);
    ck_assert(query_run(&all, p, &(query_spec){0}));
    ck_assert(query_run(&q, p, &(query_spec){.filter = f}));
    for (size_t i = 0; i < all.costs.count; i++) {
        const cost_entry e = cost_list_at(&all.costs, i);
        cost_entry left;
        const bool found = find_entry(&left, &q, &e);
        names wanted = see(&all.lens, e.node), seen;
        const bool kept = apply(&wanted, text);
        ck_assert_msg(kept == (found && left.cost.samples > 0), "%s", text);
        if (!kept)
            continue;
        ck_assert_uint_eq(left.cost.samples, e.cost.samples);
        seen = see(&q.lens, e.node);
        ck_assert_uint_eq(seen.n, wanted.n);
        for (size_t k = 0; k < seen.n; k++)
            ck_assert_str_eq(seen.at[k], wanted.at[k]);
        n++;
    }
    query_free(&all);
    query_free(&q);
    filter_free(f);
    return n;
}

static void record_stacks(tape *t, profile *p, uint64_t *seed) {
    stacks s;
    tape_start(t, 0.5);
    draw_stacks(&s, seed);
    for (size_t i = 0; i < STACKS; i++)
        allocate(t, 0, MEMTRACE_MINOR, 99, 1 + draw(seed, 9), s.codes[i], s.n[i]);
    allocate(t, 0, MEMTRACE_MINOR, 99, 1, STACK(MAIN, PARSE, EVAL, INLINED));
    tape_read_blocks(t, p, false);
}

START_TEST(stacks_are_cut_and_folded) {
    static const char *const filters[] = {
        "below:parse",
        "above:parse",
        "path:main",
        "path:main,parse",
        "path:main,parse,eval",
        "recursion:parse",
        "repeats:parse",
        "recursion:parse recursion:leaf",
        "hide:eval repeats:parse",
        "below:parse recursion:parse",
        "hide-file:eval.c",
        "hide-file:lib/ repeats:parse",
        "recursion:leaf path:main,leaf above:parse",
        "below:eval path:eval,parse",
        "above:leaf below:parse hide:main",
        "above:eval repeats:eval recursion:List.map",
    };
    enum { N = sizeof filters / sizeof *filters };
    uint64_t seed = 5;
    size_t left[N] = {0};
    for (int round = 0; round < 50; round++) {
        tape t;
        profile p;
        record_stacks(&t, &p, &seed);
        for (size_t i = 0; i < N; i++)
            left[i] += expect_as_listed(&p, filters[i]);
        profile_free(&p);
    }
    for (size_t i = 0; i < N; i++)
        ck_assert_msg(left[i] > 10, "%s leaves %zu stacks", filters[i], left[i]);
}
END_TEST

START_TEST(terms_that_say_how_stacks_look_cannot_be_negated) {
    static const char *const looks[] = {"hide", "hide-file", "below",  "above",
                                        "path", "recursion", "repeats"};
    for (size_t i = 0; i < sizeof looks / sizeof *looks; i++) {
        char text[32], reason[64];
        filter *f;
        filter_error error;
        snprintf(text, sizeof text, "-%s:x", looks[i]);
        snprintf(reason, sizeof reason, "%s cannot be negated", looks[i]);
        ck_assert(!filter_parse(text, &f, &error));
        ck_assert_str_eq(error.reason, reason);
    }
}
END_TEST

/* All functions are one at a time: what is collapsed there is no function twice on a path. */
START_TEST(recursion_of_all_leaves_no_function_twice) {
    uint64_t seed = 9;
    filter *f;
    filter_error error;
    ck_assert(filter_parse("recursion:/./", &f, &error));
    for (int round = 0; round < 50; round++) {
        tape t;
        profile p;
        query_result q;
        record_stacks(&t, &p, &seed);
        ck_assert(query_run(&q, &p, &(query_spec){.filter = f}));
        for (size_t i = 0; i < q.costs.count; i++) {
            const names s = see(&q.lens, cost_list_at(&q.costs, i).node);
            for (size_t a = 0; a < s.n; a++)
                for (size_t b = a + 1; b < s.n; b++)
                    ck_assert_ptr_ne(s.at[a], s.at[b]);
        }
        query_free(&q);
        profile_free(&p);
    }
    filter_free(f);
}
END_TEST

static Suite *suite(void) {
    Suite *s = suite_create("shape");
    TCase *t = tcase_create("shape");
    tcase_add_test(t, stacks_are_cut_and_folded);
    tcase_add_test(t, terms_that_say_how_stacks_look_cannot_be_negated);
    tcase_add_test(t, recursion_of_all_leaves_no_function_twice);
    suite_add_tcase(s, t);
    return s;
}

UNIT_MAIN(suite)
