/* tables.h: for modules whose .eh_frame no header leads to, as in what musl-gcc makes, and in
 * static programs that are linked to a fixed place: the search table that their linker has left
 * out. */
#ifndef PLATFORM_TABLES_H
#define PLATFORM_TABLES_H

#include <stdint.h>

/* Makes those of the modules that are loaded now. To be called once, before others may look; takes
 * the loader's lock. */
void tables_make_missing(void);

/* Where the table is of the module that begins at `low`, and in *end its end; 0: there is none. */
uintptr_t tables_find(uintptr_t low, uintptr_t *end);

#endif
