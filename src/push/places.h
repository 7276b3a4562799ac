/* places.h: gives the frames of a trace that is being read their functions, files and lines. These
 * come from the trace or, for addresses, from the modules on this machine. */
#ifndef PUSH_PLACES_H
#define PUSH_PLACES_H

#include "profile/profile.h"
#include "query/lens.h"
#include "symbolize/symbolize.h"

typedef struct places {
    symbolizer *symbolizer;
    bool is_shared;      /* owned by somebody else */
    VEC(bool) allocator; /* by location of the profile: the function belongs to the allocator */
} places;

/* `shared` is a symbolizer that must outlive the places; NULL: they make their own. `recorded_at`
 * is in microseconds since the epoch. `files`: see push.h. Returns false, as do the functions
 * below, when there is no memory. */
bool places_begin(places *p, symbolizer *shared, uint64_t recorded_at, int files);

/* Adds what the reader has met since the last call to the profile's frames and locations. */
bool places_learn(places *p, const memtrace_reader *reader, profile *into);

/* Makes a lens on the profile that hides the allocator's functions. */
bool places_lens(const places *p, const profile *of, lens *l);

void places_free(places *p);

#endif
