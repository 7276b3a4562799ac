/* lifetimes.h: how long blocks live, as text, JSON and CSV. */
#ifndef PRESENT_LIFETIMES_H
#define PRESENT_LIFETIMES_H

#include "present/report.h"
#include "query/lifetimes.h"

typedef struct lifetimes_view {
    const lifetimes_spec *spec;
    uint64_t top; /* at most so many sites; 0: no limit */
} lifetimes_view;

void lifetimes_text(output *o, const report *r, const lifetimes *l, const lifetimes_view *view);
void lifetimes_json(output *o, const report *r, const lifetimes *l, const lifetimes_view *view);

/* A row a site; or a row a point of the survival curve. */
void lifetimes_csv(output *o, const lifetimes *l, const lifetimes_view *view);
void lifetimes_curve_csv(output *o, const lifetimes *l);

/* Whether a shown site is a bare address that symbolizing may turn into a name. */
bool lifetimes_unsymbolized(const lifetimes *l, const lifetimes_view *view);

#endif
