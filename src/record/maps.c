/* maps.c: intercepts the calls by which programs map memory themselves. The calls are only passed
 * on unless the recording includes mappings. Calls of the C library and the loader never come here,
 * because they do not leave those modules. Calls of an allocator that is interposed or linked into
 * the program do come here, and are only passed on, because the blocks of the allocator are
 * recorded. Address space without any access counts as reserved, not as allocated. */
#undef _FILE_OFFSET_BITS /* otherwise mmap would mean mmap64 */
#include <errno.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <unistd.h>

#include "platform/pages.h"
#include "platform/syscall.h"
#include "record/calls.h"
#include "record/mapping.h"
#include "record/next.h"

#ifndef MREMAP_DONTUNMAP
#define MREMAP_DONTUNMAP 4
#endif

#define EXPORT __attribute__((visibility("default"))) CPU_ALIGN_STACK

static uintptr_t whole_pages(size_t size) {
    uintptr_t unit = pages_unit();
    return (size + unit - 1) & ~(unit - 1);
}

/* Returns the end of a valid range for such a call; its start if the range is invalid. */
static uintptr_t range_end(uintptr_t start, size_t size) {
    uintptr_t end = start + whole_pages(size);
    return start % pages_unit() == 0 && end > start ? end : start;
}

static struct session *enter_from(const void *caller) {
    return recorder_maps && !self.linked && !next_is_allocator(caller) ? mapping_enter() : NULL;
}

/* ---- mmap and mmap64 ----------------------------------------------------------------------- */

typedef void *map_call(void *address, size_t size, int protection, int flags, int fd, off_t offset);

static void *map(struct session *s, map_call *call, void *address, size_t size, int protection,
                 int flags, int fd, off_t offset, const struct unwind_site *site) {
    uintptr_t start = (uintptr_t)address;
    mapping_outs outs = {0};
    if (flags & MAP_FIXED)
        mapping_take_out(s, start, range_end(start, size), &outs);
    void *mapped = call(address, size, protection, flags, fd, offset);
    mapping_settle(s, &outs, mapped != MAP_FAILED, site);
    if (mapped != MAP_FAILED) {
        region r = {.start = (uintptr_t)mapped,
                    .end = (uintptr_t)mapped + whole_pages(size),
                    .type = flags & MAP_ANONYMOUS ? TYPE_mmap : TYPE_mmap_file,
                    .reserved = protection == PROT_NONE};
        mapping_add(s, r, site);
    }
    mapping_leave();
    return mapped;
}

#define DEFINE_MMAP(name)                                                                          \
    EXPORT void *name(void *address, size_t size, int protection, int flags, int fd,               \
                      off_t offset);                                                               \
    void *name(void *address, size_t size, int protection, int flags, int fd, off_t offset) {      \
        struct session *s = enter_from(__builtin_return_address(0));                               \
        struct unwind_site site;                                                                   \
        unwind_site_here(&site);                                                                   \
        return s ? map(s, next.name, address, size, protection, flags, fd, offset, &site)          \
                 : next.name(address, size, protection, flags, fd, offset);                        \
    }
DEFINE_MMAP(mmap)
DEFINE_MMAP(mmap64)

/* ---- the others ---------------------------------------------------------------------------- */

EXPORT int munmap(void *address, size_t size);
int munmap(void *address, size_t size) {
    struct session *s = enter_from(__builtin_return_address(0));
    struct unwind_site site;
    mapping_outs outs;
    unwind_site_here(&site);
    if (!s)
        return next.munmap(address, size);
    mapping_take_out(s, (uintptr_t)address, range_end((uintptr_t)address, size), &outs);
    int error = next.munmap(address, size);
    mapping_settle(s, &outs, error == 0, &site);
    mapping_leave();
    return error;
}

EXPORT int mprotect(void *address, size_t size, int protection);
int mprotect(void *address, size_t size, int protection) {
    struct session *s = protection == PROT_NONE ? NULL : enter_from(__builtin_return_address(0));
    struct unwind_site site;
    unwind_site_here(&site);
    int error = next.mprotect(address, size, protection);
    if (s && error == 0)
        mapping_unreserve(s, (uintptr_t)address, range_end((uintptr_t)address, size), &site);
    if (s)
        mapping_leave();
    return error;
}

