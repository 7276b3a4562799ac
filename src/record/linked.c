/* linked.c: see linked.h. Owns the list of what such functions are called, the code that stands
 * between the program and its allocator, and the functions to which that code leads. */
#include "record/linked.h"

#include <string.h>
#include <sys/mman.h>

#include "base/hot.h"
#include "platform/displace.h"
#include "platform/module.h"
#include "platform/pages.h"
#include "platform/patch.h"
#include "platform/symbols.h"
#include "platform/syscall.h"
#include "record/native.h"
#include "record/recorder.h"
#include "record/text.h"

/* ---- names ------------------------------------------------------------------------------- */

/* What an allocator puts in front of all its names. */
enum prefix { PLAIN = 1, JE = 2, TC = 4, MI = 8, SN = 16, OTHER = 32 };
#define PREFIXES(X)                                                                                \
    X("", PLAIN)                                                                                   \
    X("je_", JE)                                                                                   \
    X("_rjem_", JE)                                                                                \
    X("tc_", TC)                                                                                   \
    X("mi_", MI)                                                                                   \
    X("sn_", SN)                                                                                   \
    X("rp", OTHER)                                                                                 \
    X("dl", OTHER)                                                                                 \
    X("scalable_", OTHER)
#define N_PREFIXES 9
enum { C_NAMES = PLAIN | JE | TC | MI | SN | OTHER, ONLY_JE_NAMES = PLAIN | JE };

/* X(name behind the prefix, whose it is, what its arguments are, what the block is called): where a
 * function takes what here is said to be the bytes, their number, or the block. */
#define LINKED(X)                                                                                  \
    X(malloc, C_NAMES, size0, malloc)                                                              \
    X(calloc, C_NAMES, product01, calloc)                                                          \
    X(realloc, C_NAMES, resize1, realloc)                                                          \
    X(free, C_NAMES, free, malloc)                                                                 \
    X(cfree, PLAIN | TC | MI, free, malloc)                                                        \
    X(memalign, C_NAMES, size1, memalign)                                                          \
    X(aligned_alloc, C_NAMES, size1, aligned_alloc)                                                \
    X(posix_memalign, C_NAMES, out2, posix_memalign)                                               \
    X(valloc, C_NAMES, size0, valloc)                                                              \
    X(pvalloc, C_NAMES, size0, pvalloc)                                                            \
    X(reallocarray, PLAIN | MI, resize12, reallocarray)                                            \
    X(free_sized, PLAIN | TC, free, malloc)                                                        \
    X(free_aligned_sized, PLAIN, free, malloc)                                                     \
    X(mallocx, ONLY_JE_NAMES, size0, malloc)                                                       \
    X(rallocx, ONLY_JE_NAMES, resize1, realloc)                                                    \
    X(dallocx, ONLY_JE_NAMES, free, malloc)                                                        \
    X(sdallocx, ONLY_JE_NAMES, free, malloc)                                                       \
    X(malloc_small, MI, size0, malloc)                                                             \
    X(zalloc, MI, size0, calloc)                                                                   \
    X(zalloc_small, MI, size0, calloc)                                                             \
    X(mallocn, MI, product01, malloc)                                                              \
    X(reallocn, MI, resize12, reallocarray)                                                        \
    X(reallocf, MI, resize1, realloc)                                                              \
    X(rezalloc, MI, resize1, realloc)                                                              \
    X(recalloc, MI, resize12, reallocarray)                                                        \
    X(malloc_aligned, MI, size0, aligned_alloc)                                                    \
    X(zalloc_aligned, MI, size0, aligned_alloc)                                                    \
    X(calloc_aligned, MI, product01, aligned_alloc)                                                \
    X(realloc_aligned, MI, resize1, realloc)                                                       \
    X(rezalloc_aligned, MI, resize1, realloc)                                                      \
    X(free_size, MI, free, malloc)                                                                 \
    X(free_aligned, MI, free, malloc)                                                              \
    X(free_size_aligned, MI, free, malloc)                                                         \
    X(heap_malloc, MI, size1, malloc)                                                              \
    X(heap_malloc_small, MI, size1, malloc)                                                        \
    X(heap_zalloc, MI, size1, calloc)                                                              \
    X(heap_calloc, MI, product12, calloc)                                                          \
    X(heap_realloc, MI, heap_resize2, realloc)                                                     \
    X(heap_malloc_aligned, MI, size1, aligned_alloc)                                               \
    X(heap_zalloc_aligned, MI, size1, aligned_alloc)                                               \
    X(heap_realloc_aligned, MI, heap_resize2, realloc)                                             \
    X(new, MI | TC, size0, _Znwm)                                                                  \
    X(new_nothrow, MI | TC, size0, _Znwm)                                                          \
    X(new_aligned, MI | TC, size0, _Znwm)                                                          \
    X(new_aligned_nothrow, MI | TC, size0, _Znwm)                                                  \
    X(new_n, MI, product01, _Znam)                                                                 \
    X(newarray, TC, size0, _Znam)                                                                  \
    X(newarray_nothrow, TC, size0, _Znam)                                                          \
    X(newarray_aligned, TC, size0, _Znam)                                                          \
    X(newarray_aligned_nothrow, TC, size0, _Znam)                                                  \
    X(delete, TC, free, malloc)                                                                    \
    X(delete_nothrow, TC, free, malloc)                                                            \
    X(delete_sized, TC, free, malloc)                                                              \
    X(delete_aligned, TC, free, malloc)                                                            \
    X(delete_aligned_nothrow, TC, free, malloc)                                                    \
    X(delete_sized_aligned, TC, free, malloc)                                                      \
    X(deletearray, TC, free, malloc)                                                               \
    X(deletearray_nothrow, TC, free, malloc)                                                       \
    X(deletearray_sized, TC, free, malloc)                                                         \
    X(deletearray_aligned, TC, free, malloc)                                                       \
    X(deletearray_aligned_nothrow, TC, free, malloc)                                               \
    X(deletearray_sized_aligned, TC, free, malloc)                                                 \
    X(rust_alloc, SN, size1, malloc)                                                               \
    X(rust_alloc_zeroed, SN, size1, calloc)                                                        \
    X(rust_realloc, SN, resize3, realloc)                                                          \
    X(rust_dealloc, SN, free, malloc)

