/* info.h: the report of `info`: facts about a trace as a whole. */
#ifndef REPORTS_INFO_H
#define REPORTS_INFO_H

#include "document/document.h"
#include "profile/gauges.h"

enum { INFO_MARKS = 10 }; /* shown in text */

/* A profile, the name of its file, and the warnings of its reader. They must outlive the
 * document. */
typedef struct info_report {
    const profile *profile;
    const char *path;
    uint64_t size;  /* bytes; 0: unknown, as of a pipe */
    bool is_window; /* of a longer trace: blocks at its very start were allocated before */
    const memtrace_warning *warnings;
    size_t n_warnings;
    bool promotion_unknown; /* promotion was not recorded */
    gauge_list gauges;      /* set by info_document, freed by info_free */
    /* Texts in the document's memory; NULL: nothing to say. `runtime` is "" if none is known. */
    const char *runtime, *started, *rate, *promoted, *format, *end, *missing;
} info_report;

void info_document(document *d, info_report *r);
void info_free(info_report *r);

#endif
