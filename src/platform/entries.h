/* entries.h: the entries of a module's global offset table by which it calls functions of others: a
 * module's relocations name these and nothing else; and what it has for others to call. No memory,
 * no locks, errno may change. */
#ifndef PLATFORM_ENTRIES_H
#define PLATFORM_ENTRIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "platform/module.h"

/* Pages that are read-only since the module was relocated. */
struct entries_sealed {
    uintptr_t low, high;
};

/* What the dynamic section says; addresses in memory. */
struct entries {
    uintptr_t bias;
    const char *names;
    const ElfW(Sym) * symbols;
    const uint32_t
        *hashes; /* of the names that it exports, in GNU's layout; NULL: there are none */
    const ElfW(Rela) * tables[2]; /* the second is that of calls */
    size_t counts[2];
    struct entries_sealed sealed;
};

/* False: it has none. */
bool entries_read(const struct module *m, struct entries *e);

/* Visits all entries, those of calls last, or first. */
typedef void entries_visit(const char *name, void **slot, void *context);
void entries_each(const struct entries *e, bool calls_first, entries_visit *visit, void *context);

/* Visits variables that hold the address of a function of another module, or did when the module
 * was loaded. */
void entries_each_pointer(const struct entries *e, entries_visit *visit, void *context);

/* Where the function of this name is that the module itself defines for others; 0: nowhere. One
 * that the loader chooses among several counts as none. */
uintptr_t entries_export(const struct entries *e, const char *name);

/* Not yet while another thread is loading the module: then the loader would stumble over what was
 * made read-only again, or we over what it seals just now. */
bool entries_are_sealed(const struct entries_sealed *sealed);

/* What is sealed is made writable for that moment. False if the kernel does not let it. */
bool entries_write(const struct entries_sealed *sealed, void **slot, void *function);

#endif
