/* events.h: walks over events without decoding them. */
#ifndef TRACE_EVENTS_H
#define TRACE_EVENTS_H

#include <stdint.h>

/* Returns the end of the event at `p`, or NULL if it lies beyond `end` or the event is of unknown
 * kind. For a location event, returns the start of its locations instead and sets `*n_locations` to
 * their number; for all other events, `*n_locations` is 0. */
const uint8_t *event_skip(const uint8_t *p, const uint8_t *end, unsigned *n_locations);

#endif
