/* gauges.c: keeps /proc/self/statm open and reads it with one pread. Opens it again if the program
 * has closed the descriptor or reused its number. */
#include "record/gauges.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "base/hot.h"
#include "platform/pages.h"
#include "platform/syscall.h"
#include "record/descriptor.h"

#define STATM        "/proc/self/statm"
#define STATM_FIELDS 7 /* all are numbers of pages */

const char *const gauge_names[N_GAUGES] = {
#define GAUGE_NAME(id, name, ...) [GAUGE_##id] = name,
    GAUGES(GAUGE_NAME)
#undef GAUGE_NAME
};

static void open_locked(gauges *g) {
    struct stat st;
    long fd = syscall4(SYS_openat, AT_FDCWD, (long)STATM, O_RDONLY | O_CLOEXEC, 0);
    g->fd = -1;
    if (syscall_failed(fd))
        return;
    g->fd = descriptor_raise((int)fd);
    if (syscall_failed(syscall4(SYS_fstat, g->fd, (long)&st, 0, 0))) {
        g->fd = -1;
        return;
    }
    g->device = st.st_dev;
    g->inode = st.st_ino;
}

void gauges_open(gauges *g) {
    g->open = true;
    open_locked(g);
}

/* Returns false if the text is malformed. */
static bool parse(const char *text, uint64_t pages[STATM_FIELDS]) {
    for (int i = 0; i < STATM_FIELDS; i++) {
        if (*text < '0' || *text > '9')
            return false;
        for (pages[i] = 0; *text >= '0' && *text <= '9'; text++)
            pages[i] = pages[i] * 10 + (uint64_t)(*text - '0');
        text += *text == ' ';
    }
    return true;
}

static bool read_locked(gauges *g, uint64_t pages[STATM_FIELDS]) {
    char text[256];
    if (!descriptor_is(g->fd, g->device, g->inode))
        open_locked(g);
    if (g->fd < 0)
        return false;
    long n = syscall4(SYS_pread64, g->fd, (long)text, sizeof text - 1, 0);
    if (syscall_failed(n))
        return false;
    text[n] = '\0';
    return parse(text, pages);
}

/* Returns bytes. One field may be smaller than the other, because the kernel does not count them at
 * the same moment. */
static uint64_t difference(const uint64_t pages[STATM_FIELDS], int field, int less) {
    uint64_t minus = less < 0 ? 0 : pages[less];
    return (pages[field] > minus ? pages[field] - minus : 0) * pages_unit();
}

bool gauges_read(gauges *g, uint64_t bytes[N_GAUGES]) {
    uint64_t pages[STATM_FIELDS];
    if (!lock_try(&g->lock))
        return false;
    bool ok = g->open && read_locked(g, pages);
    lock_release(&g->lock);
    if (!ok)
        return false;
#define GAUGE_VALUE(id, name, field, less) bytes[GAUGE_##id] = difference(pages, field, less);
    GAUGES(GAUGE_VALUE)
#undef GAUGE_VALUE
    return true;
}

HOT_CODE static void close_if_ours(const gauges *g, int fd) {
    if (descriptor_is(fd, g->device, g->inode))
        syscall4(SYS_close, fd, 0, 0, 0);
}

HOT_CODE void gauges_drop(const gauges *g) {
    close_if_ours(g, g->fd);
}

void gauges_close(gauges *g) {
    int fd = g->fd;
    g->open = false;
    g->fd = -1;
    close_if_ours(g, fd);
}
