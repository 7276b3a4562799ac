/* python_layout.h: the interpreter of CPython that is in this process, found by its symbols: is it
 * one whose frames can be read, and where do its structures keep what is read. Calls nothing that
 * takes a lock, allocates, or looks at more than the structures of the calling thread. */
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

/* What differs from version to version; offsets in bytes. */
struct python_layout {
    unsigned minor;             /* of 3.minor */
    bool has_cframe;            /* a thread's frames hang at structures on the C stack */
    uint16_t thread_frame;      /* in PyThreadState: the cframe, or the innermost frame */
    uint16_t cframe_frame;      /* in _PyCFrame: its innermost frame */
    uint16_t cframe_outer;      /* and the _PyCFrame around it */
    uint16_t frame_code;        /* in _PyInterpreterFrame */
    uint16_t frame_outer;       /* the frame of the caller */
    uint16_t frame_instruction; /* the instruction that is at work */
    uint16_t frame_kind;        /* a byte that is at least `frame_last`: see python_frames.c */
    uint8_t frame_last;
    uint16_t offsets_thread; /* where the runtime says how a thread is laid out; 0: nowhere */
    uint16_t code_size;      /* of PyCodeObject in front of its instructions */
    uint16_t text_ascii;     /* where the text begins in a str of ASCII */
    uint16_t text_other;     /* and in any other one */
    uint16_t text_size;      /* of PyUnicodeObject */
    uint16_t flags_before;   /* of types: their objects have two words in front of all others */

    /* Of asyncio's tasks; 0 where a version has no such thing: see python_tasks.c. */
    uint16_t thread_task;     /* in _PyThreadStateImpl: the running task */
    uint16_t thread_loop;     /* the running loop */
    uint16_t thread_dict;     /* in PyThreadState: a dict, */
    uint16_t holder_loop;     /* in which an object has the loop; 0: it is the loop */
    uint16_t thread_size;     /* of PyThreadState, as the runtime says at offsets_thread */
    uint16_t interp_modules;  /* in PyInterpreterState: sys.modules, */
    uint16_t offsets_modules; /* as the runtime says there */
    uint16_t task_size, task_coroutine, task_name; /* of TaskObj */
    uint16_t coroutine_name, coroutine_frame;      /* in PyGenObject: its qualified name */
};

/* Offsets in PyCodeObject, which its type tells. */
struct python_code_offsets {
    uint16_t file, name, lines, first_line;
};

typedef struct python_runtime {
    const struct python_layout *layout;
    struct python_code_offsets code;
    char *code_type, *text_type, *type_type; /* PyTypeObjects */
    char *dict_type, *module_type, *coroutine_type, *generator_type;
    bool knows_tasks;              /* asyncio's can be found */
    uintptr_t low, high;           /* the code of the module that the interpreter is in */
    uintptr_t eval_low, eval_high; /* of the function that runs frames */
    uintptr_t main_low, main_high; /* of Py_RunMain, where `python3` comes through */
    void (*get_allocator)(int domain, struct python_allocator *allocator);
    void (*set_allocator)(int domain, struct python_allocator *allocator);
    void (*get_arena_allocator)(struct python_arena_allocator *allocator); /* NULL: there are no */
    void (*set_arena_allocator)(struct python_arena_allocator *allocator); /* arenas */
    int (*is_initialized)(void);
    int (*is_finalizing)(void);
    char *(*thread_attached)(void); /* the PyThreadState that holds the lock: up to 3.11 anybody's,
                                       later the calling thread's or NULL */
    char *(*thread_own)(void);      /* the calling thread's, with the lock or without */
} python_runtime;

/* See record/runtime.h. */
enum runtime_kind python_layout_find(python_runtime *r, const char **why);

#endif