/* ---- entries ----------------------------------------------------------------------------- */

typedef uintptr_t word;

/* How an allocator is called: no function of the list takes more than four arguments. */
typedef word original_call(word a, word b, word c, word d);

struct entry {
    original_call *original; /* the function, by way of its first instructions that were moved */
    uint8_t type;            /* enum call_type */
    uint8_t inside;          /* enum linked_call */
    uintptr_t function;      /* where it begins */
    size_t size;             /* bytes of its code */
    size_t behind;           /* bytes between it and where another function may begin */
    uintptr_t hook;
    unsigned prefix, name; /* indices */
    uintptr_t patched;     /* where the jump stands; 0: nowhere */
    uint8_t before[DISPLACE_JUMP];
    bool lets_throw; /* as in struct linked_also */
    bool wraps;      /* another one is behind it */
};

/* ---- what the program's calls come to ----------------------------------------------------- */

#define ALWAYS_INLINE static inline __attribute__((always_inline))

/* What has been counted and recorded so far in this thread. */
struct counted {
    int64_t countdown;
    unsigned births;
};

static inline struct counted counted_now(void) {
    return (struct counted){self.sampler.countdown, self.births};
}

static inline bool is_counted(const struct counted *before) {
    return self.sampler.countdown != before->countdown || self.births != before->births;
}

static __attribute__((noinline)) word linked_born(word block, word bytes, const struct entry *e,
                                                  const struct unwind_site *site) {
    recorder_uncount(bytes);
    if (!recorder_has_room(site->sp))
        return block;
    if (recorder_everything())
        native_born_fast((void *)block, recorder_words(bytes), e->type + 1, site->return_address,
                         site->sp, site->bp);
    else
        native_born((void *)block, bytes, e->type, site);
    return block;
}

