/* say.c: implements say.h. Writes to standard error only while it is the same file as at the start:
 * a program may have closed it and opened a data file with that number. Errors are described
 * without strerror, which may take locks and translate. */
#include "record/say.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hot.h"
#include "platform/loader.h"
#include "platform/syscall.h"
#include "record/text.h"

static HOT_DATA struct {
    dev_t device;
    ino_t inode; /* 0: closed or unknown */
} stderr_at_start;

HOT_CODE void say_init(void) {
    struct stat now;
    bool open = !syscall_failed(syscall4(SYS_fstat, STDERR_FILENO, (long)&now, 0, 0));
    stderr_at_start.device = open ? now.st_dev : 0;
    stderr_at_start.inode = open ? now.st_ino : 0;
}

LIBC_MAY_LACK(strerrordesc_np);

/* Adds the reason of an error. Before glibc 2.32, only its number is available without locks and
 * translations. */
static void add_error(text *t, int os_error) {
    const char *reason = strerrordesc_np ? strerrordesc_np(os_error) : NULL;
    if (reason || strerrordesc_np) {
        text_add(t, reason ? reason : "unknown error");
        return;
    }
    text_add(t, "error ");
    text_add_number(t, (uint64_t)os_error, 10);
}

static bool is_still_stderr(void) {
    struct stat now;
    return stderr_at_start.inode != 0 &&
           !syscall_failed(syscall4(SYS_fstat, STDERR_FILENO, (long)&now, 0, 0)) &&
           now.st_dev == stderr_at_start.device && now.st_ino == stderr_at_start.inode;
}

bool say_to_user(const char *subject, const char *message, int os_error) {
    if (!is_still_stderr())
        return false;
    char line[512];
    text t = text_in(line, sizeof line - 1);
    text_add(&t, "allotrace: ");
    text_add(&t, subject);
    text_add(&t, ": ");
    text_add(&t, message);
    if (os_error) {
        text_add(&t, ": ");
        add_error(&t, os_error);
    }
    *t.next++ = '\n';
    return !syscall_failed(syscall4(SYS_write, STDERR_FILENO, (long)line, (long)text_size(&t), 0));
}
