/* exports.h: a trace in the formats of other tools.
 *
 * Problem. People have pages and databases for profiles already; each wants a format of its own,
 * from one line a stack to every block in a column store. A trace of some megabytes can become many
 * gigabytes on that way.
 *
 * Way. A format is a row of EXPORT_FORMATS and a file that defines its function. The row says what
 * it needs of the trace; the command's choices, the reading and where the result goes follow from
 * that. Each writes as it goes and keeps what it must number (strings, functions, stacks), not what
 * it has written; where that can be very much, it says first how much it will be (output_expect).
 *
 * Why not otherwise. Libraries for these formats build whole documents in memory, or are in C++
 * (CONTRIBUTING.md has the measurements); what is written here is the part of a format that is
 * used.
 *
 * What must hold. Numbers are those of the reports, from the same queries. Whatever a name holds,
 * the result is valid in its format. The manual page of `export` describes the layouts; scripts
 * depend on them. */
#ifndef EXPORT_EXPORTS_H
#define EXPORT_EXPORTS_H

#include "query/cost.h"
#include "query/lens.h"
#include "render/output.h"
#include "serve/viewer.h"

/* What a format takes, and how it is written. */
enum {
    EXPORT_STACKS = 1, /* what each stack cost, in a measure */
    EXPORT_BLOCKS = 2, /* the table of blocks */
    EXPORT_PAGE = 4,   /* the viewer, with promotions */
    EXPORT_BINARY = 8, /* for no terminal */
    EXPORT_FILE = 16,  /* fills a regular file by itself */
    EXPORT_FOLDER = 32 /* adds files to a folder; its output is NULL */
};

/* X(name, set of the above):
 *   collapsed   a line a stack, `outer;inner WEIGHT`, by functions (export_stacks.c)
 *   speedscope  speedscope's JSON: a sampled profile, by lines
 *   dot         a graph of callers for Graphviz, as pprof draws it (export_dot.c)
 *   pprof       profile.proto, compressed with gzip: objects and bytes allocated, and in use at the
 *               end, labelled with heap, type, classes of size and lifetime (pprof.c)
 *   csv, json   a row, or an object, a sampled block (export_rows.c)
 *   sqlite      tables of blocks, frames, stacks and the trace, and views for the common questions
 *               (export_sqlite.c)
 *   parquet     the same tables, as files in a folder that holds those of many traces
 *               (export_parquet.c; docs/parquet.md)
 *   html        the viewer's page with the answers to the questions that people begin with. It
 *               holds summaries, so that its size follows the screen and not the trace
 *               (export_html.c) */
#define EXPORT_FORMATS(X)                                                                          \
    X(collapsed, EXPORT_STACKS)                                                                    \
    X(speedscope, EXPORT_STACKS)                                                                   \
    X(dot, EXPORT_STACKS)                                                                          \
    X(pprof, EXPORT_BLOCKS | EXPORT_BINARY)                                                        \
    X(csv, EXPORT_BLOCKS)                                                                          \
    X(json, EXPORT_BLOCKS)                                                                         \
    X(sqlite, EXPORT_BLOCKS | EXPORT_BINARY | EXPORT_FILE)                                         \
    X(parquet, EXPORT_BLOCKS | EXPORT_BINARY | EXPORT_FOLDER)                                      \
    X(html, EXPORT_BLOCKS | EXPORT_BINARY | EXPORT_PAGE)

/* What is exported. */
typedef struct export_subject {
    const lens *lens;    /* and by it, the profile */
    const uint8_t *kept; /* which rows of the profile's table: not 0; NULL: all */
    measure measure; /* of EXPORT_STACKS, as the next one: what weights are; of pprof, what it shows
                        first */
    const cost_list *costs;
    const char *title; /* the trace's name */
    const char *path; /* of EXPORT_FILE: the file, which is empty or absent; of EXPORT_FOLDER: it */
    const char *const
        *labels; /* of EXPORT_FOLDER: KEY=VALUE each; the last of the same key counts */
    size_t n_labels;
    viewer *page; /* of EXPORT_PAGE: its first trace is the subject, */
    const char
        *filter;      /* and this filter (NULL: none) is known to be right; what selected `kept` */
    char reason[256]; /* why it failed, where that was not for lack of memory */
    bool is_unwanted; /* it failed since the watch did not want so much */
} export_subject;

/* Those who write much ask the output's watch first whether it wants as much. False on failure;
 * errors of writing stick to the output. */
typedef bool export_function(output *o, export_subject *s);

#define EXPORT_DECLARE(name, set) export_function export_##name;
EXPORT_FORMATS(EXPORT_DECLARE)
#undef EXPORT_DECLARE

#endif
