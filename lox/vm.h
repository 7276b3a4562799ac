/* vm.h: the state of a virtual machine, for its own parts.
 *
 * What this machine is for: a guest language whose every allocation is known. It is a client of the
 * sampling engine and of the trace writer through their public headers alone, and of src/guest for
 * exact counts, as any other language's runtime would be; so it shows that these suffice, and is
 * what they are tested with.
 *
 * A file goes from scanner.c over parser.c, expressions.c and compiler.c to a tree (ast.h);
 * generate.c makes code for a register machine of it (code.h); interpret.c runs that. Values are
 * one word (value.h), objects live in two generations (heap.h; collect.c has the design and its
 * invariants). Whoever wants to know of allocations, moves and deaths observes the heap
 * (observer.h): profile.c for a trace, tracing.c for the tracer.
 *
 * Why registers and not the book's stack: each instruction that pushes is one that also says
 * nothing, and a frame's place in the source is found from one instruction. Why generations: a
 * language that allocates at each step lives by the speed of its nursery, and the engine's way with
 * collecting hosts had to be shown on one.
 *
 * What must hold. Without an observer nothing of all that costs an instruction on the way of an
 * allocation. What may collect is called with all live values in roots. Each value that the
 * interpreter takes from a register again after such a call is one that may have moved. */
#ifndef LOX_VM_H
#define LOX_VM_H

#include <signal.h>

#include "code.h"
#include "heap.h"
#include "lox.h"
#include "object.h"
#include "observer.h"

enum {
    MAX_FRAMES = 1 << 16,
    MAX_REGISTERS = 1 << 20, /* of all frames; the memory is reserved, not used */
    STACK_STEP = 4096,       /* registers that the soft limit moves by */
};

/* An activation. */
typedef struct frame {
    const code *at; /* the next instruction; exact whenever something may look at the stack */
    value *registers;
    closure *closure;
} frame;

struct lox_vm {
    heap heap;

    /* Registers from `clean` on hold no reference to an object that a collection may have moved:
     * each collection wipes everything above the innermost frame, and `clean` bounds what calls may
     * use before they ask for more (interpret.c). */
    value *registers;
    value *clean;
    frame *frames;
    frame *frame; /* innermost; == frames: none, that one is a guard */

    value *globals; /* by index; VALUE_UNDEFINED until defined */
    string **global_names;
    table global_index; /* name → index */
    uint32_t n_globals, global_names_capacity, globals_capacity;

    function **functions; /* all that were compiled, by id */
    uint32_t n_functions, functions_capacity;

    char **files; /* their names */
    uint32_t n_files, files_capacity;

    string *init_name; /* "init" */
    string *length_name;
    value hold[2]; /* roots of C code: objects that no register holds */

    void (*write)(void *context, const char *text, size_t size);
    void (*write_error)(void *context, const char *text, size_t size);
    void *write_context;
    struct profile *profile; /* what records a trace, NULL: nothing */
    void *reserve;           /* memory for what is left to do when the system has none */
    bool exhausted;          /* it had none: the heap may be in the middle of anything */
#ifdef LOX_FUEL
    uint64_t fuel; /* instructions until a run-time error */
#endif

    bool watch_returns;
    frame *lowest; /* innermost after the lowest return since lox_stack_kept */
    volatile sig_atomic_t compiling, interrupted;
};

/* text.c */
typedef void text_sink(void *context, const char *text, size_t size);
void text_of_value(value v, text_sink *sink, void *context);

/* What is compiled: where in its file it starts, and whether it was typed at a prompt. */
typedef struct source_text {
    const char *file; /* lives as long as the VM */
    const char *text;
    size_t size;
    lox_position start;
    bool typed;
} source_text;

/* compiler.c: NULL after an error, which was reported. The function is in vm->functions. */
function *compile(lox_vm *vm, const source_text *what, lox_position *end); /* end: may be NULL */

/* interpret.c */
lox_status interpret(lox_vm *vm, closure *entry);

/* error.c: reports a run-time error in the innermost frame, with its trace. */
__attribute__((format(printf, 2, 3))) void vm_error(lox_vm *vm, const char *format, ...);
__attribute__((format(printf, 2, 3))) void vm_complain(lox_vm *vm, const char *format, ...);

/* The index of the instruction at which a frame is. */
static inline size_t frame_index(const frame *f) {
    size_t next = (size_t)(f->at - f->closure->function->code);
    return next ? next - 1 : 0;
}

/* The site_key of a frame: its function and the index of an instruction, plus one: never 0. */
static inline uint64_t frame_key(const frame *f) {
    return (uint64_t)f->closure->function->id << 32 | (frame_index(f) + 1);
}

/* vm.c */
uint32_t vm_global(lox_vm *vm, string *name);
const char *vm_keep_file_name(lox_vm *vm, const char *file);
int vm_read_file(const char *path, char **text, size_t *size); /* 0, else an errno */
void vm_restore_code(lox_vm *vm);                              /* after lox_interrupt */
closure *vm_closure_of(lox_vm *vm, function *f);               /* major: does not collect */

/* native.c */
void native_define_all(lox_vm *vm);

/* classes.c */
value *class_instance_slot(instance *o, uint32_t slot);
closure *class_method(class *c, const string *name);
class *class_new(lox_vm *vm, const class_plan *plan);
void class_inherit(class *c, const class *from);
void class_add_method(lox_vm *vm, class *c, string *name, closure *method);
instance *class_new_instance(lox_vm *vm, class *c); /* NULL: there is no memory */
/* False: there is no memory. May collect: `holder` is the register that holds the instance. */
bool class_set_field(lox_vm *vm, value *holder, value *v, string *name);
void class_forget_caches(lox_vm *vm, bool dead_only);

#endif
