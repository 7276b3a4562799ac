/* labels.h: the labels by which a process's profiles are found in a profile store: the user's, the
 * environment's, and what the system says about the process. Their names follow OpenTelemetry's
 * conventions for resources. */
#ifndef PUSH_LABELS_H
#define PUSH_LABELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"

typedef struct label {
    char *key, *value;
} label;

/* Valid when zeroed. Each key occurs once. */
typedef VEC(label) labels;

/* Sets a label, replacing one with the same key. Returns false, as do the functions below, when
 * there is no memory. */
bool labels_set(labels *l, const char *key, const char *value);

/* Sets the label KEY=VALUE. Returns false with errno EINVAL if `pair` is not of this form.
 * `service` is short for service.name, `version` for service.version. */
bool labels_set_pair(labels *l, const char *pair);

/* Sets what is known about a process and this machine, then what $OTEL_RESOURCE_ATTRIBUTES and
 * $OTEL_SERVICE_NAME say. `program` is a path or a name. With `ours`, a process that is gone is
 * assumed to have been in our own container. */
bool labels_gather(labels *l, const char *program, uint64_t pid, const char *host, bool ours);

const char *labels_get(const labels *l, const char *key); /* NULL: there is no such label */

void labels_free(labels *l);

#endif
