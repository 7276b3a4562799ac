/* index.h: a profile in a file beside its trace, from which it is there again at once.
 *
 * An index is a cache: it says nothing that the trace does not, it is used only for the very trace
 * that it was made from, and whoever deletes it loses time alone. It is read as if an enemy had
 * written it: every checksum, every length and every number that serves as an index is verified,
 * and nothing of a file in which one is wrong is used. It is read rather than mapped: another
 * process may shorten or change it at any moment.
 *
 * The file has a head, which says what trace it belongs to and where the sections are, and three
 * kinds of sections: tree and names; the columns of the table of blocks, in parts that several
 * threads read; the order of events. A question reads those that it needs. */
#ifndef PROFILE_INDEX_H
#define PROFILE_INDEX_H

#include "profile/profile.h"

/* What tells a trace from others, and from itself before it changed. */
typedef struct index_stamp {
    uint64_t size;                 /* bytes, as stored */
    uint64_t seconds, nanoseconds; /* when it was last modified */
    uint64_t sample;               /* a hash of some of its bytes: the first, the last, others */
    uint32_t mode;                 /* its permissions, which the index gets: no part of identity */
} index_stamp;

/* What was wrong with the trace. */
typedef struct index_remarks {
    memtrace_warning items[MEMTRACE_N_DEFECTS];
    size_t n;
} index_remarks;

/* What an index holds beside the tree, or what somebody needs of it. */
typedef struct index_parts {
    bool blocks, order;
    unsigned columns; /* needed: a set of the table's; 0: all. The others may be missing (NULL) */
    bool in_order;    /* rows of the table stand in the order of the allocations in the file */
} index_parts;

typedef enum index_status {
    INDEX_OK,
    INDEX_ABSENT,  /* or it cannot be opened */
    INDEX_STALE,   /* of the trace as it was, of another one, or made by another version */
    INDEX_LACKS,   /* what is needed */
    INDEX_DAMAGED, /* or no index at all */
    INDEX_NOMEM,
} index_status;

/* False if the trace is no regular file, or cannot be read: it has no index then. */
bool index_stamp_take(const char *trace, index_stamp *stamp);
bool index_stamp_equal(const index_stamp *a, const index_stamp *b);

/* The profile of the trace with this stamp, as profile_read would have made it, but that its tree
 * is for queries alone: no further stacks can be added to it. `maker` is the version of the program
 * that made the index. Unless it returns INDEX_OK, `*p` is empty. */
MEMTRACE_NODISCARD index_status index_load(const char *path, const index_stamp *stamp,
                                           const char *maker, const index_parts *needs, profile *p,
                                           index_remarks *remarks);

/* Writes the index of a profile that was read with `track_promotion`, and with the table if `parts`
 * says so. The file is replaced as a whole, or not at all, also when several processes write it.
 * Returns 0 or an errno. */
MEMTRACE_NODISCARD int index_save(const char *path, const index_stamp *stamp, const char *maker,
                                  const index_parts *parts, const profile *p,
                                  const index_remarks *remarks);

#endif
