/* mark.h: named moments of a program, in the trace that is recorded of it.
 *
 *     #include <allotrace/mark.h>
 *     …
 *     allotrace_mark_here("request served");
 *
 * There is nothing to link with: the function is found if the program runs under `allotrace run`,
 * or once `allotrace attach` records it, and otherwise the call is a test of a pointer. At most 256
 * different names in a recording; later ones are not written. Any thread may call, also in a signal
 * handler. Marks have the time and thread of the call; `allotrace dump` shows them. */
#ifndef ALLOTRACE_MARK_H
#define ALLOTRACE_MARK_H

#ifdef __cplusplus
extern "C" {
#endif

/* NULL as long as the program has not been under a recorder. `name` is copied. */
extern void allotrace_mark(const char *name) __attribute__((weak));

/* The address is read at each call, from the global offset table: it changes when somebody
 * attaches, which a compiler does not expect of an address, nor a linker that makes a program for
 * fixed ones.
 */
static inline void allotrace_mark_here(const char *name) {
    void (*mark)(const char *name);
#if defined __x86_64__
    __asm__ volatile(".weak allotrace_mark\n\tmovq allotrace_mark@GOTPCREL(%%rip), %0"
                     : "=r"(mark));
#elif defined __aarch64__
    __asm__ volatile(".weak allotrace_mark\n\tadrp %0, :got:allotrace_mark\n\tldr %0, [%0, "
                     ":got_lo12:allotrace_mark]"
                     : "=r"(mark));
#else
    mark = allotrace_mark;
#endif
    if (mark)
        mark(name);
}

#ifdef __cplusplus
}
#endif

#endif
