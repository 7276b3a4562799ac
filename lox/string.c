/* string.c: names and literals are interned, so equal ones are the same object. Strings that a
 * program makes by addition are not, and are compared by content. */
#include <string.h>

#include "memory.h"
#include "vm.h"

static uint32_t hash_of(const char *text, size_t size) {
    uint32_t hash = 2166136261u;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ (unsigned char)text[i]) * 16777619u;
    return hash;
}

static string *string_fill(object *o, const char *text, size_t size) {
    string *s = (string *)o;
    s->length = (uint32_t)size;
    s->hash = 0;
    if (size)
        memcpy(s->text, text, size);
    s->text[size] = '\0';
    return s;
}

static string **interned_slot(heap *h, const char *text, size_t size, uint32_t hash) {
    uint32_t mask = h->interned_capacity - 1;
    for (uint32_t i = hash & mask;; i = (i + 1) & mask) {
        string *s = h->interned[i];
        if (!s || (s->hash == hash && s->length == size && !memcmp(s->text, text, size)))
            return &h->interned[i];
    }
}

static void interned_grow(heap *h) {
    string **old = h->interned;
    uint32_t capacity = h->interned_capacity;
    h->interned_capacity = capacity ? 2 * capacity : 256;
    h->interned = memory_new(h->interned_capacity * sizeof *h->interned);
    for (uint32_t i = 0; i < capacity; i++)
        if (old[i])
            *interned_slot(h, old[i]->text, old[i]->length, old[i]->hash) = old[i];
    memory_free(old);
}

string *string_intern(lox_vm *vm, const char *text, size_t size) {
    heap *h = &vm->heap;
    uint32_t hash = hash_of(text, size);
    if (2 * (h->n_interned + 1) > h->interned_capacity)
        interned_grow(h);
    string **slot = interned_slot(h, text, size, hash);
    if (!*slot) {
        *slot = string_fill(heap_new_major(vm, OBJECT_STRING, STRING_WORDS(size)), text, size);
        (*slot)->hash = hash;
        (*slot)->head.header |= OBJECT_INTERNED;
        h->n_interned++;
    }
    return *slot;
}

string *string_new(lox_vm *vm, const char *text, size_t size) {
    object *o = heap_new(vm, &vm->heap, OBJECT_STRING, STRING_WORDS(size));
    return o ? string_fill(o, text, size) : NULL;
}

bool string_equal(const string *a, const string *b) {
    if (a == b)
        return true;
    if (a->length != b->length || (a->head.header & b->head.header & OBJECT_INTERNED))
        return false;
    return !memcmp(a->text, b->text, a->length);
}
