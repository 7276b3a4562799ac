/* mark.h: named moments and scopes of a program, in the trace recorded of it.
 *
 *     #include <allotrace/mark.h>
 *     …
 *     allotrace_mark_here("caches are warm");
 *     …
 *     unsigned outer = allotrace_scope_begin("GET /cart");
 *     serve(request);
 *     allotrace_scope_end(outer);
 *
 * There is nothing to link with: the functions are found if the program runs under `allotrace run`,
 * or once `allotrace attach` records it; otherwise a call only tests a pointer. All functions may
 * be called by any thread, also in a signal handler.
 *
 * A mark is a moment, with the time and thread of the call; `allotrace timeline` shows it. A
 * recording has at most 256 different names; further ones are not written.
 *
 * A scope is what a thread is doing, such as a request or a phase. Whatever the thread allocates
 * until the end of the scope belongs to the scope. Scopes nest: an inner scope hides the outer one
 * until its own end. In a task of Python's asyncio, the scope is the task's. Scopes in which
 * nothing is sampled leave nothing in the trace. A process has at most 1,024 different names of at
 * most 63 bytes, so use routes, not ids; further names become `(other scopes)`. `allotrace hotspots
 * --by scope` and `--filter scope:NAME` query scopes. */
#ifndef ALLOTRACE_MARK_H
#define ALLOTRACE_MARK_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* NULL unless the program is or was under a recorder. `name` is copied. */
extern void allotrace_mark(const char *name) __attribute__((weak));

/* Enters the scope called `name` or, if `name` is NULL, returns to `scope`. Returns the scope that
 * the thread was in. NULL unless the program is or was under a recorder. `name` is copied. */
extern unsigned allotrace_scope(const char *name, unsigned scope) __attribute__((weak));

/* Reads the address from the global offset table at each call. The address changes when a recorder
 * attaches, which compilers do not expect, and neither do linkers of programs with fixed
 * addresses. */
#if defined __x86_64__
#define ALLOTRACE_FIND_(function, found)                                                           \
    __asm__ volatile(".weak " #function "\n\tmovq " #function "@GOTPCREL(%%rip), %0" : "=r"(found))
#elif defined __aarch64__
#define ALLOTRACE_FIND_(function, found)                                                           \
    __asm__ volatile(".weak " #function "\n\tadrp %0, :got:" #function                             \
                     "\n\tldr %0, [%0, :got_lo12:" #function "]"                                   \
                     : "=r"(found))
#else
#define ALLOTRACE_FIND_(function, found) ((found) = (function))
#endif

static inline void allotrace_mark_here(const char *name) {
    void (*mark)(const char *name);
    ALLOTRACE_FIND_(allotrace_mark, mark);
    if (mark)
        mark(name);
}

/* Returns the value to pass to allotrace_scope_end. */
static inline unsigned allotrace_scope_begin(const char *name) {
    unsigned (*scope)(const char *name, unsigned before);
    ALLOTRACE_FIND_(allotrace_scope, scope);
    return scope ? scope(name, 0) : 0;
}

/* `outer`: the value that allotrace_scope_begin returned in this thread. */
static inline void allotrace_scope_end(unsigned outer) {
    unsigned (*scope)(const char *name, unsigned before);
    ALLOTRACE_FIND_(allotrace_scope, scope);
    if (scope)
        scope(NULL, outer);
}

#ifdef __cplusplus
}
#endif

#endif
