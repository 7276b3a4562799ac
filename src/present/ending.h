/* ending.h: that a trace ends early, for reports that write their text and JSON themselves. */
#ifndef PRESENT_ENDING_H
#define PRESENT_ENDING_H

#include "render/output.h"
#include "reports/ending.h"

/* `,"ends_early":{"time":…,"how":"early","lost_allocations":…,"reason":…}`, if it does. */
void ending_json(output *o, const profile *p);

#endif
