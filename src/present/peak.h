/* peak.h: when most was live, and what. */
#ifndef PRESENT_PEAK_H
#define PRESENT_PEAK_H

#include "analyse/hotspots.h"
#include "analyse/peak.h"
#include "present/hotspots.h"

/* `r` is of a query whose measure is MEASURE_PEAK. `h` are the sites of what was live then, for
 * `sites`, which is `r` or of another measure of the same blocks. */
void peak_text(output *o, const report *r, const peak *k, const report *sites, const hotspots *h,
               const hotspots_view *view);
void peak_json(output *o, const report *r, const peak *k, const report *sites, const hotspots *h,
               const hotspots_view *view);

#endif
