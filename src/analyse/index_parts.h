/* index_parts.h: the head and the sections of an index: what they hold and what must be true of it.
 */
#ifndef ANALYSE_INDEX_PARTS_H
#define ANALYSE_INDEX_PARTS_H

#include "analyse/index.h"
#include "analyse/index_stream.h"

/* To be raised whenever what stands in a section changes, or what a profile says about a trace. */
#define INDEX_FORMAT 2

/* The first word of the file; in another byte order it is another one. */
#define INDEX_MAGIC UINT64_C(0x7864692E74726C61) /* alrt.idx */

/* In the order in which they stand in the file, behind the head, without gaps. The table of blocks
 * has several, so that as many processors can read it. */
enum {
    INDEX_BLOCK_PARTS = 4,
    INDEX_TREE = 0,
    INDEX_BLOCKS,
    INDEX_ORDER = INDEX_BLOCKS + INDEX_BLOCK_PARTS,
    INDEX_N_SECTIONS
};

/* The first words of the file. */
typedef struct index_head {
    uint64_t magic, format;
    uint64_t maker; /* a hash of the version of the program */
    uint64_t trace_size, trace_seconds, trace_nanoseconds, trace_sample;
    uint64_t in_order;
    index_section sections[INDEX_N_SECTIONS];
    uint64_t unused[5]; /* 0 */
    uint64_t sum;       /* of what stands before it, and a 0 */
} index_head;

enum { INDEX_HEAD_WORDS = sizeof(index_head) / sizeof(uint64_t) };

/* Each writes what is between index_begin and index_end. False when there is no memory. */
MEMTRACE_NODISCARD bool index_put_tree(index_stream *s, const profile *p,
                                       const index_remarks *remarks);
MEMTRACE_NODISCARD bool index_put_blocks(index_stream *s, const profile *p, size_t part);
MEMTRACE_NODISCARD bool index_put_order(index_stream *s, const profile *p);

/* Each reads what is between index_enter and index_leave, the tree first. INDEX_DAMAGED if it
 * cannot be; whatever was read belongs to the profile in any case. */
MEMTRACE_NODISCARD index_status index_get_tree(index_stream *s, profile *p, index_remarks *remarks);
MEMTRACE_NODISCARD index_status index_get_order(index_stream *s, profile *p);

/* Reads the sections of the table, with streams of its own. */
MEMTRACE_NODISCARD index_status index_get_blocks(int fd, const index_section *sections, profile *p);

#endif
