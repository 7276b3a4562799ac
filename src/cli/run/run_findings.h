/* run_findings.h: what `run` and `attach` find in a trace beyond its largest sites, a line each
 * with the command that says more: the peak, what grows, the best advice. */
#ifndef CLI_RUN_RUN_FINDINGS_H
#define CLI_RUN_RUN_FINDINGS_H

#include "profile/profile.h"
#include "render/output.h"

/* Adds at most `lines` of them. Of a profile without the table of blocks, or with a large one,
 * which would hold up the end of a run, nothing is said. `trace` is as a shell reads it;
 * `is_largest`: of several, which each line says. `hides`: places are those that call libraries. */
void run_findings_say(output *o, const profile *p, const char *trace, bool is_largest, bool hides,
                      size_t lines);

#endif
