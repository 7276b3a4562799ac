/* thread_local.c: implements thread_local.h. A variable of an object that was loaded before threads
 * started lies at the same offset from each thread's control block. A variable of an object that
 * was loaded later mostly lies in a separate block for each thread, which is found through the
 * thread's vector of blocks (DTV). */
#include "platform/thread_local.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <string.h>

#include "platform/cpu.h"
#include "platform/gnu_hash.h"
#include "platform/loader.h"
#include "platform/maps.h"
#include "platform/syscall.h"

/* How glibc describes its data to debuggers: size in bits, number of elements, offset in bytes. */
typedef const uint32_t description[3];
enum { BITS, ELEMENTS, OFFSET };
extern description _thread_db_link_map_l_tls_modid;
extern description _thread_db_link_map_l_tls_offset;
extern description _thread_db_dtv_dtv;
extern description _thread_db_dtv_t_pointer_val;
extern description _thread_db_pthread_dtvp;
LIBC_MAY_LACK(_thread_db_link_map_l_tls_modid);
LIBC_MAY_LACK(_thread_db_link_map_l_tls_offset);
LIBC_MAY_LACK(_thread_db_dtv_dtv);
LIBC_MAY_LACK(_thread_db_dtv_t_pointer_val);
LIBC_MAY_LACK(_thread_db_pthread_dtvp);
LIBC_MAY_LACK(_r_debug);

enum {
    MOST_OBJECTS = 1 << 16, /* a bound, because a list that is being changed may look like a ring */
    MOST_DYNAMIC = 1 << 8,
    AT_ONCE = 16,
    MOST_CHAIN = 1 << 12
};

static bool is_word(description *d) {
    return d && (*d)[BITS] == 8 * sizeof(uintptr_t);
}

static bool is_described(void) {
    return &_r_debug && is_word(&_thread_db_link_map_l_tls_modid) &&
           is_word(&_thread_db_link_map_l_tls_offset) && is_word(&_thread_db_dtv_t_pointer_val) &&
           is_word(&_thread_db_pthread_dtvp) && &_thread_db_dtv_dtv &&
           _thread_db_dtv_dtv[BITS] == 2 * 8 * sizeof(uintptr_t);
}

/* ---- places -------------------------------------------------------------------------------- */

/* A place is either an offset from the thread's control block, which is never 0, or a module number
 * (from 1 on) with an offset in that module's block. */
#define AT_OFFSET   (UINT64_C(1) << 63)
#define MOST_OFFSET INT32_MAX

static thread_local_place at_offset(int64_t offset) {
    return offset >= -MOST_OFFSET && offset <= MOST_OFFSET ? AT_OFFSET | (uint32_t)offset : 0;
}

static thread_local_place in_module(uintptr_t module, uintptr_t offset) {
    return module <= MOST_OFFSET && offset <= MOST_OFFSET ? (uint64_t)module << 32 | offset : 0;
}

/* glibc's values for an object whose variables have no fixed offset yet, and for one that never
 * will. */
#define NO_OFFSET      ((uintptr_t)0)
#define NO_OFFSET_EVER ((uintptr_t)-1)

static thread_local_place place_of(uintptr_t module, uintptr_t offset, uintptr_t value) {
    if (offset == NO_OFFSET || offset == NO_OFFSET_EVER)
        return in_module(module, value);
    if (offset > MOST_OFFSET || value > MOST_OFFSET)
        return 0;
#if defined __x86_64__
    return at_offset((int64_t)value - (int64_t)offset);
#else
    return at_offset((int64_t)value + (int64_t)offset);
#endif
}

/* Returns the address of the pointer to the calling thread's vector. On x86-64 the control block is
 * the structure that glibc describes. On arm64 the pointer is the first word of the control
 * block. */
static uintptr_t vector_at(void) {
#if defined __x86_64__
    return cpu_thread_pointer() + _thread_db_pthread_dtvp[OFFSET];
#else
    return cpu_thread_pointer();
#endif
}

/* Returns the calling thread's block of a module; 0: it has none. An entry of two words in front of
 * the vector says how many entries follow. While the vector is being moved to a larger one, the
 * words read may be invalid, so all of them are checked before they are used. */
static uintptr_t block_of(uintptr_t module, struct pages_seen *seen) {
    enum { ENTRY = 2 * sizeof(uintptr_t) };
    const uintptr_t unallocated = (uintptr_t)-1;
    uintptr_t vector, length, block;
    if (!pages_seen_read(seen, vector_at(), &vector, sizeof vector) ||
        !pages_seen_read(seen, vector - ENTRY, &length, sizeof length) || module > length ||
        !pages_seen_read(seen, vector + module * ENTRY + _thread_db_dtv_t_pointer_val[OFFSET],
                         &block, sizeof block))
        return 0;
    return block == unallocated ? 0 : block;
}

