/* mark.h: named moments of a program, in the trace that is recorded of it.
 *
 *     #include <allotrace/mark.h>
 *     …
 *     allotrace_mark_here("request served");
 *
 * There is nothing to link with: the function is found if the program runs under `allotrace run`,
 * and otherwise the call is a test of a pointer. At most 256 different names in a recording; later
 * ones are not written. Any thread may call, also in a signal handler. Marks have the time and
 * thread of the call; `allotrace dump` shows them. In a program linked to
 * fixed addresses (-no-pie), what includes this must be compiled with -fPIC to find the function.
 */
#ifndef ALLOTRACE_MARK_H
#define ALLOTRACE_MARK_H

#ifdef __cplusplus
extern "C" {
#endif

/* NULL while the program is not under a recorder. `name` is copied. */
extern void allotrace_mark(const char *name) __attribute__((weak));

static inline void allotrace_mark_here(const char *name) {
    if (allotrace_mark)
        allotrace_mark(name);
}

#ifdef __cplusplus
}
#endif

#endif
