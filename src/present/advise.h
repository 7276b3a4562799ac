/* advise.h: advice as text for people, as JSON and as CSV. */
#ifndef PRESENT_ADVISE_H
#define PRESENT_ADVISE_H

#include "advice/advise.h"
#include "present/report.h"

typedef struct advise_view {
    const char *trace; /* as commands name it */
    double min_share;  /* that the advice was asked for */
    uint64_t top;      /* at most so many; 0: all */
} advise_view;

void advise_text(output *o, const report *r, const advise *a, const advise_view *view);
void advise_json(output *o, const report *r, const advise *a, const advise_view *view);
void advise_csv(output *o, const report *r, const advise *a, const advise_view *view);

/* Whether a function that is shown has no name yet. */
bool advise_unsymbolized(const advise *a, const advise_view *view);

#endif
