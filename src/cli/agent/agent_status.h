/* agent_status.h: what the agent says of itself to whoever asks: as JSON, as metrics in
 * Prometheus's text format, and, where the settings allow it, profiles as Go's programs serve them.
 */
#ifndef CLI_AGENT_AGENT_STATUS_H
#define CLI_AGENT_AGENT_STATUS_H

#include "cli/agent/agent_targets.h"
#include "serve/plain_server.h"

/* Answers requests; the context is a `targets`. */
int agent_status_answer(void *context, const plain_request *r, output *body, const char **type);

#endif
