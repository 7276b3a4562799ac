/* ending.h: that a trace ends early, for reports that write their text and JSON themselves. */
#ifndef PRESENT_ENDING_H
#define PRESENT_ENDING_H

#include "render/output.h"
#include "reports/ending.h"

/* Lines, if there is something to say. */
void ending_text(output *o, const profile *p);

/* `,"ends_early":{"time":…,"how":"early","lost_allocations":…,"reason":…}`, likewise. */
void ending_json(output *o, const profile *p);

#endif
