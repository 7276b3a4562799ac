/* trace_name.h: where the trace goes that a process had written before it began another of the same
 * name, as after exec: x.ctf becomes x.1.ctf, the next one x.2.ctf. For the recorder, which renames
 * it, and for `allotrace run`, which finds it. */
#ifndef BASE_TRACE_NAME_H
#define BASE_TRACE_NAME_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#define TRACE_NAME_EARLIER_MAX 999 /* so many of one process are kept */

/* Where the endings begin by which a trace is known, .ctf.zst and the like; the end if there are
 * none. */
static inline size_t trace_name_stem(const char *path) {
    size_t size = strlen(path);
    for (size_t i = size; i-- > 0 && path[i] != '/';)
        if (strncmp(path + i, ".ctf", 4) == 0)
            return i;
    return size;
}

/* The name of the trace number `n`, from 1 to TRACE_NAME_EARLIER_MAX, before that of `path`; false
 * if it does not fit. Uses no stdio. */
static inline bool trace_name_earlier(const char *path, unsigned n, char *name, size_t size) {
    char number[] = {'.', (char)('0' + n / 100), (char)('0' + n / 10 % 10), (char)('0' + n % 10)};
    size_t stem = trace_name_stem(path), zeros = n < 10 ? 2 : n < 100;
    size_t digits = 3 - zeros, rest = strlen(path + stem) + 1;
    if (stem + 1 + digits + rest > size)
        return false;
    memcpy(name, path, stem);
    name[stem] = number[0];
    memcpy(name + stem + 1, number + 1 + zeros, digits);
    memcpy(name + stem + 1 + digits, path + stem, rest);
    return true;
}

#endif
