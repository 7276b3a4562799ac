/* tracer.h: counts the allocations of a guest program by type and by where they are made.
 *
 *     tracer *t = tracer_create(&options, &guest);
 *     … tracer_count(t, &allocation) at each allocation …
 *     tracer_status status = tracer_report(t, problem, sizeof problem);
 *     tracer_free(t);
 *
 * Used by one thread. While it counts it calls nothing but the functions of `guest`. */
#ifndef GUEST_TRACER_H
#define GUEST_TRACER_H

#include "guest/guest.h"
#include "guest/options.h"

typedef struct tracer tracer;

/* NULL when there is no memory. `options` must outlive it; `guest` is copied. */
tracer *tracer_create(const memtracer_options *options, const guest *guest);

/* An allocation of `bytes`, all that the heap took, header included. `site` is that of the
 * innermost frame, 0 if no function of the guest is active. `class_name` is that of an object, else
 * NULL; it and the type stay where they are as long as the tracer lives, and so tell kinds apart.
 * `samples` are the words that were sampled, ignored if every allocation is counted. No structure,
 * since this is as hot as allocating. */
void tracer_count(tracer *t, uint64_t site, const char *type, const char *class_name, size_t bytes,
                  uint64_t samples);

/* One that nothing in the program asked for: the runtime's own. */
void tracer_count_internal(tracer *t, uint64_t site, const char *type, const char *class_name,
                           size_t bytes, uint64_t samples);

typedef enum tracer_status {
    TRACER_OK,
    TRACER_EXPECT_FAILED, /* an expectation did not hold; the report is complete */
    TRACER_CANNOT_WRITE,  /* `problem` says why, a line without its end */
} tracer_status;

#define TRACER_EXIT_EXPECT 3 /* the exit status of a launcher for TRACER_EXPECT_FAILED */

/* Writes the report as the options say, once. What the program has printed must have been written.
 */
tracer_status tracer_report(tracer *t, char *problem, size_t size);

void tracer_free(tracer *t);

#endif
