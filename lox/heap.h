/* heap.h: where objects live. Allocation and the write barrier are here, inline; collect.c tells
 * how it all holds together. */
#ifndef LOX_HEAP_H
#define LOX_HEAP_H

#include "allotrace/memprof.h"
#include "object.h"
#include "observer.h"

enum {
    HEAP_NURSERY_WORDS = 128 * 1024,
    HEAP_MAX_CELL = 512, /* words with header: what is larger has a block of its own */
    HEAP_CLASSES = 64,   /* size classes, at most */
    HEAP_BLOCK_BYTES = 64 * 1024,
    HEAP_FIRST_MAJOR = 8 * 1024 * 1024, /* bytes until the first major collection */
};

/* A piece of the major heap, cut into cells of one size. Aligned to its size. */
typedef struct heap_block {
    uint32_t cell_words, n_cells;
    uint32_t class; /* of its size */
    _Alignas(16) value cells[];
} heap_block;

typedef struct heap {
    uintptr_t next;  /* nursery: the next object is put here … */
    uintptr_t limit; /* … if it ends before this; `end` or nearer */
    uintptr_t start, end;
    value young_base;  /* `start` as a value */
    size_t young_size; /* bytes */

    /* Remembered: slots outside the nursery, and whole objects, that may refer into it. */
    value **slots;
    size_t n_slots, slots_capacity;
    object **objects;
    size_t n_objects, objects_capacity;

    object *free[HEAP_CLASSES]; /* free cells of each size, chained through their first word */
    uint16_t cell_words[HEAP_CLASSES];
    uint8_t class_of[HEAP_MAX_CELL + 1]; /* words → smallest class that fits */
    heap_block **blocks;
    size_t n_blocks, blocks_capacity;
    object **large;
    size_t n_large, large_capacity;
    object **grey; /* reached, but not scanned */
    size_t n_grey, grey_capacity;

    string **interned; /* open addressing; weak */
    uint32_t n_interned, interned_capacity;

    size_t threshold; /* bytes in the major heap that make the next major collection due */
    size_t max_bytes; /* 0: no limit */
    bool tells_all;   /* to the observer, and nobody else hears, and stress is off */
    uint32_t locked;  /* while > 0 all is allocated in the major heap, and nothing collected */
    bool verify, count;
    uint32_t stress, spared; /* collect everything at each n-th allocation; passed since the last */
    lox_counters counters;

    const class *new_class; /* of the instance that is being allocated */
    memprof *engine;        /* NULL: nobody samples */
    memprof_thread thread;
    lox_observer observer; /* `allocated` is NULL: nobody observes */
    memprof *sampler;      /* chooses what the observer hears of; NULL: it hears of all */
    memprof_thread sampler_thread;
} heap;

struct lox_vm;

/* Who hears of allocations. With LOX_TRACEABLE=0 the compiler leaves out all that is done for them:
 * a VM that only exists to be compared with (bench/untraced.py). */
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

/* A new object, its payload undefined; NULL if that would exceed the limit of the heap, or if it is
 * large and the system has no memory. Moves other objects: all pointers to objects that are not in
 * a root are void afterwards. */
object *heap_new_slow(struct lox_vm *vm, object_type type, size_t payload);

/* The same in the major heap; collects nothing and never fails. For what does not move. */
object *heap_new_major(struct lox_vm *vm, object_type type, size_t payload);

/* After the observer or the engine changed. */
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

/* Every store of a value into an object that may be old. */
static inline void heap_write(heap *h, value *slot, value v) {
    if (heap_is_young(h, v) && !heap_in_nursery(h, slot) && !heap_is_young(h, *slot))
        heap_remember_slot(h, slot);
    *slot = v;
}

/* collect.c */
void heap_collect(struct lox_vm *vm, bool major);
/* verify.c: ends the process with a message if something is wrong. */
void heap_verify(struct lox_vm *vm);
/* What scan.h gives each reference to; the reference becomes what it returns. */
typedef object *heap_move(heap *h, object *o);

/* heap.c, for the collector: a cell of the major heap, unaccounted; and the end of all that is not
 * marked. NULL: it is large, and there is no memory. */
object *heap_take(heap *h, object_type type, size_t payload);
void heap_sweep(heap *h);

/* strings: string.c */
string *string_intern(struct lox_vm *vm, const char *text, size_t size); /* major; no collection */
string *string_new(struct lox_vm *vm, const char *text, size_t size); /* `text` outside the heap */
bool string_equal(const string *a, const string *b);

/* code: function.c */
struct function *function_new(struct lox_vm *vm, const char *file, string *name);
void function_free(struct function *f);

#endif
