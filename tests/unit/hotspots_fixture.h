/* hotspots_fixture.h: a query and its hotspots in one. */
#ifndef HOTSPOTS_FIXTURE_H
#define HOTSPOTS_FIXTURE_H

#include "query/hotspots.h"

/* Finds the hotspots of a whole profile, with the default settings of the commands. */
static inline bool hotspots_of_all(const profile *p, hotspots_by by, hotspots *h) {
    query_result q;
    const bool ok = query_run(&q, p, &(query_spec){0}) && hotspots_query(&q, by, h);
    query_free(&q);
    return ok;
}

#endif