ALWAYS_INLINE word linked_call(word a, word b, word c, word d, const struct entry *e) {
    self.linked = e->inside;
    const word result = e->original(a, b, c, d);
    self.linked = LINKED_NONE;
    return result;
}

#define IF_INSIDE_GO_ON()                                                                          \
    if (__builtin_expect(self.linked == LINKED_COUNTS, 0))                                         \
    return e->original(a, b, c, d)

/* The stack is taken from the function that is called in place of the allocator's. */
ALWAYS_INLINE word linked_alloc(word a, word b, word c, word d, const struct entry *e, word bytes) {
    IF_INSIDE_GO_ON();
    const struct counted before = counted_now();
    const word block = linked_call(a, b, c, d, e);
    if (!block || is_counted(&before) || !memprof_count(&self.sampler, recorder_words(bytes)))
        return block;
    struct unwind_site site;
    unwind_site_here(&site);
    return linked_born(block, bytes, e, &site);
}

/* The old block dies before the call: another thread may be given its address at once. */
ALWAYS_INLINE word linked_resize(word a, word b, word c, word d, const struct entry *e, word old,
                                 word bytes) {
    IF_INSIDE_GO_ON();
    void *const block = (void *)old;
    const bool may_be_known = block && memprof_is_tracked(&recorder_filter, block);
    const uint64_t taken = may_be_known ? native_take(block) : 0;
    const struct counted before = counted_now();
    const word moved = linked_call(a, b, c, d, e);
    const bool done = is_counted(&before);
    if (taken)
        native_settle(block, taken, moved || bytes == 0);
    if (!moved || done || !memprof_count(&self.sampler, recorder_words(bytes)))
        return moved;
    struct unwind_site site;
    unwind_site_here(&site);
    self.moved = (struct moved){block, (void *)moved};
    linked_born(moved, bytes, e, &site);
    self.moved = (struct moved){0};
    return moved;
}

#define HOOK(name)                                                                                 \
    HOT_CODE static CPU_ALIGN_STACK word hook_##name(word a, word b, word c, word d,               \
                                                     const struct entry *e)
HOOK(size0) {
    return linked_alloc(a, b, c, d, e, a);
}
HOOK(size1) {
    return linked_alloc(a, b, c, d, e, b);
}
HOOK(product01) {
    return linked_alloc(a, b, c, d, e, calls_product(a, b));
}
HOOK(product12) {
    return linked_alloc(a, b, c, d, e, calls_product(b, c));
}
HOOK(resize1) {
    return linked_resize(a, b, c, d, e, a, b);
}
HOOK(resize12) {
    return linked_resize(a, b, c, d, e, a, calls_product(b, c));
}
HOOK(resize3) {
    return linked_resize(a, b, c, d, e, a, d);
}
HOOK(heap_resize2) {
    return linked_resize(a, b, c, d, e, b, c);
}
HOOK(free) {
    void *const block = (void *)a;
    if (memprof_is_tracked(&recorder_filter, block)) {
        if (recorder_fast())
            native_died_fast(block);
        else
            native_died(block);
    }
    return e->original(a, b, c, d);
}
/* Gives an error, and the block in its first argument. */
HOOK(out2) {
    IF_INSIDE_GO_ON();
    const struct counted before = counted_now();
    const word error = linked_call(a, b, c, d, e);
    if ((int)error != 0 || is_counted(&before) || !memprof_count(&self.sampler, recorder_words(c)))
        return error;
    struct unwind_site site;
    unwind_site_here(&site);
    linked_born(*(const word *)a, c, e, &site);
    return error;
}

/* ---- the list as data: without pointers, which the loader would have to relocate ---------- */

enum kind {
    KIND_size0,
    KIND_size1,
    KIND_product01,
    KIND_product12,
    KIND_resize1,
    KIND_resize12,
    KIND_resize3,
    KIND_heap_resize2,
    KIND_free,
    KIND_out2
};

