/* Tests of src/guest with a guest that is made of nothing but a stack of numbers. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/path.h"
#include "guest/text.h"
#include "guest/tracer.h"
#include "guest/tree.h"
#include "unit.h"

/* ---- text ------------------------------------------------------------------------------------ */

START_TEST(sizes_have_three_digits) {
    static const struct {
        double bytes;
        const char *text;
    } cases[] = {{0, "0B"},          {999, "999B"},   {1000, "1KB"},      {1234, "1.23KB"},
                 {9994, "9.99KB"},   {9996, "10KB"},  {12345, "12.3KB"},  {400000, "400KB"},
                 {999499, "999KB"},  {999501, "1MB"}, {1500000, "1.5MB"}, {2e9, "2GB"},
                 {1.05e12, "1.05TB"}};
    char text[TEXT_NUMBER];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        text_size(text, cases[i].bytes);
        ck_assert_str_eq(text, cases[i].text);
    }
}
END_TEST

START_TEST(patterns_match_whole_texts) {
    ck_assert(text_matches("build", "build"));
    ck_assert(!text_matches("build", "rebuild"));
    ck_assert(!text_matches("build", "builds"));
    ck_assert(text_matches("*build*", "rebuilds"));
    ck_assert(text_matches("b?ild", "build"));
    ck_assert(text_matches("b?d", "bäd"));
    ck_assert(!text_matches("b?ild", "bild"));
    ck_assert(text_matches("a,b*,c", "bcd"));
    ck_assert(!text_matches("a,,c", ""));
    ck_assert(text_matches("*", ""));
    ck_assert(text_matches("*a*a*b", "aaaaaaaaab"));
    ck_assert(!text_matches("*a*a*b", "aaaaaaaaa"));
}
END_TEST

START_TEST(files_are_told_apart_by_their_ends) {
    static const char *const files[] = {"/x/a/main.lox", "/y/a/main.lox", "/x/b/other.lox",
                                        "main.lox",      "tail.lox",      "retail.lox"};
    static const char *const names[] = {"x/a/main.lox", "y/a/main.lox", "other.lox",
                                        "main.lox",     "tail.lox",     "retail.lox"};
    for (size_t i = 0; i < 6; i++)
        ck_assert_str_eq(files[i] + text_unique_suffix(files[i], files, 6), names[i]);
    ck_assert(path_ends("/x/main.lox", "main.lox", 8));
    ck_assert(!path_ends("/x/main.lox", "in.lox", 6));
}
END_TEST

/* ---- a tree ---------------------------------------------------------------------------------- */

START_TEST(children_are_found_again) {
    tree t = {0};
    uint32_t a = tree_child(&t, TREE_ROOT, 7), b = tree_child(&t, a, 7);
    ck_assert_uint_ne(a, b);
    ck_assert_uint_eq(tree_child(&t, TREE_ROOT, 7), a);
    ck_assert_uint_eq(tree_child(&t, a, 7), b);
    ck_assert_uint_eq(t.nodes.items[b].parent, a);
    ck_assert_uint_eq(tree_child(&t, TREE_NONE, 7), TREE_NONE);
    tree_free(&t);
}
END_TEST

/* ---- a guest --------------------------------------------------------------------------------- */

/* Site 10 f + n is line n of function f, whose name is a letter. */
typedef struct toy {
    uint64_t stack[64];
    size_t depth, kept;
    bool tells_kept;
} toy;

static void toy_describe(void *context, uint64_t site, guest_place *place) {
    (void)context;
    static const char names[] = "a\0b\0c\0d";
    uint32_t f = (uint32_t)(site / 10), line = (uint32_t)(site % 10);
    *place = (guest_place){.function = f ? &names[2 * (f - 1)] : NULL,
                           .file = "dir/toy.x",
                           .line = line,
                           .call = true,
                           .expression = {line, line, 10 * line, 10 * line + 5},
                           .body = {f + 1, f + 3, 100 * f, 100 * f + 50}};
}

