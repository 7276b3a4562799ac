/* scan.h: visits the references in each type of object and in the roots of a VM. The functions are
 * inline, so that each of the three users (minor collection, marking, verifier) gets specialized
 * code. */
#ifndef LOX_SCAN_H
#define LOX_SCAN_H

#include "vm.h"

static inline void scan_value(heap *h, value *v, heap_move *move) {
    if (value_is_object(*v)) {
        object *old = value_object(*v), *o = move(h, old);
        if (o != old)
            *v = value_from_object(o);
    }
}

static inline void scan_values(heap *h, value *v, size_t n, heap_move *move) {
    for (size_t i = 0; i < n; i++)
        scan_value(h, &v[i], move);
}

#define SCAN_POINTER(h, field, move)                                                               \
    do {                                                                                           \
        if (field)                                                                                 \
            (field) = (void *)(move)((h), (object *)(field));                                      \
    } while (0)

static inline void scan_array(heap *h, array *a, heap_move *move) {
    if (a->cells == a->own) {
        scan_values(h, a->own, a->length, move);
    } else {
        object *s = (object *)((char *)a->cells - offsetof(storage, slots));
        a->cells = ((storage *)move(h, s))->slots;
    }
}

static inline void scan_table(heap *h, table *t, bool has_values, heap_move *move) {
    for (uint32_t i = 0; i < t->capacity; i++)
        if (t->entries[i].key) {
            SCAN_POINTER(h, t->entries[i].key, move);
            if (has_values)
                scan_value(h, &t->entries[i].value, move);
        }
}

static inline void scan_object(heap *h, object *o, heap_move *move) {
    size_t payload = object_payload(o);
    switch (object_type_of(o)) {
    case OBJECT_ARRAY:
        scan_array(h, (array *)o, move);
        break;
    case OBJECT_STORAGE:
        scan_values(h, ((storage *)o)->slots, payload, move);
        break;
    case OBJECT_INSTANCE: {
        instance *i = (instance *)o;
        SCAN_POINTER(h, i->class, move);
        SCAN_POINTER(h, i->extra, move);
        scan_values(h, i->slots, payload - WORDS_OF(instance), move);
        break;
    }
    case OBJECT_CLOSURE:
        for (size_t i = 0; i < payload - WORDS_OF(closure); i++)
            SCAN_POINTER(h, ((closure *)o)->cells[i], move);
        break;
    case OBJECT_CLASS: {
        class *c = (class *)o;
        SCAN_POINTER(h, c->name, move);
        SCAN_POINTER(h, c->init, move);
        scan_table(h, &c->methods, true, move);
        scan_table(h, &c->fields, false, move);
        break;
    }
    case OBJECT_BOUND:
        scan_value(h, &((bound_method *)o)->receiver, move);
        SCAN_POINTER(h, ((bound_method *)o)->method, move);
        break;
    case OBJECT_CELL:
        scan_value(h, &((cell *)o)->value, move);
        break;
    default:
        break; /* strings, functions and natives contain no references */
    }
}

/* Returns the end of the registers in use. */
static inline value *scan_top(const struct lox_vm *vm) {
    const frame *f = vm->frame;
    return f == vm->frames ? vm->registers : f->registers + f->closure->function->n_registers;
}

/* Roots that may refer to young objects. */
static inline void scan_roots(struct lox_vm *vm, heap_move *move) {
    heap *h = &vm->heap;
    value *top = scan_top(vm);
    for (frame *f = vm->frames + 1; f <= vm->frame; f++)
        SCAN_POINTER(h, f->closure, move);
    scan_values(h, vm->registers, (size_t)(top - vm->registers), move);
    scan_values(h, vm->globals, vm->n_globals, move);
    scan_values(h, vm->hold, sizeof vm->hold / sizeof *vm->hold, move);
}

/* The other roots: names, and what code refers to. All of it is major. */
static inline void scan_function(heap *h, function *f, heap_move *move) {
    scan_values(h, f->constants, f->n_constants, move);
    for (uint32_t i = 0; i < f->n_caches; i++)
        SCAN_POINTER(h, f->caches[i].name, move);
    for (uint32_t i = 0; i < f->n_classes; i++) {
        SCAN_POINTER(h, f->classes[i].name, move);
        for (uint32_t j = 0; j < f->classes[i].n_fields; j++)
            SCAN_POINTER(h, f->classes[i].fields[j], move);
    }
    SCAN_POINTER(h, f->name, move);
    SCAN_POINTER(h, f->class_name, move);
}

static inline void scan_code_roots(struct lox_vm *vm, heap_move *move) {
    heap *h = &vm->heap;
    for (uint32_t i = 0; i < vm->n_functions; i++)
        scan_function(h, vm->functions[i], move);
    for (uint32_t i = 0; i < vm->n_globals; i++)
        SCAN_POINTER(h, vm->global_names[i], move);
    SCAN_POINTER(h, vm->init_name, move);
    SCAN_POINTER(h, vm->length_name, move);
}

#endif
