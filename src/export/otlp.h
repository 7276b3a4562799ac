/* otlp.h: heap profiles in OpenTelemetry's protocol: an ExportProfilesServiceRequest of
 * opentelemetry.proto.profiles.v1development, with the field numbers of OTLP_VERSION. The format is
 * not stable yet; receivers of other versions may refuse it.
 *
 * Each value is a profile of its own. All profiles share one dictionary of stacks. */
#ifndef EXPORT_OTLP_H
#define EXPORT_OTLP_H

#include "export/pprof.h"

#define OTLP_VERSION "1.10"

/* An attribute of the resource (what the profiles describe) or of a sample. */
typedef struct otlp_attribute {
    const char *key, *value;
} otlp_attribute;

typedef struct otlp otlp;

/* Begins a request that is written sample by sample, like pprof_begin. The head's `values` are the
 * profiles. Returns NULL when out of memory. */
otlp *otlp_begin(const lens *l, const pprof_head *head, const otlp_attribute *attributes,
                 size_t n_attributes);

/* Attributes that distinguish samples. */
#define OTLP_THREAD "thread.name"
#define OTLP_SCOPE  "scope"
enum { OTLP_SAMPLE_ATTRIBUTES_MAX = 4 };

/* The span of samples, and a number from 1 that is unique among the spans of the request. */
typedef struct otlp_link {
    uint32_t number;
    const memtrace_span *span;
} otlp_link;

/* Writes a node's stack with a value for each profile; profiles with value 0 omit it. At most
 * OTLP_SAMPLE_ATTRIBUTES_MAX attributes. `link` NULL: no span. */
void otlp_sample(otlp *w, uint32_t node, const uint64_t *values, const otlp_attribute *attributes,
                 size_t n_attributes, const otlp_link *link);

/* Appends the request to `o` and frees `w`. Returns false if memory ran out. */
bool otlp_end(otlp *w, output *o);

#endif
