/* test_observer.c: an observer hears of every allocation, with its place; two VMs share nothing. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "observer.h"

typedef struct tally {
    unsigned arrays, points, right_places;
} tally;

static void allocated(void *context, const lox_allocation *a) {
    tally *t = context;
    lox_frame frame;
    bool placed = lox_stack(a->vm, &frame, 1) && frame.line == 2 && !strcmp(frame.function, "f");
    t->arrays += !strcmp(a->type, "LoxArray") && a->bytes == 32;
    t->points += a->class_name && !strcmp(a->class_name, "Point");
    t->right_places += placed && !a->internal;
}

static const char program[] = "class Point {}\n"
                              "fun f() { [1]; Point(); }\n"
                              "for (var i = 0; i < 100000; i = i + 1) f();\n";

static unsigned count;

static int check(bool good, const char *name) {
    printf("%s %u - %s\n", good ? "ok" : "not ok", ++count, name);
    return !good;
}

/* ---- frames that are said to be as they were ---------------------------------------------------
 */

enum { MAX_DEPTH = 1000 };

typedef struct stacks {
    uint64_t last[MAX_DEPTH], now[MAX_DEPTH];
    size_t allocations, walked, wrong;
    uint64_t words; /* sampled */
} stacks;

static void compare_stacks(void *context, const lox_allocation *a) {
    stacks *s = context;
    size_t depth = lox_stack_depth(a->vm), kept = lox_stack_kept(a->vm);
    lox_stack_sites(a->vm, 0, s->now, MAX_DEPTH);
    s->wrong += kept > depth || memcmp(s->last, s->now, kept * sizeof *s->now) != 0;
    s->wrong += depth && s->now[depth - 1] != a->site_key;
    memcpy(s->last, s->now, depth * sizeof *s->now);
    s->allocations++;
    s->walked += depth - kept;
    s->words += a->samples;
}

/* Calls of all kinds, allocations before, between and behind them, at the end an error. */
static const char calls[] =
    "class A { init(n) { this.n = [n]; if (n > 0) this.next = A(n - 1); } \n"
    "  sum() { var l = [1]; if (this.n[0] == 0) return l[0]; return l[0] + this.next.sum(); } }\n"
    "class B < A { init(n) { super.init(n); this.b = [n]; } sum() { return super.sum() + [2][0]; } "
    "}\n"
    "fun twice(f) { [f]; f(); [f]; return f() + [f].length; }\n"
    "fun counter() { var n = 0; fun count() { n = n + 1; [n]; return n; } return count; }\n"
    "fun deep(n) { [n]; if (n == 0) return; deep(n - 1); [n]; }\n"
    "fun leaf() {} \n"
    "for (var i = 0; i < 50; i = i + 1) { B(i).sum(); twice(counter()); leaf(); deep(i); [i];\n"
    "  for (var x of [1, 2]) { leaf(); [x]; leaf(); leaf(); String(x); } }\n"
    "fun fails(n) { [n]; if (n == 0) nil.x; fails(n - 1); }\n"
    "fails(20);\n";

static void write_nothing(void *context, const char *text, size_t size) {
    (void)context, (void)text, (void)size;
}

static int test_kept(void) {
    stacks *s = calloc(1, sizeof *s);
    lox_vm *vm = lox_create(&(lox_options){
        .watch_returns = true, .write = write_nothing, .write_error = write_nothing});
    lox_observe(vm, &(lox_observer){.context = s, .allocated = compare_stacks});
    lox_status first = lox_run_text(vm, "-", calls, sizeof calls - 1);
    lox_status second = lox_run_text(vm, "-", calls, sizeof calls - 1);
    int failures = check(first == LOX_RUNTIME_ERROR && second == first, "programs that fail");
    failures += check(s->allocations > 10000 && !s->wrong, "frames that are kept are the same");
    failures += check(s->walked < 4 * s->allocations, "and most are");
    lox_destroy(vm);
    free(s);
    return failures;
}

/* ---- samples -----------------------------------------------------------------------------------
 */

static int test_samples(void) {
    stacks *s = calloc(1, sizeof *s);
    lox_vm *vm = lox_create(&(lox_options){0});
    lox_observe(vm, &(lox_observer){s, compare_stacks, .rate = 0.01, .seed = 1});
    lox_run_text(vm, "-c", program, sizeof program - 1);
    lox_counters c;
    lox_get_counters(vm, &c);
    double expected = 0.01 * (double)(c.minor_words + c.major_words);
    int failures = check(s->words > 0.9 * expected && s->words < 1.1 * expected,
                         "a sample has the words that its rate promises");
    failures += check(s->allocations <= s->words, "and hears of no block without one");
    lox_destroy(vm);
    free(s);
    return failures;
}

int main(void) {
    int failures = 0;
    tally t = {0};
    lox_vm *vm = lox_create(&(lox_options){0}), *other = lox_create(&(lox_options){0});
    lox_observe(vm, &(lox_observer){.context = &t, .allocated = allocated});
    failures += check(!lox_run_text(vm, "-c", program, sizeof program - 1), "it runs");
    failures += check(t.arrays == 100000, "every array, with its size");
    failures += check(t.points == 100000, "every instance, with its class");
    failures += check(t.right_places == 200000, "each where it is allocated");
    lox_run_text(other, "-c", program, sizeof program - 1);
    failures += check(t.arrays == 100000, "another VM is not observed");
    lox_observe(vm, NULL);
    lox_run_text(vm, "-c", "[1];", 4);
    failures += check(t.arrays == 100000, "nor is one that the observer left");
    lox_destroy(vm);
    lox_destroy(other);
    failures += test_kept() + test_samples();
    printf("1..%u\n", count);
    return failures != 0;
}
