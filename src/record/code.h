/* code.h: the codes that stand for the frames of backtraces, and their locations in the trace.
 * A code contains, from its low bits up:
 *   48 bits   the return address. The call is before it, so a lookup subtracts 1.
 *    6 bits   the type. In the last code of a backtrace, the allocating function + 1; in other
 *             codes, 0. CODE_TYPE_RUNTIME marks a frame of a language runtime, whose address is
 *             what the runtime names the frame by. CODE_TYPE_POOL marks the last code of a block
 *             in a program's own pool; it stands for another code and the pool's name.
 *    9 bits   the generation: how many modules had this address before. A program may close a
 *             library and load another one in its place. CODE_LAST_GENERATION, the highest,
 *             stands for all later modules, which are not told apart.
 * The highest bit of a code is 0, because some readers keep 63 bits. Small values are not addresses
 * but remarks (enum code_remark).
 * Before symbolization, the location of a frame has line 0 and
 *   file      PATH[BUILD-ID]      absolute path of the module; build id in hex, empty if none
 *   function  BASENAME+0xOFFSET   OFFSET is the return address minus the module's load bias, so
 *                                 an address in the ELF file; again, the call is before it
 * An address in no module (generated code) has the file MEMTRACE_MADE_FILE and the function
 * "0xADDRESS". The last code of a backtrace has one more location before its own: its file is
 * MEMTRACE_TYPE_FILE, and its function is the allocating function as in source code, such as
 * `malloc` or `operator new[]`. */
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
    CODE_TYPE_AT = 48,       /* width of the address */
    CODE_GENERATION_AT = 54, /* width of the address and the type */
    CODE_TYPE_RUNTIME = (1 << (CODE_GENERATION_AT - CODE_TYPE_AT)) - 1,
    CODE_TYPE_POOL = CODE_TYPE_RUNTIME - 1,
    CODE_LAST_GENERATION = (1 << (63 - CODE_GENERATION_AT)) - 1
};

#define CODE_ADDRESS_MASK ((UINT64_C(1) << CODE_TYPE_AT) - 1)
#define CODE_TYPE_MASK    ((uint64_t)CODE_TYPE_RUNTIME << CODE_TYPE_AT)

/* Values in place of an address that are remarks of the recorder. */
enum code_remark {
    CODE_CUT = 1,     /* the callers of the outermost frame kept: too many frames */
    CODE_LOST = 2,    /* the callers of the outermost frame: the unwinder could not go on */
    CODE_LEVEL = 3,   /* from here on, the domain's rate is halved as often as the value says */
    CODE_WRITTEN = 4, /* this and CODE_LEFT: remarks of a sweep, see session_tell_written */
    CODE_LEFT = 5,
    CODE_SPANS = 6,  /* first of the remarks of a span (trace/span_remark.h) */
    CODE_MARKS = 16, /* first of the marks, in the order in which they were added */
    CODE_MAX_MARKS = 256,
    CODE_GAUGES = CODE_MARKS + CODE_MAX_MARKS, /* first of the gauges; then a runtime's gauges */
    CODE_THREADS = 512, /* first of the thread names, in the order in which they were seen */
    CODE_MAX_THREADS = 1536,
    CODE_SCOPES = CODE_THREADS + CODE_MAX_THREADS, /* first of the scopes, by number */
    CODE_FIRST_ADDRESS = 4096
};
_Static_assert((int)CODE_GAUGES + (int)N_GAUGES <= (int)CODE_THREADS,
               "gauges end before the threads");
_Static_assert((int)CODE_SPANS + (int)SPAN_REMARKS <= (int)CODE_MARKS,
               "spans end before the marks");
_Static_assert((int)CODE_SCOPES + (int)SCOPE_NAMES < (int)CODE_FIRST_ADDRESS,
               "scopes end before the addresses");

enum { CODE_THREAD_NAME = 16 /* bytes with the NUL: the kernel keeps no more */ };

struct code_module;

/* The origin of a block in a pool. */
struct code_pool_site {
    _Atomic uint64_t code; /* 0: empty; written after the other field */
    uint16_t pool;         /* number of the pool's name */
};

typedef struct code_table {
    memory *memory;
    const char *const *runtime_gauges; /* names; NULL: none */
    lock lock;                         /* held while a module or a mark is added */
    char *name; /* buffer for a module's name: stacks may be as small as a page */
    /* All modules seen, newest first; published with release order, never removed. */
    _Atomic(struct code_module *) modules;
    const char *marks[CODE_MAX_MARKS];
    _Atomic uint32_t n_marks;
    char (*threads)[CODE_THREAD_NAME]; /* NULL until one is added */
    _Atomic uint32_t n_threads;
    _Atomic(struct code_pool_site *) pool_sites; /* hash table; NULL until one is added */
    uint32_t n_pool_sites;
} code_table;

