/* arrays.c: the slow paths of arrays, with all checks; the interpreter accesses existing cells
 * itself. An array grows by half. The register that holds it is a root, since growing may collect
 * and move the array. */
#include "arrays.h"

static bool array_no_memory(lox_vm *vm) {
    vm_error(vm, "Out of memory.");
    return false;
}

bool array_new(lox_vm *vm, value *to, uint32_t capacity, bool hands) {
    object *o = heap_new(vm, &vm->heap, OBJECT_ARRAY, WORDS_OF(array) + capacity);
    if (!o)
        return array_no_memory(vm);
    array *a = (array *)o;
    if (hands)
        o->header |= OBJECT_HANDS;
    a->length = 0;
    a->capacity = capacity;
    a->cells = a->own;
    for (uint32_t i = 0; i < capacity; i++)
        a->own[i] = VALUE_UNDEFINED;
    *to = value_from_object(a);
    return true;
}

/* Makes room for `length` cells and half as many more. */
static bool array_grow(lox_vm *vm, value *holder, uint32_t length) {
    heap *h = &vm->heap;
    uint32_t capacity = length + length / 2 + 4;
    object *o = heap_new(vm, h, OBJECT_STORAGE, capacity);
    if (!o)
        return array_no_memory(vm);
    storage *s = (storage *)o;
    array *a = AS(array, *holder);
    memcpy(s->slots, a->cells, a->length * sizeof *s->slots);
    for (uint32_t i = a->length; i < capacity; i++)
        s->slots[i] = VALUE_UNDEFINED;
    a->cells = s->slots;
    a->capacity = capacity;
    if (!heap_in_nursery(h, s))
        heap_remember_object(h, &s->head);
    else if (!heap_in_nursery(h, a))
        heap_remember_object(h, &a->head);
    return true;
}

static bool array_set(lox_vm *vm, value *holder, uint32_t index, value *v) {
    if (index >= AS(array, *holder)->capacity && !array_grow(vm, holder, index + 1))
        return false;
    array *a = AS(array, *holder);
    if (index >= a->length)
        a->length = index + 1;
    heap_write(&vm->heap, &a->cells[index], *v);
    return true;
}

bool array_append(lox_vm *vm, value *holder, value *v) {
    return array_set(vm, holder, AS(array, *holder)->length, v);
}

/* Checks both operands, and sets the index as a whole number. */
static bool array_check(lox_vm *vm, value from, value index, double *whole) {
    const char *problem = NULL;
    if (!value_is(from, OBJECT_ARRAY))
        problem = "Can only index arrays.";
    else if (!value_is_number(index) || value_number(index) != value_number(index))
        problem = "Array index must be a number.";
    else if (value_number(index) <= -1)
        problem = "Array index must not be negative.";
    if (problem) {
        vm_error(vm, "%s", problem);
        return false;
    }
    *whole = value_number(index) < 0 ? 0 : value_number(index);
    return true;
}

bool array_get_slow(lox_vm *vm, value *to, value from, value index) {
    double at;
    if (!array_check(vm, from, index, &at))
        return false;
    const array *a = AS(array, from);
    value v = at < a->length ? a->cells[(uint32_t)at] : VALUE_UNDEFINED;
    *to = v == VALUE_UNDEFINED ? VALUE_NIL : v;
    return true;
}

bool array_set_slow(lox_vm *vm, value *holder, value index, value *v) {
    double at;
    if (!array_check(vm, *holder, index, &at))
        return false;
    if (at >= ARRAY_MAX) {
        vm_error(vm, "Array index too large.");
        return false;
    }
    return array_set(vm, holder, (uint32_t)at, v);
}
