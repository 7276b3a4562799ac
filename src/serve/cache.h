/* cache.h: answers that may be asked for again, by key, the least recently used ones going first.
 *
 * Threads share it. What several ask for at once is computed once, while the others wait. Few
 * values are made at a time, since each takes memory while it is made. A value in use stays until
 * its last user releases it, in the cache or not. */
#ifndef SERVE_CACHE_H
#define SERVE_CACHE_H

#include <stdbool.h>
#include <stddef.h>

typedef struct cache cache;

/* What is kept: `size` bytes, roughly, and how it goes. */
typedef struct cache_value {
    void *value;
    size_t size;
    void (*release)(void *value);
} cache_value;

/* How a value is made; it may take `needs` bytes meanwhile. */
typedef struct cache_maker {
    bool (*make)(void *context, cache_value *value);
    void *context;
    size_t needs;
} cache_maker;

typedef struct cache_entry cache_entry;

/* NULL when there is no memory. `capacity`: bytes. */
cache *cache_new(size_t capacity);

/* So many bytes from now on. */
void cache_limit(cache *c, size_t capacity);

/* The newest `staying` entries stay from now on, however large: what one question is made of, or
 * each step would make it again. One that is being made is one of them. */
void cache_stay(cache *c, size_t staying);
void cache_free(cache *c); /* no entry may be in use; NULL is allowed */

/* The entry of `key`, in use by the caller; if there is none, `make` fills it. NULL when `make`
 * failed or there is no memory. Who waited for another one's `make`, which may have failed for
 * reasons of that one, tries by himself. */
cache_entry *cache_get(cache *c, const char *key, bool (*make)(void *context, cache_value *value),
                       void *context);

/* The same of what takes so many bytes while it is made: for these, others go before. */
cache_entry *cache_get_large(cache *c, const char *key, cache_maker maker);
void *cache_entry_value(const cache_entry *e);
void cache_release(cache *c, cache_entry *e); /* NULL is allowed */

/* An entry in use is the newest from now on. */
void cache_touch(cache *c, cache_entry *e);

/* The same as cache_release of what is the first to go from now on. */
void cache_give_up(cache *c, cache_entry *e);

/* Lets go what nobody uses: before what takes much memory, and so long that making it again does
 * not matter. */
void cache_make_room(cache *c);

/* Forgets the entries whose key begins so. */
void cache_forget(cache *c, const char *prefix);

#endif
