/* code.h: the codes by which backtraces name their frames, and what the trace says about each.
 *
 * A code holds, from its low bits up:
 *   48 bits   the return address (the call is before it: whoever looks it up subtracts 1);
 *    6 bits   in the last code of a backtrace the allocating function + 1, elsewhere 0; 63 in a
 * code of a language runtime's, whose address is what the runtime names the frame by; 62 in the
 * last code of a block of a program's own pool, which stands for another code and the pool's name;
 *    9 bits   the generation: how many modules had this address before, since a program may close a
 * library and load another one in its place. The highest, CODE_LAST_GENERATION, stands for all that
 * came after those: nobody knows which. The highest bit of a code stays 0, because some readers
 * keep 63. Small values are no addresses but remarks (enum code_remark).
 *
 * The location of a frame before symbolization: line 0,
 *
 *     file      PATH[BUILD-ID]      absolute path of the module; build id in hex, empty if none
 *     function  BASENAME+0xOFFSET   OFFSET is the return address less the module's load bias, so
 *                                   an address in the ELF file; again the call is before it
 *
 * and for an address in no module (generated code) file MEMTRACE_MADE_FILE and function
 * "0xADDRESS". The last code of a backtrace has a location in front of it whose file is
 * MEMTRACE_TYPE_FILE and whose function is the allocating function as it is called in source:
 * `malloc`, `operator new[]`.
 */
#ifndef RECORD_CODE_H
#define RECORD_CODE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "allotrace/memtrace.h"
#include "base/hash.h"
#include "record/gauges.h"
#include "record/memory.h"
#include "record/scope.h"
#include "trace/span_remark.h"

enum {
    CODE_TYPE_AT = 48,       /* bits of the address */
    CODE_GENERATION_AT = 54, /* with those of the type */
    CODE_TYPE_RUNTIME = (1 << (CODE_GENERATION_AT - CODE_TYPE_AT)) - 1,
    CODE_TYPE_POOL = CODE_TYPE_RUNTIME - 1,
    CODE_LAST_GENERATION = (1 << (63 - CODE_GENERATION_AT)) - 1
};

#define CODE_ADDRESS_MASK ((UINT64_C(1) << CODE_TYPE_AT) - 1)
#define CODE_TYPE_MASK    ((uint64_t)CODE_TYPE_RUNTIME << CODE_TYPE_AT)

/* Frames that are remarks of the recorder. */
enum code_remark {
    CODE_CUT = 1,     /* the caller of the outermost frame kept: more of them than wanted */
    CODE_LOST = 2,    /* the same: the unwinder could not go on */
    CODE_LEVEL = 3,   /* a remark: from here on, the domain's rate is halved so many times */
    CODE_WRITTEN = 4, /* remarks of a sweep: see session_tell_written */
    CODE_LEFT = 5,
    CODE_SPANS = 6,  /* from here on: the remarks of a span (trace/span_remark.h) */
    CODE_MARKS = 16, /* from here on: texts of marks, in the order in which they were added */
    CODE_MAX_MARKS = 256,
    CODE_GAUGES = CODE_MARKS + CODE_MAX_MARKS, /* from here on: gauges, by enum gauge, and behind
                                                * these those of a language runtime */
    CODE_THREADS = 512, /* from here on: names of threads, in the order in which they were met */
    CODE_MAX_THREADS = 1536,
    CODE_SCOPES = CODE_THREADS + CODE_MAX_THREADS, /* from here on: by the number of a scope */
    CODE_FIRST_ADDRESS = 4096
};
_Static_assert((int)CODE_GAUGES + (int)N_GAUGES <= (int)CODE_THREADS, "remarks are apart");
_Static_assert((int)CODE_SPANS + (int)SPAN_REMARKS <= (int)CODE_MARKS, "likewise");
_Static_assert((int)CODE_SCOPES + (int)SCOPE_NAMES < (int)CODE_FIRST_ADDRESS, "and no addresses");

enum { CODE_THREAD_NAME = 16 /* bytes, NUL included: the kernel keeps no more */ };

struct code_module;

/* Where a block of a pool comes from. */
struct code_pool_site {
    _Atomic uint64_t code; /* 0: there is none; the rest is there before it */
    uint16_t pool;         /* the number of its name */
};

typedef struct code_table {
    memory *memory;
    const char *const *runtime_gauges; /* names; NULL: there are none */
    lock lock;                         /* held while a module or a mark is added */
    char *name; /* room to make up a module's: stacks may be as small as a page */
    /* Every module met, newest first; published with release, entries never go away. */
    _Atomic(struct code_module *) modules;
    const char *marks[CODE_MAX_MARKS];
    _Atomic uint32_t n_marks;
    char (*threads)[CODE_THREAD_NAME]; /* NULL until there is one */
    _Atomic uint32_t n_threads;
    _Atomic(struct code_pool_site *) pool_sites; /* by hash; NULL until there is one */
    uint32_t n_pool_sites;
} code_table;

