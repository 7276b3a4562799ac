/* ocaml_conflict.c: whether a program may start Gc.Memprof itself.
 *
 * Every program that is linked with the standard library's module Gc contains Gc.Memprof.start,
 * called or not. So the program's code outside Gc is searched for references to that function, to
 * its primitive, or to the module as a value. This is one pass over the text, at a nanosecond a
 * byte, and only for programs that contain Gc at all. */
#include "runtimes/ocaml/ocaml_conflict.h"

#include <stdint.h>
#include <string.h>

#include "platform/cpu.h"
#include "platform/loader.h"
#include "platform/module.h"
#include "runtimes/ocaml/ocaml_runtime.h"

/* The targets to search for, and the code that may refer to them. */
struct references {
    uintptr_t code_low, code_high; /* of Gc: may refer to them */
    uintptr_t block;               /* Gc as a value */
    uintptr_t primitive;           /* caml_memprof_start */
};

/* Functions of Gc that start Memprof have `start` in their names. */
static bool is_start(uintptr_t target) {
    Dl_info info;
    return loader_address((void *)target, &info) && (uintptr_t)info.dli_saddr == target &&
           strstr(info.dli_sname, "start");
}

static bool is_in_gc(const struct references *r, uintptr_t address) {
    return address - r->code_low < r->code_high - r->code_low;
}

static bool is_conflict(const struct references *r, uintptr_t target) {
    return target == r->primitive || target == r->block ||
           (is_in_gc(r, target) && is_start(target));
}

static bool code_refers(const struct references *r, uintptr_t low, uintptr_t high) {
    for (uintptr_t at = low; at + CPU_REFERENCE_SIZE <= high; at += CPU_REFERENCE_STEP)
        if (is_conflict(r, cpu_reference(at)) && !is_in_gc(r, at))
            return true;
    return false;
}

/* Finds the standard library's Gc, whose unit has a lower-case name before 4.13. */
static bool references_find(struct references *r) {
    static const char *const names[] = {"camlStdlib__Gc", "camlStdlib__gc"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        r->code_low = ocaml_runtime_symbol(names[i], "code_begin");
        r->code_high = ocaml_runtime_symbol(names[i], "code_end");
        r->block = (uintptr_t)loader_symbol(RTLD_DEFAULT, names[i]);
        if (r->code_low && r->code_low < r->code_high)
            return true;
    }
    return false;
}

bool ocaml_conflict_find(const struct ocaml_runtime *runtime) {
    struct module program;
    struct references r = {.primitive = (uintptr_t)runtime->memprof_start};
    /* A program could declare the primitive without Gc, but none does. */
    if (!references_find(&r) || !module_find(r.code_low, &program))
        return false;
    return code_refers(&r, program.text_low, program.text_high);
}
