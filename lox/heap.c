/* heap.c: the slow path of allocation, the free lists of the major heap, and the notification of
 * the sampling engine and the observer. */
#include "heap.h"

#include <stdlib.h>

#include "memory.h"
#include "profile.h"
#include "vm.h"

#define NOINLINE __attribute__((noinline)) /* keeps the hot path small */

/* ---- size classes ---------------------------------------------------------------------------- */

/* One class for every size up to 32 words, then four for each doubling. */
static void heap_init_classes(heap *h) {
    uint32_t n = 0, words = 2;
    for (uint32_t step = 1; words <= HEAP_MAX_CELL; words += step) {
        h->cell_words[n++] = (uint16_t)words;
        if (words >= 32 && (words & (words - 1)) == 0)
            step = words / 4;
    }
    for (uint32_t w = 0, c = 0; w <= HEAP_MAX_CELL; w++) {
        c += w > h->cell_words[c];
        h->class_of[w] = (uint8_t)c;
    }
}

void heap_init(lox_vm *vm, const lox_options *options) {
    heap *h = &vm->heap;
    h->young_size =
        (options->nursery_words ? options->nursery_words : HEAP_NURSERY_WORDS) * sizeof(value);
    h->start = (uintptr_t)memory_new(h->young_size);
    h->end = h->start + h->young_size;
    h->next = h->start;
    h->young_base = value_from_object((void *)h->start);
    h->threshold = HEAP_FIRST_MAJOR;
    h->max_bytes = options->max_heap;
    h->stress = options->gc_stress;
    h->verify = options->gc_verify;
    h->count = options->gc_count;
    heap_init_classes(h);
    heap_set_limit(h);
}

static void heap_finalize(object *o) {
    if (object_type_of(o) == OBJECT_CLASS) {
        table_free(&((class *)o)->methods);
        table_free(&((class *)o)->fields);
    }
}

void heap_free(lox_vm *vm) {
    heap *h = &vm->heap;
    for (size_t i = 0; i < h->n_blocks; i++) {
        heap_block *b = h->blocks[i];
        for (uint32_t c = 0; c < b->n_cells; c++)
            heap_finalize((object *)&b->cells[(size_t)c * b->cell_words]);
        free(b);
    }
    for (size_t i = 0; i < h->n_large; i++)
        memory_free(h->large[i]);
    memory_free((void *)h->start);
    memory_free(h->slots);
    memory_free(h->objects);
    memory_free(h->blocks);
    memory_free(h->large);
    memory_free(h->grey);
    memory_free(h->interned);
}

/* ---- the major heap -------------------------------------------------------------------------- */

static void heap_add_block(heap *h, uint32_t size_class) {
    heap_block *b = aligned_alloc(HEAP_BLOCK_BYTES, HEAP_BLOCK_BYTES);
    if (!b)
        memory_exhausted();
    uint32_t words = h->cell_words[size_class];
    *b = (heap_block){.cell_words = words,
                      .n_cells = (uint32_t)((HEAP_BLOCK_BYTES - sizeof *b) / sizeof(value) / words),
                      .class = size_class};
    for (uint32_t i = b->n_cells; i-- > 0;) {
        object *o = (object *)&b->cells[(size_t)i * words];
        o->header = OBJECT_FREE;
        ((object **)o)[1] = h->free[size_class];
        h->free[size_class] = o;
    }
    MEMORY_PUSH(h->blocks, h->n_blocks, h->blocks_capacity, b);
}

static object *heap_take_cell(heap *h, size_t words) {
    uint32_t size_class = h->class_of[words];
    if (!h->free[size_class])
        heap_add_block(h, size_class);
    object *o = h->free[size_class];
    h->free[size_class] = ((object **)o)[1];
    h->counters.live_bytes += h->cell_words[size_class] * sizeof(value);
    return o;
}

/* Returns NULL if the system has no memory. */
static object *heap_take_large(heap *h, size_t bytes) {
    object *o = malloc(bytes);
    if (!o)
        return NULL;
    MEMORY_PUSH(h->large, h->n_large, h->large_capacity, o);
    h->counters.live_bytes += bytes;
    return o;
}

object *heap_take(heap *h, object_type type, size_t payload) {
    bool large = payload + 1 > HEAP_MAX_CELL;
    uint64_t flags = large ? OBJECT_LARGE : 0;
    object *o =
        large ? heap_take_large(h, (payload + 1) * sizeof(value)) : heap_take_cell(h, payload + 1);
    if (!o)
        return NULL;
    if (h->counters.live_bytes > h->counters.peak_bytes)
        h->counters.peak_bytes = h->counters.live_bytes;
    o->header = (uint64_t)payload << 32 | flags | type;
    return o;
}

