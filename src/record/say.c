#include "record/say.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "platform/syscall.h"
#include "record/text.h"

static struct stat stderr_at_start; /* st_ino 0: closed or unknown */

void say_init(void) {
    if (syscall_failed(syscall4(SYS_fstat, STDERR_FILENO, (long)&stderr_at_start, 0, 0)))
        stderr_at_start.st_ino = 0;
}

static bool is_still_stderr(void) {
    struct stat now;
    return stderr_at_start.st_ino != 0 &&
           !syscall_failed(syscall4(SYS_fstat, STDERR_FILENO, (long)&now, 0, 0)) &&
           now.st_dev == stderr_at_start.st_dev && now.st_ino == stderr_at_start.st_ino;
}

bool say(const char *subject, const char *message, int os_error) {
    if (!is_still_stderr())
        return false;
    char line[512];
    text t = text_in(line, sizeof line - 1);
    text_add(&t, "allotrace: ");
    text_add(&t, subject);
    text_add(&t, ": ");
    text_add(&t, message);
    if (os_error) {
        const char *reason = strerrordesc_np(os_error);
        text_add(&t, ": ");
        text_add(&t, reason ? reason : "unknown error");
    }
    *t.next++ = '\n';
    return !syscall_failed(syscall4(SYS_write, STDERR_FILENO, (long)line, (long)text_size(&t), 0));
}
