/* plain_server.h: a small HTTP server that answers scripts and scrapers with a few short texts. It
 * has no threads: its owner waits for its descriptors together with others, and lets it work. The
 * viewer's server is server.h. */
#ifndef SERVE_PLAIN_SERVER_H
#define SERVE_PLAIN_SERVER_H

#include <stdbool.h>
#include <stddef.h>

#include "render/output.h"
#include "serve/listen.h"

typedef struct plain_server plain_server;

typedef struct plain_request {
    const char *path;
    const void *of; /* libmicrohttpd's connection */
} plain_request;

/* Returns the value of a parameter in the query string; NULL if it is not there. */
const char *plain_request_value(const plain_request *r, const char *name);

/* Fills the body and returns the HTTP status. May change the type, which is that of JSON before. */
typedef int plain_answerer(void *context, const plain_request *r, output *body, const char **type);

/* `where` is PORT on the loopback interface, HOST:PORT, or unix:PATH. A UNIX socket must not be in
 * use; all users may connect to it. Returns NULL, with one line in `why`, on failure. */
plain_server *plain_server_start(const char *where, plain_answerer *answer, void *context,
                                 char *why, size_t size);

/* Sets the descriptors to poll for reading, and returns their number. */
int plain_server_fds(const plain_server *s, int fds[LISTEN_SOCKETS]);

/* Does what can be done without waiting. */
void plain_server_run(plain_server *s);

/* NULL is allowed. */
void plain_server_stop(plain_server *s);

#endif
