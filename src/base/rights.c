/* rights.c: the rights of a process are read from /proc/PID/status: user, groups and capabilities.
 * To use them, a child takes them for good and does the work, while the parent waits and keeps its
 * own. */
#include "base/rights.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <inttypes.h>
#include <linux/capability.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NOBODY = 65534 };

/* ---- rights of others -------------------------------------------------------------------- */

/* Of the four ids in a line, the last one applies to opening files. */
static bool parse_id(const char *text, unsigned *id) {
    return sscanf(text, "%*u %*u %*u %u", id) == 1;
}

static void parse_groups(const char *text, rights *r) {
    char *end;
    for (r->n_groups = 0; r->n_groups < RIGHTS_MAX_GROUPS; text = end) {
        unsigned long group = strtoul(text, &end, 10);
        if (end == text)
            return;
        r->groups[r->n_groups++] = (gid_t)group;
    }
}

/* Parses a line. Returns a bit for each of the four lines that are needed. */
static unsigned take_line(const char *line, rights *r) {
    if (strncmp(line, "Uid:", 4) == 0)
        return parse_id(line + 4, &r->uid);
    if (strncmp(line, "Gid:", 4) == 0)
        return parse_id(line + 4, &r->gid) << 1;
    if (strncmp(line, "Groups:", 7) == 0)
        return parse_groups(line + 7, r), 1 << 2;
    if (strncmp(line, "CapEff:", 7) == 0)
        return (unsigned)(sscanf(line + 7, "%" SCNx64, &r->capabilities) == 1) << 3;
    return 0;
}

/* Whether the process is in our user namespace. Root in another one has capabilities that are void
 * outside. */
static bool has_our_users(pid_t pid) {
    char path[64];
    struct stat ours, theirs;
    snprintf(path, sizeof path, "/proc/%d/ns/user", (int)pid);
    return stat("/proc/self/ns/user", &ours) == 0 && stat(path, &theirs) == 0 &&
           ours.st_dev == theirs.st_dev && ours.st_ino == theirs.st_ino;
}

bool rights_of_thread(pid_t pid, pid_t tid, rights *r) {
    char path[64], *line = NULL;
    size_t room = 0;
    unsigned found = 0;
    snprintf(path, sizeof path, "/proc/%d/task/%d/status", (int)pid, (int)tid);
    FILE *status = fopen(path, "re");
    *r = (rights){.n_groups = 0};
    while (status && getline(&line, &room, status) > 0)
        found |= take_line(line, r);
    free(line);
    if (status)
        fclose(status);
    if (!has_our_users(pid))
        r->capabilities = 0;
    return found == 15;
}

/* Opens /etc/passwd. We may be in a container, where other sources of users would be libraries of
 * the container, and the file itself may be a pipe. */
static FILE *open_users(void) {
    struct stat about;
    const int fd = open("/etc/passwd", O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    FILE *users =
        fd >= 0 && fstat(fd, &about) == 0 && S_ISREG(about.st_mode) ? fdopen(fd, "r") : NULL;
    if (fd >= 0 && !users)
        close(fd);
    return users;
}

rights rights_of_user(uid_t uid) {
    rights r = {.uid = uid, .gid = NOBODY};
    FILE *users = open_users();
    for (const struct passwd *user; users && (user = fgetpwent(users));)
        if (user->pw_uid == uid) {
            r.gid = user->pw_gid;
            break;
        }
    if (users)
        fclose(users);
    return r;
}

bool rights_equal(const rights *a, const rights *b) {
    return a->uid == b->uid && a->gid == b->gid && a->capabilities == b->capabilities &&
           a->n_groups == b->n_groups &&
           (a->n_groups == 0 || memcmp(a->groups, b->groups, a->n_groups * sizeof *a->groups) == 0);
}

/* ---- our own rights ---------------------------------------------------------------------- */

static bool are_ours(const rights *r) {
    return r->uid == getuid() && r->uid == geteuid() && r->gid == getgid() && r->gid == getegid();
}

/* Drops the capabilities that are not in `limit`. */
static int limit_capabilities(uint64_t limit) {
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct own[_LINUX_CAPABILITY_U32S_3];
    if (syscall(SYS_capget, &header, own) != 0)
        return errno;
    for (unsigned i = 0; i < _LINUX_CAPABILITY_U32S_3; i++) {
        const uint32_t part = (uint32_t)(limit >> 32 * i);
        own[i].effective &= part;
        own[i].permitted &= part;
        own[i].inheritable = 0;
    }
    return syscall(SYS_capset, &header, own) == 0 ? 0 : errno;
}

/* A process that is not root cannot change its groups, so it keeps those of the login. This is no
 * breach: the kernel ignores supplementary groups when one process accesses another. */
int rights_take(const rights *r) {
    const bool had_them = are_ours(r);
    if (setgroups(r->n_groups, r->groups) != 0 && !(had_them && errno == EPERM))
        return errno;
    if (!had_them && (setresgid(r->gid, r->gid, r->gid) != 0 || setresuid(r->uid, r->uid, r->uid)))
        return errno;
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        return errno;
    return limit_capabilities(r->capabilities);
}

int rights_lend(const rights *r, int (*work)(void *context), void *context) {
    int status;
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        const int result = rights_take(r) == 0 ? work(context) : RIGHTS_REFUSED;
        fflush(NULL);
        _exit(result);
    }
    while (child > 0 && waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return -1;
    if (child < 0)
        return -1;
    errno = EINTR;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}
