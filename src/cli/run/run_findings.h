/* run_findings.h: findings that `run` and `attach` print in addition to the top sites: the peak,
 * growing sites and the best advice. Each is a line with the command that shows more. */
#ifndef CLI_RUN_RUN_FINDINGS_H
#define CLI_RUN_RUN_FINDINGS_H

#include "profile/profile.h"
#include "render/output.h"

/* Adds at most `lines` lines, and returns false if it left out what the trace can show. Adds none
 * if the profile has no table of blocks, or a large one, which would delay the end of a run.
 * `trace` is quoted for a shell. `is_largest`: the trace is the largest of several, and each line
 * says so. `hides`: libraries are hidden, so places are their callers. */
bool run_findings_say(output *o, const profile *p, const char *trace, bool is_largest, bool hides,
                      size_t lines);

#endif
