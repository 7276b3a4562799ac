/* tracer.h: counts the allocations of a guest program by type and by the place that makes them.
 *
 *      tracer *t = tracer_create(&options, &guest);
 *      … tracer_count(t, site, type, class_name, bytes, samples) at each allocation …
 *      tracer_status status = tracer_report(t, problem, sizeof problem);
 *      tracer_free(t);
 *
 * For use by one thread. While it counts, it calls nothing but the functions of `guest`. */
#ifndef GUEST_TRACER_H
#define GUEST_TRACER_H

#include "guest/guest.h"
#include "guest/options.h"

typedef struct tracer tracer;

/* Returns NULL when there is no memory. `options` must outlive the tracer; `guest` is copied. */
tracer *tracer_create(const memtracer_options *options, const guest *guest);

/* Counts an allocation of `bytes`, which is what the heap took, header included. `site` is that of
 * the innermost frame; 0 if no function of the guest is active. `class_name` is that of an object,
 * else NULL. The strings must stay valid as long as the tracer lives, since they are told apart by
 * address. `samples` is the number of sampled words; it is ignored if every allocation is counted.
 * The arguments are not in a struct since this function is as hot as allocation itself. */
void tracer_count(tracer *t, uint64_t site, const char *type, const char *class_name, size_t bytes,
                  uint64_t samples);

/* Counts an allocation of the runtime's own, which nothing in the program asked for. */
void tracer_count_internal(tracer *t, uint64_t site, const char *type, const char *class_name,
                           size_t bytes, uint64_t samples);

typedef enum tracer_status {
    TRACER_OK,
    TRACER_EXPECT_FAILED, /* an expectation failed; the report is complete */
    TRACER_CANNOT_WRITE,  /* `problem` says why, in a line without a newline */
} tracer_status;

#define TRACER_EXIT_EXPECT 3 /* exit status of a launcher for TRACER_EXPECT_FAILED */

/* Writes the report as the options say. May be called once, when the program's own output has been
 * written. */
tracer_status tracer_report(tracer *t, char *problem, size_t size);

void tracer_free(tracer *t);

#endif