uintptr_t thread_local_pointer(thread_local_place place, struct pages_seen *seen) {
    uintptr_t pointer;
    if (place & AT_OFFSET) {
        const uintptr_t at = cpu_thread_pointer() + (uintptr_t)(intptr_t)(int32_t)(uint32_t)place;
        memcpy(&pointer, (const void *)at, sizeof pointer); /* mapped as long as the thread lives */
        return pointer;
    }
    const uintptr_t block = block_of((uintptr_t)(place >> 32), seen);
    const bool known =
        block && pages_seen_read(seen, block + (uint32_t)place, &pointer, sizeof pointer);
    return known ? pointer : 0;
}

/* ---- objects ------------------------------------------------------------------------------- */

/* How the loader's data on objects are read. While the caller holds the loader's lock, they stay
 * mapped and are read directly. Without the lock they may be unmapped at any moment, because C
 * libraries unload objects, too; then the kernel reads them. */
struct objects {
    struct pages_seen seen; /* used while the lock is held */
    long memory;            /* descriptor of /proc/self/mem; -1: the lock is held */
};

static bool objects_read(struct objects *o, uintptr_t address, void *to, size_t n) {
    return o->memory < 0
               ? pages_seen_read(&o->seen, address, to, n)
               : syscall4(SYS_pread64, o->memory, (long)to, (long)n, (long)address) == (long)n;
}

/* Returns whether the object at `at` is in the loader's list. If it is, what was read of it before
 * was really its own. */
static bool is_listed(struct objects *o, uintptr_t at) {
    struct link_map object, before;
    return objects_read(o, at, &object, sizeof object) &&
           (!object.l_prev || (objects_read(o, (uintptr_t)object.l_prev, &before, sizeof before) &&
                               (uintptr_t)before.l_next == at));
}

/* An object's exported symbols and their names, as addresses in memory. */
struct exports {
    struct objects *o;
    uintptr_t symbols, names, hashes; /* hash table in GNU's layout */
};

/* The loader has already added the load address to these pointers, except in the vDSO. */
static uintptr_t address_in(const struct link_map *object, uintptr_t value) {
    return value < object->l_addr ? value + object->l_addr : value;
}

/* Reads some items of an object's dynamic section, from `at` on. Returns how many. */
static size_t read_items(struct objects *o, const ElfW(Dyn) * at, ElfW(Dyn) items[AT_ONCE]) {
    if (o->memory < 0)
        return objects_read(o, (uintptr_t)at, items, sizeof *items);
    const long n =
        syscall4(SYS_pread64, o->memory, (long)items, AT_ONCE * (long)sizeof *items, (long)at);
    return syscall_failed(n) ? 0 : (size_t)n / sizeof *items;
}

/* Returns false at the last item. */
static bool note_item(const struct link_map *object, const ElfW(Dyn) * item, struct exports *e) {
    uintptr_t *const to = item->d_tag == DT_SYMTAB     ? &e->symbols
                          : item->d_tag == DT_STRTAB   ? &e->names
                          : item->d_tag == DT_GNU_HASH ? &e->hashes
                                                       : NULL;
    if (to)
        *to = address_in(object, item->d_un.d_ptr);
    return item->d_tag != DT_NULL;
}

static bool exports_of(const struct link_map *object, struct exports *e) {
    ElfW(Dyn) items[AT_ONCE];
    bool more = true;
    for (size_t i = 0, n; more && i < MOST_DYNAMIC; i += n) {
        n = read_items(e->o, object->l_ld + i, items);
        more = n > 0;
        for (size_t k = 0; more && k < n; k++)
            more = note_item(object, &items[k], e);
    }
    return e->symbols && e->names && e->hashes;
}

static bool is_called(const struct exports *e, const ElfW(Sym) * symbol, const char *name) {
    char text[PAGES_SEEN_MOST];
    const size_t n = strlen(name) + 1;
    return n <= sizeof text && objects_read(e->o, e->names + symbol->st_name, text, n) &&
           memcmp(text, name, n) == 0;
}

/* Returns whether symbol `i` of the table is the variable. */
static bool is_variable(const struct exports *e, uint32_t i, const char *name, uintptr_t *value) {
    ElfW(Sym) symbol;
    if (!objects_read(e->o, e->symbols + i * sizeof symbol, &symbol, sizeof symbol) ||
        symbol.st_shndx == SHN_UNDEF || ELF64_ST_TYPE(symbol.st_info) != STT_TLS ||
        !is_called(e, &symbol, name))
        return false;
    *value = symbol.st_value;
    return true;
}

/* Layout of the GNU hash table: the number of buckets, the index of the first symbol, the number of
 * filter words and a shift; then a Bloom filter, which is skipped here; then the buckets, each of
 * which holds the index of its first symbol; then one hash for each symbol. The lowest bit of a
 * hash marks the end of its bucket. */
