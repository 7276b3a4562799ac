/* trace_name.h: what the traces of a run are called, for the recorder, which writes them, and for
 * `allotrace run`, which finds them. Uses no stdio.
 *
 * In a pattern %p is the process id, %% a percent sign. The trace that a process had written before
 * it began another of the same name, as after exec, is renamed: x.ctf becomes x.1.ctf, the next one
 * x.2.ctf. */
#ifndef CONTRACT_TRACE_NAME_H
#define CONTRACT_TRACE_NAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "contract/runtimes.h"

#define TRACE_NAME_EARLIER_MAX 999 /* so many of one process are kept */

/* Whether a percent sign is an escape. */
static inline bool trace_name_escapes(const char *percent) {
    return percent[1] == 'p' || percent[1] == '%';
}

/* Is there a name, and no percent sign in it that means nothing? */
static inline bool trace_name_is_pattern(const char *pattern) {
    const char *p = pattern;
    while ((p = strchr(p, '%')) && trace_name_escapes(p))
        p += 2;
    return *pattern && !p;
}

/* Whether the process is part of the name. */
static inline bool trace_name_is_per_process(const char *pattern) {
    const char *p = pattern;
    for (; (p = strchr(p, '%')) && trace_name_escapes(p); p += 2)
        if (p[1] == 'p')
            return true;
    return false;
}

/* The pattern that gives this name alone, cut off where `size` bytes, at least 1, are full; returns
 * how long it is. */
static inline size_t trace_name_pattern(const char *name, char *pattern, size_t size) {
    size_t used = 0;
    for (; *name && used + (*name == '%') + 1 < size; name++) {
        pattern[used++] = *name;
        if (*name == '%')
            pattern[used++] = '%';
    }
    pattern[used] = '\0';
    return used;
}

/* The pattern with that text for each process; false if it does not fit. */
static inline bool trace_name_with(const char *pattern, const char *process, char *name,
                                   size_t size) {
    size_t used = 0;
    for (const char *p = pattern; *p; p++) {
        const bool is_escape = *p == '%' && trace_name_escapes(p);
        p += is_escape;
        const bool is_process = is_escape && *p == 'p';
        const size_t n = is_process ? strlen(process) : 1;
        if (n >= size - used)
            return false;
        memcpy(name + used, is_process ? process : p, n);
        used += n;
    }
    name[used] = '\0';
    return true;
}

/* The name that a pattern gives for a process; the same. */
static inline bool trace_name_for(const char *pattern, uint64_t pid, char *name, size_t size) {
    char digits[21], *first = digits + sizeof digits - 1;
    *first = '\0';
    do
        *--first = (char)('0' + pid % 10);
    while (pid /= 10);
    return trace_name_with(pattern, first, name, size);
}

/* Whether a pattern gives that name for some process; for which, if the pattern tells: the last
 * that stands there. `pid` may be NULL. */
static inline bool trace_name_matches(const char *pattern, const char *name, uint64_t *pid) {
    for (; *pattern; pattern++) {
        if (pattern[0] == '%' && pattern[1] == 'p') {
            const char *first = name;
            uint64_t number = 0;
            for (; *name >= '0' && *name <= '9'; name++)
                number = 10 * number + (uint64_t)(*name - '0');
            if (name == first)
                return false;
            if (pid)
                *pid = number;
            pattern++;
            continue;
        }
        pattern += pattern[0] == '%' && pattern[1] == '%';
        if (*pattern != *name++)
            return false;
    }
    return !*name;
}

/* Where the endings begin by which a trace is known, .ctf.zst and the like; the end if there are
 * none. */
static inline size_t trace_name_stem(const char *path) {
    size_t size = strlen(path);
    for (size_t i = size; i-- > 0 && path[i] != '/';)
        if (strncmp(path + i, ".ctf", 4) == 0)
            return i;
    return size;
}

/* The name, or the pattern, of the trace of a heap that is read from outside and stands beside one
 * of malloc. False if it does not fit. */
static inline bool trace_name_beside(const char *path, char *name, size_t size) {
    const size_t stem = trace_name_stem(path), rest = strlen(path + stem) + 1;
    const size_t beside = sizeof OUTSIDE_TRACE - 1;
    if (stem + beside + rest > size)
        return false;
    memcpy(name, path, stem);
    memcpy(name + stem, OUTSIDE_TRACE, beside);
    memcpy(name + stem + beside, path + stem, rest);
    return true;
}

/* The name of the trace number `n`, from 1 to TRACE_NAME_EARLIER_MAX, before that of `path`; false
 * if it does not fit. */
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
