/* sink.c: implements sink.h. Before each write, it checks that the descriptor is still our file and
 * that there is room below the limit, and blocks the signals that a write can raise. After it, a
 * signal that the kernel sent because of the write is taken back. A write that fails halfway is cut
 * off again, so that only whole packets stay. */
#include "record/sink.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>

#include "allotrace/memtrace.h"
#include "base/hot.h"
#include "contract/trace_name.h"
#include "platform/syscall.h"
#include "record/descriptor.h"
#include "record/text.h"

#define FILE_MODE  0666
#define OPEN_FLAGS (O_WRONLY | O_APPEND | O_CLOEXEC | O_NOCTTY)

typedef uint64_t signal_set; /* in the kernel's format: bit i is signal i + 1 */

#define SIGNAL_BIT(signal) (UINT64_C(1) << ((signal)-1))

static int error_of(long result) {
    return syscall_failed(result) ? (int)-result : 0;
}

HOT_CODE static bool sink_is_ours(const sink *s, int fd) {
    return descriptor_is(fd, s->device, s->inode);
}

/* Returns false if another process holds the lock of the file. Where locks do not work, there are
 * none. */
static bool fd_lock(int fd) {
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    int error = error_of(syscall4(SYS_fcntl, fd, F_OFD_SETLK, (long)&whole, 0));
    return error != EAGAIN && error != EACCES;
}

static bool is_trace_of(const char *path, uint64_t pid) {
    uint8_t bytes[MEMTRACE_FRONT_SIZE];
    long fd = syscall4(SYS_openat, AT_FDCWD, (long)path, O_RDONLY | O_CLOEXEC | O_NOCTTY, 0);
    if (syscall_failed(fd))
        return false;
    long n = syscall4(SYS_read, fd, (long)bytes, sizeof bytes, 0);
    syscall4(SYS_close, fd, 0, 0, 0);
    return !syscall_failed(n) && memtrace_is_of_process(bytes, (size_t)n, pid);
}

/* Renames the trace that is there: this process wrote it, as another program or before it was told
 * to stop recording. Returns false if the trace stays, to be overwritten. Not inlined, because it
 * takes stack that other paths do not need. */
static __attribute__((noinline)) bool sink_keep_earlier(const char *path) {
    char name[PATH_MAX];
    long result = -EEXIST;
    for (unsigned n = 1; result == -EEXIST && n <= TRACE_NAME_EARLIER_MAX; n++)
        result = trace_name_earlier(path, n, name, sizeof name)
                     ? syscall6(SYS_renameat2, AT_FDCWD, (long)path, AT_FDCWD, (long)name,
                                RENAME_NOREPLACE, 0)
                     : -ENAMETOOLONG;
    return result == 0;
}

/* Opens the file and stores its descriptor and identity, whatever its content is. Returns 0 or an
 * errno. */
static int sink_open_file(sink *s, int flags) {
    struct stat st;
    long fd =
        syscall4(SYS_openat, AT_FDCWD, (long)s->path, OPEN_FLAGS | O_CREAT | flags, FILE_MODE);
    if (syscall_failed(fd))
        return error_of(fd);
    s->fd = descriptor_raise((int)fd);
    int error = error_of(syscall4(SYS_fstat, s->fd, (long)&st, 0, 0));
    if (error)
        return error;
    s->device = st.st_dev;
    s->inode = st.st_ino;
    s->regular = S_ISREG(st.st_mode);
    return s->regular && !fd_lock(s->fd) ? EWOULDBLOCK : 0;
}

/* Opens the next free name, when another process records to the file that has the same process id
 * in a namespace of its own. Not inlined, as above. */
static __attribute__((noinline)) int sink_open_beside(sink *s) {
    char path[PATH_MAX];
    memcpy(path, s->path, sizeof path);
    int error = EWOULDBLOCK;
    for (unsigned n = 1; n <= TRACE_NAME_EARLIER_MAX; n++) {
        sink_close(s);
        if (!trace_name_earlier(path, n, s->path, sizeof s->path))
            return ENAMETOOLONG;
        error = sink_open_file(s, O_EXCL);
        if (error != EEXIST)
            break;
    }
    return error;
}

