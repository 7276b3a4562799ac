/* module.h: the objects (executable, libraries, vDSO) that the dynamic loader has mapped. Every
 * answer is the loader's current one, or an earlier one that is known to be still valid. Pointers
 * in a `struct module` point into the object itself or into the loader's data. They are valid as
 * long as the object stays loaded. No malloc, no stdio, errno kept. For locks, see each
 * function. */
#ifndef PLATFORM_MODULE_H
#define PLATFORM_MODULE_H

#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct module {
    uintptr_t low, high;           /* start of the lowest segment and end of the highest one */
    uintptr_t bias;                /* address in memory minus address in the ELF file */
    uintptr_t text_low, text_high; /* the executable segment that holds the pc, or the first one */
    uintptr_t eh_frame_hdr;        /* PT_GNU_EH_FRAME in memory; 0: none */
    uintptr_t eh_frame_hdr_end;
    bool eh_frame_hdr_is_made;     /* we made it, in no segment: see platform/tables.h */
    const unsigned char *build_id; /* NULL: none */
    size_t build_id_size;          /* bytes */
    const char *name;              /* the loader's name for the object; "" for the executable */
    const ElfW(Phdr) * headers;    /* program headers, in memory */
    size_t header_count;
};

/* Finds the module whose executable segments contain `pc`. Lock-free and safe in a signal handler
 * with glibc ≥ 2.35 (_dl_find_object). With an older glibc, this holds for modules that were found
 * before and have a build id; for others, the function briefly takes the loader's lock. */
bool module_find(uintptr_t pc, struct module *out);

/* Finds the readable segment of `module` that contains `address`: [*low, *high). */
bool module_segment(const struct module *module, uintptr_t address, uintptr_t *low,
                    uintptr_t *high);

/* Returns whether the module stays loaded as long as the process runs: the executable, this code
 * and libc do. */
bool module_is_permanent(const struct module *module);

/* Returns whether `pc` is in the dynamic loader's code at which the kernel starts the process. This
 * code is hand-written, mostly without unwind tables, and nothing calls it. */
bool module_starts_process(const struct module *module, uintptr_t pc);

/* Registers a function that nothing calls, though the unwind tables do not say so: where threads
 * and the process start in a C library without tables. At most four functions. */
void module_add_start(uintptr_t function, size_t size);

/* Distinguishes a module from any other one that may be loaded later at the same address. */
struct module_identity {
    uintptr_t low, high, text_low, eh_frame_hdr;
    const unsigned char *build_id;
    uint64_t build_id_start; /* its first bytes */
};
struct module_identity module_identify(const struct module *module);

/* Returns whether that module is still loaded. Locks as module_find, but much cheaper. */
bool module_persists(const struct module_identity *identity);

/* Must be called before and after each call that may unload modules. In between, module_persists
 * checks modules in a way that is safe even if one is unloaded at that moment. */
void module_unloading(bool begins);

/* Writes the path of the module's file, cut off at `size` and always terminated. The kernel
 * resolves the path of the executable. Returns its length. */
size_t module_path(const struct module *module, char *path, size_t size);

/* Writes the path by which the program was started, if that is a link to its file: multi-call
 * programs tell their commands apart by it. Otherwise writes the path of the file. */
void module_program(char *path, size_t size);

/* Visits all modules. Takes the loader's lock (a recursive one): not for hot paths. */
void module_each(void (*visit)(const struct module *, void *), void *context);

/* Returns how many modules have been loaded and unloaded so far. Locks: as module_each. */
uint64_t module_changes(void);

/* Returns the total code size of all modules, bytes. Locks: as module_each. */
size_t module_code_size(void);

#endif
