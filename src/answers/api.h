/* api.h: the endpoints of docs/viewer-api.md, from parameters to replies. It knows nothing of
 * sockets, so the page's data can be produced without a server. Any number of threads may call it
 * at once.
 *
 * Problem. The page asks for many views of the same trace, and for most of them again with another
 * filter. Each view is quickly written, but what it is written from takes seconds to compute. The
 * trace may grow meanwhile.
 *
 * Way. A request passes api.c (the endpoint, from the list in endpoints.h), request.h (parameters)
 * and a function in answer_ENDPOINT.c, which opens its question (asked.h), takes call paths from
 * asked_paths.h and writes JSON (write.h). The cache (cache.h) keeps what questions share, such as
 * the costs of a filter or the tree of a lens, keyed by what it depends on; what several threads
 * ask for at the same time is computed once. The current state of a trace is a reading (viewer.h),
 * which is immutable.
 *
 * Why not otherwise. A cache of whole answers would help only those who ask the same twice. Most
 * people change one parameter at a time, and most parts stay.
 *
 * What must hold. An answer depends on nothing but the reading and the parameters. Threads share
 * mutable state only through the cache and the viewer. */
#ifndef ANSWERS_API_H
#define ANSWERS_API_H

#include "answers/upload.h"
#include "answers/viewer.h"
#include "query/cost.h"
#include "render/output.h"

enum {
    HTTP_OK = 200,
    HTTP_BAD_REQUEST = 400,
    HTTP_NOT_FOUND = 404,
    HTTP_UNAVAILABLE = 503,
};

/* What is at an address. */
typedef enum api_kind {
    API_NOTHING,  /* nothing of the API */
    API_DOCUMENT, /* an answer of api_answer */
    API_FILE,     /* such an answer, which may take as long as the client waits */
    API_EVENTS,   /* a stream of events; api_live writes their data */
    API_OPENING,  /* takes a trace to open; see api_open */
} api_kind;

typedef struct api_parameter {
    const char *name, *value;
} api_parameter;

/* The client that asked. If it has gone away, a long computation may end early. */
typedef struct api_client {
    bool (*has_gone)(void *context);
    void *context;
} api_client;

/* An answer or a refusal. The receiver frees `body`. */
typedef struct api_reply {
    int status;       /* of HTTP */
    const char *type; /* MIME type */
    char file[128];   /* the name to save it by; empty: it is not for saving */
    output body;      /* in memory */
} api_reply;

/* Returns what is at the path of an address, such as `/api/info`. */
api_kind api_kind_of(const char *path);

/* Answers a request. `*reply` need not be initialized. `client` is NULL if it cannot go away. */
void api_answer(viewer *v, const char *path, const api_parameter *parameters, size_t n,
                const api_client *client, api_reply *reply);

/* Opens the trace that has been uploaded. `*reply` need not be initialized. */
void api_open(viewer *v, upload *u, api_reply *reply);

/* Makes a reply a refusal, instead of what it was, if it was anything but zeros. */
void api_refuse(api_reply *reply, int status, const char *reason);

/* Writes the data of an event of `/api/live` about a reading of the trace. */
void api_live(viewer *v, size_t trace, reading *r, output *o);

/* Frees the cached trees of a measure, which are large, and which other measures do not share. */
void api_forget(viewer *v, size_t trace, const reading *r, measure m);

#endif