/* Opens the file, and waits for its lock if this process has recorded to it as another program.
 * Child processes inherit that lock until they exec, and a shell that becomes the program may just
 * have started one. */
static int sink_open_patiently(sink *s, const char *path, uint64_t pid) {
    enum { PATIENCE = 500 }; /* naps: some hundredths of a second */
    int error = sink_open_file(s, 0);
    for (int i = 0; error == EWOULDBLOCK && is_trace_of(path, pid); i++) {
        if (i == PATIENCE)
            return EBUSY;
        sink_close(s);
        lock_nap();
        error = sink_open_file(s, 0);
    }
    return error;
}

/* Returns whether the open file still has this name. */
static bool sink_has_name(const sink *s, const char *path) {
    struct stat st;
    return !syscall_failed(syscall4(SYS_newfstatat, AT_FDCWD, (long)path, (long)&st, 0)) &&
           st.st_dev == s->device && st.st_ino == s->inode;
}

int sink_open(sink *s, const char *path, uint64_t pid, bool by_process) {
    memset(s, 0, sizeof *s);
    s->fd = -1;
    text name = text_in(s->path, sizeof s->path);
    text_add(&name, path);
    s->error = sink_open_patiently(s, path, pid);
    if ((s->error == EWOULDBLOCK || s->error == EBUSY) && by_process)
        s->error = sink_open_beside(s);
    else if (!s->error && s->regular && is_trace_of(path, pid) && sink_keep_earlier(path)) {
        sink_close(s);
        s->error = sink_open_file(s, 0);
    } else if (!s->error && s->regular && !sink_has_name(s, path)) {
        sink_close(s); /* the keeper of our trace as another program has just removed the file */
        s->error = sink_open_file(s, 0);
    }
    if (!s->error && s->regular)
        s->error = error_of(syscall4(SYS_ftruncate, s->fd, 0, 0, 0));
    if (s->error)
        sink_close(s);
    return s->error;
}

/* Opens the file again after the program has closed our descriptor or reused its number. A reused
 * descriptor is left alone. */
static int sink_reopen_locked(sink *s) {
    s->fd = -1;
    if (!s->regular)
        return EBADF;
    long fd = syscall4(SYS_openat, AT_FDCWD, (long)s->path, OPEN_FLAGS, 0);
    if (syscall_failed(fd))
        return error_of(fd);
    if (!sink_is_ours(s, (int)fd) || !fd_lock((int)fd)) {
        syscall4(SYS_close, fd, 0, 0, 0);
        return ESTALE;
    }
    s->fd = descriptor_raise((int)fd);
    return 0;
}

/* Writes all `size` bytes with the system call `call`. The offset is ignored if the file is open
 * for appending. */
static int write_all(long call, int fd, const char *bytes, size_t size, uint64_t offset) {
    while (size > 0) {
        long n = syscall4(call, fd, (long)bytes, (long)size, (long)offset);
        if (n == -EINTR)
            continue;
        if (syscall_failed(n))
            return error_of(n);
        if (n == 0)
            return EIO;
        bytes += n;
        offset += (uint64_t)n;
        size -= (size_t)n;
    }
    return 0;
}

/* Removes the blocked `signal` that the kernel has sent to this thread because of our write. A
 * signal that was pending before belongs to the program and stays. */
static void take_signal_back(int signal, signal_set pending_before) {
    signal_set set = SIGNAL_BIT(signal);
    struct timespec now = {0};
    if (!(pending_before & set))
        syscall4(SYS_rt_sigtimedwait, (long)&set, 0, (long)&now, sizeof set);
}

/* What to write: `times` times `hole` zero bytes, for which no memory is needed, and then the
 * `size` bytes. */
struct what {
    const void *bytes;
    size_t size, hole, times;
    bool replaces; /* overwrites bytes that were written before */
};

/* Writes at `at`, after the end of a regular file, leaving holes; or overwrites what is there. */
static int write_at(int fd, const struct what *w, uint64_t at) {
    int error = error_of(syscall4(SYS_fcntl, fd, F_SETFL, 0, 0)); /* clears O_APPEND */
    for (size_t i = 0; i < w->times && !error; i++, at += w->size)
        error = write_all(SYS_pwrite64, fd, w->bytes, w->size, at += w->hole);
    syscall4(SYS_fcntl, fd, F_SETFL, O_APPEND, 0);
    return error;
}