static uintptr_t hook_of(enum kind kind) {
    switch (kind) {
#define CASE(name)                                                                                 \
    case KIND_##name:                                                                              \
        return (uintptr_t)hook_##name;
        CASE(size0)
        CASE(size1)
        CASE(product01)
        CASE(product12)
        CASE(resize1) CASE(resize12) CASE(resize3) CASE(heap_resize2) CASE(free) CASE(out2)
    }
    return 0;
}

static const struct linked_name {
    char text[40];
    uint8_t prefixes, kind, type;
} names[] = {
#define NAME(name, prefixes, kind, type) {#name, prefixes, KIND_##kind, TYPE_##type},
    LINKED(NAME)
#define NAME_NEW(name, type, parameters, arguments, bytes, ...)                                    \
    {#name, PLAIN, KIND_size0, TYPE_##name},
#define NAME_DELETE(name, ...) {#name, PLAIN, KIND_free, TYPE_malloc},
        CALLS_NEW(NAME_NEW) CALLS_DELETE(NAME_DELETE)};
enum { N_NAMES = sizeof names / sizeof *names };
/* The first four of each allocator. */
enum { NAME_MALLOC, NAME_CALLOC, NAME_REALLOC, NAME_FREE };

static const struct {
    char text[12];
    uint8_t flag;
} prefixes[N_PREFIXES] = {
#define PREFIX(text, flag) {text, flag},
    PREFIXES(PREFIX)};

/* ---- the search --------------------------------------------------------------------------- */

enum { MOST_ENTRIES = 192, MOST_ALSO = 16 };
#define FUNCTION_UNIT ((uintptr_t)16) /* bytes: compilers begin functions at multiples of it */

static struct linked {
    struct module module;
    bool is_recorded;
    bool is_behind; /* as of linked_begin_behind */
    size_t n;
    struct entry *entries; /* MOST_ENTRIES; NULL: none was found yet */
    char found[256];       /* what is said of them */
    /* Of a static program, other functions; not those that the program lacks, or that cannot be
     * moved. */
    const struct linked_also *also;
    size_t n_also, n_others;
    bool lets_throw; /* exceptions can cross our frames */
    struct entry others[MOST_ALSO];
} linked;

/* Of a function with several names, the first one of the lists counts. */
static struct entry *place_for(uintptr_t function, unsigned prefix, unsigned name) {
    if (!linked.entries)
        linked.entries = pages_alloc(MOST_ENTRIES * sizeof *linked.entries);
    for (size_t i = 0; i < linked.n; i++) {
        struct entry *e = &linked.entries[i];
        if (e->function == function)
            return prefix < e->prefix || (prefix == e->prefix && name < e->name) ? e : NULL;
        if (e->prefix == prefix && e->name == name)
            return NULL;
    }
    return linked.entries && linked.n < MOST_ENTRIES ? &linked.entries[linked.n++] : NULL;
}

static bool may_throw(unsigned type) {
    return type >= TYPE__Znwm && type < TYPE_realloc; /* the operators of C++ */
}

/* Where a symbol's function is; false: nowhere in the module's code. */
static bool find_code(const struct symbol *s, struct entry *e) {
    const uintptr_t function = s->value + linked.module.bias;
    uintptr_t low, high;
    if (s->size == 0 || !module_segment(&linked.module, function, &low, &high) ||
        s->size > high - function)
        return false;
    const uintptr_t end = function + s->size, next = (end + FUNCTION_UNIT - 1) & -FUNCTION_UNIT;
    *e = (struct entry){
        .function = function, .size = s->size, .behind = (next < high ? next : high) - end};
    return true;
}

static void add_entry(const struct symbol *s, unsigned prefix, unsigned name) {
    struct entry found;
    struct entry *e = find_code(s, &found) ? place_for(found.function, prefix, name) : NULL;
    if (!e)
        return;
    *e = found;
    e->prefix = prefix;
    e->name = name;
    e->type = names[name].type;
    e->inside = may_throw(names[name].type) ? LINKED_THROWS : LINKED_COUNTS;
    e->hook = hook_of(names[name].kind);
}

/* A function may have several names. */
static void add_other(const struct symbol *s, const struct linked_also *also) {
    struct entry *e = &linked.others[linked.n_others];
    if (linked.n_others == MOST_ALSO || !find_code(s, e))
        return;
    if (!also->hook) {
        also->found(e->function, e->size);
        return;
    }
    for (const struct entry *o = linked.others; o < e; o++)
        if (o->function == e->function)
            return;
    e->hook = (uintptr_t)also->hook;
    e->lets_throw = also->lets_throw;
    linked.n_others++;
}

/* Few names begin as any of ours does. */
HOT_CODE static bool may_be_ours(const char *name) {
    switch (*name) {
    case '_': /* operators, _rjem_ */
        return name[1] == 'r' || (name[1] == 'Z' && (name[2] == 'n' || name[2] == 'd'));
    case 'a':
    case 'c':
    case 'd':
    case 'f':
    case 'j':
    case 'm':
    case 'p':
    case 'r':
    case 's':
    case 't':
    case 'v':
        return true;
    default:
        return false;
    }
}

static bool has_name(unsigned prefix, unsigned name) {
    if (linked.is_behind)
        return prefixes[prefix].flag == PLAIN && names[name].prefixes == ONLY_JE_NAMES;
    return names[name].prefixes & prefixes[prefix].flag;
}

HOT_CODE static void look_at_symbol(const struct symbol *s, void *context) {
    (void)context;
    const bool takes_static = context != NULL; /* the second time */
    for (size_t i = 0; i < linked.n_also && !takes_static; i++)
        if (strcmp(s->name, linked.also[i].text) == 0)
            add_other(s, &linked.also[i]);
    if ((s->is_static && !takes_static) || !may_be_ours(s->name))
        return;
    for (unsigned p = 0; p < N_PREFIXES; p++) {
        const size_t size = strlen(prefixes[p].text);
        if (strncmp(s->name, prefixes[p].text, size) != 0)
            continue;
        for (unsigned n = 0; n < N_NAMES; n++)
            if (has_name(p, n) && strcmp(names[n].text, s->name + size) == 0)
                add_entry(s, p, n);
    }
}

static struct entry *entry_of(unsigned prefix, unsigned name) {
    for (size_t i = 0; i < linked.n; i++)
        if (linked.entries[i].prefix == prefix && linked.entries[i].name == name)
            return &linked.entries[i];
    return NULL;
}

static void forget(bool is_wanted(const struct entry *)) {
    size_t kept = 0;
    for (size_t i = 0; i < linked.n; i++)
        if (is_wanted(&linked.entries[i]))
            linked.entries[kept++] = linked.entries[i];
    linked.n = kept;
}

/* Does it call another function that is turned aside, in at most so many bytes of code? */
static bool is_wrapper(const struct entry *e, size_t most) {
    uintptr_t others[MOST_ENTRIES];
    size_t n = 0;
    for (size_t i = 0; i < linked.n; i++)
        if (&linked.entries[i] != e && linked.entries[i].prefix == e->prefix &&
            names[linked.entries[i].name].kind != KIND_free)
            others[n++] = linked.entries[i].function;
    return e->size <= most &&
           displace_calls((const uint8_t *)e->function, e->size, e->function, others, n);
}

/* Who only calls malloc, or another function that is turned aside, and does it in a few
 * instructions, can stay as it is. */
enum { WRAPPER = 64 }; /* bytes */
static bool is_no_wrapper(const struct entry *e) {
    return names[e->name].kind == KIND_free || e->name == NAME_MALLOC || !is_wrapper(e, WRAPPER);
}

/* So can an operator of C++, which asks for a handler as well. They call each other, and are told
 * apart before any of them goes. */
static void mark_wrapping_operators(void) {
    enum { OPERATOR = 256 };
    for (size_t i = 0; i < linked.n; i++) {
        struct entry *e = &linked.entries[i];
        e->wraps =
            may_throw(e->type) && names[e->name].kind != KIND_free && is_wrapper(e, OPERATOR);
    }
}

static bool does_not_wrap(const struct entry *e) {
    return !e->wraps;
}

static uint32_t whole; /* bits of prefixes by which blocks can be had and given back */

static bool is_of_whole(const struct entry *e) {
    return whole >> e->prefix & 1;
}

static bool has_plain(void) {
    return entry_of(0, NAME_MALLOC) && entry_of(0, NAME_FREE);
}

/* Linkers leave out what a program does not call. */
static bool is_whole(unsigned prefix) {
    bool gives = false, takes = false;
    for (size_t i = 0; i < linked.n; i++)
        if (linked.entries[i].prefix == prefix) {
            const bool is_free = names[linked.entries[i].name].kind == KIND_free;
            gives |= !is_free;
            takes |= is_free;
        }
    return gives && takes && (prefixes[prefix].flag != PLAIN || linked.is_behind || has_plain());
}

static void find_entries(void) {
    char path[PATH_MAX];
    module_path(&linked.module, path, sizeof path);
    symbols_each(path, linked.module.build_id, linked.module.build_id_size, look_at_symbol, NULL);
    if (linked.also) /* linkers make names local where nobody else can ask for them */
        symbols_each(path, linked.module.build_id, linked.module.build_id_size, look_at_symbol,
                     &linked);
    whole = 0;
    for (unsigned p = 0; p < N_PREFIXES && linked.n > 0; p++)
        if (is_whole(p))
            whole |= 1u << p;
    forget(is_of_whole);
    mark_wrapping_operators();
    forget(does_not_wrap);
    if (!linked
             .also) /* else: what they call may have no tables of unwinding to lead through them */
        forget(is_no_wrapper);
}

/* ---- the code between --------------------------------------------------------------------- */

enum { SLOT = DISPLACE_ROOM + DISPLACE_ENTRY };

/* Puts the jump of an entry into place; NULL or why not. */
static const char *prepare(struct entry *e, uint8_t *slot, uint8_t jump[DISPLACE_JUMP]) {
    struct displaced moved;
    const char *why = displace_copy((const uint8_t *)e->function, e->size, e->size + e->behind,
                                    e->function, slot, (uintptr_t)slot, &moved);
    if (why)
        return why;
    uint8_t *const way = slot + DISPLACE_ROOM;
    displace_entry(way, (uintptr_t)e, e->hook);
    e->original = (original_call *)(uintptr_t)slot;
    e->patched = e->function + moved.entry;
    memcpy(e->before, (const void *)e->patched, sizeof e->before);
    return displace_jump(jump, e->patched, (uintptr_t)way) ? NULL : "is too far from free memory";
}

static void take_back(size_t n) {
    for (size_t i = 0; i < n; i++)
        if (linked.entries[i].patched)
            patch_write(linked.entries[i].patched, linked.entries[i].before,
                        sizeof linked.entries[i].before);
}

static void add_name(text *t, const struct entry *e) {
    text_add(t, prefixes[e->prefix].text);
    text_add(t, names[e->name].text);
}

static bool put_jumps(uint8_t (*jumps)[DISPLACE_JUMP], text *found) {
    for (size_t i = 0; i < linked.n; i++)
        if (linked.entries[i].patched &&
            !patch_write(linked.entries[i].patched, jumps[i], DISPLACE_JUMP)) {
            take_back(i);
            text_add(found, "the kernel does not let its code be changed");
            return false;
        }
    return true;
}

/* What cannot be moved stays as it is. */
static void prepare_others(uint8_t *code, uint8_t (*jumps)[DISPLACE_JUMP]) {
    size_t kept = 0;
    for (size_t i = 0; i < linked.n_others; i++) {
        struct entry *e = &linked.others[kept];
        *e = linked.others[i];
        const bool done = !prepare(e, code + kept * SLOT, jumps[kept]);
        linked.lets_throw |= done && e->lets_throw;
        kept += done;
    }
    linked.n_others = kept;
}

static void put_other_jumps(uint8_t (*jumps)[DISPLACE_JUMP]) {
    for (size_t i = 0; i < linked.n_others; i++)
        patch_write(linked.others[i].patched, jumps[i], DISPLACE_JUMP);
}

static bool does_not_throw(const struct entry *e) {
    return e->inside != LINKED_THROWS;
}

/* All of them, or none. */
static bool turn_aside(uint8_t *code, size_t size, text *found) {
    uint8_t jumps[MOST_ENTRIES][DISPLACE_JUMP], other_jumps[MOST_ALSO][DISPLACE_JUMP];
    prepare_others(code + linked.n * SLOT, other_jumps);
    if (linked.also && !linked.lets_throw)
        forget(does_not_throw); /* malloc is behind them, mostly */
    for (size_t i = 0; i < linked.n; i++) {
        const char *why = prepare(&linked.entries[i], code + i * SLOT, jumps[i]);
        if (why && linked.also && !is_no_wrapper(&linked.entries[i])) {
            linked.entries[i].patched = 0;
            continue;
        }
        if (why) {
            add_name(found, &linked.entries[i]);
            text_add(found, " ");
            text_add(found, why);
            return false;
        }
    }
    if (syscall_failed(syscall4(SYS_mprotect, (long)code, (long)size, PROT_READ | PROT_EXEC, 0))) {
        text_add(found, "the kernel allows no new code");
        return false;
    }
    __builtin___clear_cache((char *)code, (char *)code + size);
    if (!put_jumps(jumps, found))
        return false;
    put_other_jumps(other_jumps);
    return true;
}

/* That of the most usual name. */
static const struct entry *first_entry(void) {
    const struct entry *first = &linked.entries[0];
    for (size_t i = 1; i < linked.n; i++)
        if (linked.entries[i].name < first->name)
            first = &linked.entries[i];
    return first;
}

static void say_recorded(text *t) {
    text_add(t, linked.also ? "is statically linked; recorded are "
                            : "has an allocator of its own, which is recorded: ");
    add_name(t, first_entry());
    text_add(t, " and ");
    text_add_number(t, linked.n - 1, 10);
    text_add(t, linked.n == 2 ? " more function" : " more functions");
}

static bool record_entries(void) {
    const size_t unit = pages_unit();
    const size_t slots = (linked.n + linked.n_others) * SLOT,
                 size = (slots + unit - 1) & ~(unit - 1);
    uint8_t *code = patch_room(linked.module.low, size);
    text t = text_in(linked.found, sizeof linked.found);
    if (!linked.also)
        text_add(&t, "has an allocator of its own, which is not recorded: ");
    if (!code)
        text_add(&t, "there is no free memory near its code");
    else if (turn_aside(code, size, &t)) {
        t = text_in(linked.found, sizeof linked.found);
        say_recorded(&t);
        return true;
    }
    pages_free(code, size);
    return false;
}

static void visit_first(const struct module *m, void *context) {
    struct module *first = context;
    if (!first->headers)
        *first = *m;
}

uintptr_t linked_go_on(uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d, const struct entry *e) {
    return e->original(a, b, c, d);
}

bool linked_begin_static(const struct linked_also *also, size_t n) {
    linked.also = also;
    linked.n_also = n;
    return linked_begin(NULL) && linked.is_recorded;
}

HOT_CODE bool linked_begin(const struct module *preempting) {
    if (linked.is_recorded)
        return true;
    struct module program = {.headers = NULL};
    module_each(visit_first, &program);
    if (!program.headers)
        return !preempting;
    /* An executable may also hide its malloc from the libraries. */
    linked.module = preempting ? *preempting : program;
    find_entries();
    linked.is_recorded = linked.n > 0 && record_entries();
    return !preempting || (linked.is_recorded && has_plain());
}

/* Such a library is no secret of the program's: nothing is said of it, unless it cannot be
 * recorded. */
HOT_CODE void linked_begin_behind(const struct module *library) {
    if (linked.n > 0)
        return;
    linked.is_behind = true;
    linked.module = *library;
    find_entries();
    linked.is_recorded = linked.n > 0 && record_entries();
    if (linked.is_recorded)
        *linked.found = 0;
}

bool linked_is_recorded(void) {
    return linked.is_recorded;
}

const char *linked_found(void) {
    return *linked.found ? linked.found : NULL;
}
