/* rights.h: the rights of another user. Whatever is done with files on behalf of a process of
 * another user is done with that process's rights, by a process of ours that has given up its own
 * for good: whoever can replace a path, by a link or otherwise, then gains nothing by it. */
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
    uint64_t capabilities; /* as in /proc/PID/status; 0 in a user namespace that is not ours */
    size_t n_groups;
    gid_t groups[RIGHTS_MAX_GROUPS]; /* of more, the first */
} rights;

/* Those by which thread `tid` of process `pid` opens files. False: they cannot be known. */
bool rights_of_thread(pid_t pid, pid_t tid, rights *r);

/* What a user has who has logged in, without the supplementary groups, as far as /etc/passwd says.
 */
rights rights_of_user(uid_t uid);

bool rights_equal(const rights *a, const rights *b);

/* Gives up for good what goes beyond these, in a process with one thread. 0 or an errno; then the
 * process has what it had, or less, and must touch no file. */
int rights_take(const rights *r);

/* Does the work in a child that has taken these rights. What it returns, from 0 to 254;
 * RIGHTS_REFUSED: they cannot be taken; -1 with errno: there was no such child, or it came to no
 * end. */
int rights_lend(const rights *r, int (*work)(void *context), void *context);

#endif
