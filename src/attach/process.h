/* process.h: what /proc says about a process: status, mappings, threads, files. */
#ifndef ATTACH_PROCESS_H
#define ATTACH_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/vec.h"

/* A mapped file, as one range of addresses. */
typedef struct process_module {
    char path[512];           /* as the process sees it */
    uint64_t low, high;       /* address range */
    uint64_t code, code_high; /* first executable mapping */
    uint64_t code_offset;     /* offset of that mapping in the file */
} process_module;

/* Finds the module whose file name begins with `name`, such as "libc.so.6", even if it is a memory
 * file. Returns false if there is none. */
bool process_find_module(pid_t pid, const char *name, process_module *module);

/* Finds the program's own file. Returns false if it is not accessible. */
bool process_find_program(pid_t pid, process_module *module);

/* Finds the file that is mapped at an address. Its path is empty if the mapping has no file.
 * Returns false if nothing is mapped there. */
bool process_module_at(pid_t pid, uint64_t address, process_module *module);

/* A snapshot of all mappings, for looking up many addresses. process_read_ranges returns false if
 * memory ran out. */
typedef struct process_range {
    uint64_t low, high;
} process_range;
typedef VEC(process_range) process_ranges;
bool process_read_ranges(pid_t pid, process_ranges *r);
uint64_t process_range_end(const process_ranges *r, uint64_t address);
void process_free_ranges(process_ranges *r);

/* Returns an entry (AT_...) of the auxiliary vector of the program; 0: there is none, or it cannot
 * be read. */
uint64_t process_auxv(pid_t pid, uint64_t type);

/* Returns whether we may inspect any process: we are root outside all containers. The kernel may
 * still refuse if we are root only in a user namespace. */
bool process_may_see_all(void);

/* Returns the number in a line of /proc/PID/status, such as "TracerPid"; `missing` if there is no
 * such line. */
long process_status(pid_t pid, const char *name, long missing);

/* Returns the process id in the innermost namespace of the process, which is the id it sees
 * itself. */
pid_t process_inner_id(pid_t pid);

bool process_exists(pid_t pid);

/* Returns whether the process runs a program. Zombies and kernel threads do not. Also returns true
 * if we may not know. */
bool process_has_program(pid_t pid);

/* Finds the loader with which the kernel starts the program. `loader` is empty if there is none:
 * the program is linked statically, or is a loader itself. Returns false if we may not know. */
bool process_loader(pid_t pid, char *loader, size_t size);

/* Writes at most `max` thread ids. Returns how many were written. */
size_t process_threads(pid_t pid, pid_t *ids, size_t max);

/* Converts a path as the process sees it to one that we can open. Returns false if it is too
 * long. */
bool process_path(pid_t pid, const char *path, char *seen, size_t size);

/* Returns the address in the process of a symbol that the module exports; 0: there is none. */
uint64_t process_symbol(pid_t pid, const process_module *module, const char *name);

#endif
