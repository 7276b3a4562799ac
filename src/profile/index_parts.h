/* index_parts.h: the head and the sections of an index file: their contents, and what must hold. */
#ifndef PROFILE_INDEX_PARTS_H
#define PROFILE_INDEX_PARTS_H

#include "profile/index.h"
#include "profile/index_stream.h"

/* Raise this whenever the contents of a section change, or what a profile says about a trace. */
#define INDEX_FORMAT 10

/* The first word of the file. It reads differently in the other byte order. */
#define INDEX_MAGIC UINT64_C(0x7864692E74726C61) /* alrt.idx */

/* Sections in the order of the file, after the head and without gaps. The table of blocks is split
 * into parts, so that as many processors can read it. Each part has one section per column. */
enum {
    INDEX_BLOCK_PARTS = 4,
    INDEX_TREE = 0,
    INDEX_BLOCKS,
    INDEX_ORDER = INDEX_BLOCKS + INDEX_BLOCK_PARTS * BLOCKS_N_COLUMNS,
    INDEX_N_SECTIONS
};

/* The first words of the file. */
typedef struct index_head {
    uint64_t magic, format;
    uint64_t maker; /* a hash of the program's version */
    uint64_t trace_size, trace_seconds, trace_nanoseconds, trace_sample;
    uint64_t in_order;
    uint64_t peak_time, peak_place, peak_samples; /* of the table */
    index_section sections[INDEX_N_SECTIONS];
    uint64_t unused[2]; /* 0 */
    uint64_t sum;       /* checksum of the words before it, followed by a 0 */
} index_head;

enum { INDEX_HEAD_WORDS = sizeof(index_head) / sizeof(uint64_t) };

/* These write a section, between index_begin and index_end; the first returns false when there is
 * no memory. For the table, a section is one column of one part. */
MEMTRACE_NODISCARD bool index_put_tree(index_stream *s, const profile *p,
                                       const index_remarks *remarks);
void index_put_column_of(index_stream *s, const block_table *b, size_t part, blocks_column column);
void index_put_order(index_stream *s, const profile *p);

/* These read a section, between index_enter and index_leave; the tree comes first. INDEX_DAMAGED if
 * it is invalid. What was read belongs to the profile in any case. */
MEMTRACE_NODISCARD index_status index_get_tree(index_stream *s, profile *p, index_remarks *remarks);
MEMTRACE_NODISCARD index_status index_get_order(index_stream *s, profile *p);

/* Reads these columns of the table, and those that they depend on, with streams of its own. */
MEMTRACE_NODISCARD index_status index_get_blocks(int fd, const index_section *sections,
                                                 unsigned columns, profile *p);

#endif
