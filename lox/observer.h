/* observer.h: hears of every single allocation of a program.
 *
 * While a VM has an observer its nursery is declared full after each object, so that each
 * allocation takes the slow path, which calls the observer. Without one nothing is tested for: the
 * interpreter executes the same instructions.
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
    const char *class_name;   /* NULL for what is no method */
    const char *file;         /* as given to the launcher or to load; "-c" for its text */
    uint32_t line;            /* of the expression that allocates or calls */
    uint32_t start, end;      /* its characters */
    lox_extent statement;     /* the innermost statement around it */
    lox_extent body;          /* of the function */
} lox_frame;

typedef struct lox_allocation {
    const char *type;       /* "LoxArray", … */
    const char *class_name; /* of an instance; NULL for everything else */
    size_t bytes;           /* header included */
    bool major;             /* not in the nursery */
    bool internal;          /* the runtime's own: no guest expression asked for it (see below) */
    lox_vm *vm;
} lox_allocation;

/* Internal are: what exists before the program starts, what compiling makes (LoxFunction, the
 * strings of constants), and LoxArrayStorage, the elements of an array that outgrew its place. */

typedef struct lox_observer {
    void *context;
    void (*allocated)(void *context, const lox_allocation *allocation);
} lox_observer;

/* NULL: no observer any more. `observer` is copied. */
void lox_observe(lox_vm *vm, const lox_observer *observer);

/* The call stack during lox_observer.allocated, innermost first: fills at most `max` frames and
 * returns how many there are. None while no program runs. */
size_t lox_stack(lox_vm *vm, lox_frame *frames, size_t max);

/* How many frames there are: cheap. */
size_t lox_stack_depth(lox_vm *vm);

/* The site_key of the innermost frame, 0 if there is none: cheaper than lox_stack. */
uint64_t lox_stack_site(lox_vm *vm);

#endif
