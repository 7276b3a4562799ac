/* asked_paths.h: the call paths of a question, with what questions share through the cache. */
#ifndef ANSWERS_ASKED_PATHS_H
#define ANSWERS_ASKED_PATHS_H

#include "answers/asked.h"
#include "paths/callpaths.h"

/* A view of call paths, made of cache entries: of one question, or of one compared `against`
 * another. Its focus comes from the parameters. */
typedef struct asked_paths {
    callpaths view;
    cache_entry *entries[2 * PATH_SIDES + 1];
    unsigned n_entries;
} asked_paths;

/* Makes a view with its sums. It must be released in any case. Returns false, with the request
 * refused, when there is no memory. */
bool asked_paths_of(request *r, const asked *a, const asked *against, const callpaths_spec *spec,
                    asked_paths *p);

/* Makes a view of one question, without sums. */
bool asked_paths_tree(request *r, const asked *a, const callpaths_spec *spec, asked_paths *p);
void asked_paths_release(request *r, asked_paths *p);

/* Makes the collapsed tree of a question, `a->tree`, before its query is run. A failure is ignored:
 * the tree is tried again when it is needed, and the request is refused then. */
void asked_paths_collapse_first(request *r, asked *a, const lens *seen);

#endif
