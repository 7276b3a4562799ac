/* download.h: a trace as a file in the format of another tool, for the page and for pprof. The
 * functions that write such files belong to a stage above this one; whoever makes the viewer passes
 * them in. */
#ifndef ANSWERS_DOWNLOAD_H
#define ANSWERS_DOWNLOAD_H

#include "answers/api.h"
#include "query/query.h"

typedef struct download_subject {
    viewer *viewer;
    size_t trace;
    const query_result *query; /* what the request's filter and measure select; NULL for a page,
                                  which runs queries of its own */
    const uint8_t *kept; /* by row of the table of blocks: not 0 if it is selected; NULL: all rows,
                            or a page */
    const char *filter;  /* NULL: none */
} download_subject;

typedef struct download {
    const char *name;          /* of the format; NULL ends the list */
    const char *ending, *type; /* file name extension; MIME type */
    bool needs_blocks;
    bool is_page; /* the viewer itself, which holds one trace */
    bool (*write)(output *o, const download_subject *s); /* returns false when there is no memory */
} download;

/* The largest file that is answered, in bytes, since it is made in memory. A format that cannot
 * tell its size in advance may exceed it. */
#define DOWNLOAD_BYTES_MAX (UINT64_C(256) << 20)

#endif