/* Rebuilds the free list of a block; unmarked objects die. Blocks without survivors are freed by
 * the caller. */
static uint32_t heap_sweep_block(heap *h, heap_block *b) {
    object *chain = h->free[b->class];
    uint32_t live = 0;
    for (uint32_t i = b->n_cells; i-- > 0;) {
        object *o = (object *)&b->cells[(size_t)i * b->cell_words];
        if (o->header & OBJECT_MARKED) {
            o->header &= ~(uint64_t)OBJECT_MARKED;
            live++;
            continue;
        }
        if (object_type_of(o) != OBJECT_FREE) {
            heap_finalize(o);
            h->counters.dead_major_objects++;
        }
        o->header = OBJECT_FREE;
        ((object **)o)[1] = chain;
        chain = o;
    }
    if (live)
        h->free[b->class] = chain;
    return live;
}

void heap_sweep(heap *h) {
    size_t kept = 0, bytes = 0;
    memset(h->free, 0, sizeof h->free);
    for (size_t i = 0; i < h->n_blocks; i++) {
        heap_block *b = h->blocks[i];
        uint32_t live = heap_sweep_block(h, b);
        bytes += (size_t)live * b->cell_words * sizeof(value);
        if (live)
            h->blocks[kept++] = b;
        else
            free(b);
    }
    h->n_blocks = kept;
    kept = 0;
    for (size_t i = 0; i < h->n_large; i++) {
        object *o = h->large[i];
        if (o->header & OBJECT_MARKED) {
            o->header &= ~(uint64_t)OBJECT_MARKED;
            bytes += (object_payload(o) + 1) * sizeof(value);
            h->large[kept++] = o;
        } else {
            h->counters.dead_major_objects++;
            memory_free(o);
        }
    }
    h->n_large = kept;
    h->counters.live_bytes = bytes;
}

/* ---- allocation ------------------------------------------------------------------------------ */

static void heap_lower_limit(heap *h, memprof *engine, memprof_thread *thread) {
    memprof_nursery_leave(engine, thread, h->next);
    uintptr_t limit = memprof_nursery_enter(engine, thread, h->next, h->end);
    h->limit = limit < h->limit ? limit : h->limit;
}

/* Sets the limit if somebody samples. */
static void heap_set_sampled_limit(heap *h) {
    h->limit = h->stress || (heap_is_observed(h) && !heap_sampler(h)) ? h->next : h->end;
    if (heap_engine(h))
        heap_lower_limit(h, h->engine, &h->thread);
    if (heap_sampler(h))
        heap_lower_limit(h, h->sampler, &h->sampler_thread);
}

void heap_set_limit(heap *h) {
    bool sampled = heap_engine(h) || heap_sampler(h);
    h->tells_all = heap_is_observed(h) && !sampled && !h->stress;
    if (sampled)
        heap_set_sampled_limit(h);
    else
        h->limit = h->stress || heap_is_observed(h) ? h->next : h->end;
}

static inline void heap_tell_observer(lox_vm *vm, const object *o, bool major, uint64_t samples) {
    static const char *const names[] = {
#define TYPE_NAME(id, name) name,
        OBJECT_TYPES(TYPE_NAME)
#undef TYPE_NAME
    };
    heap *h = &vm->heap;
    object_type type = object_type_of(o);
    const class *c = vm->heap.new_class;
    h->observer.allocated(
        h->observer.context,
        &(lox_allocation){.type = names[type],
                          .class_name = type == OBJECT_INSTANCE && c ? c->name->text : NULL,
                          .bytes = (object_payload(o) + 1) * sizeof(value),
                          .samples = samples,
                          .major = major,
                          .internal = h->locked > 0,
                          .site_key = vm->frame == vm->frames ? 0 : frame_key(vm->frame),
                          .vm = vm});
}

/* Reports a young object to the engine and the sampler, and sets the next limit. */
static NOINLINE void heap_account_sampled(lox_vm *vm, object *o) {
    heap *h = &vm->heap;
    size_t words = object_payload(o) + 1;
    if (heap_engine(h)) {
        uint64_t k = memprof_nursery_sample(h->engine, &h->thread, (uintptr_t)o, words);
        profile_track(vm, o, k, MEMPROF_MINOR);
    }
    uint64_t k = 0;
    if (heap_sampler(h))
        k = memprof_nursery_sample(h->sampler, &h->sampler_thread, (uintptr_t)o, words);
    if (heap_is_observed(h) && (k || !heap_sampler(h)))
        heap_tell_observer(vm, o, false, k);
    heap_set_limit(h);
}

