/* mark.h: named moments and scopes of a program, in the trace that is recorded of it.
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
 * or once `allotrace attach` records it, and otherwise a call is a test of a pointer. Any thread
 * may call, also in a signal handler.
 *
 * A mark is a moment: it has the time and thread of the call; `allotrace timeline` shows it. At
 * most 256 different names in a recording; later ones are not written.
 *
 * A scope is what a thread is doing, as a request or a phase: what it allocates until the end of
 * the scope is the scope's. One that begins within another hides it until its own end. In a task
 * of Python's asyncio, it is the task's. Scopes in which nothing is sampled leave nothing in the
 * trace. At most 1,024 different names in a process, of at most 63 bytes: take routes, not ids;
 * later ones become `(other scopes)`. `allotrace hotspots --by scope` and `--filter scope:NAME` ask
 * for them.
 */
#ifndef ALLOTRACE_MARK_H
#define ALLOTRACE_MARK_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* NULL as long as the program has not been under a recorder. `name` is copied. */
extern void allotrace_mark(const char *name) __attribute__((weak));

/* The same. Enters the scope of this name, or, if it is NULL, goes back to `scope`; returns the one
 * that the thread was in. */
extern unsigned allotrace_scope(const char *name, unsigned scope) __attribute__((weak));

/* The address is read at each call, from the global offset table: it changes when somebody
 * attaches, which a compiler does not expect of an address, nor a linker that makes a program for
 * fixed ones.
 */
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

/* Returns what the end of the scope is to be given. */
static inline unsigned allotrace_scope_begin(const char *name) {
    unsigned (*scope)(const char *name, unsigned before);
    ALLOTRACE_FIND_(allotrace_scope, scope);
    return scope ? scope(name, 0) : 0;
}

/* `outer`: what the beginning of the scope, in this thread, has returned. */
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
