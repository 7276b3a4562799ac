/* ending.c: see ending.h. */
#include "present/ending.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void ending_text(output *o, const profile *p) {
    const profile_end *end = &p->end;
    if (!profile_ends_early(p))
        return;
    output_format(o, "The trace ends early, at %s", figure_duration(end->time).text);
    if (end->reason[0]) {
        output_text(o, ": ");
        output_shown(o, end->reason);
    }
    output_text(o, ".\nWhat the program did after that is missing");
    if (end->n_lost)
        output_format(o, ": %s allocation%s that could not be written, and all later ones",
                      figure_count(end->n_lost).text, end->n_lost == 1 ? "" : "s");
    output_text(o, ".\n");
}

void ending_json(output *o, const profile *p) {
    const profile_end *end = &p->end;
    if (!profile_ends_early(p))
        return;
    output_format(o, ",\n \"ends_early\":{\"time\":%" PRIu64 ",\"how\":\"%s\"", end->time,
                  end->how == MEMTRACE_END_OPEN ? "open" : "early");
    output_format(o, ",\"lost_allocations\":%" PRIu64 ",\"reason\":", end->n_lost);
    output_json(o, end->reason);
    output_char(o, '}');
}

figure_range ending_error(const profile *p, figure_range error) {
    if (profile_ends_early(p) && strcmp(error.text, "exact") == 0)
        snprintf(error.text, sizeof error.text, "exact up to %s%s",
                 figure_duration(p->end.time).text,
                 p->duration > p->end.time ? ", incomplete after that" : "");
    return error;
}