/* What a thread remembers of code_of's answers. Legal when zeroed. */
enum { CODE_CACHE_SLOTS = 4096 };
typedef struct code_cache {
    uint32_t epoch; /* of the answers in it */
    uint64_t codes[CODE_CACHE_SLOTS];
} code_cache;

/* Where the code of an address is remembered. */
static inline size_t code_slot(uintptr_t return_address) {
    enum { SLOTS_LOG2 = 12 };
    _Static_assert(1 << SLOTS_LOG2 == CODE_CACHE_SLOTS, "the highest bits of the product");
    return (uint64_t)return_address * UINT64_C(0x9E3779B97F4A7C15) >> (64 - SLOTS_LOG2);
}

/* A module may have been unloaded; to be called after each dlclose. */
void code_modules_changed(void);

/* Counts these calls. */
extern _Atomic uint32_t code_epoch_now __attribute__((visibility("hidden")));
static inline uint32_t code_epoch(void) {
    return atomic_load_explicit(&code_epoch_now, memory_order_acquire);
}

/* Forgets all answers; to be called before a stack's first code is asked for if code_epoch() is not
 * that of the cache. */
void code_cache_forget(code_cache *cache, uint32_t epoch);

/* The code of a return address on the calling thread's stack, type 0. The module must be in use
 * while this runs, as it is when it has a frame on our stack. Holds no lock while it asks the
 * loader. */
uint64_t code_of(code_table *table, code_cache *cache, uintptr_t return_address);

/* What is remembered for an address: its code, type 0, if code_is_of says so. */
static inline uint64_t code_recall(const code_cache *cache, uintptr_t return_address) {
    return cache->codes[code_slot(return_address)];
}

/* Whether a code, of no type, is that of an address. The code of 0 is 0. */
static inline bool code_is_of(uint64_t code, uintptr_t return_address) {
    return (code & CODE_ADDRESS_MASK) == return_address;
}

/* The same as code_of, in line where it is remembered. */
static inline uint64_t code_remembered(code_table *table, code_cache *cache,
                                       uintptr_t return_address) {
    uint64_t code = code_recall(cache, return_address);
    return __builtin_expect(code_is_of(code, return_address), 1)
               ? code
               : code_of(table, cache, return_address);
}

/* The code of a remark of the given text, which is copied; 0 if there are too many. */
uint64_t code_of_mark(code_table *table, const char *remark);

/* The code of a remark that the thread is called so: CODE_THREAD_NAME bytes, NULs behind the name.
 * Once there are too many names, that of all others. 0: there is no memory. */
uint64_t code_of_thread(code_table *table, const char *name);

/* The code of a frame of a language runtime, which stands for what the runtime means by the 48 bits
 * of `slot` rather than for an address: its type has all bits set. */
static inline uint64_t code_of_runtime(uintptr_t slot) {
    return (uint64_t)slot | CODE_TYPE_MASK;
}
static inline bool code_is_of_runtime(uint64_t code) {
    return code >> CODE_TYPE_AT == CODE_TYPE_RUNTIME;
}
static inline uintptr_t code_runtime_slot(uint64_t code) {
    return (uintptr_t)(code & CODE_ADDRESS_MASK);
}

/* The same where frames of the language stand among native ones: then the slot is shorter, and the
 * code has a type nevertheless. */
enum { RUNTIME_SPLICED_BITS = CODE_TYPE_AT - (CODE_GENERATION_AT - CODE_TYPE_AT) };
static inline uint64_t code_of_spliced(uintptr_t slot, unsigned type) {
    return code_of_runtime(slot | (uintptr_t)type << RUNTIME_SPLICED_BITS);
}
static inline unsigned code_spliced_type(uintptr_t slot) {
    return (unsigned)(slot >> RUNTIME_SPLICED_BITS);
}
static inline uintptr_t code_spliced_slot(uintptr_t slot) {
    return slot & (((uintptr_t)1 << RUNTIME_SPLICED_BITS) - 1);
}

/* The innermost code of a block of a pool with a name of this number (pools.h), in place of `code`,
 * which has no type. That code if there is no room. */
uint64_t code_of_pool(code_table *table, uint64_t code, uint16_t pool);
static inline bool code_is_of_pool(uint64_t code) {
    return code >> CODE_TYPE_AT == CODE_TYPE_POOL;
}

/* What it stands for; the type in front of that is *pool's. */
uint64_t code_pool_site(code_table *table, uint64_t code, uint16_t *pool);

/* Where a return address is, in the modules as they are now. */
memtrace_location code_locate_address(code_table *table, uintptr_t return_address);

/* A remark as the innermost frame, where there is no other. */
static inline uint64_t code_with_type(uint64_t code, unsigned type) {
    return code | (uint64_t)type << CODE_TYPE_AT;
}

static inline uint64_t code_without_type(uint64_t code) {
    return code & ~CODE_TYPE_MASK;
}

/* memtrace_writer_options.locate; `type_names` is indexed by allocating function. The strings
 * live as long as the memory of the table. */
size_t code_locate(code_table *table, const char *const *type_names, uint64_t code,
                   memtrace_location *locations, size_t max);

#endif
