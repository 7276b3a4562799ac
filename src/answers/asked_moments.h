/* asked_moments.h: questions that compare two moments of one trace, the parameters `from`, `to` and
 * `of`. */
#ifndef ANSWERS_ASKED_MOMENTS_H
#define ANSWERS_ASKED_MOMENTS_H

#include "answers/asked.h"

/* Values of `of`: what is live at a moment, or what was allocated up to it. */
enum { MOMENTS_LIVE, MOMENTS_ALLOCATED };

/* Two moments of one trace, `from` and `to`, that are compared as two traces would be. */
typedef struct asked_moments {
    bool given;
    int of; /* MOMENTS_…: what is compared */
    uint64_t from, to;
    char went[72], came[72]; /* filter terms: in the first state only, in the second state only */
    char before[32], after[32]; /* filter terms of the states themselves, for MOMENTS_ALLOCATED */
} asked_moments;

bool asked_moments_read(request *r, asked_moments *m);

/* Opens a question for each state of `trace`. Their `also` or `live_at` points into `m`. */
bool asked_moments_open_states(request *r, const asked_moments *m, asked *before, asked *after);

/* Opens a question for what went and one for what came between the moments, in `trace`. */
bool asked_moments_open_changes(request *r, const asked_moments *m, asked *went, asked *came);

#endif
