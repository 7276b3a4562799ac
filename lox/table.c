/* table.c: open addressing with linear probing, at most three quarters full. Nothing is removed. */
#include "table.h"

#include "memory.h"
#include "object.h"

static table_entry *table_find(const table *t, const string *key) {
    uint32_t mask = t->capacity - 1;
    for (uint32_t i = key->hash & mask;; i = (i + 1) & mask)
        if (t->entries[i].key == key || !t->entries[i].key)
            return &t->entries[i];
}

value *table_get(const table *t, const string *key) {
    if (!t->count)
        return NULL;
    table_entry *e = table_find(t, key);
    return e->key ? &e->value : NULL;
}

static void table_grow(table *t) {
    table old = *t;
    t->capacity = old.capacity ? old.capacity * 2 : 8;
    t->entries = memory_new(t->capacity * sizeof *t->entries);
    for (uint32_t i = 0; i < old.capacity; i++)
        if (old.entries[i].key)
            *table_find(t, old.entries[i].key) = old.entries[i];
    memory_free(old.entries);
}

bool table_set(table *t, string *key, value v) {
    if (4 * (t->count + 1) > 3 * t->capacity)
        table_grow(t);
    table_entry *e = table_find(t, key);
    bool is_new = !e->key;
    t->count += is_new;
    *e = (table_entry){.key = key, .value = v};
    return is_new;
}

void table_free(table *t) {
    memory_free(t->entries);
    *t = (table){0};
}
