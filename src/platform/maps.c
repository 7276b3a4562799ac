/* maps.c: parses /proc/PID/maps from one buffer, without stdio. A line is "low-high perms offset
 * device inode   path". */
#include "platform/maps.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>

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

bool maps_find(uintptr_t address, struct mapping *out, char *path, size_t size) {
    struct maps maps;
    maps.at = maps.size = 0;
    maps.fd = syscall4(SYS_openat, AT_FDCWD, (long)"/proc/self/maps", O_RDONLY | O_CLOEXEC, 0);
    if (syscall_failed(maps.fd))
        return false;
    bool found = maps_search(&maps, address, out, path, size);
    syscall4(SYS_close, maps.fd, 0, 0, 0);
    return found;
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
