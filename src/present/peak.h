/* peak.h: when most was live, and what. */
#ifndef PRESENT_PEAK_H
#define PRESENT_PEAK_H

#include "analyse/hotspots.h"
#include "analyse/peak.h"
#include "present/hotspots.h"

/* `h` are the sites of what was live, for the same query, whose measure is MEASURE_PEAK. */
void peak_text(output *o, const report *r, const peak *k, const hotspots *h,
               const hotspots_view *view);
void peak_json(output *o, const report *r, const peak *k, const hotspots *h,
               const hotspots_view *view);

#endif
