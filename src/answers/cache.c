/* cache.c: entries are in one list, newest first. A linear search is enough: there are tens of
 * entries, and each took milliseconds to make. */
#include "answers/cache.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { MAKERS_MAX = 3 };

typedef enum entry_state { ENTRY_MAKING, ENTRY_READY, ENTRY_FAILED } entry_state;

struct cache_entry {
    cache_entry *next, *previous; /* in the list; NULL once the entry has left it */
    entry_state state;
    size_t users; /* including those that wait for it */
    bool listed;
    cache_value value;
    char key[];
};

struct cache {
    pthread_mutex_t lock; /* guards all below, and the entries except for their values */
    pthread_cond_t made;
    unsigned makers; /* threads that are making a value */
    cache_entry *newest, *oldest;
    size_t size, capacity, staying;
};

cache *cache_new(size_t capacity) {
    cache *c = malloc(sizeof *c);
    if (!c)
        return NULL;
    *c = (cache){.capacity = capacity};
    pthread_mutex_init(&c->lock, NULL);
    pthread_cond_init(&c->made, NULL);
    return c;
}

static void destroy(cache_entry *e) {
    if (e->state == ENTRY_READY)
        e->value.release(e->value.value);
    free(e);
}

/* ---- the list; the lock is held ---------------------------------------------------------- */

static void unlist(cache *c, cache_entry *e) {
    if (!e->listed)
        return;
    *(e->previous ? &e->previous->next : &c->newest) = e->next;
    *(e->next ? &e->next->previous : &c->oldest) = e->previous;
    e->next = e->previous = NULL;
    e->listed = false;
    c->size -= e->value.size;
}

static void list(cache *c, cache_entry *e) {
    e->listed = true;
    e->next = c->newest;
    *(c->newest ? &c->newest->previous : &c->oldest) = e;
    c->newest = e;
    c->size += e->value.size;
}

/* Moves an entry to the end of the list, if it is in the list. */
static void list_last(cache *c, cache_entry *e) {
    if (!e->listed)
        return;
    unlist(c, e);
    e->listed = true;
    e->previous = c->oldest;
    *(c->oldest ? &c->oldest->next : &c->newest) = e;
    c->oldest = e;
    c->size += e->value.size;
}

static cache_entry *find(const cache *c, const char *key) {
    cache_entry *e = c->newest;
    while (e && strcmp(e->key, key) != 0)
        e = e->next;
    return e;
}

/* Takes unused entries out of the list until the rest and `more` bytes fit. Returns them linked by
 * `next`, for destroy_all. */
static cache_entry *evict(cache *c, size_t more) {
    cache_entry *gone = NULL;
    const cache_entry *staying = NULL, *next = c->newest;
    for (size_t i = 0; next && i < c->staying; i++, next = next->next)
        staying = next;
    for (cache_entry *e = c->oldest; e != staying && c->size + more > c->capacity;) {
        cache_entry *newer = e->previous;
        if (e->users == 0) {
            unlist(c, e);
            e->next = gone;
            gone = e;
        }
        e = newer;
    }
    return gone;
}

static void destroy_all(cache_entry *gone) {
    while (gone) {
        cache_entry *next = gone->next;
        destroy(gone);
        gone = next;
    }
}

/* ---- entries ----------------------------------------------------------------------------- */

/* The lock must be held. Returns true if the caller must now destroy the entry. */
static bool drop_user(cache_entry *e) {
    return --e->users == 0 && !e->listed;
}

static void release(cache *c, cache_entry *e, bool is_last) {
    pthread_mutex_lock(&c->lock);
    if (is_last)
        list_last(c, e);
    bool last = drop_user(e);
    cache_entry *gone = evict(c, 0);
    pthread_mutex_unlock(&c->lock);
    if (last)
        destroy(e);
    destroy_all(gone);
}

void cache_release(cache *c, cache_entry *e) {
    if (e)
        release(c, e, false);
}

void cache_touch(cache *c, cache_entry *e) {
    pthread_mutex_lock(&c->lock);
    if (e->listed) {
        unlist(c, e);
        list(c, e);
    }
    pthread_mutex_unlock(&c->lock);
}

