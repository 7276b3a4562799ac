/* names.c: the table of names.h. Entries never change once they are written; the number of entries
 * publishes them. */
#include "runtimes/names.h"

#include <stdatomic.h>
#include <string.h>

#include "base/hash.h"
#include "platform/pages.h"
#include "record/lock.h"

enum { MAX_ENTRIES = 1 << NAMES_BITS, CHUNK = 1 << 16 };

static struct {
    lock lock;
    _Atomic uint32_t process;        /* whose lock this is: after a fork, nobody holds it */
    const char **files, **functions; /* MAX_ENTRIES each; few of their pages are touched */
    uint32_t *by_hash;               /* 2 * MAX_ENTRIES; 0: free */
    uint32_t n;                      /* number of entries; entry 0 is for names without room */
    char *next, *end;                /* the rest of a chunk */
} names;

static uint32_t this_process(void) {
    return (uint32_t)syscall4(SYS_getpid, 0, 0, 0, 0);
}

/* After a fork, the lock may be held by a thread that the child does not have; the entry that it
 * was adding is not published. A holder in this process releases the lock soon, so we wait
 * first. */
bool names_lock(void) {
    if (lock_acquire_patiently(&names.lock))
        return true;
    if (atomic_exchange(&names.process, this_process()) == this_process())
        return false;
    atomic_store(&names.lock.word, 0);
    return lock_acquire_patiently(&names.lock);
}

void names_unlock(void) {
    lock_release(&names.lock);
}

static bool names_make_room(void) {
    if (names.by_hash)
        return true;
    names.files = pages_alloc(MAX_ENTRIES * sizeof *names.files);
    names.functions = pages_alloc(MAX_ENTRIES * sizeof *names.functions);
    uint32_t *by_hash = pages_alloc(2 * MAX_ENTRIES * sizeof *by_hash);
    if (!names.files || !names.functions || !by_hash)
        return false;
    names.n = 1;
    atomic_store(&names.process, this_process());
    names.by_hash = by_hash;
    return true;
}

char *names_room(void) {
    enum { ROOM = 2 * NAMES_TEXT };
    if (!names_make_room())
        return NULL;
    if (names.end - names.next >= ROOM)
        return names.next;
    names.next = pages_alloc(CHUNK);
    names.end = names.next ? names.next + CHUNK : NULL;
    return names.next;
}

static uint32_t entry_add(uint32_t *place, const char *file, const char *function, size_t size) {
    if (names.n == MAX_ENTRIES)
        return 0;
    names.files[names.n] = file;
    names.functions[names.n] = function;
    names.next += size;
    return *place = names.n++;
}

uint32_t names_entry(const char *file, const char *function, size_t size) {
    uint64_t hash = hash_bytes(file, size);
    for (;; hash++) {
        uint32_t *place = &names.by_hash[hash % (2 * MAX_ENTRIES)];
        if (!*place)
            return entry_add(place, file, function, size);
        if (strcmp(names.files[*place], file) == 0 &&
            strcmp(names.functions[*place], function) == 0)
            return *place;
    }
}

static size_t put_text(char *to, const char *text) {
    const size_t length = strnlen(text, NAMES_TEXT - 1);
    memcpy(to, text, length);
    to[length] = '\0';
    return length + 1;
}

uint32_t names_entry_of(const char *file, const char *function) {
    char *const room = names_room();
    if (!room)
        return 0;
    const size_t size = put_text(room, file);
    return names_entry(room, room + size, size + put_text(room + size, function));
}

const char *names_file(uint32_t entry) {
    return entry ? names.files[entry] : "";
}

const char *names_function(uint32_t entry) {
    return entry ? names.functions[entry] : "[too many functions]";
}
