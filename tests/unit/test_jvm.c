/* Tests of src/runtimes/jvm/: what frames and types are called (jvm_names.c), and how many samples
 * an object has that a sampler like the JVM's has picked (jvm_weigh.c). */
#include <math.h>
#include <string.h>

#include "runtimes/jvm/jvm_names.h"
#include "runtimes/jvm/jvm_weigh.h"
#include "unit.h"

enum { MOST = 4 };

static const jvm_known *tell(const char *class, const char *name, const char *file) {
    static char ids[64];
    static size_t n;
    static struct jvm_line lines[] = {{0, 10}, {20, 12}, {8, 11}, {30, 10}};
    return jvm_names_tell(&(struct jvm_method){.id = &ids[n++],
                                               .class = class,
                                               .name = name,
                                               .file = file,
                                               .lines = lines,
                                               .n_lines = sizeof lines / sizeof *lines});
}

static memtrace_location frame(const jvm_known *method, int64_t at) {
    memtrace_location found[MOST];
    ck_assert_uint_eq(jvm_names_locate(jvm_names_frame(method, at), found, MOST), 1);
    return found[0];
}

START_TEST(frames_have_method_file_and_line) {
    const jvm_known *m = tell("Lcom/example/Main$Inner;", "run", "Main.java");
    static const struct {
        int64_t at;
        uint32_t line;
    } places[] = {{0, 10}, {7, 10}, {8, 11}, {19, 11}, {20, 12}, {29, 12}, {1000, 10}, {-1, 0}};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        const memtrace_location f = frame(m, places[i].at);
        ck_assert_str_eq(f.function, "com.example.Main$Inner.run");
        ck_assert_str_eq(f.file, "com/example/Main.java");
        ck_assert_uint_eq(f.line, places[i].line);
    }
    ck_assert_str_eq(frame(tell("LMain;", "main", NULL), 0).file, "");
}
END_TEST

START_TEST(what_is_of_one_run_is_left_out) {
    static const struct {
        const char *class, *function; /* NULL: the frame is left out */
    } names[] = {
        {"LMain$$Lambda$14.0x00000008000a;", NULL},
        {"LMain$$Lambda.0x00000008000a;", NULL},
        {"LMain$$Lambda+0x00000008000a;", NULL},
        {"Ljava/lang/invoke/LambdaForm$MH.0x00000008000a;", NULL},
        {"Ljava/lang/invoke/DirectMethodHandle$Holder;", NULL},
        {"Ljava/lang/invoke/LambdaForm;", "java.lang.invoke.LambdaForm.f"},
        {"Lcom/example/Made3.0x00000008000a;", "com.example.Made3.f"},
        {"Lcom/example/Holder;", "com.example.Holder.f"},
        {"LMain$$Lambda$x;", "Main$$Lambda$x.f"},
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const jvm_known *m = tell(names[i].class, "f", "F.java");
        if (names[i].function)
            ck_assert_str_eq(frame(m, 0).function, names[i].function);
        else
            ck_assert_uint_eq(jvm_names_frame(m, 0), 0);
    }
}
END_TEST

START_TEST(types_are_called_as_in_java) {
    static const char *const types[][2] = {
        {"Ljava/lang/String;", "java.lang.String"},
        {"[I", "int[]"},
        {"[[Z", "boolean[][]"},
        {"[[[Lcom/example/Main;", "com.example.Main[][][]"},
        {"LMain$$Lambda$7.0x000000080012;", "Main$$Lambda"},
        {"?", "?"},
        {"", "?"},
    };
    const jvm_known *m = tell("LMain;", "main", "Main.java");
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        memtrace_location found[MOST];
        const uint32_t type = jvm_names_type(types[i][0]);
        const uintptr_t slot = jvm_names_pair(jvm_names_frame(m, 8), type);
        ck_assert_uint_eq(jvm_names_type(types[i][0]), type);
        ck_assert_uint_eq(jvm_names_pair(jvm_names_frame(m, 8), type), slot);
        ck_assert_uint_eq(jvm_names_locate(slot, found, MOST), 2);
        ck_assert_str_eq(found[0].file, MEMTRACE_TYPE_FILE);
        ck_assert_str_eq(found[0].function, types[i][1]);
        ck_assert_str_eq(found[1].function, "Main.main");
        ck_assert_uint_eq(found[1].line, 11);
    }
}
END_TEST

