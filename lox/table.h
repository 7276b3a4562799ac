/* table.h: a hash map from interned strings to values, for methods, fields and globals. Its memory
 * comes from malloc. Keys are compared by address and do not move, since interned strings are
 * major. */
#ifndef LOX_TABLE_H
#define LOX_TABLE_H

#include "value.h"

struct string;

typedef struct table_entry {
    struct string *key; /* NULL: free */
    value value;
} table_entry;

typedef struct table {
    table_entry *entries;
    uint32_t capacity; /* a power of 2, or 0 */
    uint32_t count;
} table;

/* Returns NULL if there is no such key. The pointer is valid until the next table_set. */
value *table_get(const table *t, const struct string *key);

/* Returns true if the key is new. */
bool table_set(table *t, struct string *key, value v);

void table_free(table *t);

#endif
