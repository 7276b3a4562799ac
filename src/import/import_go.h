/* import_go.h: the profile that Go's runtime keeps of its heap, read from the memory of a process.
 *
 * Problem. A Go program allocates without malloc, and nothing can be put in front of Go's
 * allocator. But its runtime samples allocations itself: each sample belongs to a *bucket* of one
 * stack and one size, which counts blocks that came to be and blocks that were freed. Programs that
 * never ask for that profile have it switched off by their linker.
 *
 * Way. The program's file says which Go it was built with and where the runtime's variables are
 * (go_program). The buckets are a list that only ever grows at its head (go_heap); what their
 * addresses mean stands in tables that each Go program has in memory, stripped or not (go_names).
 * Memory is a file, /proc/PID/mem.
 *
 * What must hold. No count may be taken that somebody was just changing. Of a process that is
 * stopped, go_heap_read says GO_HEAP_BUSY where a lock on them is held, and whoever has stopped it
 * lets it go on for a moment; of one that runs, it takes a bucket that it has read twice, with the
 * locks free in between. All that is read is checked, since it may be the memory of anything. */
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

/* How a version of Go lays out what names are found by. */
typedef struct go_layout {
    unsigned first, last;        /* minor versions */
    uint32_t magic;              /* of the table of functions */
    size_t function;             /* bytes of a function, before its lists */
    size_t call;                 /* bytes of an inlined call, in which */
    size_t call_name, call_site; /* these stand at */
    size_t inlined;              /* which word of the module's data is the base of inlined calls */
} go_layout;

typedef struct go_program {
    char version[32]; /* as "1.24.13" */
    const go_layout *layout;
    bool is_stripped;            /* go_program_locate has to find the variables */
    uint64_t entry;              /* as the linker counts, like */
    uint64_t at[GO_N_VARIABLES]; /* until go_program_move; 0: unknown */
} go_program;

typedef enum go_kind {
    GO_NONE,    /* no program of Go's */
    GO_REFUSED, /* one whose heap cannot be read: the error's reason goes on from "it is" */
    GO_KNOWN,
} go_kind;

/* Looks at a program's file. */
go_kind go_program_find(go_program *p, int file, import_error *error);

/* Where it really is: `entry` is what the kernel calls its entry. */
void go_program_move(go_program *p, uint64_t entry);

/* Finds the variables of a stripped program by the code that uses them: its functions have names
 * even there. Nothing to do for others. */
bool go_program_locate(go_program *p, int memory, import_error *error);

/* Before the program's first instruction: has it sample, each `bytes` on average, or, if that is 0,
 * as often as Go does. `*bytes` becomes what will be: Go 1.19 sets its own later. */
bool go_program_enable(const go_program *p, int memory, uint64_t *bytes, import_error *error);

/* ---- the heap ------------------------------------------------------------------------------ */

/* Counts are of blocks that were sampled. */
typedef struct go_bucket {
    uint64_t at;            /* its address, which stays the same */
    uint64_t size;          /* bytes of each of its blocks */
    uint64_t allocated;     /* and, of these, */
    uint64_t live;          /* what the last finished garbage collection left */
    uint64_t since;         /* what came after it */
    size_t first, n_frames; /* return addresses, innermost first: in go_heap.frames */
} go_bucket;

/* Legal when zeroed. */
typedef struct go_heap {
    VEC(go_bucket) buckets;
    VEC(uint64_t) frames;
    VEC(uint64_t) left_out; /* addresses of buckets that never held still */
    uint64_t period;        /* bytes: runtime.MemProfileRate */
    bool is_collected;      /* there was a garbage collection; else all blocks count as live */
    double since;           /* bytes allocated since it, as estimated */
} go_heap;

/* What the memory does that is read. */
typedef enum go_heap_how {
    GO_HEAP_STANDS, /* for the moment */
    GO_HEAP_OVER,   /* for ever: so it is read whatever locks are held; at worst, one bucket is then
                       counted in two cycles */
    GO_HEAP_RUNS,   /* it goes on changing: each bucket is read as it was at a moment of its own,
                       and one that never holds still is left out */
} go_heap_how;

typedef enum go_heap_status { GO_HEAP_READ, GO_HEAP_BUSY, GO_HEAP_FAILED } go_heap_status;

/* Copies the profile out of memory. BUSY: somebody was changing it when it was stopped. */
go_heap_status go_heap_read(go_heap *h, const go_program *p, int memory, go_heap_how how,
                            import_error *error);

/* Where the frames of a bucket begin. */
static inline const uint64_t *go_heap_frames(const go_heap *h, const go_bucket *b) {
    return h->frames.items + b->first;
}

/* How many blocks a sampled one stands for, as Go itself estimates it: by the chance of a block of
 * that size. */
double go_heap_scale(uint64_t size, uint64_t period);

/* What was read, with names, which do not change while the program runs. */
bool go_heap_import(import *to, const go_heap *h, const go_program *p, int memory,
                    import_error *error);

/* What such a profile is, and lacks. */
void go_heap_describe(import *to, const go_heap *h);

void go_heap_free(go_heap *h);

/* ---- names --------------------------------------------------------------------------------- */

enum { GO_CHUNK = 4096 }; /* bytes that are read at once; no page is smaller */

typedef struct go_table {
    uint64_t start, size;
} go_table;

/* One function at an address; others may be inlined into others. */
typedef struct go_frame {
    const char *symbol; /* NULL: there is none */
    const char *file;
    uint32_t line;
    uint64_t entry;  /* of the function that has code of its own */
    uint64_t parent; /* the return address, as it were, in what this one is inlined into; 0: in none
                      */
} go_frame;

typedef struct go_names {
    const go_layout *layout;
    int memory;
    uint32_t quantum; /* bytes of an instruction, at least */
    uint64_t text, end, inlined;
    uint64_t data, data_end; /* its variables */
    go_table names, units, files, values, functions, index;
    intern_table strings;
    map64 chunk_of;
    VEC(unsigned char *) chunks;
    map64 frame_of, symbol_of; /* by address, what was looked up */
    VEC(go_frame) frames;
    VEC(const char *) symbols;
} go_names;

bool go_names_open(go_names *n, const go_program *p, int memory, import_error *error);

/* What a return address is in. */
go_frame go_names_look(go_names *n, uint64_t address);

/* Where the code of a function is, by its symbol. False: it has none of that name. */
bool go_names_function(go_names *n, const char *symbol, uint64_t *start, uint64_t *end);

/* The symbol of what is at the address itself, inlined or not; NULL: nothing. */
const char *go_names_at(go_names *n, uint64_t address);

void go_names_close(go_names *n);

/* ---- stacks -------------------------------------------------------------------------------- */

typedef struct go_stacks {
    import *to;
    go_names names;
    map64 place_of; /* by address and number of locations */
    VEC(go_frame) group;
    uint64_t first; /* address of the group */
} go_stacks;

bool go_stacks_open(go_stacks *s, import *to, const go_program *p, int memory, import_error *error);

/* Adds the frames of a stack to those of the import, innermost first as they come. */
void go_stacks_add(go_stacks *s, const uint64_t *frames, size_t n);

void go_stacks_close(go_stacks *s);

#endif