START_TEST(names_of_any_length_are_cut) {
    char class[1 << 14];
    memset(class, 'x', sizeof class);
    class[0] = 'L';
    class[sizeof class - 2] = ';';
    class[sizeof class - 1] = '\0';
    const size_t n = strlen(frame(tell(class, "f", "F.java"), 0).function);
    ck_assert_uint_gt(n, 1000);
    ck_assert_uint_lt(n, sizeof class / 2);
    ck_assert_uint_ne(jvm_names_type(class), 0);
}
END_TEST

START_TEST(methods_are_told_once) {
    static char id;
    const struct jvm_method m = {.id = &id, .class = "LA;", .name = "a"};
    ck_assert_ptr_null(jvm_names_method(&id));
    const jvm_known *known = jvm_names_tell(&m);
    ck_assert_ptr_eq(jvm_names_method(&id), known);
    ck_assert_ptr_eq(jvm_names_tell(&m), known);
}
END_TEST

START_TEST(the_interval_is_that_of_the_rate) {
    static const double rates[] = {1e-7, 1e-5, 1e-3, 0.01, 0.03};
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++) {
        const double exact = -8 / log1p(-rates[i]);
        ck_assert(fabs(jvm_weigh_interval(rates[i]) - exact) <= 0.6);
    }
    ck_assert_int_eq(jvm_weigh_interval(1), 0);
    ck_assert_int_eq(jvm_weigh_interval(JVM_RATE_ALL), 0);
    ck_assert_int_eq(jvm_weigh_interval(1e-12), INT32_MAX);
}
END_TEST

/* Picks as the JVM does, and weighs: the sum of all samples, and of their squares, are those of a
 * binomial distribution. */
static void judge(double rate, uint64_t words) {
    const double n = 400000, mean = (double)words * rate, variance = mean * (1 - rate);
    const double picked = rate >= JVM_RATE_ALL ? 1 : -expm1((double)words * log1p(-rate));
    double sum = 0, squares = 0;
    uint64_t random = 42;
    for (uint64_t i = 0; i < (uint64_t)(n * picked); i++) {
        const double samples = (double)jvm_weigh(rate, words, &random);
        sum += samples;
        squares += samples * samples;
    }
    const double error = sqrt(variance / n) * 5 + 5 * mean / (n * picked);
    ck_assert_msg(fabs(sum / n - mean) < error, "%g of %g: %g", mean, rate, sum / n);
    const double got = squares / n - mean * mean;
    ck_assert_msg(fabs(got / variance - 1) < 0.15 + 20 / sqrt(n * picked), "%g: variance %g", mean,
                  got / variance);
}

START_TEST(samples_are_those_of_words_sampled_one_by_one) {
    static const double rates[] = {1e-4, 1e-3, 0.02, 0.1, 0.7};
    static const uint64_t words[] = {2, 3, 100, 5000};
    for (size_t r = 0; r < sizeof rates / sizeof *rates; r++)
        for (size_t w = 0; w < sizeof words / sizeof *words; w++)
            if (rates[r] * (double)words[w] < 60)
                judge(rates[r], words[w]);
    uint64_t random = 1;
    ck_assert_uint_eq(jvm_weigh(1, 17, &random), 17);
}
END_TEST

static Suite *suite(void) {
    Suite *s = suite_create("jvm");
    TCase *t = tcase_create("jvm");
    tcase_add_test(t, frames_have_method_file_and_line);
    tcase_add_test(t, what_is_of_one_run_is_left_out);
    tcase_add_test(t, types_are_called_as_in_java);
    tcase_add_test(t, names_of_any_length_are_cut);
    tcase_add_test(t, methods_are_told_once);
    tcase_add_test(t, the_interval_is_that_of_the_rate);
    tcase_add_test(t, samples_are_those_of_words_sampled_one_by_one);
    suite_add_tcase(s, t);
    return s;
}

UNIT_MAIN(suite)
