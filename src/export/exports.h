/* exports.h: exports a trace in the formats of other tools.
 *
 * Problem. People already have viewers and databases for profiles. Each needs a format of its own,
 * from one line per stack to every block in a column store. A trace of a few megabytes can become
 * many gigabytes that way.
 *
 * Approach. A format is a row of EXPORT_FORMATS and a file that defines its function. The row
 * states what the format needs from the trace. The choices of the command, what is read and where
 * the result goes all follow from it. A function writes its output as it proceeds and only keeps
 * what it must number (strings, functions, stacks). If the output can be very large, it announces
 * the size first (output_expect).
 *
 * Alternatives. Libraries for these formats build whole documents in memory, or are in C++
 * (CONTRIBUTING.md has the measurements). The code here implements the part of each format that is
 * used.
 *
 * Invariants. The numbers equal those of the reports, and come from the same queries. The result is
 * valid in its format, whatever names contain. Scripts depend on the layouts, which the manual page
 * of `export` describes. */
#ifndef EXPORT_EXPORTS_H
#define EXPORT_EXPORTS_H

#include <stdbool.h>

#include "answers/viewer.h"
#include "query/cost.h"
#include "query/lens.h"
#include "render/output.h"

/* What a format needs, and how it is written. */
enum {
    EXPORT_STACKS = 1, /* costs of each stack, in one measure */
    EXPORT_BLOCKS = 2, /* the table of blocks */
    EXPORT_PAGE = 4,   /* the viewer, with promotions */
    EXPORT_BINARY = 8, /* not for terminals */
    EXPORT_FILE = 16,  /* writes a regular file by itself */
    EXPORT_FOLDER = 32 /* adds files to a folder; its output is NULL */
};

/* X(name, set of the above):
 *   collapsed   one line per stack, `outer;inner WEIGHT`, by function (export_stacks.c)
 *   speedscope  speedscope's JSON: a sampled profile, by line
 *   dot         a call graph for Graphviz, drawn like pprof's (export_dot.c)
 *   pprof       profile.proto, compressed with gzip: objects and bytes allocated, and in use at the
 *               end, labeled with heap, type, size class and lifetime class (pprof.c)
 *   perfetto    Perfetto's native heap profile: what stacks had allocated and freed at 50 steps and
 *               at the peak (export_perfetto.c)
 *   csv, json   a row or an object per sampled block (export_rows.c)
 *   sqlite      tables of blocks, frames, stacks and the trace, and views for common questions
 *               (export_sqlite.c)
 *   parquet     the same tables, as files in a folder that holds those of many traces
 *               (export_parquet.c; docs/parquet.md)
 *   html        the viewer's page with the answers to the most common questions. It contains
 *               summaries, so its size depends on the screen, not on the trace
 *               (export_html.c) */
#define EXPORT_FORMATS(X)                                                                          \
    X(collapsed, EXPORT_STACKS)                                                                    \
    X(speedscope, EXPORT_STACKS)                                                                   \
    X(dot, EXPORT_STACKS)                                                                          \
    X(pprof, EXPORT_BLOCKS | EXPORT_BINARY)                                                        \
    X(perfetto, EXPORT_BLOCKS | EXPORT_BINARY)                                                     \
    X(csv, EXPORT_BLOCKS)                                                                          \
    X(json, EXPORT_BLOCKS)                                                                         \
    X(sqlite, EXPORT_BLOCKS | EXPORT_BINARY | EXPORT_FILE)                                         \
    X(parquet, EXPORT_BLOCKS | EXPORT_BINARY | EXPORT_FOLDER)                                      \
    X(html, EXPORT_BLOCKS | EXPORT_BINARY | EXPORT_PAGE)

/* What is exported, and where to. */
typedef struct export_subject {
    const lens *lens;    /* also gives the profile */
    const uint8_t *kept; /* which rows of the profile's table to export (not 0); NULL: all */
    measure measure;     /* EXPORT_STACKS: what the weights are; pprof: the value to show first */
    const cost_list *costs; /* EXPORT_STACKS: the costs of all stacks in `measure` */
    const char *title;      /* name of the trace */
    /* EXPORT_FILE: the file, which is empty or absent; EXPORT_FOLDER: the folder. */
    const char *path;
    const char *const *labels; /* EXPORT_FOLDER: KEY=VALUE each; the last value of a key counts */
    size_t n_labels;
    viewer *viewer;     /* EXPORT_PAGE: a viewer whose first trace is the subject */
    const char *filter; /* a valid filter, which selected `kept`; NULL: none */
    char reason[256];   /* reason for a failure, unless it was out of memory */
    bool is_unwanted;   /* failed because the watch declined the size */
} export_subject;

/* Writes the subject. A function with much output first asks the output's watch whether to write
 * it. Returns false on failure; write errors are kept in the output. */
typedef bool export_function(output *o, export_subject *s);

/* Whether a text has the form KEY=VALUE with a non-empty key. */
bool export_is_label(const char *text);

#define EXPORT_DECLARE(name, set) export_function export_##name;
EXPORT_FORMATS(EXPORT_DECLARE)
#undef EXPORT_DECLARE

#endif
