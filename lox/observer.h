/* observer.h: hears of every single allocation of a program, or of a sample of them.
 *
 * While a VM has an observer of all its nursery is declared full after each object, so that each
 * allocation takes the slow path, which calls the observer; one of a sample lets the sampling
 * engine choose the limit. Without one nothing is tested for: the interpreter executes the same
 * instructions.
 *
 * An observer must not run Lox code, allocate in the VM, or keep strings beyond the call, except
 * those of a lox_frame, which live as long as the VM. */
#ifndef LOX_OBSERVER_H
#define LOX_OBSERVER_H

#include "lox.h"

/* An extent of source: lines from 1, characters (code points) from 0, `end` behind the last. */
typedef struct lox_extent {
    uint32_t first_line, last_line;
    uint32_t start, end;
} lox_extent;

/* One activation of a guest function, and where it is. */
typedef struct lox_frame {
    const void *function_key; /* equal for activations of the same function */
    uint64_t site_key;        /* of the expression: unique in the VM, never 0 */
    const char *function;     /* "script" for the top level of a file */
    bool top_level;
    bool call;              /* the expression is a call */
    const char *class_name; /* NULL for what is no method */
    const char *file;       /* as given to the launcher or to load; "-c" for its text */
    uint32_t line;          /* of the expression that allocates or calls */
    uint32_t start, end;    /* its characters */
    lox_extent statement;   /* the innermost statement around it */
    lox_extent body;        /* of the function */
} lox_frame;

typedef struct lox_allocation {
    const char *type;       /* "LoxArray", … */
    const char *class_name; /* of an instance; NULL for everything else */
    size_t bytes;           /* header included */
    uint64_t samples;       /* sampled words, if the observer hears of a sample */
    bool major;             /* not in the nursery */
    bool internal;          /* no guest expression asked for it: what exists before the program
                               starts, and what compiling makes (LoxFunction, strings) */
    uint64_t site_key;      /* of the innermost frame; 0: there is none */
    lox_vm *vm;
} lox_allocation;

typedef struct lox_observer {
    void *context;
    void (*allocated)(void *context, const lox_allocation *allocation);
    double rate;   /* 0 or 1: it hears of every allocation; else of those of whose words any was
                      sampled, each with this probability */
    uint64_t seed; /* of the choice */
} lox_observer;

/* NULL: no observer any more. `observer` is copied. */
void lox_observe(lox_vm *vm, const lox_observer *observer);

/* The call stack during lox_observer.allocated, innermost first: fills at most `max` frames and
 * returns how many there are. None while no program runs. */
size_t lox_stack(lox_vm *vm, lox_frame *frames, size_t max);

/* The built-in function that allocates, a static string; NULL: none does. */
const char *lox_stack_builtin(const lox_vm *vm);

/* How many frames there are: cheap. */
size_t lox_stack_depth(const lox_vm *vm);

/* The site_keys of at most `max` frames from number `first` on, the outermost being number 0. */
void lox_stack_sites(lox_vm *vm, size_t first, uint64_t *sites, size_t max);

/* How many of the outermost frames have neither returned nor gone on since the last call of this.
 * 0 unless the VM was created with `watch_returns`. */
size_t lox_stack_kept(lox_vm *vm);

/* What a site_key means. */
lox_frame lox_describe(const lox_vm *vm, uint64_t site_key);

#endif
