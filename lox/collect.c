/* collect.c: the garbage collector.
 *
 * It has two generations. An object is born in the nursery by advancing a pointer. It is born in
 * the major heap if it is large, if it must not move (classes, methods, interned strings), or if
 * the compiler makes it. The program stops during a collection; all collections start in
 * heap_new_slow.
 *
 * A minor collection copies what is reachable in the nursery to the major heap (it is *promoted*)
 * and empties the nursery. Survivors are promoted at once, so no object is copied twice. A promoted
 * object leaves its new address in its first payload word, with the flag OBJECT_FORWARDED.
 *
 * A major collection follows a minor one, when the nursery is empty. It marks what is reachable and
 * sweeps the rest into the free lists. It is due when the major heap has grown to twice what the
 * last major collection left.
 *
 * The invariant, between any two instructions of the interpreter:
 *
 *   1. A reference into the nursery is in a root (registers below the innermost frame's end, the
 *      frames, globals, vm->hold), in a young object, in a remembered slot, or in a remembered
 *      object. heap_write maintains this. Code that fills a newborn major object remembers that
 *      object. Interned strings, classes, methods, functions and natives are major, so code,
 *      classes and caches never refer into the nursery.
 *   2. A slot outside the nursery that holds a young value is remembered once: heap_write checks
 *      the value that it overwrites.
 *   3. Registers above the innermost frame's end hold nothing that a collection moved or freed:
 *      each collection wipes them up to vm->clean, and nothing above that was written since the
 *      last one.
 *   4. No object is marked or forwarded. The remembered set is empty after a minor collection.
 *   5. Major objects never move, since inline caches compare classes by address. A cache whose
 *      class dies is emptied before the sweep.
 *   6. The interned strings are exactly those in the table, which does not keep them alive.
 *
 * heap_verify checks 1, 3, 4 and 6 after each collection, if it is asked to.
 *
 * The sampling engine is told of births in heap.c. Promotions and deaths are reported here, all at
 * once: the engine asks for the current address of each block that it tracks. Its callbacks run
 * after the collection. */
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

/* Objects are adjacent in the nursery. */
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
