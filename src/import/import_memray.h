/* import_memray.h: the stacks of a memray capture: code objects, their frames, the tree of frames,
 * native frames, modules, and the combined stacks made of these. import_memray.c reads the
 * records. */
#ifndef IMPORT_IMPORT_MEMRAY_H
#define IMPORT_IMPORT_MEMRAY_H

#include "base/map64.h"
#include "import/import.h"

/* A Python function, which names frames. */
typedef struct memray_code {
    const char *function, *file;
    int64_t line;              /* its first line; in version 11, the line of the frame */
    const uint8_t *line_table; /* inside the bytes of the capture; NULL: only `line` is known */
    size_t line_table_size;
} memray_code;

typedef struct memray_frame {
    uint32_t place;
    bool is_entry; /* called from C: an evaluation of the interpreter begins with it */
} memray_frame;

typedef struct memray_node {
    uint32_t parent, frame; /* node 0 is the root and has neither */
} memray_node;

typedef struct memray_native {
    uint64_t address; /* return address */
    uint32_t parent;  /* number of the caller, from 1; 0: none */
} memray_native;

typedef struct memray_segment {
    uint64_t start, end, base; /* range of addresses; base: offset from the linker's addresses */
    uint32_t module;
} memray_segment;

typedef struct memray_module {
    const char *file;
    char build_id[129];
    uint64_t eval_start,
        eval_end; /* the interpreter's loop, in the linker's addresses; 0: unknown */
} memray_module;

typedef struct memray_stack {
    size_t first, n; /* in import.frames */
} memray_stack;

/* Valid when zeroed, apart from the fields set by the user. Functions set to->no_memory. */
typedef struct memray_stacks {
    import *to;      /* set by the user */
    uint32_t python; /* like PY_VERSION_HEX; set by the user */
    size_t skipped;  /* outermost frames of the main thread that belong to memray */
    VEC(memray_code) codes;
    VEC(memray_frame) frames;
    VEC(memray_node) nodes;
    VEC(memray_native) natives;
    VEC(memray_segment) segments;
    VEC(memray_module) modules;
    VEC(memray_stack) stacks;
    VEC(uint32_t) record_stacks; /* by record */
    VEC(uint32_t) path;          /* places of the stack being made, innermost first */
    VEC(size_t) generations;     /* first segment of each generation of mappings */
    map64 code_of, frame_of, node_of, module_of, address_of, address_key, stack_of, stack_key;
    map64 record_of, size_of;
} memray_stacks;

/* Defines a code object, or redefines it. */
void memray_stacks_code(memray_stacks *s, uint64_t id, memray_code code);

/* Returns in `*frame` the frame of a code object at an offset of its instructions. False: there is
 * no such code object. */
bool memray_stacks_frame(memray_stacks *s, uint64_t code, int64_t offset, bool is_entry,
                         uint32_t *frame);

/* Returns the node for `frame` below the existing node `parent`. */
uint32_t memray_stacks_node(memray_stacks *s, uint32_t parent, uint32_t frame);

/* Begins a new generation: a different set of modules is mapped from here on. */
void memray_stacks_map(memray_stacks *s);

/* Adds a segment of a module. Returns false if there are too many. */
bool memray_stacks_image(memray_stacks *s, const char *file, uint64_t base, uint64_t address,
                         uint64_t size);

/* Returns in `*record` the record of blocks of `bytes`, allocated at an existing node and native
 * frame (0: none), with the mappings of a generation (counted from 1). False: the stacks have too
 * many frames. */
bool memray_stacks_record(memray_stacks *s, uint32_t node, uint32_t native, uint32_t generation,
                          bool is_main, uint64_t bytes, uint32_t *record);

/* Returns in `*record` a copy of another record with a different size. */
void memray_stacks_resized(memray_stacks *s, uint32_t other, uint64_t bytes, uint32_t *record);

void memray_stacks_free(memray_stacks *s);

#endif
