/* proc.h: what the kernel says of processes in /proc. */
#ifndef BASE_PROC_H
#define BASE_PROC_H

#include <stddef.h>
#include <stdint.h>

/* The beginning of /proc/PID/NAME, as a text in `text`; its size, 0 if there is nothing. */
size_t proc_read(uint64_t pid, const char *name, char *text, size_t size);

/* A number of /proc/PID/stat, as proc(5) counts them, from 4 on; 0: there is none. */
enum {
    PROC_UTIME = 14,
    PROC_STIME = 15,
    PROC_STARTTIME = 22,
    PROC_ARG_START = 48,
    PROC_ARG_END = 49
};
uint64_t proc_stat(uint64_t pid, unsigned field);

/* One in ticks, in microseconds. */
uint64_t proc_stat_us(uint64_t pid, unsigned field);

#endif
