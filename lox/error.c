/* error.c: run-time errors with their stack traces, and the current position in the guest program:
 * the stack for lox_stack and for traces. */
#include <stdarg.h>
#include <stdio.h>

#include "memory.h"
#include "observer.h"
#include "vm.h"

enum { TRACE_ENDS = 64 }; /* frames shown at each end of a long stack trace */

/* Writes the whole message, however long the names in it are. */
__attribute__((nonnull, format(printf, 2, 0))) static void complain(lox_vm *vm, const char *format,
                                                                    va_list arguments) {
    char some[256], *text = some;
    va_list again;
    va_copy(again, arguments);
    int n = vsnprintf(some, sizeof some, format, arguments);
    if (n >= (int)sizeof some) {
        text = memory_new((size_t)n + 1);
        vsnprintf(text, (size_t)n + 1, format, again);
    }
    va_end(again);
    vm->write_error(vm->write_context, text, strlen(text));
    if (text != some)
        memory_free(text);
}

void vm_complain(lox_vm *vm, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    complain(vm, format, arguments);
    va_end(arguments);
}

static const place *frame_place(const frame *f) {
    return &f->closure->function->places[frame_index(f)];
}

static void show_frame(lox_vm *vm, const frame *f) {
    const string *name = f->closure->function->name;
    if (name)
        vm_complain(vm, "[line %u] in %s()\n", frame_place(f)->line, name->text);
    else
        vm_complain(vm, "[line %u] in script\n", frame_place(f)->line);
}

void vm_error(lox_vm *vm, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    complain(vm, format, arguments);
    va_end(arguments);
    vm_complain(vm, "\n");
    size_t depth = lox_stack_depth(vm), shown = 0;
    for (const frame *f = vm->frame; f > vm->frames; f--, shown++) {
        if (depth > 2 * TRACE_ENDS && shown == TRACE_ENDS) {
            size_t skipped = depth - 2 * TRACE_ENDS;
            vm_complain(vm, "... %zu more\n", skipped);
            f -= skipped;
        }
        show_frame(vm, f);
    }
}

/* ---- the stack ------------------------------------------------------------------------------- */

size_t lox_stack_depth(const lox_vm *vm) {
    return (size_t)(vm->frame - vm->frames);
}

static lox_extent public_extent(const extent *e) {
    return (lox_extent){e->first_line, e->last_line, e->start, e->end};
}

void lox_stack_sites(lox_vm *vm, size_t first, uint64_t *sites, size_t max) {
    const frame *f = vm->frames + 1 + first;
    for (size_t i = 0; i < max && f + i <= vm->frame; i++)
        sites[i] = frame_key(f + i);
}

size_t lox_stack_kept(lox_vm *vm) {
    const frame *lowest = vm->lowest; /* lowest itself has advanced */
    if (!vm->watch_returns)
        return 0;
    vm->lowest = vm->frame;
    return lowest > vm->frames ? (size_t)(lowest - vm->frames) - 1 : 0;
}

const char *lox_stack_builtin(const lox_vm *vm) {
    const frame *f = vm->frame;
    if (f == vm->frames || f->at == f->closure->function->code)
        return NULL;
    const code *i = f->at - 1;
    if (i->op != OP_CALL && i->op != OP_INVOKE)
        return NULL;
    value callee = f->registers[i->a];
    return value_is(callee, OBJECT_NATIVE) ? AS(native, callee)->name : NULL;
}

static bool is_call(uint16_t op) {
    return op == OP_CALL || op == OP_INVOKE || op == OP_INVOKESUPER;
}

lox_frame lox_describe(const lox_vm *vm, uint64_t site_key) {
    const function *g = vm->functions[site_key >> 32];
    uint32_t index = (uint32_t)site_key - 1;
    const place *p = &g->places[index];
    return (lox_frame){
        .function_key = g,
        .site_key = site_key,
        .function = g->name ? g->name->text : "script",
        .top_level = !g->name,
        .call = is_call(g->code[index].op),
        .class_name = g->class_name ? g->class_name->text : NULL,
        .file = g->file,
        .line = p->line,
        .start = p->start,
        .end = p->end,
        .statement = p->statement < g->n_statements ? public_extent(&g->statements[p->statement])
                                                    : public_extent(&g->extent),
        .body = public_extent(&g->extent),
    };
}

size_t lox_stack(lox_vm *vm, lox_frame *frames, size_t max) {
    size_t n = lox_stack_depth(vm);
    for (size_t i = 0; i < n && i < max; i++)
        frames[i] = lox_describe(vm, frame_key(vm->frame - i));
    return n;
}
