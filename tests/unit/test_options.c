/* Tests of how a command line is taken apart. Standard error is closed: what is said there is
 * looked at by the command line tests. */
#include <stdio.h>
#include <string.h>

#include "cli/options.h"
#include "unit.h"

typedef struct sample_options {
    bool flag, other;
    const char *text;
    uint64_t count, time;
    double percent, rate;
    int choice;
    option_texts texts;
    size_t left, right;
} sample_options;

static const sample_options sample_defaults = {.count = 3, .percent = 0.5};

static const option sample_specs[] = {
    {.name = "flag", .letter = 'f', .kind = OPTION_FLAG, .at = offsetof(sample_options, flag)},
    {.name = "other", .letter = 'o', .kind = OPTION_FLAG, .at = offsetof(sample_options, other)},
    {.name = "text", .letter = 't', .kind = OPTION_TEXT, .at = offsetof(sample_options, text)},
    {.name = "count", .letter = 'n', .kind = OPTION_COUNT, .at = offsetof(sample_options, count)},
    {.name = "percent", .kind = OPTION_PERCENT, .at = offsetof(sample_options, percent)},
    {.name = "rate", .kind = OPTION_RATE, .at = offsetof(sample_options, rate)},
    {.name = "time", .kind = OPTION_TIME, .at = offsetof(sample_options, time)},
    {.name = "by",
     .kind = OPTION_CHOICE,
     .at = offsetof(sample_options, choice),
     .choices = (const char *const[]){"line", "function", NULL}},
    {.name = "also", .kind = OPTION_TEXTS, .at = offsetof(sample_options, texts)},
    {.name = "left", .kind = OPTION_HEAD, .at = offsetof(sample_options, left)},
    {.name = "right", .kind = OPTION_HEAD, .at = offsetof(sample_options, right)},
};

static const command sample = {
    .name = "sample", .operand = OPERAND_TRACES, OPTIONS_OF(sample_specs, sample_defaults)};
static const command launcher = {
    .name = "runner", .operand = OPERAND_PROGRAM, OPTIONS_OF(sample_specs, sample_defaults)};

enum { MAX_WORDS = 16 };

typedef struct attempt {
    char *words[MAX_WORDS];
    parsed_line line;
    int status;
} attempt;

static void parse(attempt *a, const command *cmd, const char *const *words, size_t n) {
    *a = (attempt){0};
    for (size_t i = 0; i < n; i++)
        a->words[i] = (char *)(uintptr_t)words[i]; /* never written to */
    a->status = options_parse(cmd, a->words, &a->line);
}

#define PARSE(a, cmd, ...)                                                                         \
    parse((a), (cmd), (const char *const[]){__VA_ARGS__},                                          \
          sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))

static const sample_options *of(const attempt *a) {
    ck_assert_int_eq(a->status, STATUS_OK);
    return (const sample_options *)(const void *)a->line.options;
}

START_TEST(times_have_units) {
    static const struct {
        const char *text;
        uint64_t micros;
    } good[] = {{"2", 2000000},  {"1.5s", 1500000},   {"20ms", 20000},    {"300us", 300},
                {"300µs", 300},  {"2min", 120000000}, {"1h", 3600000000}, {".1", 100000},
                {"0.000001", 1}, {"1.1s", 1100000}};
    static const char *const bad[] = {"", "s", "-1s", "1 s", "1d", "1e30", "nan", "inf"};
    attempt a;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        PARSE(&a, &sample, "x.ctf", "--time", good[i].text);
        ck_assert_msg(of(&a)->time == good[i].micros, "%s", good[i].text);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        PARSE(&a, &sample, "x.ctf", "--time", bad[i]);
        ck_assert_msg(a.status == STATUS_USAGE, "%s", bad[i]);
    }
}
END_TEST

START_TEST(options_stand_anywhere_and_take_values_in_all_forms) {
    attempt a;
    PARSE(&a, &sample, "x.ctf", "--flag", "--text", "one two", "y.ctf", "--count=7", "--percent",
          "2.5%", "--rate=1e-5", "--by", "function");
    ck_assert(of(&a)->flag && !of(&a)->other);
    ck_assert_str_eq(of(&a)->text, "one two");
    ck_assert_uint_eq(of(&a)->count, 7);
    ck_assert_double_eq(of(&a)->percent, 2.5);
    ck_assert_double_eq(of(&a)->rate, 1e-5);
    ck_assert_int_eq(of(&a)->choice, 1);
    ck_assert_uint_eq(a.line.n_operands, 2);
    ck_assert_str_eq(a.line.operands[0], "x.ctf");
    ck_assert_str_eq(a.line.operands[1], "y.ctf");
    ck_assert_ptr_null(a.line.operands[2]);
}
END_TEST

