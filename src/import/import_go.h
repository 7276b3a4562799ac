/* import_go.h: reads the profile that Go's runtime keeps of its heap from the memory of a process.
 *
 * Problem. A Go program allocates without malloc, and Go's allocator cannot be interposed. But its
 * runtime samples allocations itself: each sample belongs to a *bucket* for one stack and one size,
 * which counts blocks allocated and blocks freed. In programs that never request that profile, the
 * linker turns the sampling off.
 *
 * Approach. The program's file tells its Go version and the addresses of the runtime's variables
 * (go_program). The buckets form a list that only grows at its head (go_heap). Their addresses are
 * looked up in tables that each Go program has in memory, stripped or not (go_names). Memory is
 * read as a file, /proc/PID/mem.
 *
 * Invariants. No count may be used that was just being changed. In a stopped process, go_heap_read
 * returns GO_HEAP_BUSY if a lock on the counts is held, and the caller lets the process run for a
 * moment. In a running process, it reads each bucket twice, and uses it if both agree and the locks
 * were free in between. Everything that is read is checked, since the memory could be
 * anything's. */
#ifndef IMPORT_IMPORT_GO_H
#define IMPORT_IMPORT_GO_H

#include "base/map64.h"
#include "import/import.h"

/* The variables of the runtime, by their symbols. */
#define GO_VARIABLES(X)                                                                            \
    X(BUCKETS, "runtime.mbuckets")                                                                 \
    X(CYCLE, "runtime.mProfCycle")                                                                 \
    X(RATE, "runtime.MemProfileRate")                                                              \
    X(DISABLED, "runtime.disableMemoryProfiling")                                                  \
    X(MODULE, "runtime.firstmoduledata")                                                           \
    X(FUTURE_LOCKS, "runtime.profMemFutureLock")

enum go_variable {
#define GO_VARIABLE_ENUM(name, symbol) GO_##name,
    GO_VARIABLES(GO_VARIABLE_ENUM) GO_N_VARIABLES
};

/* The layout of the tables for finding names, in a range of Go versions. */
typedef struct go_layout {
    unsigned first, last;        /* range of minor versions */
    uint32_t magic;              /* of the table of functions */
    size_t function;             /* size of a function before its lists, bytes */
    size_t call;                 /* size of an inlined call, bytes */
    size_t call_name, call_site; /* offsets within an inlined call */
    size_t inlined;              /* index of the module's word that is the base of inlined calls */
} go_layout;

typedef struct go_program {
    char version[32]; /* such as "1.24.13" */
    const go_layout *layout;
    bool is_stripped;            /* go_program_locate must find the variables */
    uint64_t entry;              /* entry point; as the linker assigned it until go_program_move */
    uint64_t at[GO_N_VARIABLES]; /* addresses of the variables, likewise; 0: unknown */
} go_program;

typedef enum go_kind {
    GO_NONE,    /* not a Go program */
    GO_REFUSED, /* a Go program whose heap cannot be read; the error's reason continues "it is" */
    GO_KNOWN,
} go_kind;

/* Inspects a program's file. */
go_kind go_program_find(go_program *p, int file, import_error *error);

/* Relocates the addresses; `entry` is the entry point that the kernel reports. */
void go_program_move(go_program *p, uint64_t entry);

/* Finds the variables of a stripped program in the code that uses them, since functions have names
 * even there. Does nothing for other programs. */
bool go_program_locate(go_program *p, int memory, import_error *error);

/* Must be called before the program's first instruction. Makes it sample every `*bytes` bytes on
 * average, or at Go's default if that is 0. `*bytes` becomes the period that will apply: Go 1.19
 * sets its own period later. */
bool go_program_enable(const go_program *p, int memory, uint64_t *bytes, import_error *error);

/* ---- the heap ------------------------------------------------------------------------------ */

/* Counts are of sampled blocks. */
typedef struct go_bucket {
    uint64_t at;            /* its address, which never changes */
    uint64_t size;          /* size of each of its blocks, bytes */
    uint64_t allocated;     /* all blocks */
    uint64_t live;          /* those left by the last completed garbage collection */
    uint64_t since;         /* those allocated since then */
    size_t first, n_frames; /* return addresses, innermost first; in go_heap.frames */
} go_bucket;

