/* cache.h: a cache of values by key, evicted in order of last use.
 *
 * Threads share it. A value that several threads ask for at the same time is computed once, while
 * the others wait. Few values are computed at a time, since each takes memory while it is being
 * made. A value in use stays valid until its last user releases it, even if it has left the
 * cache. */
#ifndef ANSWERS_CACHE_H
#define ANSWERS_CACHE_H

#include <stdbool.h>
#include <stddef.h>

typedef struct cache cache;

/* A value, its approximate size in bytes, and the function that frees it. */
typedef struct cache_value {
    void *value;
    size_t size;
    void (*release)(void *value);
} cache_value;

/* The function that makes a value, and the bytes of memory (`needs`) that it may take meanwhile:
 * other entries are evicted first. */
typedef struct cache_maker {
    bool (*make)(void *context, cache_value *value);
    void *context;
    size_t needs;
} cache_maker;

typedef struct cache_entry cache_entry;

/* Returns NULL when there is no memory. `capacity` is in bytes. */
cache *cache_new(size_t capacity);

/* Changes the capacity, in bytes. */
void cache_limit(cache *c, size_t capacity);

/* Exempts the newest `staying` entries from eviction, however large they are. These are the parts
 * of one question; without this, each step of its computation would evict the step before. An entry
 * that is being made counts as one of them. */
void cache_protect(cache *c, size_t staying);
void cache_free(cache *c); /* no entry may be in use; NULL is allowed */

/* Returns the entry of `key`, in use by the caller; the maker fills it if there is none. Returns
 * NULL if that failed or there is no memory. A thread that waited for another thread's maker tries
 * by itself if that failed, since the failure may be particular to the other thread. */
cache_entry *cache_get(cache *c, const char *key, cache_maker maker);

/* Returns the entry of `key`, in use by the caller, after waiting if a thread is making it. Returns
 * NULL if there is none. */
cache_entry *cache_find(cache *c, const char *key);
void *cache_entry_value(const cache_entry *e);
void cache_release(cache *c, cache_entry *e); /* NULL is allowed */

/* Makes an entry that is in use the newest one. */
void cache_touch(cache *c, cache_entry *e);

/* Like cache_release, but the entry becomes the first one to be evicted. */
void cache_give_up(cache *c, cache_entry *e);

/* Evicts every entry that is not in use. To be called before work that takes much memory and so
 * long that computing the evicted values again does not matter. */
void cache_make_room(cache *c);

/* Removes the entries whose keys begin with `prefix`. */
void cache_forget(cache *c, const char *prefix);

#endif
