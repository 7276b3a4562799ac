/* profile_names.h: resolves addresses in the profile of a trace that is still being written, or of
 * its segments. A finished trace is symbolized by src/symbolize/completion.h, which rewrites the
 * file. */
#ifndef CLI_PROFILE_NAMES_H
#define CLI_PROFILE_NAMES_H

#include "profile/profile.h"
#include "symbolize/symbolize.h"

/* Replaces addresses in the profile that `s` can resolve. Returns false if there is no memory; the
 * profile is still valid then. */
bool profile_names_give(symbolizer *s, profile *p);

#endif
