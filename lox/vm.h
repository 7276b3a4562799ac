/* vm.h: the state of a virtual machine, for its own parts.
 *
 * Purpose. The machine is a guest language whose every allocation is known. It uses the sampling
 * engine and the trace writer through their public headers only, and src/guest for exact counts, as
 * the runtime of any other language would. So it shows that these interfaces suffice, and serves to
 * test them.
 *
 * Way. scanner.c, parser.c, expressions.c and compiler.c turn a file into a tree (ast.h).
 * generate.c turns the tree into code for a register machine (code.h), which interpret.c runs.
 * Values are one word (value.h). Objects live in two generations (heap.h; collect.c has the design
 * and its invariants). To hear of allocations, moves and deaths, a component observes the heap
 * (observer.h): profile.c for a trace, tracing.c for the tracer.
 *
 * Why not otherwise. The book's machine uses a stack, and so executes many instructions that only
 * push operands; with registers, a single instruction identifies a frame's place in the source. A
 * single generation would not do: a language that allocates at each step depends on a fast nursery,
 * and the engine's support for hosts that collect had to be shown on one.
 *
 * What must hold. Without an observer, the path of an allocation has no additional instruction.
 * Whatever may collect is called with all live values in roots. After such a call, a value must be
 * read from its register again, since it may have moved. */
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
    MAX_REGISTERS = 1 << 20, /* over all frames; memory is reserved, not used */
    STACK_STEP = 4096,       /* registers by which the soft limit moves */
};

/* An activation. */
typedef struct frame {
    const code *at; /* next instruction; exact whenever something may look at the stack */
    value *registers;
    closure *closure;
} frame;

struct lox_vm {
    heap heap;

    /* Registers from `clean` on hold no reference to an object that a collection may have moved.
     * Each collection wipes everything above the innermost frame, and calls may use registers up to
     * `clean` before they must ask for more (interpret.c). */
    value *registers;
    value *clean;
    frame *frames;
    frame *frame; /* innermost; equal to frames if there is none: frames[0] is a guard */

    value *globals; /* by index; VALUE_UNDEFINED until defined */
    string **global_names;
    table global_index; /* name → index */
    uint32_t n_globals, global_names_capacity, globals_capacity;

    function **functions; /* all compiled functions, by id */
    uint32_t n_functions, functions_capacity;

    char **files; /* file names */
    uint32_t n_files, files_capacity;

    string *init_name; /* "init" */
    string *length_name;
    value hold[2]; /* roots for C code, for objects that are in no register */

    void (*write)(void *context, const char *text, size_t size);
    void (*write_error)(void *context, const char *text, size_t size);
    void *write_context;
    struct profile *profile; /* the trace that is being recorded; NULL: none */
    void *reserve;           /* freed when the system has no memory, for what remains to be done */
    bool exhausted;          /* memory ran out: the heap may be in an inconsistent state */
#ifdef LOX_FUEL
    uint64_t fuel; /* instructions until a run-time error */
#endif

    bool watch_returns;
    frame *lowest; /* innermost frame after the lowest return since lox_stack_kept */
    volatile sig_atomic_t compiling, interrupted;
};

/* In text.c. */
typedef void text_sink(void *context, const char *text, size_t size);
void text_of_value(value v, text_sink *sink, void *context);

/* A text to compile: where it starts in its file, and whether it was typed at a prompt. */
typedef struct source_text {
    const char *file; /* lives as long as the VM */
    const char *text;
    size_t size;
    lox_position start;
    bool typed;
} source_text;

/* In compiler.c. Returns NULL after an error, which was reported. The function is in
 * vm->functions. */
function *compile(lox_vm *vm, const source_text *what, lox_position *end); /* `end` may be NULL */

/* In interpret.c. */
lox_status interpret(lox_vm *vm, closure *entry);

/* In error.c. vm_error reports a run-time error in the innermost frame, with a stack trace. */
__attribute__((format(printf, 2, 3))) void vm_error(lox_vm *vm, const char *format, ...);
__attribute__((format(printf, 2, 3))) void vm_complain(lox_vm *vm, const char *format, ...);

/* Returns the index of a frame's current instruction. */
static inline size_t frame_index(const frame *f) {
    size_t next = (size_t)(f->at - f->closure->function->code);
    return next ? next - 1 : 0;
}

/* Returns the site_key of a frame, made of its function and the index of its instruction plus one,
 * so it is never 0. */
static inline uint64_t frame_key(const frame *f) {
    return (uint64_t)f->closure->function->id << 32 | (frame_index(f) + 1);
}

/* In vm.c. */
uint32_t vm_global(lox_vm *vm, string *name);
const char *vm_keep_file_name(lox_vm *vm, const char *file);
int vm_read_file(const char *path, char **text, size_t *size); /* returns 0 or an errno */
void vm_restore_code(lox_vm *vm);                              /* after lox_interrupt */
closure *vm_closure_of(lox_vm *vm, function *f);               /* major: does not collect */

/* In native.c. */
void native_define_all(lox_vm *vm);

/* In classes.c. */
value *class_instance_slot(instance *o, uint32_t slot);
closure *class_method(class *c, const string *name);
class *class_new(lox_vm *vm, const class_plan *plan);
void class_inherit(class *c, const class *from);
void class_add_method(lox_vm *vm, class *c, string *name, closure *method);
instance *class_new_instance(lox_vm *vm, class *c); /* NULL: no memory */
/* Returns false when there is no memory. May collect, so `holder` is the register that holds the
 * instance. */
bool class_set_field(lox_vm *vm, value *holder, value *v, string *name);
void class_forget_caches(lox_vm *vm, bool dead_only);

#endif
