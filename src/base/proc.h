/* proc.h: what /proc says about processes. */
#ifndef BASE_PROC_H
#define BASE_PROC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Opens /proc/PID/NAME, with flags of open(2). Returns -1 with errno on failure. */
int proc_open(uint64_t pid, const char *name, int flags);

/* Reads where the link /proc/PID/NAME leads. Returns false with errno on failure; then `path` is
 * empty. */
bool proc_link(uint64_t pid, const char *name, char *path, size_t size);

/* Reads the beginning of /proc/PID/NAME into `text`, NUL-terminated. Returns its size; 0 if there
 * is nothing. */
size_t proc_read(uint64_t pid, const char *name, char *text, size_t size);

/* Fields of /proc/PID/stat, numbered as in proc(5), from 4 on. proc_stat returns 0 if there is
 * none. */
enum {
    PROC_UTIME = 14,
    PROC_STIME = 15,
    PROC_STARTTIME = 22,
    PROC_ARG_START = 48,
    PROC_ARG_END = 49
};
uint64_t proc_stat(uint64_t pid, unsigned field);

/* Returns a field that is in clock ticks, in microseconds. */
uint64_t proc_stat_us(uint64_t pid, unsigned field);

#endif
