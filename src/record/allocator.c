/* allocator.c: implements allocator.h: the tables of names, and the hooks that intercepted calls
 * reach. */
#include "record/allocator.h"

#include <string.h>

#include "base/hot.h"
#include "base/inline.h"
#include "record/linked.h"
#include "record/native.h"
#include "record/recorder.h"

typedef uintptr_t word;

/* What has been counted and recorded in this thread so far. */
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

static __attribute__((noinline)) word allocator_born(word block, word bytes,
                                                     const struct allocator_call *e,
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

static ALWAYS_INLINE word allocator_go_in(word a, word b, word c, word d,
                                          const struct allocator_call *e) {
    self.linked = e->inside;
    const bool pauses = e->is_closed && !self.paused;
    const int64_t countdown = pauses ? recorder_pause() : 0;
    const word result = e->original(a, b, c, d);
    if (pauses)
        recorder_resume(countdown);
    self.linked = LINKED_NONE;
    return result;
}

#define IF_INSIDE_GO_ON()                                                                          \
    if (__builtin_expect(self.linked == LINKED_COUNTS, 0))                                         \
    return e->original(a, b, c, d)

/* Must be inlined into the hook, which is called in place of the allocator's function, because
 * unwind_site_here takes the hook's caller. */
static ALWAYS_INLINE word allocator_alloc(word a, word b, word c, word d,
                                          const struct allocator_call *e, word bytes) {
    IF_INSIDE_GO_ON();
    const struct counted before = counted_now();
    const word block = allocator_go_in(a, b, c, d, e);
    if (!block || is_counted(&before) || !memprof_count(&self.sampler, recorder_words(bytes)))
        return block;
    struct unwind_site site;
    unwind_site_here(&site);
    return allocator_born(block, bytes, e, &site);
}

/* The old block is taken out before the call, because another thread may get its address at
 * once. */
static ALWAYS_INLINE word allocator_resize(word a, word b, word c, word d,
                                           const struct allocator_call *e, word old, word bytes) {
    IF_INSIDE_GO_ON();
    void *const block = (void *)old;
    const bool may_be_known = block && memprof_is_tracked(&recorder_filter, block);
    const uint64_t taken = may_be_known ? native_take(block) : 0;
    const struct counted before = counted_now();
    const word moved = allocator_go_in(a, b, c, d, e);
    const bool done = is_counted(&before);
    if (taken)
        native_settle(block, taken, moved || bytes == 0);
    if (!moved || done || !memprof_count(&self.sampler, recorder_words(bytes)))
        return moved;
    struct unwind_site site;
    unwind_site_here(&site);
    self.moved = (struct moved){block, (void *)moved};
    allocator_born(moved, bytes, e, &site);
    self.moved = (struct moved){0};
    return moved;
}

#define HOOK(name)                                                                                 \
    HOT_CODE static CPU_ALIGN_STACK word hook_##name(word a, word b, word c, word d,               \
                                                     const struct allocator_call *e)
