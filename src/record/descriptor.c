/* descriptor.c: implements descriptor.h. The descriptor is moved to a high number, and fstat
 * verifies it before each use. */
#include "record/descriptor.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "base/hot.h"
#include "platform/syscall.h"

/* Programs expect small numbers for new descriptors. So the recorder's descriptor gets one of the
 * last numbers in the range that every process may use. */
#define FD_RANGE 1024
#define FD_SPARE 64

int descriptor_raise(int fd) {
    struct rlimit limit;
    rlim_t range = FD_RANGE;
    if (!syscall_failed(syscall4(SYS_prlimit64, 0, RLIMIT_NOFILE, 0, (long)&limit)) &&
        limit.rlim_cur < range)
        range = limit.rlim_cur;
    if (range < 2 * FD_SPARE)
        return fd;
    long high = syscall4(SYS_fcntl, fd, F_DUPFD_CLOEXEC, (long)(range - FD_SPARE), 0);
    if (syscall_failed(high))
        return fd;
    syscall4(SYS_close, fd, 0, 0, 0);
    return (int)high;
}

HOT_CODE bool descriptor_is(int fd, dev_t device, ino_t inode) {
    struct stat st;
    return fd >= 0 && !syscall_failed(syscall4(SYS_fstat, fd, (long)&st, 0, 0)) &&
           st.st_dev == device && st.st_ino == inode;
}
