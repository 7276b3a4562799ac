/* import_memray.h: the stacks of a memray capture: code, frames of it, the tree of those, native
 * frames, modules, and the stack that all of these make together. import_memray.c reads the
 * records. */
#ifndef IMPORT_IMPORT_MEMRAY_H
#define IMPORT_IMPORT_MEMRAY_H

#include "base/map64.h"
#include "import/import.h"

/* A function of Python, by which frames are named. */
typedef struct memray_code {
    const char *function, *file;
    int64_t line;              /* the first; of version 11, that of the frame */
    const uint8_t *line_table; /* in the bytes of the capture; NULL: `line` is all */
    size_t line_table_size;
} memray_code;

typedef struct memray_frame {
    uint32_t place;
    bool is_entry; /* C called it: an evaluation of the interpreter begins with it */
} memray_frame;

typedef struct memray_node {
    uint32_t parent, frame; /* node 0, the root, has neither */
} memray_node;

typedef struct memray_native {
    uint64_t address; /* to which it returns */
    uint32_t parent;  /* number of the caller's, from 1; 0: none */
} memray_native;

typedef struct memray_segment {
    uint64_t start, end, base; /* of addresses; base: what the linker's are added to */
    uint32_t module;
} memray_segment;

typedef struct memray_module {
    const char *file;
    char build_id[129];
    uint64_t eval_start,
        eval_end; /* the interpreter's loop, in the linker's addresses; 0: unknown */
} memray_module;

typedef struct memray_stack {
    size_t first, n; /* of import.frames */
} memray_stack;

/* Legal when zeroed, but for what is said. Functions set to->no_memory. */
typedef struct memray_stacks {
    import *to;      /* set by the user */
    uint32_t python; /* as in PY_VERSION_HEX; set by the user */
    size_t skipped;  /* of the main thread's outermost frames: those that belong to memray */
    VEC(memray_code) codes;
    VEC(memray_frame) frames;
    VEC(memray_node) nodes;
    VEC(memray_native) natives;
    VEC(memray_segment) segments;
    VEC(memray_module) modules;
    VEC(memray_stack) stacks;
    VEC(uint32_t) record_stacks; /* by record */
    VEC(uint32_t) path;          /* of places, innermost first, while a stack is being made */
    VEC(size_t) generations;     /* of mappings: the first segment of each */
    map64 code_of, frame_of, node_of, module_of, address_of, address_key, stack_of, stack_key;
    map64 record_of, size_of;
} memray_stacks;

/* A code gets what it is, or gets it anew. */
void memray_stacks_code(memray_stacks *s, uint64_t id, memray_code code);

/* The frame of a code at an offset of its instructions. False: there is no such code. */
bool memray_stacks_frame(memray_stacks *s, uint64_t code, int64_t offset, bool is_entry,
                         uint32_t *frame);

/* The node below `parent`, which is there. */
uint32_t memray_stacks_node(memray_stacks *s, uint32_t parent, uint32_t frame);

/* From here on, other modules are mapped. */
void memray_stacks_map(memray_stacks *s);

/* False: there are too many. */
bool memray_stacks_image(memray_stacks *s, const char *file, uint64_t base, uint64_t address,
                         uint64_t size);

/* The record of blocks of `bytes` that were allocated at a node and a native frame (0: none), both
 * of which are there, under the mappings of a generation, counted from 1. False: the stacks have
 * too many frames. */
bool memray_stacks_record(memray_stacks *s, uint32_t node, uint32_t native, uint32_t generation,
                          bool is_main, uint64_t bytes, uint32_t *record);

/* The same as another record, but for the bytes. */
void memray_stacks_resized(memray_stacks *s, uint32_t other, uint64_t bytes, uint32_t *record);

void memray_stacks_free(memray_stacks *s);

#endif
