/* module.h: the module of a place: the program or shared library where only machine code is known,
 * else the library or folder that its source belongs to. What filters by module, columns and the
 * colours of the page mean. */
#ifndef QUERY_MODULE_H
#define QUERY_MODULE_H

#include "base/intern.h"
#include "query/filter.h"

/* Interned in `names`; "" where nothing is known. NULL when there is no memory. */
const char *module_name_of(intern_table *names, const profile_location *place);

/* Marks the nodes of the tree whose blocks a module allocated of which `matches` says yes: bit 0
 * for blocks of a heap, bit 1 for external ones, which wrappers of malloc are not the place of.
 * False when there is no memory. */
bool module_mark_nodes(const profile *p, bool matches(const void *context, const char *module),
                       const void *context, uint8_t *nodes);

#endif