static const char *toy_builtin(void *context) {
    (void)context;
    return NULL;
}

static size_t toy_depth(void *context, size_t *kept) {
    toy *g = context;
    *kept = g->tells_kept ? g->kept : 0;
    g->kept = g->depth ? g->depth - 1 : 0;
    return g->depth;
}

static void toy_sites(void *context, size_t first, uint64_t *sites, size_t max) {
    memcpy(sites, ((toy *)context)->stack + first, max * sizeof *sites);
}

/* Returns to `depth` frames and goes on from there. */
static void toy_leave(toy *g, size_t depth) {
    g->depth = depth;
    if (g->kept > depth - 1)
        g->kept = depth - 1;
}

static void toy_allocate(toy *g, tracer *t, const char *type, uint64_t samples) {
    if (g->depth)
        tracer_count(t, g->stack[g->depth - 1], type, NULL, 32, samples);
    else
        tracer_count_internal(t, 0, type, NULL, 32, samples);
}

/* Random walk of calls and returns; every allocation is of 32 bytes. */
static void toy_run(toy *g, tracer *t) {
    uint64_t random = 1;
    *g = (toy){.stack = {2}, .depth = 1, .tells_kept = g->tells_kept};
    for (int i = 0; i < 20000; i++) {
        random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        uint64_t choice = random >> 33;
        if (choice % 3 == 0 && g->depth < 30)
            g->stack[g->depth++] = 10 * (1 + choice / 3 % 4) + choice / 12 % 10;
        else if (choice % 3 == 1 && g->depth > 1)
            toy_leave(g, g->depth - 1), g->stack[g->depth - 1] ^= 1;
        else
            toy_allocate(g, t, choice / 3 % 5 ? "ToyArray" : "ToyString", 1);
    }
}

/* What a tracer with these options reports; freed by the caller. */
static char *toy_report(bool tells_kept, const char *const *arguments, tracer_status *status) {
    char path[] = "/tmp/test_guest.XXXXXX", problem[200], *text = calloc(1, 1 << 20);
    int file = mkstemp(path);
    ck_assert_int_ge(file, 0);
    char output[64];
    snprintf(output, sizeof output, "--memtracer.OutputFile=%s", path);
    memtracer_options options;
    options_init(&options);
    ck_assert_int_eq(options_take(&options, "--memtracer", problem, sizeof problem),
                     MEMTRACER_TAKEN);
    ck_assert_int_eq(options_take(&options, output, problem, sizeof problem), MEMTRACER_TAKEN);
    for (; *arguments; arguments++)
        ck_assert_int_eq(options_take(&options, *arguments, problem, sizeof problem),
                         MEMTRACER_TAKEN);
    ck_assert(options_check(&options, problem, sizeof problem));
    toy g = {.tells_kept = tells_kept};
    tracer *t =
        tracer_create(&options, &(guest){&g, toy_describe, toy_builtin, toy_depth, toy_sites});
    toy_run(&g, t);
    *status = tracer_report(t, problem, sizeof problem);
    tracer_free(t);
    options_free(&options);
    close(file);
    FILE *report = fopen(path, "r");
    ck_assert_uint_gt(fread(text, 1, (1 << 20) - 1, report), 0);
    fclose(report);
    unlink(path);
    return text;
}

/* What is kept of the last stack saves time, and changes nothing. */
START_TEST(kept_frames_change_nothing) {
    static const char *const forms[][3] = {
        {"--memtracer.Output=histogram"},
        {"--memtracer.Output=calltree"},
        {"--memtracer.TraceStackTraces"},
        {"--memtracer.Output=calltree", "--memtracer.StackLimit=7"},
        {"--memtracer.FilterRootName=a,c"}};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        tracer_status status;
        char *with = toy_report(true, forms[i], &status),
             *without = toy_report(false, forms[i], &status);
        ck_assert_str_eq(with, without);
        free(with);
        free(without);
    }
}
END_TEST

