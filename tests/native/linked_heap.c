/* linked_heap.c: an allocator that is linked into programs, for threads: free blocks of one size
 * wait in a list under a lock. HEAP(name) is what its functions are called. */
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#ifndef HEAP
#define HEAP(name) name
#endif
#define OWN __attribute__((visibility("default"), noinline, used))

enum { UNIT = 64, CLASSES = 1 << 12, PIECE = 1 << 20 };

/* In front of each block. */
struct head {
    size_t size, taken;
    struct head *next;
    size_t unused;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct head *idle[CLASSES];
static char *fresh, *fresh_end;

static void hold(void) {
    pthread_mutex_lock(&lock);
}

static void let_go(void) {
    pthread_mutex_unlock(&lock);
}

__attribute__((constructor)) static void be_there_for_children(void) {
    pthread_atfork(hold, let_go, let_go);
}

static struct head *take_fresh(size_t taken) {
    if (taken > (size_t)(fresh_end - fresh)) {
        const size_t piece = taken > PIECE ? taken : PIECE;
        fresh = mmap(NULL, piece, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (fresh == MAP_FAILED) {
            fresh = fresh_end = NULL;
            return NULL;
        }
        fresh_end = fresh + piece;
    }
    struct head *h = (struct head *)fresh;
    fresh += taken;
    return h;
}

static void *take(size_t size) {
    const size_t taken = (size + sizeof(struct head) + UNIT - 1) / UNIT * UNIT;
    struct head **list = &idle[taken / UNIT % CLASSES], *h;
    pthread_mutex_lock(&lock);
    if (taken / UNIT < CLASSES && *list) {
        h = *list;
        *list = h->next;
    } else {
        h = take_fresh(taken);
    }
    pthread_mutex_unlock(&lock);
    if (!h)
        return NULL;
    *h = (struct head){.size = size, .taken = taken};
    return h + 1;
}

OWN void HEAP(free)(void *block) {
    if (!block)
        return;
    struct head *h = (struct head *)block - 1;
    struct head **list = &idle[h->taken / UNIT % CLASSES];
    pthread_mutex_lock(&lock);
    h->next = *list;
    *list = h;
    pthread_mutex_unlock(&lock);
}

OWN void *HEAP(malloc)(size_t size) {
    return take(size);
}

OWN void *HEAP(calloc)(size_t count, size_t size) {
    void *block = take(count * size);
    return block ? memset(block, 0, count * size) : NULL;
}

OWN void *HEAP(realloc)(void *block, size_t size) {
    void *copy = take(size);
    if (block && copy) {
        const struct head *h = (struct head *)block - 1;
        memcpy(copy, block, h->size < size ? h->size : size);
        HEAP(free)(block);
    }
    return copy;
}

#ifdef HEAP_STRDUP
char *HEAP_STRDUP(const char *text) {
    const size_t size = strlen(text) + 1;
    return memcpy(HEAP(malloc)(size), text, size);
}
#endif
