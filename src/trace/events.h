/* events.h: walk over events without decoding them. */
#ifndef TRACE_EVENTS_H
#define TRACE_EVENTS_H

#include <stdint.h>

/* Where the event at `p` ends, or NULL if that is beyond `end` or the event is of unknown kind. Of
 * a location event only the part before its locations is walked over, and `*n_locations` says how
 * many there are; it is 0 for other events. */
const uint8_t *event_skip(const uint8_t *p, const uint8_t *end, unsigned *n_locations);

#endif
