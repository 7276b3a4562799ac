/* tables.h: makes the search table over .eh_frame for modules whose linker left out the
 * PT_GNU_EH_FRAME header: modules linked by musl-gcc, and static programs linked to a fixed
 * address. */
#ifndef PLATFORM_TABLES_H
#define PLATFORM_TABLES_H

#include <stdint.h>

/* Makes the missing tables of the modules that are loaded now. Must be called once, before other
 * threads may call tables_find. Takes the loader's lock. */
void tables_make_missing(void);

/* Returns the table of the module that begins at `low`, and its end in *end; 0: there is none. */
uintptr_t tables_find(uintptr_t low, uintptr_t *end);

#endif
