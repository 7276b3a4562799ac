/* module.h: the objects (executable, libraries, vDSO) that the dynamic loader has mapped. Every
 * answer is the loader's of this moment, or an earlier one that is known to hold still. Pointers in
 * a `struct module` are into the object itself or the loader's data: they live as long as the
 * object stays loaded. No malloc, no stdio, errno kept. Locks: see each function. */
#ifndef PLATFORM_MODULE_H
#define PLATFORM_MODULE_H

#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct module {
    uintptr_t low, high;           /* from its lowest segment to the end of its highest */
    uintptr_t bias;                /* address in memory - address in the ELF file */
    uintptr_t text_low, text_high; /* the executable segment that holds the pc, or the first one */
    uintptr_t eh_frame_hdr;        /* PT_GNU_EH_FRAME in memory; 0 if it has none */
    uintptr_t eh_frame_hdr_end;
    bool eh_frame_hdr_is_made;     /* it is in no segment: see platform/tables.h */
    const unsigned char *build_id; /* NULL if it has none */
    size_t build_id_size;          /* bytes */
    const char *name;              /* as the loader calls it; "" for the executable */
    const ElfW(Phdr) * headers;    /* program headers, in memory */
    size_t header_count;
};

/* The module whose executable segments hold `pc`. Lock-free and safe in a signal handler with
 * glibc ≥ 2.35 (_dl_find_object). With an older one, that holds for modules which it has found
 * before and which have a build id; else it takes the loader's lock for a moment. */
bool module_find(uintptr_t pc, struct module *out);

/* The readable segment of `module` that holds `address`: [*low, *high). */
bool module_segment(const struct module *module, uintptr_t address, uintptr_t *low,
                    uintptr_t *high);

/* Whether it stays as long as the process: the executable, this code and libc do. */
bool module_is_permanent(const struct module *module);

/* Whether `pc` is in the code of the dynamic loader at which the kernel starts the process: written
 * by hand, mostly without tables, and called by nobody. */
bool module_starts_process(const struct module *module, uintptr_t pc);

/* Says of functions that nobody has called them, though their callers' tables do not: where threads
 * and the process begin in a C library without tables. At most four times. */
void module_add_start(uintptr_t function, size_t size);

/* What tells a module from any other one that may come to its place. */
struct module_identity {
    uintptr_t low, high, text_low, eh_frame_hdr;
    const unsigned char *build_id;
    uint64_t build_id_start; /* its first bytes */
};
struct module_identity module_identify(const struct module *module);

/* Whether that module is still there. Locks: as module_find, and much cheaper than it. */
bool module_persists(const struct module_identity *identity);

/* To be called around each call that may unload modules: while one goes on, whether a module is
 * still there is asked in a way that survives its going just then. */
void module_unloading(bool begins);

/* Writes the path of the module's file, the executable's resolved by the kernel, cut off at `size`
 * and always terminated. Gives its length. */
size_t module_path(const struct module *module, char *path, size_t size);

/* Writes the path by which the program was started, if that is a link to its file: many programs in
 * one file are told apart by these. Else the path of the file. */
void module_program(char *path, size_t size);

/* Visits all modules. Takes the loader's lock (a recursive one): not for hot paths. */
void module_each(void (*visit)(const struct module *, void *), void *context);

/* How often a module has come or gone so far. Locks: as module_each. */
uint64_t module_changes(void);

/* How much code all modules have, bytes. Locks: as module_each. */
size_t module_code_size(void);

#endif
