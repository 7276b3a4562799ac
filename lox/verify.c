/* verify.c: checks the invariants of the heap right after a collection (collect.c). */
#include <stdio.h>
#include <stdlib.h>

#include "memory.h"
#include "scan.h"

static _Noreturn void verify_fail(const char *what, const object *o) {
    fprintf(stderr, "lox: damaged heap: %s (object %p, header %#llx)\n", what, (const void *)o,
            (unsigned long long)o->header);
    abort();
}

static bool verify_has_block(const heap *h, const object *o) {
    uintptr_t base = (uintptr_t)o & ~(uintptr_t)(HEAP_BLOCK_BYTES - 1);
    for (size_t i = 0; i < h->n_blocks; i++)
        if ((uintptr_t)h->blocks[i] == base) {
            uintptr_t offset = (uintptr_t)o - (uintptr_t)h->blocks[i]->cells;
            return offset % (h->blocks[i]->cell_words * sizeof(value)) == 0;
        }
    return false;
}

static bool verify_is_large(const heap *h, const object *o) {
    for (size_t i = 0; i < h->n_large; i++)
        if (h->large[i] == o)
            return true;
    return false;
}

/* Checks that a reference leads to the start of a live object that the collection has finished. */
static object *verify_reference(heap *h, object *o) {
    if (heap_in_nursery(h, o))
        verify_fail("a reference into the empty nursery", o);
    if (!verify_has_block(h, o) && !verify_is_large(h, o))
        verify_fail("a reference to no object", o);
    if (object_type_of(o) == OBJECT_FREE || object_type_of(o) >= N_OBJECT_TYPES)
        verify_fail("a reference to a dead object", o);
    if (o->header & (OBJECT_MARKED | OBJECT_FORWARDED))
        verify_fail("an object that the collection left unfinished", o);
    return o;
}

static void verify_object(heap *h, object *o) {
    if (object_type_of(o) == OBJECT_FREE)
        return;
    verify_reference(h, o);
    scan_object(h, o, verify_reference);
    if (object_type_of(o) == OBJECT_STRING && ((string *)o)->text[((string *)o)->length] != '\0')
        verify_fail("a string without end", o);
    if (object_type_of(o) == OBJECT_ARRAY && ((array *)o)->length > ((array *)o)->capacity)
        verify_fail("an array longer than its room", o);
}

static void verify_interned(heap *h) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < h->interned_capacity; i++)
        if (h->interned[i]) {
            verify_reference(h, (object *)h->interned[i]);
            if (!(h->interned[i]->head.header & OBJECT_INTERNED))
                verify_fail("a string among the interned that is none", (object *)h->interned[i]);
            n++;
        }
    if (n != h->n_interned)
        verify_fail("a miscounted table of interned strings", (object *)&n);
}

void heap_verify(lox_vm *vm) {
    heap *h = &vm->heap;
    scan_roots(vm, verify_reference);
    scan_code_roots(vm, verify_reference);
    verify_interned(h);
    for (value *v = scan_top(vm); v < vm->clean; v++)
        if (value_is_object(*v))
            verify_fail("a reference above the stack", value_object(*v));
    for (size_t i = 0; i < h->n_blocks; i++) {
        heap_block *b = h->blocks[i];
        for (uint32_t c = 0; c < b->n_cells; c++)
            verify_object(h, (object *)&b->cells[(size_t)c * b->cell_words]);
    }
    for (size_t i = 0; i < h->n_large; i++)
        verify_object(h, h->large[i]);
}