/* Writes with the signals blocked that a write can raise. */
static int write_quietly(int fd, const struct what *w, uint64_t at) {
    signal_set block = SIGNAL_BIT(SIGXFSZ) | SIGNAL_BIT(SIGPIPE), before, pending = 0;
    syscall4(SYS_rt_sigprocmask, SIG_BLOCK, (long)&block, (long)&before, sizeof block);
    syscall4(SYS_rt_sigpending, (long)&pending, sizeof pending, 0, 0);
    int error = w->hole || w->replaces ? write_at(fd, w, at)
                                       : write_all(SYS_write, fd, w->bytes, w->size, at);
    if (error == EFBIG)
        take_signal_back(SIGXFSZ, pending);
    if (error == EPIPE)
        take_signal_back(SIGPIPE, pending);
    syscall4(SYS_rt_sigprocmask, SIG_SETMASK, (long)&before, 0, sizeof before);
    return error;
}

/* Returns whether the file takes too much space on disk. Parts that others have punched out of it
 * do not count. */
static bool sink_is_full(const sink *s) {
    enum { BLOCK = 512 }; /* unit of st_blocks, bytes, on every file system */
    struct stat st;
    return s->space && !syscall_failed(syscall4(SYS_fstat, s->fd, (long)&st, 0, 0)) &&
           (uint64_t)st.st_blocks * BLOCK > s->space;
}

static int sink_write_locked(sink *s, const struct what *w) {
    if (!sink_is_ours(s, s->fd)) {
        int error = sink_reopen_locked(s);
        if (error)
            return error;
    }
    if (sink_is_full(s))
        return EDQUOT;
    int error = write_quietly(s->fd, w, s->size);
    if (!error)
        s->size += (w->hole + w->size) * w->times;
    else if (s->regular)
        syscall4(SYS_ftruncate, s->fd, (long)s->size, 0, 0);
    return error;
}

static int sink_write_what(sink *s, const struct what *w) {
    lock_acquire(&s->lock);
    if (!s->error)
        s->error = sink_write_locked(s, w);
    int error = s->error;
    lock_release(&s->lock);
    return error;
}

int sink_write(sink *s, const void *packets, size_t size) {
    return sink_write_what(s, &(struct what){.bytes = packets, .size = size, .times = 1});
}

int sink_write_spread(sink *s, const void *bytes, size_t size, size_t hole, size_t times) {
    return sink_write_what(
        s, &(struct what){.bytes = bytes, .size = size, .hole = hole, .times = times});
}

static int sink_amend_locked(sink *s, uint64_t offset, const struct what *w) {
    int error = s->regular ? 0 : ESPIPE;
    if (!error && !sink_is_ours(s, s->fd))
        error = sink_reopen_locked(s);
    return error ? error : write_quietly(s->fd, w, offset);
}

int sink_amend(sink *s, uint64_t offset, const void *bytes, size_t size) {
    const struct what what = {.bytes = bytes, .size = size, .times = 1, .replaces = true};
    lock_acquire(&s->lock);
    int error = s->error == ESHUTDOWN ? ESHUTDOWN : sink_amend_locked(s, offset, &what);
    lock_release(&s->lock);
    return error;
}

/* The descriptor stays open: a thread may still be about to write an event. */
void sink_unlock(sink *s) {
    struct flock whole = {.l_type = F_UNLCK, .l_whence = SEEK_SET};
    if (s->regular && sink_is_ours(s, s->fd))
        syscall4(SYS_fcntl, s->fd, F_OFD_SETLK, (long)&whole, 0);
}

void sink_retire(sink *s) {
    if (!lock_acquire_patiently(&s->lock))
        return;
    s->error = s->error ? s->error : ESHUTDOWN;
    sink_close(s);
    lock_release(&s->lock);
}

HOT_CODE static void close_if_ours(const sink *s, int fd) {
    if (sink_is_ours(s, fd))
        syscall4(SYS_close, fd, 0, 0, 0);
}

HOT_CODE void sink_drop(const sink *s) {
    close_if_ours(s, s->fd);
}

void sink_close(sink *s) {
    int fd = s->fd;
    s->fd = -1;
    close_if_ours(s, fd);
}
