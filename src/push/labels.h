/* labels.h: by what a process's profiles are found where they are kept: labels that the user gave,
 * the environment's, and what the system says of the process. Their names are those of
 * OpenTelemetry's conventions for resources. */
#ifndef PUSH_LABELS_H
#define PUSH_LABELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"

typedef struct label {
    char *key, *value;
} label;

/* Legal when zeroed; each key once. */
typedef VEC(label) labels;

/* Sets a label, in place of one that has this key. False, as below, when there is no memory. */
bool labels_set(labels *l, const char *key, const char *value);

/* KEY=VALUE. False with errno EINVAL when it is none. `service` is short for service.name,
 * `version` for service.version. */
bool labels_set_pair(labels *l, const char *pair);

/* What is known of a process and of this machine, then what $OTEL_RESOURCE_ATTRIBUTES and
 * $OTEL_SERVICE_NAME say. `program`: its path or name. `ours`: one that is gone was in our own
 * container. */
bool labels_gather(labels *l, const char *program, uint64_t pid, const char *host, bool ours);

const char *labels_get(const labels *l, const char *key); /* NULL: there is none */

void labels_free(labels *l);

#endif
