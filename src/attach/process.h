/* process.h: what /proc tells of a process: its status, its mappings, its threads, its files. */
#ifndef ATTACH_PROCESS_H
#define ATTACH_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* A file that is mapped, as one extent. */
typedef struct process_module {
    char path[512];           /* as the process sees it */
    uint64_t low, high;       /* addresses */
    uint64_t code, code_high; /* the first executable mapping */
    uint64_t code_offset;     /* of it in the file */
} process_module;

/* The module whose file name begins with `name`, as "libc.so.6", also if it is a file in memory;
 * false: there is none. */
bool process_find_module(pid_t pid, const char *name, process_module *module);

/* The program's own file; false: it is not to be seen. */
bool process_find_program(pid_t pid, process_module *module);

/* The file that is mapped at an address; an empty path: no file. False: nothing is mapped there. */
bool process_module_at(pid_t pid, uint64_t address, process_module *module);

/* Where the mapping ends that an address is in; 0: it is in none. */
uint64_t process_mapping_end(pid_t pid, uint64_t address);

/* The same for many addresses, of one moment. False: there is no memory. */
typedef struct process_ranges {
    struct process_range {
        uint64_t low, high;
    } * items;
    size_t n, room;
} process_ranges;
bool process_read_ranges(pid_t pid, process_ranges *r);
uint64_t process_range_end(const process_ranges *r, uint64_t address);
void process_free_ranges(process_ranges *r);

/* Whether we may look at whatever a process has: root, outside of all containers. The kernel may
 * refuse nevertheless, where we are root in a namespace of users alone. */
bool process_may_see_all(void);

/* The number in a line of /proc/PID/status, as "TracerPid"; `missing` if there is no such line. */
long process_status(pid_t pid, const char *name, long missing);

/* What the process is called in the innermost namespace that it is in, as by itself. */
pid_t process_inner_id(pid_t pid);

bool process_exists(pid_t pid);

/* Whether it runs a program: what has ended and waits for its parent does not, nor do the kernel's
 * own threads. True as well if we may not know. */
bool process_has_program(pid_t pid);

/* How the kernel starts its program: by the loader that is named in `loader`, or, if that is empty,
 * without one: it is linked statically, or a loader itself. False: we may not know. */
bool process_loader(pid_t pid, char *loader, size_t size);

/* At most `max` ids of threads; gives how many were written. */
size_t process_threads(pid_t pid, pid_t *ids, size_t max);

/* A path as the process sees it, seen from here. False if that is too long. */
bool process_path(pid_t pid, const char *path, char *seen, size_t size);

/* The address of a symbol that the module exports, for this process; 0: it does not. */
uint64_t process_symbol(pid_t pid, const process_module *module, const char *name);

#endif
