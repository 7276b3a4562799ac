/* places.h: gives the frames of a trace that is being read their functions, files and lines: those
 * that the trace names, and of addresses those that the modules on this machine name. */
#ifndef PUSH_PLACES_H
#define PUSH_PLACES_H

#include "profile/profile.h"
#include "query/lens.h"
#include "symbolize/symbolize.h"

typedef struct places {
    symbolizer *symbolizer;
    bool is_shared;      /* the symbolizer is somebody else's, too */
    VEC(bool) allocator; /* by location of the profile: the function is the allocator's own */
} places;

/* `shared`: by which names are found, until places_free; NULL: by a symbolizer of their own.
 * `recorded_at`: microseconds since the epoch. `files`: see push.h. False, as below, when there is
 * no memory. */
bool places_begin(places *p, symbolizer *shared, uint64_t recorded_at, int files);

/* Adds what the reader has met since to the profile's frames and locations. */
bool places_learn(places *p, const memtrace_reader *reader, profile *into);

/* A lens on the profile that sees the program's functions, not the allocator's. */
bool places_lens(const places *p, const profile *of, lens *l);

void places_free(places *p);

#endif
