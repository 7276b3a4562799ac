/* lox.h: the interface of a Lox virtual machine to be embedded. A process may have several. They
 * share nothing, and each is used by one thread at a time. */
#ifndef LOX_LOX_H
#define LOX_LOX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct lox_vm lox_vm;

/* The values are also exit statuses of the launcher. */
typedef enum lox_status {
    LOX_OK = 0,
    LOX_USAGE = 64,
    LOX_COMPILE_ERROR = 65,
    LOX_RUNTIME_ERROR = 70,
    LOX_IO_ERROR = 74,
    LOX_INTERRUPTED = 130, /* see lox_interrupt */
} lox_status;

typedef struct lox_options {
    size_t max_heap;      /* bytes of objects; 0: no limit */
    size_t nursery_words; /* 0: the default, 128 Ki words */
    uint32_t gc_stress;   /* collect both generations at each n-th allocation; 0: no */
    bool gc_verify;       /* check the whole heap after each collection */
    bool gc_count;        /* count objects for lox_get_counters, which scans each dead nursery */
    bool watch_returns;   /* code records returns, for lox_stack_kept in observer.h */

    /* Receive output and messages, in pieces without NUL; NULL: stdout and stderr. */
    void (*write)(void *context, const char *text, size_t size);
    void (*write_error)(void *context, const char *text, size_t size);
    void *context; /* passed to both */
} lox_options;

lox_vm *lox_create(const lox_options *options);
void lox_destroy(lox_vm *vm);

/* Sets the global ARGV. */
void lox_set_arguments(lox_vm *vm, const char *const *arguments, size_t n);

/* Runs a program. `file` is its name in reports; `load` looks for files next to it. */
lox_status lox_run_text(lox_vm *vm, const char *file, const char *text, size_t size);

/* Runs a file; "-" is standard input. */
lox_status lox_run_file(lox_vm *vm, const char *path);

/* A position in a longer text: line from 1, character (code point) from 0. */
typedef struct lox_position {
    uint32_t line, character;
} lox_position;

/* Runs the next part of what is typed at a prompt. The last semicolon may be omitted, and values of
 * expression statements are printed. The text starts at *at, which is set to its end. */
lox_status lox_run_typed(lox_vm *vm, const char *file, const char *text, size_t size,
                         lox_position *at);

/* Whether a program ended with "Out of memory." since the system had none. The VM no longer runs
 * programs then: it can only stop its trace and be destroyed. */
bool lox_is_exhausted(const lox_vm *vm);

/* Ends the running program at its next instruction, with LOX_INTERRUPTED as the result of
 * lox_run_…. The VM can run other programs afterwards. For signal handlers of the thread that runs
 * the VM. */
void lox_interrupt(lox_vm *vm);

/* For completion. lox_name_start returns where the name before text[end] begins; `end` if there is
 * none. lox_name_next lists the names that can be there: keywords and variables; after a dot, the
 * properties of the object in the global before the dot, or all properties if there is no such
 * global. The order is arbitrary, and names may be repeated. */
typedef struct lox_names {
    void (*name)(void *context, const char *name);
    void *context;
} lox_names;
size_t lox_name_start(const char *text, size_t end);
void lox_name_next(const lox_vm *vm, const char *text, size_t start, const lox_names *to);

/* Statistics of the collector. Objects are counted with gc_count only; words are always counted,
 * with headers. */
typedef struct lox_counters {
    uint64_t minor_collections, major_collections;
    uint64_t minor_words, major_words, promoted_words; /* major: those not from the nursery */
    uint64_t minor_objects, major_objects, promoted_objects;
    uint64_t dead_minor_objects, dead_major_objects;
    size_t live_bytes, peak_bytes; /* of the major heap */
} lox_counters;
void lox_get_counters(lox_vm *vm, lox_counters *counters);

/* Records a memtrace trace of what is allocated until lox_trace_stop. Both return 0 or an errno;
 * EWOULDBLOCK: another process is recording to this file. */
typedef struct lox_trace_options {
    double rate; /* above 0, at most 1 */
    uint64_t seed;
    uint32_t depth;      /* frames kept of a stack */
    const char *context; /* a remark stored in the trace; NULL: none */
} lox_trace_options;
int lox_trace_start(lox_vm *vm, const char *path, const lox_trace_options *options);
int lox_trace_stop(lox_vm *vm);

#endif
