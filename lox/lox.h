/* lox.h: a Lox virtual machine, as programs embed it. Several can live in one process, each used by
 * one thread at a time; they share nothing. */
#ifndef LOX_LOX_H
#define LOX_LOX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct lox_vm lox_vm;

/* Also the exit statuses of the launcher. */
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
    bool gc_count;        /* count objects, for lox_get_counters: walks each dead nursery */
    bool watch_returns;   /* code notes returns, for lox_stack_kept of observer.h */

    /* Where output and messages go, as NUL-free pieces; NULL: stdout and stderr. */
    void (*write)(void *context, const char *text, size_t size);
    void (*write_error)(void *context, const char *text, size_t size);
    void *context; /* handed to both */
} lox_options;

lox_vm *lox_create(const lox_options *options);
void lox_destroy(lox_vm *vm);

/* The global ARGV. */
void lox_set_arguments(lox_vm *vm, const char *const *arguments, size_t n);

/* Runs a program; `file` is its name in reports, and what `load` finds files next to. */
lox_status lox_run_text(lox_vm *vm, const char *file, const char *text, size_t size);

/* "-": standard input. */
lox_status lox_run_file(lox_vm *vm, const char *path);

/* A place in a longer text: line from 1, character (code point) from 0. */
typedef struct lox_position {
    uint32_t line, character;
} lox_position;

/* Runs the next part of what is typed at a prompt: the last semicolon may be left out, and values
 * of expression statements are printed. It starts at *at, which becomes its end. */
lox_status lox_run_typed(lox_vm *vm, const char *file, const char *text, size_t size,
                         lox_position *at);

/* Whether the system had no memory for a program, which ended with "Out of memory.". Nothing runs
 * in the VM any more: it can only stop its trace, and be destroyed. */
bool lox_is_exhausted(const lox_vm *vm);

/* Ends the program that runs, at its next instruction: lox_run_… returns LOX_INTERRUPTED. The VM
 * can run others afterwards. For signal handlers of the thread that runs it. */
void lox_interrupt(lox_vm *vm);

/* For those who complete what is typed. Where the name begins that ends before text[end], which is
 * `end` if there is none; and the names that can stand there: keywords and variables, or behind a
 * dot the properties of the object that a global before it names, else of all. Any order, some
 * more than once. */
typedef struct lox_names {
    void (*name)(void *context, const char *name);
    void *context;
} lox_names;
size_t lox_name_start(const char *text, size_t end);
void lox_name_next(const lox_vm *vm, const char *text, size_t start, const lox_names *to);

/* What the collector did. Objects are counted only with gc_count, words always (headers included).
 */
typedef struct lox_counters {
    uint64_t minor_collections, major_collections;
    uint64_t minor_words, major_words, promoted_words; /* major: those not from the nursery */
    uint64_t minor_objects, major_objects, promoted_objects;
    uint64_t dead_minor_objects, dead_major_objects;
    size_t live_bytes, peak_bytes; /* of the major heap */
} lox_counters;
void lox_get_counters(lox_vm *vm, lox_counters *counters);

/* Records a memtrace trace of what is allocated from now on to lox_trace_stop. 0, else an errno;
 * EWOULDBLOCK: another process is recording to this file. */
typedef struct lox_trace_options {
    double rate; /* above 0, at most 1 */
    uint64_t seed;
    uint32_t depth;      /* frames kept of a stack */
    const char *context; /* a remark that the trace carries; NULL: none */
} lox_trace_options;
int lox_trace_start(lox_vm *vm, const char *path, const lox_trace_options *options);
int lox_trace_stop(lox_vm *vm);

#endif
