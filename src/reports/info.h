/* info.h: the report of `info`: what a trace is about. */
#ifndef REPORTS_INFO_H
#define REPORTS_INFO_H

#include "document/document.h"
#include "profile/gauges.h"

enum { INFO_MARKS = 10 }; /* that text shows */

/* Beside the profile: the file's name, and the warnings of its reader. It must outlive the
 * document. */
typedef struct info_report {
    const profile *profile;
    const char *path;
    uint64_t size; /* bytes; 0: unknown, as of a pipe */
    const memtrace_warning *warnings;
    size_t n_warnings;
    bool promotion_unknown; /* it was not tracked */
    const char *runtime;    /* in the document's memory; "": nothing is known of one */
    gauge_list gauges;      /* found by info_document, to be freed with info_free */
    char started[40], rate[128], promoted[60], format[60], end[480], missing[400];
} info_report;

void info_document(document *d, info_report *r);
void info_free(info_report *r);

#endif
