/* entries.h: the entries of a module's global offset table through which it calls functions of
 * other modules, found by the module's relocations; and the functions that a module exports.
 * Allocates nothing, takes no locks; errno may change. */
#ifndef PLATFORM_ENTRIES_H
#define PLATFORM_ENTRIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "platform/module.h"

/* The pages that the loader makes read-only once the module is relocated (PT_GNU_RELRO). */
struct entries_sealed {
    uintptr_t low, high;
};

/* The contents of the dynamic section, as addresses in memory. */
struct entries {
    uintptr_t bias;
    const char *names;
    const ElfW(Sym) * symbols;
    const uint32_t *hashes;       /* GNU hash table of the exported names; NULL: there is none */
    const ElfW(Rela) * tables[2]; /* the second one is that of calls */
    size_t counts[2];
    struct entries_sealed sealed;
};

/* Reads the dynamic section of `m`. Returns false if the module has none. */
bool entries_read(const struct module *m, struct entries *e);

/* Visits all entries. Those for calls (the PLT) come first or last. */
typedef void entries_visit(const char *name, void **slot, void *context);
void entries_each(const struct entries *e, bool calls_first, entries_visit *visit, void *context);

/* Visits variables that hold the address of a function of another module, or did so when the module
 * was loaded. */
void entries_each_pointer(const struct entries *e, entries_visit *visit, void *context);

/* Returns the address of the function that the module itself defines and exports under this name;
 * 0: there is none. A function that the loader selects at run time (ifunc) does not count. */
uintptr_t entries_export(const struct entries *e, const char *name);

/* Returns whether the pages are sealed. They are not while another thread is still loading the
 * module. Writing then would fail either way: the loader would meet a page that we made read-only
 * again, or we would meet a page that it has just sealed. */
bool entries_are_sealed(const struct entries_sealed *sealed);

/* Writes an entry. A sealed page becomes writable for that moment. Returns false if the kernel does
 * not allow that. */
bool entries_write(const struct entries_sealed *sealed, void **slot, void *function);

#endif
