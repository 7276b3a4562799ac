/* thread_local.c: see thread_local.h. A variable of an object that was there when threads began
 * lies at the same distance from each thread's control block; that of one that was loaded later
 * mostly in a block of its own, which the thread's vector of blocks (DTV) leads to. */
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

/* What glibc says of its data to debuggers: size in bits, number of elements, offset in bytes. */
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
    MOST_OBJECTS = 1 << 16, /* a list that is being changed may be a ring */
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

/* Either an offset from the thread's control block, which is never 0, or the number of a module,
 * from 1 on, and an offset in its block. */
#define AT_OFFSET   (UINT64_C(1) << 63)
#define MOST_OFFSET INT32_MAX

static thread_local_place at_offset(int64_t offset) {
    return offset >= -MOST_OFFSET && offset <= MOST_OFFSET ? AT_OFFSET | (uint32_t)offset : 0;
}

static thread_local_place in_module(uintptr_t module, uintptr_t offset) {
    return module <= MOST_OFFSET && offset <= MOST_OFFSET ? (uint64_t)module << 32 | offset : 0;
}

/* glibc's for objects whose variables have no fixed offset (yet), and never will. */
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

/* Where a thread keeps its vector: of x86-64 its control block is the description's structure, of
 * arm64 the vector comes first in it. */
static uintptr_t vector_at(void) {
#if defined __x86_64__
    return cpu_thread_pointer() + _thread_db_pthread_dtvp[OFFSET];
#else
    return cpu_thread_pointer();
#endif
}

/* The calling thread's block of a module; 0: it has none. An entry of two words is in front of the
 * vector and says how many follow. While the vector is moved to a larger one, what is read may be
 * neither. */
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
        memcpy(&pointer, (const void *)at, sizeof pointer); /* as long as the thread */
        return pointer;
    }
    const uintptr_t block = block_of((uintptr_t)(place >> 32), seen);
    const bool known =
        block && pages_seen_read(seen, block + (uint32_t)place, &pointer, sizeof pointer);
    return known ? pointer : 0;
}

/* ---- objects ------------------------------------------------------------------------------- */

/* What the loader has of objects. While it holds still, that stays. Else any of it may go at any
 * moment, as C libraries unload objects themselves: then the kernel reads it. */
struct objects {
    struct pages_seen seen; /* while it holds still */
    long memory;            /* our own, as a file; -1: it does */
};

static bool objects_read(struct objects *o, uintptr_t address, void *to, size_t n) {
    return o->memory < 0
               ? pages_seen_read(&o->seen, address, to, n)
               : syscall4(SYS_pread64, o->memory, (long)to, (long)n, (long)address) == (long)n;
}

/* Whether an object is in the loader's list: what was read of it before was its own. */
static bool is_listed(struct objects *o, uintptr_t at) {
    struct link_map object, before;
    return objects_read(o, at, &object, sizeof object) &&
           (!object.l_prev || (objects_read(o, (uintptr_t)object.l_prev, &before, sizeof before) &&
                               (uintptr_t)before.l_next == at));
}

/* What an object exports, and the names of that, addresses in memory. */
struct exports {
    struct objects *o;
    uintptr_t symbols, names, hashes; /* in GNU's layout */
};

/* The loader has added the object's address to these already, but not in objects of the kernel. */
static uintptr_t address_in(const struct link_map *object, uintptr_t value) {
    return value < object->l_addr ? value + object->l_addr : value;
}

/* Some of an object's own account, from `at` on; gives how many items. */
static size_t read_items(struct objects *o, const ElfW(Dyn) * at, ElfW(Dyn) items[AT_ONCE]) {
    if (o->memory < 0)
        return objects_read(o, (uintptr_t)at, items, sizeof *items);
    const long n =
        syscall4(SYS_pread64, o->memory, (long)items, AT_ONCE * (long)sizeof *items, (long)at);
    return syscall_failed(n) ? 0 : (size_t)n / sizeof *items;
}

/* False: that was the last item. */
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

/* One symbol of the table, if it is the variable. */
static bool is_variable(const struct exports *e, uint32_t i, const char *name, uintptr_t *value) {
    ElfW(Sym) symbol;
    if (!objects_read(e->o, e->symbols + i * sizeof symbol, &symbol, sizeof symbol) ||
        symbol.st_shndx == SHN_UNDEF || ELF64_ST_TYPE(symbol.st_info) != STT_TLS ||
        !is_called(e, &symbol, name))
        return false;
    *value = symbol.st_value;
    return true;
}

/* The table: numbers of buckets, of the first symbol, and of the filter's words, and a shift; the
 * filter, which is passed over here; the buckets, each the first symbol of its own; and a hash a
 * symbol, whose lowest bit ends the bucket. */
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

/* Whether an object in the list has the variable. */
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

/* Of those that were undecided, places tell the module and the offset in it. False: one is gone. */
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

/* Called for the first object alone. */
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

/* Both are 0 until they are known; of no offset or address after that is the lower half 0. */
static bool is_known_now(uintptr_t word) {
    return maps_compare(word, 0) == MAPS_WORD_OTHER;
}

bool thread_local_is_more(const struct thread_local_found *found) {
    for (size_t i = 0; i < found->n; i++)
        if (found->undecided[i] && is_known_now(found->undecided[i]))
            return true;
    return found->last && is_known_now(found->last + offsetof(struct link_map, l_next));
}
