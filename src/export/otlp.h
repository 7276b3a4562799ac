/* otlp.h: heap profiles as OpenTelemetry's protocol carries them: an ExportProfilesServiceRequest
 * of opentelemetry.proto.profiles.v1development, whose field numbers are those of OTLP_VERSION. The
 * format is not stable yet; receivers of other versions may refuse it.
 *
 * Each value is a profile of its own, all of them over one dictionary of stacks. */
#ifndef EXPORT_OTLP_H
#define EXPORT_OTLP_H

#include "export/pprof.h"

#define OTLP_VERSION "1.10"

/* What the profiles are of: an attribute of the resource. */
typedef struct otlp_attribute {
    const char *key, *value;
} otlp_attribute;

typedef struct otlp otlp;

/* A request that is written sample by sample, as with pprof_begin: of the head, `values` are the
 * profiles. NULL when there is no memory. */
otlp *otlp_begin(const lens *l, const pprof_head *head, const otlp_attribute *attributes,
                 size_t n_attributes);

/* By what samples are told apart. */
#define OTLP_THREAD "thread.name"
#define OTLP_SCOPE  "scope"
enum { OTLP_SAMPLE_ATTRIBUTES_MAX = 4 };

/* The span that samples are of, and a number, from 1 on, that no other span of the request has. */
typedef struct otlp_link {
    uint32_t number;
    const memtrace_span *span;
} otlp_link;

/* A node's stack with a value for each profile; 0: it is not in that. At most
 * OTLP_SAMPLE_ATTRIBUTES_MAX attributes. `link` NULL: of no span. */
void otlp_sample(otlp *w, uint32_t node, const uint64_t *values, const otlp_attribute *attributes,
                 size_t n_attributes, const otlp_link *link);

/* Appends the request to `o`, and frees `w`. False when memory ran out. */
bool otlp_end(otlp *w, output *o);

#endif