HOOK(size0) {
    return allocator_alloc(a, b, c, d, e, a);
}
HOOK(size1) {
    return allocator_alloc(a, b, c, d, e, b);
}
HOOK(product01) {
    return allocator_alloc(a, b, c, d, e, calls_product(a, b));
}
HOOK(product12) {
    return allocator_alloc(a, b, c, d, e, calls_product(b, c));
}
HOOK(resize1) {
    return allocator_resize(a, b, c, d, e, a, b);
}
HOOK(resize12) {
    return allocator_resize(a, b, c, d, e, a, calls_product(b, c));
}
HOOK(resize3) {
    return allocator_resize(a, b, c, d, e, a, d);
}
HOOK(heap_resize2) {
    return allocator_resize(a, b, c, d, e, b, c);
}
HOOK(heap_resize23) {
    return allocator_resize(a, b, c, d, e, b, calls_product(c, d));
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
/* The function returns an error code and stores the block through its first argument. */
HOOK(out2) {
    IF_INSIDE_GO_ON();
    const struct counted before = counted_now();
    const word error = allocator_go_in(a, b, c, d, e);
    if ((int)error != 0 || is_counted(&before) || !memprof_count(&self.sampler, recorder_words(c)))
        return error;
    struct unwind_site site;
    unwind_site_here(&site);
    allocator_born(*(const word *)a, c, e, &site);
    return error;
}
/* The function resizes a block only in place, and returns its size. */
HOOK(grow1) {
    IF_INSIDE_GO_ON();
    void *const block = (void *)a;
    const uint64_t taken = memprof_is_tracked(&recorder_filter, block) ? native_take(block) : 0;
    const word size = allocator_go_in(a, b, c, d, e);
    if (taken)
        native_settle(block, taken, size >= b);
    if (size < b || !memprof_count(&self.sampler, recorder_words(b)))
        return size;
    struct unwind_site site;
    unwind_site_here(&site);
    allocator_born(a, b, e, &site);
    return size;
}

/* The size of the block follows from the string in it. */
static ALWAYS_INLINE word allocator_text(word a, word b, word c, word d,
                                         const struct allocator_call *e, bool is_new) {
    if (!is_new)
        return e->original(a, b, c, d);
    IF_INSIDE_GO_ON();
    const struct counted before = counted_now();
    const word block = allocator_go_in(a, b, c, d, e);
    if (!block || is_counted(&before))
        return block;
    const word bytes = strlen((const char *)block) + 1;
    if (!memprof_count(&self.sampler, recorder_words(bytes)))
        return block;
    struct unwind_site site;
    unwind_site_here(&site);
    return allocator_born(block, bytes, e, &site);
}
HOOK(text) {
    return allocator_text(a, b, c, d, e, true);
}
HOOK(path1) {
    return allocator_text(a, b, c, d, e, !b);
}
HOOK(path2) {
    return allocator_text(a, b, c, d, e, !c);
}

static allocator_heap_visit *heap_visit;

void allocator_know_heaps(allocator_heap_visit *visit) {
    heap_visit = visit;
}

static bool die_with_heap(const void *heap, const void *area, void *block, size_t size,
                          void *context) {
    (void)heap, (void)area, (void)size, (void)context;
    if (block && memprof_is_tracked(&recorder_filter, block))
        native_died(block);
    return true;
}

/* The function frees all blocks of a heap, without a call for each. */
HOOK(destroy) {
    if (heap_visit && recorder_enter_begun())
        heap_visit((const void *)a, true, die_with_heap, NULL);
    return e->original(a, b, c, d);
}

/* ---- the tables ---------------------------------------------------------------------------- */

static uintptr_t hook_of(enum allocator_kind kind) {
    switch (kind) {
#define CASE(name)                                                                                 \
    case KIND_##name:                                                                              \
        return (uintptr_t)hook_##name;
        ALLOCATOR_KINDS(CASE)
    }
    return 0;
}

const struct allocator_name allocator_names[N_ALLOCATOR_NAMES] = {
#define NAME(name, prefixes, kind, type) {#name, prefixes, KIND_##kind, TYPE_##type},
    ALLOCATOR_NAMES(NAME)
#define NAME_NEW(name, type, parameters, arguments, bytes, ...)                                    \
    {#name, PLAIN, KIND_size0, TYPE_##name},
#define NAME_DELETE(name, ...) {#name, PLAIN, KIND_free, TYPE_malloc},
        CALLS_NEW(NAME_NEW) CALLS_DELETE(NAME_DELETE)};

const struct allocator_prefix_text allocator_prefixes[N_ALLOCATOR_PREFIXES] = {
#define PREFIX(text, flag) {text, flag},
    ALLOCATOR_PREFIXES(PREFIX)};

bool allocator_may_throw(unsigned name) {
    const unsigned type = allocator_names[name].type;
    return (type >= TYPE__Znwm && type < TYPE_realloc) ||
           strncmp(allocator_names[name].text, "new", 3) == 0;
}

void allocator_name_call(struct allocator_call *call, unsigned name) {
    call->name = (uint16_t)name;
    call->hook = hook_of(allocator_names[name].kind);
    call->type = allocator_names[name].type;
    call->inside = allocator_may_throw(name) ? LINKED_THROWS : LINKED_COUNTS;
}

/* Returns whether the second letter is one of `letters`. */
static inline bool goes_on(const char *name, const char *letters) {
    while (*letters && *letters != name[1])
        letters++;
    return *letters;
}

/* Returns whether the name may be an allocator's. A program can have a hundred thousand symbols,
 * and few of them begin like any of these names. */
HOT_CODE static bool may_have(const char *name) {
    switch (*name) {
    case '_': /* operators, _rjem_ */
        return name[1] == 'r' || (name[1] == 'Z' && (name[2] == 'n' || name[2] == 'd'));
    case 'a':
        return goes_on(name, "l"); /* aligned_alloc */
    case 'c':
        return goes_on(name, "af"); /* calloc, cfree */
    case 'd':
        return goes_on(name, "al"); /* dallocx, dl… */
    case 'f':
        return goes_on(name, "r"); /* free */
    case 'j':
        return goes_on(name, "e"); /* je_ */
    case 'm':
        return goes_on(name, "aei"); /* malloc, memalign, mi_ */
    case 'p':
        return goes_on(name, "ov"); /* posix_memalign, pvalloc */
    case 'r':
        return goes_on(name, "aep"); /* rallocx, realloc, rp… */
    case 's':
        return goes_on(name, "cdn"); /* scalable_, sdallocx, sn_ */
    case 't':
        return goes_on(name, "c"); /* tc_ */
    case 'v':
        return goes_on(name, "a"); /* valloc */
    case 'x':
        return goes_on(name, "a"); /* xallocx */
    default:
        return false;
    }
}

HOT_CODE void allocator_each_name(const char *text,
                                  void (*visit)(unsigned prefix, unsigned name, void *context),
                                  void *context) {
    if (!may_have(text))
        return;
    for (unsigned p = 0; p < N_ALLOCATOR_PREFIXES; p++) {
        const size_t size = strlen(allocator_prefixes[p].text);
        if (strncmp(text, allocator_prefixes[p].text, size) != 0)
            continue;
        for (unsigned n = 0; n < N_ALLOCATOR_NAMES; n++)
            if ((allocator_names[n].prefixes & allocator_prefixes[p].flag) &&
                allocator_names[n].text[0] == text[size] &&
                strcmp(allocator_names[n].text, text + size) == 0)
                visit(p, n, context);
    }
}
