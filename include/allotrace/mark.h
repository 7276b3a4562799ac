/* mark.h: named moments of a program, in the trace that is recorded of it.
 *
 *     #include <allotrace/mark.h>
 *     …
 *     allotrace_mark_here("request served");
 *
 * There is nothing to link with: the function is found if the program runs under `allotrace run`,
 * and otherwise the call is a test of a pointer. At most 256 different names in a recording; later
 * ones are not written. Any thread may call, also in a signal handler. Marks have the time and
 * thread of the call; `allotrace dump` shows them. */
#ifndef ALLOTRACE_MARK_H
#define ALLOTRACE_MARK_H

#ifdef __cplusplus
extern "C" {
#endif

/* NULL while the program is not under a recorder. `name` is copied. */
extern void allotrace_mark(const char *name) __attribute__((weak));

/* A program for fixed addresses would settle, when it is linked, that there is no such function;
 * unless its address is read from the global offset table, as it always is in code for any address.
 */
static inline void allotrace_mark_here(const char *name) {
    void (*mark)(const char *name);
#if defined __x86_64__ && !defined __PIC__
    __asm__(".weak allotrace_mark\n\tmovq allotrace_mark@GOTPCREL(%%rip), %0" : "=r"(mark));
#elif defined __aarch64__ && !defined __PIC__
    __asm__(".weak allotrace_mark\n\tadrp %0, :got:allotrace_mark\n\tldr %0, [%0, "
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
