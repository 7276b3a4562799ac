/* trace_name.h: the names of the traces of a run, for the recorder, which writes them, and for
 * `allotrace run`, which finds them. Uses no stdio.
 * In a pattern, %p stands for the process id and %% for a percent sign. A process may begin a
 * second trace of the same name, for example after exec. Then its earlier trace is renamed: x.ctf
 * becomes x.1.ctf, the next one x.2.ctf. */
#ifndef CONTRACT_TRACE_NAME_H
#define CONTRACT_TRACE_NAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "contract/runtimes.h"

#define TRACE_NAME_EARLIER_MAX 999 /* most earlier traces of one process that are kept */

/* Returns whether a percent sign begins an escape sequence. */
static inline bool trace_name_escapes(const char *percent) {
    return percent[1] == 'p' || percent[1] == '%';
}

/* Returns whether the pattern is not empty and every percent sign in it begins an escape
 * sequence. */
static inline bool trace_name_is_pattern(const char *pattern) {
    const char *p = pattern;
    while ((p = strchr(p, '%')) && trace_name_escapes(p))
        p += 2;
    return *pattern && !p;
}

/* Returns whether the process id is part of the name. */
static inline bool trace_name_is_per_process(const char *pattern) {
    const char *p = pattern;
    for (; (p = strchr(p, '%')) && trace_name_escapes(p); p += 2)
        if (p[1] == 'p')
            return true;
    return false;
}

/* Writes the pattern that gives only this name, cut off at `size` bytes (at least 1). Returns its
 * length. */
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

/* Writes the name that the pattern gives with the text `process` for %p. Returns false if it does
 * not fit. */
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

/* Writes the name that a pattern gives for a process. Returns false if it does not fit. */
static inline bool trace_name_for(const char *pattern, uint64_t pid, char *name, size_t size) {
    char digits[21], *first = digits + sizeof digits - 1;
    *first = '\0';
    do
        *--first = (char)('0' + pid % 10);
    while (pid /= 10);
    return trace_name_with(pattern, first, name, size);
}

/* Returns whether the pattern gives that name for some process. If the pattern has %p, *pid becomes
 * the process id, from the last %p. `pid` may be NULL. */
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

/* Returns the offset of the ending of a trace's name, .ctf.zst and the like; the length of the path
 * if there is none. */
static inline size_t trace_name_stem(const char *path) {
    size_t size = strlen(path);
    for (size_t i = size; i-- > 0 && path[i] != '/';)
        if (strncmp(path + i, ".ctf", 4) == 0)
            return i;
    return size;
}

/* Writes the name, or pattern, of the trace of a heap that is read from outside, where it is beside
 * a trace of malloc. Returns false if it does not fit. */
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

/* Writes the name of the earlier trace number `n`, from 1 to TRACE_NAME_EARLIER_MAX, of `path`.
 * Returns false if it does not fit. */
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
