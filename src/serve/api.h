/* api.h: the endpoints of docs/viewer-api.md: from parameters to JSON. Knows nothing of sockets, so
 * that what the page is told can be had without a server. Any number of threads may ask at once. */
#ifndef SERVE_API_H
#define SERVE_API_H

#include "render/output.h"
#include "serve/viewer.h"

typedef struct api_parameter {
    const char *name, *value;
} api_parameter;

/* Whoever asks, and may have gone away meanwhile: then what takes long may end early. */
typedef struct api_client {
    bool (*has_gone)(void *context);
    void *context;
} api_client;

/* Writes the answer of an endpoint (its name behind `/api/`) into `o`, which is started and keeps
 * it in memory, and returns the status of HTTP. `client` is NULL if it stays. */
int api_answer(viewer *v, const char *endpoint, const api_parameter *parameters, size_t n,
               const api_client *client, output *o);

/* The same shape for what goes wrong elsewhere. */
void api_error(output *o, const char *parameter, size_t column, const char *reason);

/* The data of an event of `/api/live`. */
void api_live(viewer *v, size_t trace, output *o);

#endif
