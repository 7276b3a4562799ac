/* hotspots.h: the hotspots of a profile as text for people, as JSON and as CSV. */
#ifndef PRESENT_HOTSPOTS_H
#define PRESENT_HOTSPOTS_H

#include "analyse/hotspots.h"
#include "present/report.h"

typedef struct hotspots_view {
    uint64_t top;     /* at most so many sites; 0: no limit */
    double min_share; /* in percent of the total; smaller sites are only counted */
    uint64_t callers; /* at most so many a site */
} hotspots_view;

void hotspots_text(output *o, const report *r, const hotspots *h, const hotspots_view *view);
void hotspots_json(output *o, const report *r, const hotspots *h, const hotspots_view *view);
void hotspots_csv(output *o, const report *r, const hotspots *h, const hotspots_view *view);

/* The sites alone: lines of text; fields of an object, each with a comma before it. */
void hotspots_text_sites(output *o, const report *r, const hotspots *h, const hotspots_view *view);
void hotspots_json_sites(output *o, const report *r, const hotspots *h, const hotspots_view *view);

/* Whether a shown site is a bare address that symbolizing may turn into a name. */
bool hotspots_unsymbolized(const report *r, const hotspots *h, const hotspots_view *view);

#endif
