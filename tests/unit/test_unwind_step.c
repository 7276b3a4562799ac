/* Tests src/platform/unwind at every instruction: a program is single-stepped by the CPU's trap
 * flag, and after each instruction, wherever it is (prologues, epilogues, PLT stubs, the loader's
 * lazy binding), its stack is taken by us and by libgcc, and must be the same. */
#include <dlfcn.h>
#include <regex.h>
#include <search.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <time.h>
#include <unwind.h>

#include "platform/module.h"
#include "platform/pages.h"
#include "platform/unwind.h"
#include "unit.h"

#if defined __x86_64__

#include <x86intrin.h>

#include "unwind_frames.h"

enum { STACK_MAX = 256, TRAP_FLAG = 0x100 };

struct stack {
    uintptr_t pcs[STACK_MAX];
    size_t count;
    bool reached; /* theirs: the interrupted frame was seen */
};

static unwind_cache *cache;
static uintptr_t stack_low, stack_high;
static struct stack ours, theirs;
static volatile bool stepping;
static volatile size_t steps, in_loader, untold, flagged, different;
static uintptr_t interrupted_at, loader_base;
static char report[8192];

static _Unwind_Reason_Code oracle_frame(struct _Unwind_Context *context, void *arg) {
    struct stack *stack = arg;
    int interrupted = 0;
    uintptr_t pc = _Unwind_GetIPInfo(context, &interrupted);
    if (stack->reached && pc && stack->count < STACK_MAX)
        stack->pcs[stack->count++] = pc + (uintptr_t)interrupted;
    if (pc == interrupted_at)
        stack->reached = true;
    return _URC_NO_REASON;
}

static void report_stack(const char *name, const struct stack *stack) {
    size_t n = strlen(report);
    for (size_t i = 0; i < stack->count && n + 200 < sizeof report; i++) {
        Dl_info info = {0};
        dladdr((void *)(stack->pcs[i] - 1), &info);
        n += (size_t)snprintf(report + n, sizeof report - n, "# %s %zu: %#zx %s\n", name, i,
                              (size_t)stack->pcs[i], info.dli_sname ? info.dli_sname : "?");
    }
}

static void report_stacks(unsigned flags) {
    Dl_info info = {0};
    dladdr((void *)interrupted_at, &info);
    snprintf(report, sizeof report, "# at %#zx in %s (%s+%#zx), flags %u:\n",
             (size_t)interrupted_at, info.dli_sname ? info.dli_sname : "?",
             info.dli_fname ? info.dli_fname : "?", interrupted_at - (size_t)info.dli_fbase, flags);
    report_stack("ours", &ours);
    report_stack("libgcc", &theirs);
}

extern const void *_Unwind_Find_FDE(void *pc, void *bases); /* libgcc's; nowhere declared */

/* glibc 2.41 comes through padding between two functions of assembler, which no table describes. */
static bool has_table(uintptr_t pc) {
    void *bases[3];
    return _Unwind_Find_FDE((void *)pc, bases);
}

static void trap(int number, siginfo_t *info, void *arg) {
    (void)number, (void)info;
    ucontext_t *context = arg;
    struct unwind_start start;
    struct module module;
    unsigned flags;
    if (!stepping) {
        context->uc_mcontext.gregs[REG_EFL] &= ~TRAP_FLAG;
        return;
    }
    unwind_start_from_context(&start, context);
    interrupted_at = start.pc;
    ours.count = unwind_stack(cache, &start, stack_low, stack_high, ours.pcs, STACK_MAX, &flags);
    theirs.count = theirs.reached = 0;
    _Unwind_Backtrace(oracle_frame, &theirs);
    steps++;
    in_loader += module_find(start.pc, &module) && module.low == loader_base;
    bool told = has_table(start.pc);
    untold += !told;
    flagged += flags && told;
    bool same = ours.count == theirs.count && theirs.reached &&
                memcmp(ours.pcs, theirs.pcs, ours.count * sizeof *ours.pcs) == 0;
    different += !same;
    if ((!same || (flags && told)) && !report[0])
        report_stacks(flags);
}

static void step_through(innermost_function *program) {
    cache = pages_alloc(unwind_cache_size());
    ck_assert(unwind_stack_bounds(&stack_low, &stack_high));
    loader_base = getauxval(AT_BASE);
    enum { SIZE = 1 << 18 };
    stack_t alternate = {.ss_sp = pages_alloc(SIZE), .ss_size = SIZE};
    struct sigaction action = {.sa_sigaction = trap, .sa_flags = SA_ONSTACK | SA_SIGINFO};
    ck_assert_int_eq(sigaltstack(&alternate, NULL), 0);
    ck_assert_int_eq(sigaction(SIGTRAP, &action, NULL), 0);
    stepping = true;
    __writeeflags(__readeflags() | TRAP_FLAG);
    program();
    stepping = false;
    NOT_THE_END();
    printf(
        "# %zu instructions (%zu in the loader, %zu without a table), %zu stacks differ, %zu are "
        "marked incomplete\n",
        (size_t)steps, (size_t)in_loader, (size_t)untold, (size_t)different, (size_t)flagged);
    fputs(report, stdout);
    fflush(stdout);
    ck_assert_uint_eq(different, 0);
    ck_assert_uint_eq(flagged, 0);
}

static int nothing(void) {
    return 1;
}

static int frames(void) {
    return many_kinds_of_frames(3, nothing);
}

START_TEST(prologues_and_epilogues) {
    step_through(frames);
    ck_assert_uint_gt(steps, 50);
}
END_TEST

static int by_length(const void *a, const void *b) {
    return (int)strlen(*(char *const *)a) - (int)strlen(*(char *const *)b);
}

/* First calls go through lazy binding, later ones through the PLT alone. */
static int library_calls(void) {
    char text[200];
    const char *words[] = {"three", "of", "unequal", "size"};
    regex_t regex;
    time_t then = 1234567890;
    struct tm tm;
    for (int i = 0; i < 2; i++) {
        snprintf(text, sizeof text, "%s %d %.17g %10.3f", "text", 42, strtod("3.25e-7", NULL), 0.1);
        qsort(words, 4, sizeof *words, by_length);
        if (regcomp(&regex, "([a-z]+)[0-9]*$", REG_EXTENDED) == 0) {
            regexec(&regex, "some words 123", 0, NULL, 0);
            regfree(&regex);
        }
        gmtime_r(&then, &tm);
        strftime(text, sizeof text, "%c", &tm);
        free(memset(malloc(5000), 1, 5000));
    }
    return dlsym(RTLD_DEFAULT, "tsearch") != NULL;
}

START_TEST(library_functions) {
    step_through(library_calls);
    ck_assert_uint_gt(steps, 10000);
    ck_assert_uint_gt(in_loader, 1000);
    ck_assert_uint_lt(untold, steps / 100);
}
END_TEST

static Suite *suite(void) {
    Suite *s = suite_create("unwind_step");
    TCase *c = tcase_create("every instruction");
    tcase_set_timeout(c, 120);
    tcase_add_test(c, prologues_and_epilogues);
    tcase_add_test(c, library_functions);
    suite_add_tcase(s, c);
    return s;
}

#else

static Suite *suite(void) {
    return suite_create("unwind_step"); /* the trap flag is x86's */
}

#endif

UNIT_MAIN(suite)