/* A cache of code_of's results for one thread. Valid when zeroed. */
enum { CODE_CACHE_SLOTS = 4096 };
typedef struct code_cache {
    uint32_t epoch; /* epoch of the results */
    uint64_t codes[CODE_CACHE_SLOTS];
} code_cache;

/* Returns the cache slot of an address. */
static inline size_t code_slot(uintptr_t return_address) {
    enum { SLOTS_LOG2 = 12 };
    _Static_assert(1 << SLOTS_LOG2 == CODE_CACHE_SLOTS, "the highest bits of the product");
    return (uint64_t)return_address * UINT64_C(0x9E3779B97F4A7C15) >> (64 - SLOTS_LOG2);
}

/* Notes that a module may have been unloaded. Must be called after each dlclose. */
void code_modules_changed(void);

/* The number of these calls. */
extern _Atomic uint32_t code_epoch_now __attribute__((visibility("hidden")));
static inline uint32_t code_epoch(void) {
    return atomic_load_explicit(&code_epoch_now, memory_order_acquire);
}

/* Empties the cache. Must be called before a stack's first code is looked up, if code_epoch() is
 * not that of the cache. */
void code_cache_forget(code_cache *cache, uint32_t epoch);

/* Returns the code, with type 0, of a return address on the calling thread's stack. The module must
 * stay loaded meanwhile, as it does while it has a frame on our stack. Holds no lock while it asks
 * the loader. */
uint64_t code_of(code_table *table, code_cache *cache, uintptr_t return_address);

/* Returns the code, with type 0, in the cache slot of an address. It is the code of that address
 * only if code_is_of says so. */
static inline uint64_t code_recall(const code_cache *cache, uintptr_t return_address) {
    return cache->codes[code_slot(return_address)];
}

/* Returns whether a code with type 0 belongs to an address. The code of address 0 is 0. */
static inline bool code_is_of(uint64_t code, uintptr_t return_address) {
    return (code & CODE_ADDRESS_MASK) == return_address;
}

/* Returns the same as code_of, inline if the code is cached. */
static inline uint64_t code_remembered(code_table *table, code_cache *cache,
                                       uintptr_t return_address) {
    uint64_t code = code_recall(cache, return_address);
    return __builtin_expect(code_is_of(code, return_address), 1)
               ? code
               : code_of(table, cache, return_address);
}

/* Returns the code of a mark with this text, which is copied; 0 if there are too many marks. */
uint64_t code_of_mark(code_table *table, const char *remark);

/* Returns the code of a remark with the name of a thread: CODE_THREAD_NAME bytes, padded with NULs.
 * Once there are too many names, new ones share one code. Returns 0 if there is no memory. */
uint64_t code_of_thread(code_table *table, const char *name);

/* Returns the code of a language runtime's frame. Its 48 bits are not an address but `slot`, whose
 * meaning only the runtime knows. All bits of its type are set. */
static inline uint64_t code_of_runtime(uintptr_t slot) {
    return (uint64_t)slot | CODE_TYPE_MASK;
}
static inline bool code_is_of_runtime(uint64_t code) {
    return code >> CODE_TYPE_AT == CODE_TYPE_RUNTIME;
}
static inline uintptr_t code_runtime_slot(uint64_t code) {
    return (uintptr_t)(code & CODE_ADDRESS_MASK);
}

/* Returns the code of a runtime's frame among native frames. Such a code also needs an allocation
 * type, which takes the high bits of the slot. */
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

/* Returns the innermost code for a block in a pool whose name has this number (pools.h), to be used
 * in place of `code`, which must have type 0. Returns `code` itself if there is no room. */
uint64_t code_of_pool(code_table *table, uint64_t code, uint16_t pool);
static inline bool code_is_of_pool(uint64_t code) {
    return code >> CODE_TYPE_AT == CODE_TYPE_POOL;
}

/* Returns the code that such a code stands for. The name of *pool is its type. */
uint64_t code_pool_site(code_table *table, uint64_t code, uint16_t *pool);

/* Returns the location of a return address in the modules that are loaded now. */
memtrace_location code_locate_address(code_table *table, uintptr_t return_address);

/* Adds the type to the innermost code of a backtrace, which is a remark if there is no frame. */
static inline uint64_t code_with_type(uint64_t code, unsigned type) {
    return code | (uint64_t)type << CODE_TYPE_AT;
}

static inline uint64_t code_without_type(uint64_t code) {
    return code & ~CODE_TYPE_MASK;
}

/* The function for memtrace_writer_options.locate. `type_names` is indexed by allocating function.
 * The strings live as long as the memory of the table. */
size_t code_locate(code_table *table, const char *const *type_names, uint64_t code,
                   memtrace_location *locations, size_t max);

/* Returns how many bytes of room for names a trace at rate 1 gets: programs with more code have
 * more call sites. In compilers, names took between a hundredth of the code (clang) and a fortieth
 * (GCC). Each packet of room costs a write when the trace begins. */
size_t code_names_room(void);

#endif
