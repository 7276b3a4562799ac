/* collect.c: the garbage collector.
 *
 * Two generations. An object is born in the nursery by bumping a pointer, or in the major heap if
 * it is large, if it must not move (classes, methods, interned strings) or if it is made by the
 * compiler. Everything stops for a collection; all of them start in heap_new_slow.
 *
 * A minor collection copies what is reachable in the nursery to the major heap (it is *promoted*)
 * and empties the nursery: survivors are promoted at once, so that no object is copied twice. Where
 * an object was, it leaves its new address in its first payload word, and OBJECT_FORWARDED.
 *
 * A major collection follows on a minor one, with the nursery empty: it marks what is reachable and
 * sweeps the rest onto the free lists. It is due when the major heap has grown to twice what the
 * last one left.
 *
 * The invariant, between any two instructions of the interpreter:
 *
 *   1. A reference into the nursery is in a root (registers below the innermost frame's end, the
 *      frames, globals, vm->hold), in a young object, in a remembered slot, or in a remembered
 *      object. Kept by heap_write, by those who fill major objects when they are born (they
 *      remember the object), and because interned strings, classes, methods, functions and natives
 *      are major, so that code, classes and caches never refer into the nursery.
 *   2. A slot outside the nursery that holds a young value is remembered once: heap_write looks at
 *      the value it overwrites.
 *   3. Registers above the innermost frame's end hold nothing that a collection moved or freed:
 *      each wipes them up to vm->clean, beyond which nobody has written since the last one.
 *   4. Nothing is marked or forwarded; the remembered set is empty after a minor collection.
 *   5. Major objects never move: an inline cache compares classes by address. A cache whose class
 *      dies is emptied before the sweep.
 *   6. The interned strings are those in the table, which keeps none of them alive.
 *
 * heap_verify checks 1, 3, 4 and 6 after each collection if it was asked to.
 *
 * The engine is told of births in heap.c; here of promotions and deaths, in one go: it asks for
 * each block it tracks where that is now. Its callbacks run when the collection is over. */
#include "memory.h"
#include "scan.h"

/* ---- minor ----------------------------------------------------------------------------------- */

static void grey_push(heap *h, object *o) {
    MEMORY_PUSH(h->grey, h->n_grey, h->grey_capacity, o);
}

static object *promote(heap *h, object *old) {
    if (!heap_in_nursery(h, old))
        return old;
    if (old->header & OBJECT_FORWARDED)
        return ((object **)old)[1];
    size_t payload = object_payload(old);
    object *o = heap_take(h, object_type_of(old), payload);
    memcpy(o, old, (payload + 1) * sizeof(value));
    if (object_type_of(old) == OBJECT_ARRAY && ((array *)old)->cells == ((array *)old)->own)
        ((array *)o)->cells = ((array *)o)->own;
    old->header |= OBJECT_FORWARDED;
    ((object **)old)[1] = o;
    h->counters.promoted_words += payload + 1;
    h->counters.promoted_objects++;
    if (object_type_of(o) != OBJECT_STRING)
        grey_push(h, o);
    return o;
}

static uintptr_t locate_young(void *context, uintptr_t address) {
    (void)context;
    const object *o = (const object *)address;
    return o->header & OBJECT_FORWARDED ? (uintptr_t)((object *const *)o)[1] : 0;
}

/* Objects lie side by side in the nursery. */
static void count_nursery(heap *h) {
    for (uintptr_t at = h->start; at < h->next;) {
        const object *o = (const object *)at;
        h->counters.minor_objects++;
        h->counters.dead_minor_objects += !(o->header & OBJECT_FORWARDED);
        at += (object_payload(o) + 1) * sizeof(value);
    }
}

static void wipe_registers(lox_vm *vm) {
    value *top = scan_top(vm);
    for (value *v = top; v < vm->clean; v++)
        *v = VALUE_NIL;
    vm->clean = top + STACK_STEP;
}

static void collect_minor(lox_vm *vm) {
    heap *h = &vm->heap;
    if (heap_engine(h))
        memprof_nursery_leave(h->engine, &h->thread, h->next);
    if (heap_sampler(h))
        memprof_nursery_leave(h->sampler, &h->sampler_thread, h->next);
    scan_roots(vm, promote);
    for (size_t i = 0; i < h->n_slots; i++)
        scan_value(h, h->slots[i], promote);
    for (size_t i = 0; i < h->n_objects; i++)
        scan_object(h, h->objects[i], promote);
    while (h->n_grey)
        scan_object(h, h->grey[--h->n_grey], promote);
    h->n_slots = h->n_objects = 0;
    if (heap_engine(h))
        memprof_minor_ended(h->engine, &h->thread, &h->thread, locate_young, h);
    if (h->count)
        count_nursery(h);
    h->counters.minor_collections++;
    h->counters.minor_words += (h->next - h->start) / sizeof(value);
    h->next = h->start;
    wipe_registers(vm);
}

/* ---- major ----------------------------------------------------------------------------------- */

static object *mark(heap *h, object *o) {
    if (!(o->header & OBJECT_MARKED)) {
        o->header |= OBJECT_MARKED;
        grey_push(h, o);
    }
    return o;
}

static uintptr_t locate_major(void *context, uintptr_t address) {
    (void)context;
    return ((const object *)address)->header & OBJECT_MARKED ? address : 0;
}

static void purge_interned(heap *h) {
    string **old = h->interned;
    uint32_t capacity = h->interned_capacity;
    h->interned = memory_new(capacity * sizeof *h->interned);
    h->n_interned = 0;
    for (uint32_t i = 0; i < capacity; i++)
        if (old[i] && old[i]->head.header & OBJECT_MARKED) {
            uint32_t at = old[i]->hash & (capacity - 1);
            while (h->interned[at])
                at = (at + 1) & (capacity - 1);
            h->interned[at] = old[i];
            h->n_interned++;
        }
    memory_free(old);
}

static void collect_major(lox_vm *vm) {
    heap *h = &vm->heap;
    scan_roots(vm, mark);
    scan_code_roots(vm, mark);
    while (h->n_grey)
        scan_object(h, h->grey[--h->n_grey], mark);
    class_forget_caches(vm, true);
    purge_interned(h);
    if (heap_engine(h))
        memprof_major_ended(h->engine, &h->thread, locate_major, h);
    heap_sweep(h);
    h->counters.major_collections++;
    h->threshold = HEAP_FIRST_MAJOR + 2 * h->counters.live_bytes;
}

void heap_collect(lox_vm *vm, bool major) {
    heap *h = &vm->heap;
    collect_minor(vm);
    if (major || h->counters.live_bytes > h->threshold)
        collect_major(vm);
    if (heap_engine(h))
        memprof_run_postponed(h->engine, &h->thread);
    if (h->verify)
        heap_verify(vm);
    heap_set_limit(h);
}