START_TEST(short_options_cluster_and_the_last_one_counts) {
    attempt a;
    PARSE(&a, &sample, "-fon9", "x", "-t", "-n", "-n", "4", "--text=");
    ck_assert(of(&a)->flag && of(&a)->other);
    ck_assert_uint_eq(of(&a)->count, 4);
    ck_assert_str_eq(of(&a)->text, "");
    PARSE(&a, &sample, "x");
    ck_assert_uint_eq(of(&a)->count, 3);
    ck_assert_double_eq(of(&a)->percent, 0.5);
}
END_TEST

START_TEST(a_double_dash_ends_options_and_a_dash_is_a_file) {
    attempt a;
    PARSE(&a, &sample, "-", "--", "--flag", "-x");
    ck_assert(!of(&a)->flag);
    ck_assert_uint_eq(a.line.n_operands, 3);
    ck_assert_str_eq(a.line.operands[0], "-");
    ck_assert_str_eq(a.line.operands[1], "--flag");
}
END_TEST

START_TEST(a_program_keeps_its_own_options) {
    attempt a;
    PARSE(&a, &launcher, "--count", "5", "ls", "--flag", "--", "-l");
    ck_assert(!of(&a)->flag);
    ck_assert_uint_eq(of(&a)->count, 5);
    ck_assert_uint_eq(a.line.n_operands, 4);
    ck_assert_str_eq(a.line.operands[2], "--");
    PARSE(&a, &launcher, "--", "--flag");
    ck_assert_str_eq(a.line.operands[0], "--flag");
}
END_TEST

START_TEST(help_is_found_before_anything_is_checked) {
    attempt a;
    PARSE(&a, &sample, "--flag", "-h");
    ck_assert_int_eq(a.status, STATUS_OK);
    ck_assert(a.line.help);
    PARSE(&a, &sample, "--", "--help");
    ck_assert(!a.line.help);
}
END_TEST

#define REFUSES(...)                                                                               \
    do {                                                                                           \
        attempt a_;                                                                                \
        PARSE(&a_, &sample, __VA_ARGS__);                                                          \
        ck_assert_int_eq(a_.status, STATUS_USAGE);                                                 \
    } while (0)

START_TEST(options_may_gather_texts_and_head_operands) {
    attempt a;
    PARSE(&a, &sample, "--also", "x", "--also=y", "a", "--right", "b", "-f", "c", "--left", "d");
    ck_assert_uint_eq(of(&a)->texts.n, 2);
    ck_assert_str_eq(of(&a)->texts.items[1], "y");
    ck_assert_uint_eq(of(&a)->right, 2); /* one operand stands before it */
    ck_assert_uint_eq(of(&a)->left, 4);
    ck_assert_uint_eq(a.line.n_operands, 4);
    PARSE(&a, &sample, "--left", "a", "--left", "b");
    ck_assert_int_eq(a.status, STATUS_USAGE);
    PARSE(&a, &sample, "--left=a", "b");
    ck_assert_int_eq(a.status, STATUS_USAGE);
    const char *many[2 * OPTION_TEXTS_MAX + 3];
    for (int i = 0; i <= 2 * OPTION_TEXTS_MAX + 1; i++)
        many[i] = i % 2 ? "x" : "--also";
    char *words[2 * OPTION_TEXTS_MAX + 3] = {0};
    memcpy(words, many, sizeof *words * (2 * OPTION_TEXTS_MAX + 2));
    ck_assert_int_eq(options_parse(&sample, words, &a.line), STATUS_USAGE);
}
END_TEST

START_TEST(wrong_command_lines_are_refused) {
    fclose(stderr);
    REFUSES("--flag"); /* no operand */
    REFUSES("x", "--nonsense");
    REFUSES("x", "--fla");
    REFUSES("x", "--flag=yes");
    REFUSES("x", "-z");
    REFUSES("x", "-fz");
    REFUSES("x", "--count");
    REFUSES("x", "-n");
    REFUSES("x", "--count", "-1");
    REFUSES("x", "--count", "7x");
    REFUSES("x", "--count", "");
    REFUSES("x", "--count", "99999999999999999999");
    REFUSES("x", "--percent", "101");
    REFUSES("x", "--percent", "nan");
    REFUSES("x", "--percent", "%");
    REFUSES("x", "--rate", "0");
    REFUSES("x", "--rate", "1.5");
    REFUSES("x", "--rate", "1e-5%");
    REFUSES("x", "--by", "file");
}
END_TEST

static Suite *suite(void) {
    Suite *s = suite_create("options");
    TCase *t = tcase_create("options");
    tcase_add_test(t, times_have_units);
    tcase_add_test(t, options_stand_anywhere_and_take_values_in_all_forms);
    tcase_add_test(t, short_options_cluster_and_the_last_one_counts);
    tcase_add_test(t, a_double_dash_ends_options_and_a_dash_is_a_file);
    tcase_add_test(t, a_program_keeps_its_own_options);
    tcase_add_test(t, help_is_found_before_anything_is_checked);
    tcase_add_test(t, options_may_gather_texts_and_head_operands);
    tcase_add_test(t, wrong_command_lines_are_refused);
    suite_add_tcase(s, t);
    return s;
}

UNIT_MAIN(suite)
