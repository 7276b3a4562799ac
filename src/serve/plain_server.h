/* plain_server.h: answers requests of scripts and scrapers for a few short texts. It has no thread:
 * whoever has it waits for its descriptors beside others, and lets it work. The viewer's server is
 * server.h. */
#ifndef SERVE_PLAIN_SERVER_H
#define SERVE_PLAIN_SERVER_H

#include <stdbool.h>
#include <stddef.h>

#include "render/output.h"
#include "serve/listen.h"

typedef struct plain_server plain_server;

typedef struct plain_request {
    const char *path;
    const void *of; /* the server's */
} plain_request;

/* What stands behind the question mark; NULL: there is none of this name. */
const char *plain_request_value(const plain_request *r, const char *name);

/* Fills the body, and may change the type, which is JSON's; gives the status of HTTP. */
typedef int plain_answerer(void *context, const plain_request *r, output *body, const char **type);

/* `where`: PORT on the loopback interface, HOST:PORT, or unix:PATH, which must not be in use; it is
 * readable for all. NULL, with one line in `why`, when it cannot be. */
plain_server *plain_server_start(const char *where, plain_answerer *answer, void *context,
                                 char *why, size_t size);

/* Those to be waited for until they can be read; gives their number. */
int plain_server_fds(const plain_server *s, int fds[LISTEN_SOCKETS]);

/* Does what can be done without waiting. */
void plain_server_run(plain_server *s);

/* NULL is allowed. */
void plain_server_stop(plain_server *s);

#endif
