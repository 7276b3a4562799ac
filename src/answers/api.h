/* api.h: the endpoints of docs/viewer-api.md, from parameters to JSON. It knows nothing of sockets,
 * so the page's data can be produced without a server. Any number of threads may call it at once.
 *
 * Way. An endpoint is a function in a file answer_*.c. Answers are built from parts that questions
 * share, such as the costs of a filter or the tree of a lens (asked.h). The cache (cache.h) keeps
 * these parts, keyed by what they depend on; a part that several threads ask for at the same time
 * is computed once. The current state of a trace is a reading (viewer.h), which is immutable.
 *
 * What must hold. An answer depends on nothing but the reading and the parameters. Threads share
 * mutable state only through the cache and the viewer. */
#ifndef ANSWERS_API_H
#define ANSWERS_API_H

#include "answers/viewer.h"
#include "query/cost.h"
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

/* Writes the data of an event of `/api/live` about a reading of the trace. */
void api_live(viewer *v, size_t trace, reading *r, output *o);

/* Frees the cached trees of a measure, which are large, and which other measures do not share. */
void api_forget(viewer *v, size_t trace, const reading *r, measure m);

#endif
