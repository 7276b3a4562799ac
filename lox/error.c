/* error.c: run-time errors with their traces, and where the guest program is: the stack as
 * lox_stack and traces see it. */
#include <stdarg.h>
#include <stdio.h>

#include "observer.h"
#include "vm.h"

enum { TRACE_ENDS = 64 }; /* frames shown at each end of a long trace */

void vm_complain(lox_vm *vm, const char *format, ...) {
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    int n = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (n >= (int)sizeof text)
        memcpy(text + sizeof text - 5, "...\n", 5);
    vm->write_error(vm->write_context, text, strlen(text));
}

static const place *frame_place(const frame *f) {
    const function *g = f->closure->function;
    size_t next = (size_t)(f->at - g->code);
    return &g->places[next ? next - 1 : 0];
}

static void show_frame(lox_vm *vm, const frame *f) {
    const string *name = f->closure->function->name;
    if (name)
        vm_complain(vm, "[line %u] in %s()\n", frame_place(f)->line, name->text);
    else
        vm_complain(vm, "[line %u] in script\n", frame_place(f)->line);
}

void vm_error(lox_vm *vm, const char *format, ...) {
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    vm_complain(vm, "%s\n", text);
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

size_t lox_stack_depth(lox_vm *vm) {
    return (size_t)(vm->frame - vm->frames);
}

/* A function and the index of one of its instructions, plus one: never 0. */
uint64_t frame_key(const frame *f) {
    const function *g = f->closure->function;
    return (uint64_t)g->id << 32 | (uint32_t)(frame_place(f) - g->places + 1);
}

uint64_t lox_stack_site(lox_vm *vm) {
    return vm->frame == vm->frames ? 0 : frame_key(vm->frame);
}

static lox_extent public_extent(const extent *e) {
    return (lox_extent){e->first_line, e->last_line, e->start, e->end};
}

static lox_frame public_frame(const frame *f) {
    const function *g = f->closure->function;
    const place *p = frame_place(f);
    return (lox_frame){
        .function_key = g,
        .site_key = frame_key(f),
        .function = g->name ? g->name->text : "script",
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
        frames[i] = public_frame(vm->frame - i);
    return n;
}
