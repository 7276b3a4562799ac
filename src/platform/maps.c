/* maps.c: parses /proc/self/maps from one buffer, without stdio. A line is "low-high perms offset
 * device inode   path". Where one address is all that is needed, the kernel (from 6.11 on) is asked
 * for that mapping alone: a process with thousands of threads has as many lines. */
#include "platform/maps.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <sys/ioctl.h>

#include "platform/syscall.h"

enum {
    MAPS_BUFFER = 512, /* small: this may run on a small stack */
    MAPS_FIELDS = 4,   /* between the addresses and the path */
    KERNEL_SIGSET_SIZE = 8
};

struct maps {
    long fd;
    long at, size; /* the unread part of `buffer` */
    char buffer[MAPS_BUFFER];
};

/* Returns the next character without consuming it; 0 at the end. */
static char maps_peek(struct maps *maps) {
    if (maps->at >= maps->size) {
        maps->at = 0;
        maps->size = syscall4(SYS_read, maps->fd, (long)maps->buffer, sizeof maps->buffer, 0);
        if (maps->size <= 0)
            return maps->buffer[0] = '\0';
    }
    return maps->buffer[maps->at];
}

static char maps_next(struct maps *maps) {
    char c = maps_peek(maps);
    maps->at += c != '\0';
    return c;
}

/* Reads a hexadecimal number and the character after it. */
static uintptr_t maps_number(struct maps *maps) {
    uintptr_t number = 0;
    for (;;) {
        char c = maps_next(maps);
        if (c >= '0' && c <= '9')
            number = number << 4 | (uintptr_t)(c - '0');
        else if (c >= 'a' && c <= 'f')
            number = number << 4 | (uintptr_t)(c - 'a' + 10);
        else
            return number;
    }
}

static void maps_skip_fields(struct maps *maps) {
    for (int i = 0; i < MAPS_FIELDS; i++)
        for (char c = maps_next(maps); c && c != ' ';)
            c = maps_next(maps);
    while (maps_peek(maps) == ' ')
        maps_next(maps);
}

static void maps_line_rest(struct maps *maps, char *path, size_t size) {
    size_t n = 0;
    for (char c = maps_next(maps); c && c != '\n'; c = maps_next(maps))
        if (n + 1 < size)
            path[n++] = c;
    if (size)
        path[n] = '\0';
}

static bool maps_search(struct maps *maps, uintptr_t address, struct mapping *out, char *path,
                        size_t size) {
    *out = (struct mapping){0};
    while (maps_peek(maps)) {
        out->below = out->high;
        out->low = maps_number(maps);
        out->high = maps_number(maps);
        maps_skip_fields(maps);
        bool found = address >= out->low && address < out->high;
        maps_line_rest(maps, path, found ? size : 0);
        if (found)
            return true;
    }
    return false;
}

static bool maps_open(struct maps *maps) {
    maps->at = maps->size = 0;
    maps->fd = syscall4(SYS_openat, AT_FDCWD, (long)"/proc/self/maps", O_RDONLY | O_CLOEXEC, 0);
    return !syscall_failed(maps->fd);
}

static void maps_close(const struct maps *maps) {
    syscall4(SYS_close, maps->fd, 0, 0, 0);
}

bool maps_find(uintptr_t address, struct mapping *out, char *path, size_t size) {
    struct maps maps;
    if (!maps_open(&maps))
        return false;
    bool found = maps_search(&maps, address, out, path, size);
    maps_close(&maps);
    return found;
}

/* The kernel's struct procmap_query, which many distributions' headers do not have yet. */
struct maps_query {
    uint64_t size, flags, address;
    uint64_t low, high;
    uint64_t others[8];
};
#define MAPS_QUERY _IOWR('f', 17, struct maps_query)

static _Atomic bool query_forbidden;

void maps_forbid_query(void) {
    atomic_store_explicit(&query_forbidden, true, memory_order_relaxed);
}

/* Returns an error of the kernel: -ENOENT if nothing is mapped there, others if it does not know
 * the question. */
static long maps_ask(const struct maps *maps, struct maps_query *query) {
    if (atomic_load_explicit(&query_forbidden, memory_order_relaxed))
        return -ENOTTY;
    return syscall4(SYS_ioctl, maps->fd, (long)MAPS_QUERY, (long)query, 0);
}

uintptr_t maps_low(uintptr_t address) {
    struct maps maps;
    struct mapping mapping;
    struct maps_query query = {.size = sizeof query, .address = address};
    if (!maps_open(&maps))
        return 0;
    const long result = maps_ask(&maps, &query);
    uintptr_t low = 0;
    if (!syscall_failed(result))
        low = query.low;
    else if (result != -ENOENT && maps_search(&maps, address, &mapping, NULL, 0))
        low = mapping.low;
    maps_close(&maps);
    return low;
}

/* The kernel copies the new signal mask from the address before it checks `how`, which is invalid
 * here. So the error tells whether the address is readable. */
bool maps_readable(uintptr_t address) {
    enum { NO_SUCH_HOW = -1 };
    long result = syscall4(SYS_rt_sigprocmask, NO_SUCH_HOW, (long)address, 0, KERNEL_SIGSET_SIZE);
    return result == -EINVAL;
}

/* FUTEX_CMP_REQUEUE compares the word before it moves any waiters, and is asked to move none. It
 * takes less than a microsecond; a FUTEX_WAIT with a timeout of zero sleeps for half a
 * millisecond. */
enum maps_word maps_compare(uintptr_t address, uint32_t expected) {
    static uint32_t nobody;
    const long result = syscall6(SYS_futex, (long)address, FUTEX_CMP_REQUEUE | FUTEX_PRIVATE_FLAG,
                                 0, 0, (long)&nobody, expected);
    return result == 0 ? MAPS_WORD_SAME : result == -EAGAIN ? MAPS_WORD_OTHER : MAPS_WORD_GONE;
}