/* Valid when zeroed. */
typedef struct go_heap {
    VEC(go_bucket) buckets;
    VEC(uint64_t) frames;
    VEC(uint64_t) left_out; /* addresses of buckets that never held still */
    uint64_t period;        /* runtime.MemProfileRate, bytes */
    bool is_collected;      /* there was a garbage collection; otherwise all blocks count as live */
    double since;           /* estimated bytes allocated since the collection */
} go_heap;

/* The state of the process whose memory is read. */
typedef enum go_heap_how {
    GO_HEAP_STANDS, /* stopped for now */
    /* Ended: read whatever locks are held; at worst, a bucket counts in two cycles. */
    GO_HEAP_OVER,
    /* Running: each bucket is read at a moment of its own, or left out if it never holds still. */
    GO_HEAP_RUNS,
} go_heap_how;

typedef enum go_heap_status { GO_HEAP_READ, GO_HEAP_BUSY, GO_HEAP_FAILED } go_heap_status;

/* Copies the profile out of memory. GO_HEAP_BUSY: it was being changed when the process was
 * stopped. */
go_heap_status go_heap_read(go_heap *h, const go_program *p, int memory, go_heap_how how,
                            import_error *error);

/* Returns the frames of a bucket. */
static inline const uint64_t *go_heap_frames(const go_heap *h, const go_bucket *b) {
    return h->frames.items + b->first;
}

/* Returns how many blocks a sampled block stands for, by Go's own estimate: the inverse of the
 * sampling probability for its size. */
double go_heap_scale(uint64_t size, uint64_t period);

/* Makes an import of the profile, with names, which do not change while the program runs. */
bool go_heap_import(import *to, const go_heap *h, const go_program *p, int memory,
                    import_error *error);

/* Sets what such a profile is, and what it lacks. */
void go_heap_describe(import *to, const go_heap *h);

void go_heap_free(go_heap *h);

/* ---- names --------------------------------------------------------------------------------- */

enum { GO_CHUNK = 4096 }; /* bytes read at once; no page is smaller */

typedef struct go_table {
    uint64_t start, size;
} go_table;

/* A function at an address, which may be inlined into others. */
typedef struct go_frame {
    const char *symbol; /* NULL: none */
    const char *file;
    uint32_t line;
    uint64_t entry; /* of the containing function that is not inlined */
    /* A return address in the function into which this one is inlined; 0: not inlined. */
    uint64_t parent;
} go_frame;

typedef struct go_names {
    const go_layout *layout;
    int memory;
    uint32_t quantum; /* least size of an instruction, bytes */
    uint64_t text, end, inlined;
    uint64_t data, data_end; /* range of its variables */
    go_table names, units, files, values, functions, index;
    intern_table strings;
    map64 chunk_of;
    VEC(unsigned char *) chunks;
    map64 frame_of, symbol_of; /* caches of look-ups, by address */
    VEC(go_frame) frames;
    VEC(const char *) symbols;
} go_names;

bool go_names_open(go_names *n, const go_program *p, int memory, import_error *error);

/* Returns the function that a return address is in. */
go_frame go_names_look(go_names *n, uint64_t address);

/* Finds the code of a function by its symbol. Returns false if there is none of that name. */
bool go_names_function(go_names *n, const char *symbol, uint64_t *start, uint64_t *end);

/* Returns the symbol of the function at exactly this address, inlined or not; NULL: none. */
const char *go_names_at(go_names *n, uint64_t address);

void go_names_close(go_names *n);

/* ---- stacks -------------------------------------------------------------------------------- */

typedef struct go_stacks {
    import *to;
    go_names names;
    map64 place_of; /* by address and number of locations */
    VEC(go_frame) group;
    uint64_t first; /* address of the first frame in `group` */
} go_stacks;

bool go_stacks_open(go_stacks *s, import *to, const go_program *p, int memory, import_error *error);

/* Adds the frames of a stack, innermost first, to those of the import. */
void go_stacks_add(go_stacks *s, const uint64_t *frames, size_t n);

void go_stacks_close(go_stacks *s);

#endif
