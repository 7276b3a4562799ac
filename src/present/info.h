/* info.h: what a trace is about, as text for people and as JSON. */
#ifndef PRESENT_INFO_H
#define PRESENT_INFO_H

#include "profile/profile.h"
#include "render/output.h"

/* Beside the profile: the file's name, and the warnings of its reader. */
typedef struct info_view {
    const char *path;
    uint64_t size; /* bytes; 0: unknown, as of a pipe */
    const memtrace_warning *warnings;
    size_t n_warnings;
    bool color;             /* text alone */
    bool promotion_unknown; /* JSON alone: it was not tracked */
} info_view;

void info_text(output *o, const profile *p, const info_view *view);
void info_json(output *o, const profile *p, const info_view *view);

#endif
