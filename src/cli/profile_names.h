/* profile_names.h: names for the addresses in a trace that is being written, or in the segments of
 * one: those of a finished trace get theirs by src/symbolize/completion.h, which rewrites the file.
 */
#ifndef CLI_PROFILE_NAMES_H
#define CLI_PROFILE_NAMES_H

#include "profile/profile.h"
#include "symbolize/symbolize.h"

/* Replaces addresses in the profile by what `s` knows of them; others stay. False when there is no
 * memory: the profile is then as good as before. */
bool profile_names_give(symbolizer *s, profile *p);

#endif
