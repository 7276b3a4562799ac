/* api.h: the endpoints of docs/viewer-api.md, from parameters to JSON. It knows nothing of sockets,
 * so the page's data can be produced without a server. Any number of threads may call it at
 * once. */
#ifndef ANSWERS_API_H
#define ANSWERS_API_H

#include "answers/viewer.h"
#include "render/output.h"

typedef struct api_parameter {
    const char *name, *value;
} api_parameter;

/* The client that asked. If it has gone away, a long computation may end early. */
typedef struct api_client {
    bool (*has_gone)(void *context);
    void *context;
} api_client;

/* Writes the answer of `endpoint` (the part of the path after `/api/`) to `o`, and returns the HTTP
 * status. `o` must be started, with its output in memory. `client` is NULL if it cannot go away. */
int api_answer(viewer *v, const char *endpoint, const api_parameter *parameters, size_t n,
               const api_client *client, output *o);

/* Writes an error in the API's format, for errors outside the endpoints. */
void api_error(output *o, const char *parameter, size_t column, const char *reason);

/* Writes the data of an event of `/api/live`. */
void api_live(viewer *v, size_t trace, output *o);

#endif
