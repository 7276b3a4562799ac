/* index.h: a profile stored in a file beside its trace, from which it is loaded at once.
 *
 * An index is a cache. It says nothing that the trace does not, it is used only for the very trace
 * from which it was made, and deleting it costs only time. It is read as hostile input: every
 * checksum, length and number used as an index is verified, and if one is wrong, nothing of the
 * file is used. The file is read rather than mapped, because another process may shorten or change
 * it at any moment.
 *
 * The head says which trace the file belongs to and where the sections are. There are three kinds
 * of sections: the tree and names; the columns of the table of blocks, in parts that several
 * threads read; and the order of events. A query reads only the sections that it needs. */
#ifndef PROFILE_INDEX_H
#define PROFILE_INDEX_H

#include "profile/profile.h"

/* Identifies a trace, and tells it from an earlier state of the same file. */
typedef struct index_stamp {
    uint64_t size;                 /* bytes, as stored */
    uint64_t seconds, nanoseconds; /* last modification */
    uint64_t sample; /* a hash of parts of its contents: the first, the last and some between */
    uint32_t mode;   /* its permissions, which the index gets; not compared */
} index_stamp;

/* What was wrong with the trace. */
typedef struct index_remarks {
    memtrace_warning items[MEMTRACE_N_DEFECTS];
    size_t n;
} index_remarks;

/* What an index holds beside the tree, or what a caller needs of it. */
typedef struct index_parts {
    bool blocks, order;
    unsigned columns; /* needed: a set of table columns; 0: all. Other columns may be NULL */
    bool in_order;    /* rows are in the order of the allocations in the file */
} index_parts;

typedef enum index_status {
    INDEX_OK,
    INDEX_ABSENT, /* it does not exist, or cannot be opened */
    INDEX_STALE,  /* it is of an earlier state of the trace, of another trace, or of another version
                   */
    INDEX_LACKS,  /* it does not have what is needed */
    INDEX_DAMAGED, /* it is damaged, or not an index */
    INDEX_NOMEM,
} index_status;

/* False if the trace is not a regular file or cannot be read; it then has no index. */
bool index_stamp_take(const char *trace, index_stamp *stamp);
bool index_stamp_equal(const index_stamp *a, const index_stamp *b);

/* Loads the profile of the trace with this stamp. It is the profile that profile_read would make,
 * except that no stacks can be added to its tree. `maker` is the version of the program that made
 * the index. Unless it returns INDEX_OK, `*p` is empty. */
MEMTRACE_NODISCARD index_status index_load(const char *path, const index_stamp *stamp,
                                           const char *maker, const index_parts *needs, profile *p,
                                           index_remarks *remarks);

/* Writes the index of a profile that was read with `track_promotion`, and with the table if `parts`
 * says so. The file is replaced as a whole or not at all, even if several processes write it.
 * Returns 0 or an errno. */
MEMTRACE_NODISCARD int index_save(const char *path, const index_stamp *stamp, const char *maker,
                                  const index_parts *parts, const profile *p,
                                  const index_remarks *remarks);

#endif