static void *remap_directly(void *old, size_t old_size, size_t size, int flags, void *wanted) {
    long moved =
        syscall6(SYS_mremap, (long)old, (long)old_size, (long)size, flags, (long)wanted, 0);
    if (!syscall_failed(moved))
        return (void *)moved;
    errno = (int)-moved;
    return MAP_FAILED;
}

/* The new range inherits the kind of the old one: usable or reserved memory. */
static void *remap(struct session *s, void *old, size_t old_size, size_t size, int flags,
                   void *wanted, const struct unwind_site *site) {
    mapping_outs outs = {0}, replaced = {0};
    uintptr_t start = (uintptr_t)old, target = (uintptr_t)wanted;
    region r = {.type = TYPE_mmap};
    if (!(flags & MREMAP_DONTUNMAP))
        mapping_take_out(s, start, range_end(start, old_size), &outs);
    if (outs.n > 0)
        r = outs.items[0].whole;
    if (flags & MREMAP_FIXED)
        mapping_take_out(s, target, range_end(target, size), &replaced);
    void *moved = remap_directly(old, old_size, size, flags, wanted);
    mapping_settle(s, &replaced, moved != MAP_FAILED, site);
    mapping_settle(s, &outs, moved != MAP_FAILED, site);
    if (moved != MAP_FAILED) {
        r.start = (uintptr_t)moved;
        r.end = r.start + whole_pages(size);
        mapping_add(s, r, site);
    }
    mapping_leave();
    return moved;
}

EXPORT void *mremap(void *old, size_t old_size, size_t size, int flags, ...);
void *mremap(void *old, size_t old_size, size_t size, int flags, ...) {
    struct session *s = enter_from(__builtin_return_address(0));
    struct unwind_site site;
    void *wanted = NULL;
    unwind_site_here(&site);
    if (flags & (MREMAP_FIXED | MREMAP_DONTUNMAP)) {
        va_list list;
        va_start(list, flags);
        wanted = va_arg(list, void *);
        va_end(list);
    }
    return s ? remap(s, old, old_size, size, flags, wanted, &site)
             : remap_directly(old, old_size, size, flags, wanted);
}

/* Adds the memory by which a call has raised the break. (Memory that a call frees by lowering the
 * break is taken out before the call.) */
static void add_break(struct session *s, uintptr_t from, uintptr_t to,
                      const struct unwind_site *site) {
    if (to > from)
        mapping_add(s, (region){.start = from, .end = to, .type = TYPE_sbrk}, site);
    mapping_leave();
}

EXPORT void *sbrk(intptr_t increment);
void *sbrk(intptr_t increment) {
    struct session *s = increment == 0 ? NULL : enter_from(__builtin_return_address(0));
    struct unwind_site site;
    mapping_outs outs = {0};
    unwind_site_here(&site);
    if (s && increment < 0) {
        uintptr_t top = (uintptr_t)next.sbrk(0);
        mapping_take_out(s, top + (uintptr_t)increment, top, &outs);
    }
    void *before = next.sbrk(increment);
    if (s) {
        bool done = before != (void *)-1;
        mapping_settle(s, &outs, done, &site);
        add_break(s, (uintptr_t)before, done ? (uintptr_t)before + (uintptr_t)increment : 0, &site);
    }
    return before;
}

EXPORT int brk(void *address);
int brk(void *address) {
    struct session *s = enter_from(__builtin_return_address(0));
    struct unwind_site site;
    mapping_outs outs = {0};
    uintptr_t top = s ? (uintptr_t)next.sbrk(0) : 0, wanted = (uintptr_t)address;
    unwind_site_here(&site);
    if (s && wanted < top)
        mapping_take_out(s, wanted, top, &outs);
    int error = next.brk(address);
    if (s) {
        mapping_settle(s, &outs, error == 0, &site);
        add_break(s, top, error == 0 ? wanted : 0, &site);
    }
    return error;
}
