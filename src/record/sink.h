/* sink.h: the file that a recording goes to, inside a process that knows nothing of it. Owns the
 * descriptor and the promise that only whole packets, and nothing that is not ours, are written.
 *
 * The program may close all descriptors, and open its own data under our number: each write checks
 * first that the descriptor is still our file, and opens it again if it is not. A lock on the open
 * file (OFD) says to other processes that the file is being recorded; it dies with the process,
 * also with a killed one. A write error leaves the file ending with its last whole packet. */
#ifndef RECORD_SINK_H
#define RECORD_SINK_H

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "record/lock.h"

typedef struct sink {
    lock lock;    /* guards all that follows, and orders the writes */
    int fd;       /* -1: closed */
    int error;    /* the errno that ended it; 0 while all is well */
    dev_t device; /* with `inode`: which file is ours */
    ino_t inode;
    bool regular;   /* else a pipe or a device: cannot be locked, cut or opened again */
    uint64_t size;  /* bytes written, whole packets only */
    uint64_t space; /* bytes that the file may take on the disk; 0: any number. Set once it is open.
                       EDQUOT: it takes more, as nobody frees what was read of it */
    char path[PATH_MAX];
} sink;

/* Whether it has ended because its space is taken. */
static inline bool sink_outgrew(const sink *s) {
    return s->space && s->error == EDQUOT;
}

#define SINK_OUTGREW                                                                               \
    "the program records faster than segments are cut; use a lower rate or a larger maximum size"

/* Opens the file, empty, or gives an errno; EWOULDBLOCK: another process is recording to it. A
 * trace that `pid`, this process, has written there before is renamed (contract/trace_name.h);
 * EBUSY: a child of it has had that open for long. If
 * the name is `by_process`, whoever else records there has the same id in another namespace: then
 * ours gets the name of an earlier one. */
int sink_open(sink *s, const char *path, uint64_t pid, bool by_process);

/* Writes whole packets or gives an errno, always the same after the first. Any thread may call; not
 * a cancellation point; SIGXFSZ and SIGPIPE do not reach the program. */
int sink_write(sink *s, const void *packets, size_t size);

/* Writes `times` times `hole` zero bytes and, behind them, the `size` bytes to a regular file, to
 * which nobody else writes yet. An errno as above. */
int sink_write_spread(sink *s, const void *bytes, size_t size, size_t hole, size_t times);

/* Replaces bytes of a regular file that were written before, also after a failure of sink_write. An
 * errno as above, ESPIPE for what is no regular file. */
int sink_amend(sink *s, uint64_t offset, const void *bytes, size_t size);

/* Says to others that the file is not being recorded any more; async-signal-safe, takes no lock. */
void sink_unlock(sink *s);

/* Closes it for good: writes fail from now on. It stays open if a thread stays at writing. */
void sink_retire(sink *s);

/* Closes the descriptor if it is still ours; async-signal-safe, takes no lock. */
void sink_close(sink *s);

/* The same where nobody looks at the sink again, which stays as it is. */
void sink_drop(const sink *s);

#endif