START_TEST(expectations_decide_the_status) {
    tracer_status status;
    free(toy_report(true, (const char *const[]){"--memtracer.Expect=5000", NULL}, &status));
    ck_assert_int_eq(status, TRACER_OK);
    free(toy_report(true, (const char *const[]){"--memtracer.Expect=toy.x:3=1", NULL}, &status));
    ck_assert_int_eq(status, TRACER_EXPECT_FAILED);
    free(toy_report(true, (const char *const[]){"--memtracer.Expect=oy.x:3=0", NULL}, &status));
    ck_assert_int_eq(status, TRACER_OK);
}
END_TEST

/* One sample of each block of four words: what the estimators say of that is known. */
START_TEST(samples_are_estimated) {
    tracer_status status;
    char *exact = toy_report(true, (const char *const[]){"--memtracer.Output=json", NULL}, &status);
    char *sampled = toy_report(
        true, (const char *const[]){"--memtracer.Output=json", "--memtracer.Rate=0.5", NULL},
        &status);
    double n, total, bytes;
    ck_assert_int_eq(sscanf(exact, "{ \"total\": %lf", &n), 1);
    ck_assert_int_eq(sscanf(sampled, "{ \"total\": %lf, \"total_bytes\": %lf", &total, &bytes), 2);
    ck_assert_double_eq_tol(total, n / (1 - pow(0.5, 4)), 1);
    ck_assert_double_eq_tol(bytes, n / 0.5 * 8, 1);
    free(exact);
    free(sampled);
}
END_TEST

/* ---- options --------------------------------------------------------------------------------- */

START_TEST(options_are_taken_or_refused) {
    static const struct {
        const char *argument;
        memtracer_parsed parsed;
    } cases[] = {
        {"--memtracer", MEMTRACER_TAKEN},
        {"--memtracer=false", MEMTRACER_TAKEN},
        {"--memtracer.TraceCalls", MEMTRACER_TAKEN},
        {"--memtracer.Rate=1e-3", MEMTRACER_TAKEN},
        {"--memtracer.Expect=a=b:3=5e3", MEMTRACER_TAKEN},
        {"--experimental-options", MEMTRACER_TAKEN},
        {"--experimental-options=true", MEMTRACER_TAKEN},
        {"--help:memtracer", MEMTRACER_HELP},
        {"--memtracers", MEMTRACER_NOT_MINE},
        {"--max-heap=3", MEMTRACER_NOT_MINE},
        {"program.lox", MEMTRACER_NOT_MINE},
        {"--memtracer.", MEMTRACER_BAD},
        {"--memtracer.Rate=inf", MEMTRACER_BAD},
        {"--memtracer.Rate=0x1p-3", MEMTRACER_BAD},
        {"--memtracer.Rate=1e-400", MEMTRACER_BAD},
        {"--memtracer.StackLimit=-1", MEMTRACER_BAD},
        {"--memtracer.OutputFile=", MEMTRACER_BAD},
    };
    char problem[200];
    memtracer_options options;
    options_init(&options);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        ck_assert_int_eq(options_take(&options, cases[i].argument, problem, sizeof problem),
                         cases[i].parsed);
    ck_assert(!options.on && options.calls);
    ck_assert_uint_eq(options.expect.items[0].site_size, 5);
    options_free(&options);
}
END_TEST

static Suite *suite(void) {
    Suite *s = suite_create("guest");
    TCase *c = tcase_create("guest");
    tcase_add_test(c, sizes_have_three_digits);
    tcase_add_test(c, patterns_match_whole_texts);
    tcase_add_test(c, files_are_told_apart_by_their_ends);
    tcase_add_test(c, children_are_found_again);
    tcase_add_test(c, kept_frames_change_nothing);
    tcase_add_test(c, expectations_decide_the_status);
    tcase_add_test(c, samples_are_estimated);
    tcase_add_test(c, options_are_taken_or_refused);
    suite_add_tcase(s, c);
    return s;
}

UNIT_MAIN(suite)
