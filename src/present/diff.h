/* diff.h: what changed between two sides, as text for people, as JSON and as CSV. */
#ifndef PRESENT_DIFF_H
#define PRESENT_DIFF_H

#include "query/diff.h"
#include "render/output.h"

typedef struct diff_view {
    const query_result *const *before, *const *after; /* the runs, for the remarks about them */
    size_t n_before, n_after;
    const char *filter; /* as given; NULL: none */
    uint64_t top;       /* at most so many sites; 0: no limit */
    bool color;         /* text alone */
    bool same_file;     /* both sides are one file, as text says instead */
} diff_view;

void diff_text(output *o, const diff *d, const diff_view *view);
void diff_json(output *o, const diff *d, const diff_view *view);
void diff_csv(output *o, const diff *d, const diff_view *view);

/* Whether a shown site is a bare address that symbolizing may turn into a name. */
bool diff_unsymbolized(const diff *d, const diff_view *view);

#endif
