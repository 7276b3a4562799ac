/* agent_rights.c: capabilities, by direct system calls. */
#include "cli/agent/agent_rights.h"

#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define BIT(capability) (UINT64_C(1) << (capability))

/* For reading processes of other users, for becoming these users, for creating folders that belong
 * to them, and for signaling their `attach` processes. */
#define OF_AGENT                                                                                   \
    (BIT(CAP_SYS_PTRACE) | BIT(CAP_SETUID) | BIT(CAP_SETGID) | BIT(CAP_CHOWN) |                    \
     BIT(CAP_DAC_READ_SEARCH) | BIT(CAP_KILL))

static uint64_t of_child(bool sys_admin) {
    return BIT(CAP_SYS_PTRACE) | (sys_admin ? BIT(CAP_SYS_ADMIN) : 0);
}

/* Drops all capabilities that are not in `kept`. */
static int set_capabilities(uint64_t kept, bool inherit) {
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct own[_LINUX_CAPABILITY_U32S_3];
    if (syscall(SYS_capget, &header, own) != 0)
        return errno;
    for (unsigned i = 0; i < _LINUX_CAPABILITY_U32S_3; i++) {
        own[i].permitted &= (uint32_t)(kept >> 32 * i);
        own[i].effective = own[i].permitted;
        own[i].inheritable = inherit ? own[i].permitted : 0;
    }
    return syscall(SYS_capset, &header, own) == 0 ? 0 : errno;
}

/* Limits the bounding set, so that programs cannot gain other capabilities, even if root runs them.
 * EPERM is no error: a service manager that has already limited the set does not leave us the right
 * to, and without new privileges programs gain none anyway. */
static int bound(uint64_t kept) {
    int in;
    for (int c = 0; (in = prctl(PR_CAPBSET_READ, c, 0, 0, 0)) >= 0; c++)
        if (in && !(kept & BIT(c)) && prctl(PR_CAPBSET_DROP, c, 0, 0, 0) != 0 && errno != EPERM)
            return errno;
    return 0;
}

int agent_rights_reduce(bool sys_admin) {
    const uint64_t kept = OF_AGENT | of_child(sys_admin);
    if (geteuid() != 0)
        return 0;
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        return errno;
    const int error = bound(kept);
    return error ? error : set_capabilities(kept, false);
}

/* Passes the kept capabilities on to the next program that is executed. */
static int hand_on(uint64_t kept) {
    const int error = set_capabilities(kept, true);
    for (int c = 0; !error && c < 64; c++)
        if (kept & BIT(c) && prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, c, 0, 0) != 0)
            return errno;
    return error;
}

int agent_rights_become(const rights *whose, bool sys_admin) {
    if (geteuid() != 0)
        return 0;
    if (prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) != 0 || setgroups(whose->n_groups, whose->groups) != 0 ||
        setresgid(whose->gid, whose->gid, whose->gid) != 0 ||
        setresuid(whose->uid, whose->uid, whose->uid) != 0)
        return errno;
    unsetenv("TMPDIR"); /* the user may not be able to write there */
    return hand_on(of_child(sys_admin));
}
