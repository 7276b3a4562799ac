/* linked.h: allocators that are linked into the program itself: jemalloc, mimalloc, tcmalloc and
 * others, under the names of malloc or under names of their own. The program calls them directly,
 * so nothing can stand before them; but symbols tell where they begin. There, a jump is put that
 * leads here, and the instructions that it replaces are moved to a place from which the allocator
 * is called. This happens once, before the program runs; or in one that runs already by whoever
 * attaches to it, who can stop its threads, and takes it back.
 *
 * What a call comes to is in allocator.h. Functions of the allocator may call each other: then the
 * first one counts, or if an exception may leave it, the last one, as also where malloc itself is
 * behind it. Blocks from before are not known, nor are their ends missed. What the allocator maps
 * for itself is not recorded (maps.c). */
#ifndef RECORD_LINKED_H
#define RECORD_LINKED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "contract/control.h"

struct module;

/* Where a thread is. */
enum linked_call {
    LINKED_NONE,
    LINKED_THROWS, /* in a function that an exception may leave, after which this is left, too */
    LINKED_COUNTS  /* in one that will return, and is counted then: not what it calls */
};

/* Looks for such allocators and turns them aside, once. `preempting` is the module whose malloc
 * stands before ours, or NULL. False: nothing of the program's malloc can be recorded. */
bool linked_begin(const struct module *preempting);

/* The same for the library that has the malloc behind ours, after linked_begin: of its functions,
 * those that nobody else has are turned aside, which are jemalloc's with flags. Others would be
 * counted twice: there, one function may have their names and malloc's. Nothing if the program has
 * an allocator of its own. */
void linked_begin_behind(const struct module *library);

/* The same for a program that runs already, each time before a recording of it: what it takes is
 * only made ready. What linked_codes gives is to be changed while no thread runs, and may be
 * changed back at any time; gives how many. */
void linked_begin_late(void);
size_t linked_codes(control_code codes[CONTROL_LINKED_CODES]);

/* A function that is turned aside as well if the program has it, and what is called in its place:
 * that goes on by linked_go_on. Or one that `found` is told of, and that stays as it is. */
struct allocator_call;
typedef uintptr_t linked_hook(uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d,
                              const struct allocator_call *call);
struct linked_also {
    char text[24];
    linked_hook *hook; /* NULL: it stays */
    void (*found)(uintptr_t function, size_t size);
    bool lets_throw; /* exceptions can cross what is called in place of others, if this is */
};
uintptr_t linked_go_on(uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d,
                       const struct allocator_call *call);

/* The same for a program that is linked statically, where the allocator is the C library's or
 * another one. False: nothing of it can be recorded. */
bool linked_begin_static(const struct linked_also *also, size_t n);

/* Are there some that are recorded? Is this one of their functions? And are they this
 * module's, which has all that it allocates by from malloc on? */
bool linked_is_recorded(void);
bool linked_has(uintptr_t function);
bool linked_is(const struct module *module);

/* What is recorded of them, or why it cannot be, in words that go on from the name of the program;
 * NULL: there is no such allocator. */
const char *linked_found(void);

#endif
