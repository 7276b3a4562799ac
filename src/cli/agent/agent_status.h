/* agent_status.h: answers requests for the agent's state: as JSON, as metrics in Prometheus's text
 * format, and, if the settings allow it, as profiles at the paths that Go programs use. */
#ifndef CLI_AGENT_AGENT_STATUS_H
#define CLI_AGENT_AGENT_STATUS_H

#include "cli/agent/agent_targets.h"
#include "serve/plain_server.h"

/* Answers a request; `context` is a `targets`. Returns an HTTP status. */
int agent_status_answer(void *context, const plain_request *r, output *body, const char **type);

#endif
