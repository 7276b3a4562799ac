/* module.h: the module of a place: the program or shared library if only machine code is known,
 * else the library or folder of its source. Filters by module, columns and the colors of the page
 * use it. */
#ifndef QUERY_MODULE_H
#define QUERY_MODULE_H

#include "base/intern.h"
#include "query/filter.h"

/* Returns the name of the module, interned in `names`; "" if nothing is known. NULL when there is
 * no memory. */
const char *module_name_of(intern_table *names, const profile_location *place);

/* Marks the nodes whose blocks were allocated by a module for which `matches` is true: bit 0 for
 * blocks of a heap, bit 1 for external blocks, for which wrappers of malloc are skipped. False when
 * there is no memory. */
bool module_mark_nodes(const profile *p, bool matches(const void *context, const char *module),
                       const void *context, uint8_t *nodes);

#endif
