/* linked.h: allocators that are linked into the program itself: jemalloc, mimalloc, tcmalloc and
 * others, under malloc's names or under their own. The program calls them directly, so they cannot
 * be interposed. But symbols tell where their functions begin. The first instructions of each
 * function are moved elsewhere, and a jump to the recorder is written in their place. The recorder
 * then calls the allocator through the moved instructions. This is done once, before the program
 * runs. In a running program, the process that attaches to it does it, because it can stop the
 * threads; it also undoes it.
 * allocator.h says how a call is recorded. Functions of the allocator may call each other. Then the
 * outermost call is counted; but if an exception may leave that function, or if it calls malloc
 * itself, the innermost call is counted. Blocks from before the recording are not known, and their
 * deaths are ignored. Memory that the allocator maps for itself is not recorded (maps.c). */
#ifndef RECORD_LINKED_H
#define RECORD_LINKED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "contract/control.h"

struct module;

/* The kind of intercepted function that a thread is in. */
enum linked_call {
    LINKED_NONE,
    LINKED_THROWS, /* one that an exception may leave: calls inside it are counted instead */
    LINKED_COUNTS  /* one that returns and is counted then; nested calls are not counted */
};

/* Looks for such allocators and redirects them, once. `preempting` is the module whose malloc
 * preempts the recorder's, or NULL. Returns false if nothing of the program's malloc can be
 * recorded. */
bool linked_begin(const struct module *preempting);

/* Redirects functions of the library that has the malloc after ours; called after linked_begin.
 * Only functions that no other allocator has are redirected: jemalloc's functions with flags.
 * Others would be counted twice, since one function there may have both their name and malloc's.
 * Does nothing if the program has an allocator of its own. */
void linked_begin_library(const struct module *library);

/* Prepares the redirection for a program that is already running; called before each recording of
 * it. The changes themselves are written to `codes`, and the number of them is returned. They must
 * be made while no thread runs, and may be undone at any time. */
void linked_begin_late(void);
size_t linked_codes(control_code codes[CONTROL_LINKED_CODES]);

/* A further function to redirect if the program has it, and the hook that is called in its place;
 * the hook calls the function by linked_go_on. Or a function that stays unchanged and is only
 * reported to `found`. */
struct allocator_call;
typedef uintptr_t linked_hook(uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d,
                              const struct allocator_call *call);
struct linked_also {
    char text[24];
    linked_hook *hook; /* NULL: the function stays unchanged */
    void (*found)(uintptr_t function, size_t size);
    bool lets_throw; /* if this function is redirected, exceptions can cross the hooks of others */
};
uintptr_t linked_go_on(uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d,
                       const struct allocator_call *call);

/* Redirects the allocator of a statically linked program, which is the C library's or another one.
 * Returns false if nothing of it can be recorded. */
bool linked_begin_static(const struct linked_also *also, size_t n);

/* Return whether an allocator is recorded; whether `function` is one of its functions; and whether
 * it is in this module and allocates only through malloc and other recorded functions. */
bool linked_is_recorded(void);
bool linked_has(uintptr_t function);
bool linked_is(const struct module *module);

/* Returns what is recorded of the allocator, or why it cannot be, as a phrase that continues the
 * program's name; NULL: there is no such allocator. */
const char *linked_found(void);

#endif
