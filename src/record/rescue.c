/* rescue.c: implements rescue.h. Each stream has a slot in the file shared with `run`; an atomic
 * addition allocates it, and it is a mapping of its own. Before a fork, its content is copied. The
 * child then replaces the shared mapping with a private one of that content, at the same address.
 * So its changes to the parent's stream reach nobody. */
#include "record/rescue.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>

#include "base/hot.h"
#include "contract/rescue.h"
#include "platform/pages.h"
#include "platform/syscall.h"

/* This process's data on a slot, on a page of its own. */
struct rescue_mapping {
    struct rescue_mapping *next;
    struct rescue_slot *slot; /* shared mapping */
    size_t size;              /* bytes mapped */
    void *kept;               /* copy made before a fork; NULL: none */
};

HOT_CODE static void *map_shared(long fd, uint64_t offset, size_t size) {
    long at =
        syscall6(SYS_mmap, 0, (long)size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (long)offset);
    return syscall_failed(at) ? NULL : (void *)at;
}

/* Opens the file, if its name still leads to a file of ours: process ids are reused. Streams must
 * have `stream_size` bytes, or any size if that is 0. */
HOT_CODE static long open_file(const char *path, size_t stream_size) {
    struct rescue_head head;
    long fd = syscall4(SYS_openat, AT_FDCWD, (long)path, O_RDWR | O_CLOEXEC, 0);
    if (syscall_failed(fd))
        return fd;
    if (syscall_failed(syscall4(SYS_fcntl, fd, F_GET_SEALS, 0, 0)) ||
        syscall4(SYS_pread64, fd, (long)&head, sizeof head, 0) != sizeof head ||
        head.magic != RESCUE_MAGIC || (stream_size && head.stream_size != stream_size)) {
        syscall4(SYS_close, fd, 0, 0, 0);
        return -1;
    }
    return fd;
}

/* Allocates and maps a slot. */
static struct rescue_slot *map_slot(const char *path, size_t stream_size, size_t size) {
    struct rescue_slot *slot = NULL;
    long fd = open_file(path, stream_size);
    if (syscall_failed(fd))
        return NULL;
    struct rescue_head *head = map_shared(fd, 0, RESCUE_UNIT);
    if (head) {
        uint64_t at = atomic_fetch_add(&head->next, size);
        if (at <= RESCUE_SIZE - size)
            slot = map_shared(fd, at, size);
        pages_free(head, RESCUE_UNIT);
    }
    syscall4(SYS_close, fd, 0, 0, 0);
    return slot;
}

HOT_CODE static struct rescue_head *map_head(const char *path) {
    long fd = path && *path ? open_file(path, 0) : -1;
    if (syscall_failed(fd))
        return NULL;
    struct rescue_head *head = map_shared(fd, 0, RESCUE_UNIT);
    syscall4(SYS_close, fd, 0, 0, 0);
    return head;
}

bool rescue_tell(const char *path, uint64_t note) {
    struct rescue_head *head = map_head(path);
    if (!head)
        return true;
    const uint64_t before = atomic_fetch_or(&head->notes, note);
    pages_free(head, RESCUE_UNIT);
    return !(before & note);
}

HOT_CODE void rescue_begin(rescue *r) {
    r->head = map_head(r->path);
}

void rescue_take_head(rescue *r, rescue *from) {
    if (r->head)
        return;
    r->head = from->head;
    from->head = NULL;
}

HOT_CODE void rescue_count_silent(rescue *r, bool waits) {
    if (r->head)
        atomic_fetch_add(&r->head->silent, waits ? 1 : UINT64_MAX);
}

void rescue_count_refused(rescue *r) {
    if (r->head)
        atomic_fetch_add(&r->head->refused, 1);
}

void rescue_count_remark(rescue *r) {
    if (r->first)
        atomic_fetch_add_explicit(&r->first->n_remarks, 1, memory_order_relaxed);
}

static void rescue_unmap(struct rescue_mapping *m) {
    pages_free(m->slot, m->size);
    pages_free(m, sizeof *m);
}

void *rescue_alloc(rescue *r, size_t stream_size) {
    size_t size = (size_t)rescue_slot_size(stream_size);
    if (!r->path || !*r->path)
        return NULL;
    struct rescue_mapping *m = pages_alloc(sizeof *m);
    struct rescue_slot *slot = m ? map_slot(r->path, stream_size, size) : NULL;
    if (!slot) {
        pages_free(m, sizeof *m);
        return NULL;
    }
    *m = (struct rescue_mapping){.next = r->mappings, .slot = slot, .size = size};
    r->mappings = m;
    if (atomic_load(&r->orphaned)) { /* the process has forked since, so the slot is the parent's */
        r->mappings = m->next;
        rescue_unmap(m);
        return NULL;
    }
    char *stream = (char *)slot + RESCUE_STREAM_AT;
    slot->pid = r->pid;
    slot->start_time = r->start_time;
    if (!r->first)
        r->first = slot;
    slot->address = (uintptr_t)stream;
    atomic_signal_fence(memory_order_release);
    slot->magic = RESCUE_MAGIC;
    return stream;
}

bool rescue_free(rescue *r, void *stream) {
    struct rescue_mapping **m = &r->mappings, *found;
    while ((found = *m) && (char *)found->slot + RESCUE_STREAM_AT != stream)
        m = &found->next;
    if (!found)
        return false;
    *m = found->next;
    found->slot->magic = 0;
    if (r->first == found->slot)
        r->first = NULL;
    rescue_unmap(found);
    return true;
}

static bool is_of(const struct rescue_mapping *m, const void *stream) {
    return !stream || (char *)m->slot + RESCUE_STREAM_AT == stream;
}

static void keep(struct rescue_mapping *m) {
    if (m->kept)
        return; /* a signal handler that interrupted a fork is forking, too */
    m->kept = pages_alloc(m->size);
    if (m->kept)
        memcpy(m->kept, m->slot, m->size);
}

static void drop_kept(struct rescue_mapping *m) {
    pages_free(m->kept, m->size);
    m->kept = NULL;
}

void rescue_before_fork(rescue *r, void *stream) {
    for (struct rescue_mapping *m = r->mappings; m; m = m->next)
        if (is_of(m, stream))
            keep(m);
}

void rescue_after_fork(rescue *r, void *stream) {
    for (struct rescue_mapping *m = r->mappings; m; m = m->next)
        if (is_of(m, stream))
            drop_kept(m);
}

/* Replaces the shared mapping with a private copy of its content. */
static void make_own(struct rescue_mapping *m) {
    keep(m);
    if (!m->kept)
        return;
    long at = syscall6(SYS_mmap, (long)m->slot, (long)m->size, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    if (!syscall_failed(at))
        memcpy(m->slot, m->kept, m->size);
    drop_kept(m);
}

void rescue_orphan(rescue *r, void *stream) {
    atomic_store(&r->orphaned, true);
    r->first = NULL;
    for (struct rescue_mapping *m = r->mappings; m; m = m->next)
        if (is_of(m, stream))
            make_own(m);
}

void rescue_leave(rescue *r) {
    for (struct rescue_mapping *m = r->mappings, *next; m; m = next) {
        next = m->next;
        rescue_unmap(m);
    }
    if (r->head)
        pages_free(r->head, RESCUE_UNIT);
    r->head = NULL;
    r->mappings = NULL;
    r->first = NULL;
}
