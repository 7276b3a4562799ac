/* heap.h: the heap. Allocation and the write barrier are inline here. collect.c describes the
 * design. */
#ifndef LOX_HEAP_H
#define LOX_HEAP_H

#include "allotrace/memprof.h"
#include "object.h"
#include "observer.h"

enum {
    HEAP_NURSERY_WORDS = 128 * 1024,
    HEAP_MAX_CELL = 512, /* words including the header; larger objects have a block of their own */
    HEAP_CLASSES = 64,   /* most size classes */
    HEAP_BLOCK_BYTES = 64 * 1024,
    HEAP_FIRST_MAJOR = 8 * 1024 * 1024, /* bytes until the first major collection */
};

/* A block of the major heap, divided into cells of one size, and aligned to its own size. */
typedef struct heap_block {
    uint32_t cell_words, n_cells;
    uint32_t class; /* of its size */
    _Alignas(16) value cells[];
} heap_block;

typedef struct heap {
    uintptr_t next;  /* nursery: address of the next object … */
    uintptr_t limit; /* … if it ends before this, which is `end` or lower */
    uintptr_t start, end;
    value young_base;  /* `start` as a value */
    size_t young_size; /* bytes */

    /* The remembered set: slots outside the nursery, and whole objects, that may refer into it. */
    value **slots;
    size_t n_slots, slots_capacity;
    object **objects;
    size_t n_objects, objects_capacity;

    object *free[HEAP_CLASSES]; /* free cells by size class, linked through their payload */
    uint16_t cell_words[HEAP_CLASSES];
    uint8_t class_of[HEAP_MAX_CELL + 1]; /* words → smallest class that fits */
    heap_block **blocks;
    size_t n_blocks, blocks_capacity;
    object **large;
    size_t n_large, large_capacity;
    object **grey; /* objects that were reached but not scanned */
    size_t n_grey, grey_capacity;

    string **interned; /* open addressing; weak */
    uint32_t n_interned, interned_capacity;

    size_t threshold; /* bytes in the major heap at which a major collection is due */
    size_t max_bytes; /* 0: no limit */
    bool tells_all;   /* the observer hears of all allocations, and there is no engine, sampler or
                         stress */
    uint32_t locked;  /* above 0: allocate in the major heap only, collect nothing */
    bool verify, count;
    uint32_t stress, spared; /* collect at each n-th allocation; allocations since the last */
    lox_counters counters;

    const class *new_class; /* class of the instance that is being allocated */
    memprof *engine;        /* NULL: no sampling */
    memprof_thread thread;
    lox_observer observer; /* `allocated` NULL: no observer */
    memprof *sampler;      /* chooses what the observer hears of; NULL: it hears of everything */
    memprof_thread sampler_thread;
} heap;

struct lox_vm;

/* Who is notified of allocations. With LOX_TRACEABLE=0 the compiler removes all of that, for a VM
 * that only serves as a baseline (bench/untraced.py). */
#ifndef LOX_TRACEABLE
#define LOX_TRACEABLE 1
#endif

static inline memprof *heap_engine(const heap *h) {
    return LOX_TRACEABLE ? h->engine : NULL;
}
static inline memprof *heap_sampler(const heap *h) {
    return LOX_TRACEABLE ? h->sampler : NULL;
}
static inline bool heap_is_observed(const heap *h) {
    return LOX_TRACEABLE && h->observer.allocated;
}

void heap_init(struct lox_vm *vm, const lox_options *options);
void heap_free(struct lox_vm *vm);

/* Returns a new object whose payload is undefined; NULL if it would exceed the limit of the heap,
 * or if it is large and the system has no memory. Moves other objects, so that pointers to objects
 * that are not in roots become invalid. */
object *heap_new_slow(struct lox_vm *vm, object_type type, size_t payload);

/* Like heap_new_slow, but in the major heap, for objects that must not move. Does not collect and
 * never fails. */
object *heap_new_major(struct lox_vm *vm, object_type type, size_t payload);

/* To be called after the observer or the engine changed. */
void heap_set_limit(heap *h);

static inline object *heap_new(struct lox_vm *vm, heap *h, object_type type, size_t payload) {
    size_t bytes = (payload + 1) * sizeof(value);
    if (__builtin_expect(h->limit - h->next < bytes, 0))
        return heap_new_slow(vm, type, payload);
    object *o = (object *)h->next;
    h->next += bytes;
    o->header = (uint64_t)payload << 32 | type;
    return o;
}

static inline bool heap_is_young(const heap *h, value v) {
    return v - h->young_base < h->young_size;
}

static inline bool heap_in_nursery(const heap *h, const void *p) {
    return (uintptr_t)p - h->start < h->young_size;
}

void heap_remember_slot(heap *h, value *slot);
void heap_remember_object(heap *h, object *o);

/* Must be used for every store of a value into an object that may be old. */
static inline void heap_write(heap *h, value *slot, value v) {
    if (heap_is_young(h, v) && !heap_in_nursery(h, slot) && !heap_is_young(h, *slot))
        heap_remember_slot(h, slot);
    *slot = v;
}

/* In collect.c. */
void heap_collect(struct lox_vm *vm, bool major);
/* In verify.c. Ends the process with a message if the heap is damaged. */
void heap_verify(struct lox_vm *vm);
/* Called by scan.h for each reference, which becomes the result. */
typedef object *heap_move(heap *h, object *o);

/* In heap.c, for the collector. heap_take returns a cell of the major heap that is not accounted
 * for yet; NULL if it is large and there is no memory. heap_sweep frees everything that is not
 * marked. */
object *heap_take(heap *h, object_type type, size_t payload);
void heap_sweep(heap *h);

/* In string.c. */
string *string_intern(struct lox_vm *vm, const char *text, size_t size); /* major; no collection */
string *string_new(struct lox_vm *vm, const char *text, size_t size); /* `text`: outside the heap */
bool string_equal(const string *a, const string *b);

/* In function.c. */
struct function *function_new(struct lox_vm *vm, const char *file, string *name);
void function_free(struct function *f);

#endif
