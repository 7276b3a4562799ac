/* python_layout.h: finds the CPython interpreter in this process by its symbols, and says whether
 * its frames can be read, and at which offsets its structures keep what is read. Calls nothing that
 * takes a lock, allocates, or reads more than the structures of the calling thread. */
#ifndef PYTHON_LAYOUT_H
#define PYTHON_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "record/runtime.h"

/* PyMemAllocatorEx. */
struct python_allocator {
    void *context;
    void *(*malloc)(void *context, size_t size);
    void *(*calloc)(void *context, size_t count, size_t size);
    void *(*realloc)(void *context, void *block, size_t size);
    void (*free)(void *context, void *block);
};

/* PyObjectArenaAllocator. */
struct python_arena_allocator {
    void *context;
    void *(*alloc)(void *context, size_t size);
    void (*free)(void *context, void *arena, size_t size);
};

enum python_domain { PYTHON_RAW, PYTHON_MEM, PYTHON_OBJ }; /* PyMemAllocatorDomain */

/* The facts that differ between versions of Python. Offsets are in bytes. */
struct python_layout {
    unsigned minor;             /* N of version 3.N */
    bool has_cframe;            /* a thread leads to its frames through structures on the C stack */
    uint16_t thread_frame;      /* in PyThreadState: the _PyCFrame, or the innermost frame */
    uint16_t cframe_frame;      /* in _PyCFrame: its innermost frame */
    uint16_t cframe_outer;      /* in _PyCFrame: the one around it */
    uint16_t frame_code;        /* in _PyInterpreterFrame: its code object */
    uint16_t frame_outer;       /* the caller's frame */
    uint16_t frame_instruction; /* the current instruction */
    uint16_t frame_kind; /* a byte; from `frame_last` on, a last frame: see python_frames.c */
    uint8_t frame_last;
    uint16_t offsets_thread; /* in _PyRuntime: the published layout of a thread; 0: none */
    uint16_t code_size;      /* of PyCodeObject, before its instructions */
    uint16_t text_ascii;     /* start of the text in an ASCII str */
    uint16_t text_other;     /* start of the text in any other str */
    uint16_t text_size;      /* size of PyUnicodeObject */
    uint16_t flags_before; /* type flags for two words before the object and its collector's head */

    /* For asyncio's tasks; 0 where a version does not have it: see python_tasks.c. */
    uint16_t thread_task;     /* in _PyThreadStateImpl: the running task */
    uint16_t thread_loop;     /* in _PyThreadStateImpl: the running loop */
    uint16_t thread_dict;     /* in PyThreadState: the dict that has the loop */
    uint16_t holder_loop;     /* in the dict's value: the loop; 0: the value is the loop */
    uint16_t thread_size;     /* of PyThreadState, as published at offsets_thread */
    uint16_t interp_modules;  /* in PyInterpreterState: sys.modules */
    uint16_t offsets_modules; /* in _PyRuntime: the published interp_modules */
    uint16_t task_size, task_coroutine, task_name; /* TaskObj: size and offsets */
    uint16_t coroutine_name, coroutine_frame;      /* in PyGenObject: qualified name, frame */
};

/* Offsets in PyCodeObject, as its type reports them. */
struct python_code_offsets {
    uint16_t file, name, lines, first_line;
};

typedef struct python_runtime {
    const struct python_layout *layout;
    struct python_code_offsets code;
    char *code_type, *text_type, *type_type; /* PyTypeObjects */
    char *dict_type, *module_type, *coroutine_type, *generator_type;
    bool knows_tasks;              /* asyncio's tasks can be found */
    uintptr_t low, high;           /* code of the module that contains the interpreter */
    uintptr_t eval_low, eval_high; /* the function that runs frames */
    uintptr_t main_low, main_high; /* Py_RunMain, which `python3` calls */
    void (*get_allocator)(int domain, struct python_allocator *allocator);
    void (*set_allocator)(int domain, struct python_allocator *allocator);
    void (*get_arena_allocator)(struct python_arena_allocator *allocator); /* NULL: not available */
    void (*set_arena_allocator)(struct python_arena_allocator *allocator); /* NULL: not available */
    int (*is_initialized)(void);
    int (*is_finalizing)(void);
    char *(*thread_attached)(void); /* the PyThreadState that holds the lock: of any thread up
                                       to 3.11, later the calling thread's or NULL */
    char *(*thread_own)(void);      /* the calling thread's, whether or not it holds the lock */
} python_runtime;

/* `find` of record/runtime.h. */
enum runtime_kind python_layout_find(python_runtime *r, const char **why);

#endif