/* Returns how many words of an object outside the nursery were sampled. */
static uint64_t heap_sample_major(heap *h, memprof *engine, memprof_thread *thread, size_t words) {
    memprof_nursery_leave(engine, thread, h->next);
    return memprof_count(thread, words) ? memprof_sample(engine, thread, words) : 0;
}

/* Reports an object outside the nursery. */
static object *heap_account_major(lox_vm *vm, object *o) {
    heap *h = &vm->heap;
    size_t payload = object_payload(o);
    h->counters.major_words += payload + 1;
    h->counters.major_objects++;
    if (heap_engine(h)) {
        uint64_t k = heap_sample_major(h, h->engine, &h->thread, payload + 1);
        profile_track(vm, o, k, MEMPROF_MAJOR);
    }
    uint64_t k = 0;
    if (heap_sampler(h))
        k = heap_sample_major(h, h->sampler, &h->sampler_thread, payload + 1);
    if (heap_is_observed(h) && (k || !heap_sampler(h)))
        heap_tell_observer(vm, o, true, k);
    heap_set_limit(h);
    return o;
}

object *heap_new_major(lox_vm *vm, object_type type, size_t payload) {
    object *o = heap_take(&vm->heap, type, payload);
    if (!o)
        memory_exhausted();
    return heap_account_major(vm, o);
}

/* Collects if the heap would exceed its limit. Returns whether there is room now. */
static bool heap_has_room(lox_vm *vm, size_t bytes) {
    heap *h = &vm->heap;
    if (!h->max_bytes || h->counters.live_bytes + bytes <= h->max_bytes)
        return true;
    heap_collect(vm, true);
    return h->counters.live_bytes + bytes <= h->max_bytes;
}

/* Returns NULL if there is no room, even after a collection. */
static object *heap_new_large(lox_vm *vm, object_type type, size_t payload) {
    heap *h = &vm->heap;
    size_t bytes = (payload + 1) * sizeof(value);
    if (h->counters.live_bytes + bytes > h->threshold)
        heap_collect(vm, true);
    if (!heap_has_room(vm, bytes))
        return NULL;
    object *o = heap_take(h, type, payload);
    if (!o) {
        heap_collect(vm, true);
        o = heap_take(h, type, payload);
    }
    return o ? heap_account_major(vm, o) : NULL;
}

/* Allocates in the nursery, which must have room. */
static object *heap_bump(heap *h, object_type type, size_t payload) {
    object *o = (object *)h->next;
    h->next += (payload + 1) * sizeof(value);
    o->header = (uint64_t)payload << 32 | type;
    return o;
}

/* Handles every reason for which inline allocation failed. */
static NOINLINE object *heap_new_any(lox_vm *vm, object_type type, size_t payload) {
    heap *h = &vm->heap;
    if (h->locked)
        return heap_new_major(vm, type, payload);
    if (h->stress && ++h->spared >= h->stress) {
        h->spared = 0;
        heap_collect(vm, true);
    }
    if (payload + 1 > HEAP_MAX_CELL)
        return heap_new_large(vm, type, payload);
    if (h->end - h->next < (payload + 1) * sizeof(value)) {
        heap_collect(vm, false);
        if (!heap_has_room(vm, 0))
            return NULL;
    }
    object *o = heap_bump(h, type, payload);
    heap_account_sampled(vm, o);
    return o;
}

/* The usual reason is an observer of all allocations, which is handled here directly. */
object *heap_new_slow(lox_vm *vm, object_type type, size_t payload) {
    heap *h = &vm->heap;
    if (!LOX_TRACEABLE || !h->tells_all || h->locked || payload + 1 > HEAP_MAX_CELL ||
        h->end - h->next < (payload + 1) * sizeof(value))
        return heap_new_any(vm, type, payload);
    object *o = heap_bump(h, type, payload);
    heap_tell_observer(vm, o, false, 0);
    h->limit = h->next;
    return o;
}

void heap_remember_slot(heap *h, value *slot) {
    MEMORY_PUSH(h->slots, h->n_slots, h->slots_capacity, slot);
}

void heap_remember_object(heap *h, object *o) {
    MEMORY_PUSH(h->objects, h->n_objects, h->objects_capacity, o);
}
