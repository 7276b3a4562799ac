/* download.h: a trace as a file in the format of another tool, for the page and for pprof. Who
 * writes such files stands above the server; whoever starts it brings them. */
#ifndef SERVE_DOWNLOAD_H
#define SERVE_DOWNLOAD_H

#include "query/query.h"
#include "serve/api.h"

typedef struct download_subject {
    viewer *viewer;
    size_t trace;
    const query_result *query; /* what the request's filter and measure select; of a page, which
                                  asks by itself, NULL, as the next one */
    const uint8_t *kept;       /* which rows of the table: not 0; NULL: all */
    const char *filter;        /* NULL: none */
} download_subject;

typedef struct download {
    const char *name;          /* of the format; NULL ends a list */
    const char *ending, *type; /* of the file's name; of its content, for HTTP */
    bool needs_blocks;
    bool is_page; /* the viewer itself, which holds one trace */
    bool (*write)(output *o, const download_subject *s); /* false: no memory */
} download;

/* A file that was answered is larger than this in memory only if its format cannot say before how
 * large it will be. */
#define DOWNLOAD_BYTES_MAX (UINT64_C(256) << 20)

/* The format that a request for `/api/export` asks for; NULL: none that there is. */
const download *download_find(const viewer *v, const api_parameter *parameters, size_t n);

/* `NAME.ending`, in characters that need no quoting in a header. */
void download_name(const viewer *v, const download *d, const api_parameter *parameters, size_t n,
                   char *name, size_t size);

#endif
