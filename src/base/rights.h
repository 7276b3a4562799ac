/* rights.h: the rights of another user. Whatever is done with files on behalf of another user's
 * process is done with that process's rights, by a process of ours that has given up its own for
 * good. Then nobody gains anything by replacing a path, by a link or otherwise. */
#ifndef BASE_RIGHTS_H
#define BASE_RIGHTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { RIGHTS_MAX_GROUPS = 256, RIGHTS_REFUSED = 255 };

typedef struct rights {
    uid_t uid;
    gid_t gid;
    uint64_t capabilities; /* as in /proc/PID/status; 0 in another user namespace */
    size_t n_groups;
    gid_t groups[RIGHTS_MAX_GROUPS]; /* the first ones, if there are more */
} rights;

/* Reads the rights by which thread `tid` of process `pid` opens files. Returns false if they cannot
 * be determined. */
bool rights_of_thread(pid_t pid, pid_t tid, rights *r);

/* Returns the rights of a user who has logged in, without supplementary groups, according to
 * /etc/passwd. */
rights rights_of_user(uid_t uid);

bool rights_equal(const rights *a, const rights *b);

/* Gives up, for good, all rights beyond `r`, in a process with one thread. Returns 0 or an errno.
 * After an error the process has its old rights, or fewer, and must not access files. */
int rights_take(const rights *r);

/* Does the work in a child that has taken the rights. Returns the result of `work`, which must be
 * from 0 to 254; RIGHTS_REFUSED if the rights cannot be taken; -1 with errno if there was no child,
 * or it did not exit normally. */
int rights_lend(const rights *r, int (*work)(void *context), void *context);

#endif
