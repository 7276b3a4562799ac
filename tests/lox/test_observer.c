/* test_observer.c: an observer hears of every allocation, with its place; two VMs share nothing. */
#include <stdio.h>
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

int main(void) {
    int failures = 0;
    tally t = {0};
    lox_vm *vm = lox_create(&(lox_options){0}), *other = lox_create(&(lox_options){0});
    lox_observe(vm, &(lox_observer){.context = &t, .allocated = allocated});
    failures += check(!lox_run_text(vm, "-c", program, sizeof program - 1, false), "it runs");
    failures += check(t.arrays == 100000, "every array, with its size");
    failures += check(t.points == 100000, "every instance, with its class");
    failures += check(t.right_places == 200000, "each where it is allocated");
    lox_run_text(other, "-c", program, sizeof program - 1, false);
    failures += check(t.arrays == 100000, "another VM is not observed");
    lox_observe(vm, NULL);
    lox_run_text(vm, "-c", "[1];", 4, false);
    failures += check(t.arrays == 100000, "nor is one that the observer left");
    lox_destroy(vm);
    lox_destroy(other);
    printf("1..%u\n", count);
    return failures != 0;
}