static bool find_variable(const struct exports *e, const char *name, uintptr_t *value) {
    uint32_t head[4], i, other;
    const uint32_t hash = gnu_hash(name);
    if (!objects_read(e->o, e->hashes, head, sizeof head) || head[0] == 0)
        return false;
    const uintptr_t buckets = e->hashes + sizeof head + head[2] * sizeof(uintptr_t),
                    chain = buckets + head[0] * sizeof(uint32_t);
    if (!objects_read(e->o, buckets + hash % head[0] * sizeof i, &i, sizeof i) || i < head[1])
        return false;
    for (size_t n = 0; n < MOST_CHAIN; n++, i++) {
        if (!objects_read(e->o, chain + (i - head[1]) * sizeof other, &other, sizeof other))
            return false;
        if ((other | 1) == (hash | 1) && is_variable(e, i, name, value))
            return true;
        if (other & 1)
            return false;
    }
    return false;
}

/* Returns whether an object in the list defines the variable. */
static bool has_variable(uintptr_t module, const struct link_map *object, const char *name,
                         struct objects *o, uintptr_t *value) {
    struct exports e = {.o = o};
    return module != 0 && exports_of(object, &e) && find_variable(&e, name, value);
}

static void add_object(const struct link_map *at, const struct link_map *object, const char *name,
                       struct objects *o, struct thread_local_found *found) {
    const uintptr_t modules = (uintptr_t)at + _thread_db_link_map_l_tls_modid[OFFSET],
                    offsets = (uintptr_t)at + _thread_db_link_map_l_tls_offset[OFFSET];
    uintptr_t module, offset, value;
    if (found->n == THREAD_LOCAL_MOST || !objects_read(o, modules, &module, sizeof module) ||
        !has_variable(module, object, name, o, &value) ||
        !objects_read(o, offsets, &offset, sizeof offset) || !is_listed(o, (uintptr_t)at))
        return;
    found->places[found->n] = place_of(module, offset, value);
    found->undecided[found->n++] = offset == NO_OFFSET ? offsets : 0;
}

/* Updates the places that were undecided. Such a place holds the module and the offset in it.
 * Returns false if one of the objects is gone. */
static bool decide(struct thread_local_found *found, struct objects *o) {
    for (size_t i = 0; i < found->n; i++) {
        const thread_local_place place = found->places[i];
        uintptr_t offset, at = found->undecided[i];
        if (!at)
            continue;
        if (!objects_read(o, at, &offset, sizeof offset) ||
            !is_listed(o, at - _thread_db_link_map_l_tls_offset[OFFSET]))
            return false;
        if (offset == NO_OFFSET)
            continue;
        found->places[i] = place_of((uintptr_t)(place >> 32), offset, (uint32_t)place);
        found->undecided[i] = 0;
    }
    return true;
}

static void find(struct objects *o, const char *name, struct thread_local_found *found) {
    struct link_map object;
    if (!decide(found, o) || (found->last && !is_listed(o, found->last)))
        *found = (struct thread_local_found){0};
    const struct link_map *at = _r_debug.r_map;
    if (found->last) {
        if (!objects_read(o, found->last, &object, sizeof object))
            return;
        at = object.l_next;
    }
    for (size_t i = 0; at && i < MOST_OBJECTS; i++, at = object.l_next) {
        if (!objects_read(o, (uintptr_t)at, &object, sizeof object))
            return;
        found->last = (uintptr_t)at;
        add_object(at, &object, name, o, found);
    }
}

void thread_local_find_more(const char *name, struct thread_local_found *found) {
    struct objects o = {.memory = -1};
    if (!is_described())
        return;
    o.memory = syscall4(SYS_openat, AT_FDCWD, (long)"/proc/self/mem", O_RDONLY | O_CLOEXEC, 0);
    if (syscall_failed(o.memory))
        return;
    find(&o, name, found);
    syscall4(SYS_close, o.memory, 0, 0, 0);
}

struct search {
    const char *name;
    struct thread_local_found *found;
};

/* dl_iterate_phdr calls this for the first object only, with the loader's lock held. */
static int find_holding(struct dl_phdr_info *info, size_t size, void *context) {
    const struct search *s = context;
    struct objects o = {.memory = -1};
    (void)info;
    (void)size;
    find(&o, s->name, s->found);
    return 1;
}

void thread_local_find(const char *name, struct thread_local_found *found) {
    struct search s = {name, found};
    *found = (struct thread_local_found){0};
    if (is_described())
        dl_iterate_phdr(find_holding, &s);
}

/* Returns whether the loader has set the word. Both kinds of words are 0 before that. Afterwards
 * their lower half is never 0, neither in an offset nor in an address. */
static bool is_known_now(uintptr_t word) {
    return maps_compare(word, 0) == MAPS_WORD_OTHER;
}

bool thread_local_is_more(const struct thread_local_found *found) {
    for (size_t i = 0; i < found->n; i++)
        if (found->undecided[i] && is_known_now(found->undecided[i]))
            return true;
    return found->last && is_known_now(found->last + offsetof(struct link_map, l_next));
}