void cache_give_up(cache *c, cache_entry *e) {
    release(c, e, true);
}

/* The lock must be held; it is released while waiting. */
static cache_entry *await(cache *c, cache_entry *e) {
    while (e->state == ENTRY_MAKING)
        pthread_cond_wait(&c->made, &c->lock);
    if (e->state == ENTRY_READY)
        return e;
    if (drop_user(e))
        destroy(e);
    return NULL;
}

/* The lock must be held; it is released while the value is made. */
static cache_entry *fill(cache *c, cache_entry *e, const cache_maker *maker) {
    while (c->makers >= MAKERS_MAX)
        pthread_cond_wait(&c->made, &c->lock);
    c->makers++;
    cache_entry *gone = evict(c, maker->needs);
    pthread_mutex_unlock(&c->lock);
    destroy_all(gone);
    cache_value value = {0};
    bool ok = maker->make(maker->context, &value);
    pthread_mutex_lock(&c->lock);
    c->makers--;
    e->state = ok ? ENTRY_READY : ENTRY_FAILED;
    bool listed = e->listed;
    unlist(c, e);
    e->value = value;
    if (ok && listed)
        list(c, e);
    pthread_cond_broadcast(&c->made);
    return await(c, e);
}

static cache_entry *add(cache *c, const char *key) {
    size_t size = strlen(key) + 1;
    cache_entry *e = calloc(1, sizeof *e + size);
    if (e) {
        memcpy(e->key, key, size);
        e->users = 1;
        list(c, e);
    }
    return e;
}

/* The lock must be held; it is released while another thread makes the value. */
static cache_entry *take(cache *c, const char *key) {
    cache_entry *e = NULL, *known;
    while (!e && (known = find(c, key))) {
        known->users++;
        unlist(c, known);
        list(c, known);
        e = await(c, known);
    }
    return e;
}

cache_entry *cache_find(cache *c, const char *key) {
    pthread_mutex_lock(&c->lock);
    cache_entry *e = take(c, key);
    pthread_mutex_unlock(&c->lock);
    return e;
}

cache_entry *cache_get(cache *c, const char *key, cache_maker maker) {
    pthread_mutex_lock(&c->lock);
    cache_entry *e = take(c, key);
    if (!e && (e = add(c, key)))
        e = fill(c, e, &maker);
    pthread_mutex_unlock(&c->lock);
    return e;
}

void cache_protect(cache *c, size_t staying) {
    pthread_mutex_lock(&c->lock);
    c->staying = staying;
    cache_entry *gone = evict(c, 0);
    pthread_mutex_unlock(&c->lock);
    destroy_all(gone);
}

void cache_limit(cache *c, size_t capacity) {
    pthread_mutex_lock(&c->lock);
    c->capacity = capacity;
    cache_entry *gone = evict(c, 0);
    pthread_mutex_unlock(&c->lock);
    destroy_all(gone);
}

void cache_make_room(cache *c) {
    pthread_mutex_lock(&c->lock);
    const size_t staying = c->staying;
    c->staying = 0;
    cache_entry *gone = evict(c, c->capacity);
    c->staying = staying;
    pthread_mutex_unlock(&c->lock);
    destroy_all(gone);
}

void *cache_entry_value(const cache_entry *e) {
    return e->value.value;
}

void cache_forget(cache *c, const char *prefix) {
    cache_entry *gone = NULL;
    pthread_mutex_lock(&c->lock);
    for (cache_entry *e = c->newest, *next; e; e = next) {
        next = e->next;
        if (strncmp(e->key, prefix, strlen(prefix)) != 0)
            continue;
        unlist(c, e);
        if (e->users == 0) {
            e->next = gone;
            gone = e;
        }
    }
    pthread_mutex_unlock(&c->lock);
    destroy_all(gone);
}

void cache_free(cache *c) {
    if (!c)
        return;
    cache_forget(c, "");
    pthread_cond_destroy(&c->made);
    pthread_mutex_destroy(&c->lock);
    free(c);
}
