/* observer.h: an observer hears of every allocation of a program, or of a sample of them.
 *
 * While a VM has an observer of every allocation, its nursery is declared full after each object.
 * Each allocation then takes the slow path, which calls the observer. For an observer of a sample,
 * the sampling engine chooses the limit of the nursery. Without an observer nothing is tested: the
 * interpreter executes the same instructions as always.
 *
 * An observer must not run Lox code, allocate in the VM, or keep strings after the call, except
 * those of a lox_frame, which live as long as the VM. */
#ifndef LOX_OBSERVER_H
#define LOX_OBSERVER_H

#include "lox.h"

/* An extent of source: lines from 1, characters (code points) from 0, with `end` exclusive. */
typedef struct lox_extent {
    uint32_t first_line, last_line;
    uint32_t start, end;
} lox_extent;

/* An activation of a guest function, and its current position. */
typedef struct lox_frame {
    const void *function_key; /* the same for activations of the same function */
    uint64_t site_key;        /* of the expression: unique in the VM, never 0 */
    const char *function;     /* "script" for the top level of a file */
    bool top_level;
    bool call;              /* the expression is a call */
    const char *class_name; /* NULL: not a method */
    const char *file;       /* as given to the launcher or to load; "-c" for its text */
    uint32_t line;          /* of the expression that allocates or calls */
    uint32_t start, end;    /* its characters */
    lox_extent statement;   /* innermost statement around the expression */
    lox_extent body;        /* of the function */
} lox_frame;

typedef struct lox_allocation {
    const char *type;       /* "LoxArray", … */
    const char *class_name; /* of an instance; NULL: not an instance */
    size_t bytes;           /* including the header */
    uint64_t samples;       /* sampled words, for an observer of a sample */
    bool major;             /* not in the nursery */
    bool internal;     /* no guest expression asked for it: it exists before the program starts, or
                          compiling made it (LoxFunction, strings) */
    uint64_t site_key; /* of the innermost frame; 0: none */
    lox_vm *vm;
} lox_allocation;

typedef struct lox_observer {
    void *context;
    void (*allocated)(void *context, const lox_allocation *allocation);
    double rate; /* 0 or 1: every allocation is observed; otherwise those with a sampled word, where
                    each word is sampled with this probability */
    uint64_t seed; /* of the sampling */
} lox_observer;

/* Sets the observer, which is copied; NULL removes it. */
void lox_observe(lox_vm *vm, const lox_observer *observer);

/* Sets the call stack during lox_observer.allocated, innermost frame first, at most `max` frames.
 * Returns the number of frames, which is 0 while no program runs. */
size_t lox_stack(lox_vm *vm, lox_frame *frames, size_t max);

/* Returns the built-in function that allocates, as a static string; NULL if none does. */
const char *lox_stack_builtin(const lox_vm *vm);

/* Returns the number of frames. This is cheap. */
size_t lox_stack_depth(const lox_vm *vm);

/* Sets the site_keys of at most `max` frames, starting with frame `first`; frame 0 is the
 * outermost. */
void lox_stack_sites(lox_vm *vm, size_t first, uint64_t *sites, size_t max);

/* Returns how many of the outermost frames have neither returned nor advanced since the last call.
 * Returns 0 unless the VM was created with `watch_returns`. */
size_t lox_stack_kept(lox_vm *vm);

/* Returns the meaning of a site_key. */
lox_frame lox_describe(const lox_vm *vm, uint64_t site_key);

#endif
