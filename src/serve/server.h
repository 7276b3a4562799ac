/* server.h: the viewer on the network: sockets, who may ask, and the way of a request to its
 * answer. What is answered is the business of api.h.
 *
 * Problem. A page in the browser asks some ten questions at once about a trace of any size, most of
 * them again with another filter a moment later; the trace may still grow. Other pages that are
 * open in the same browser can send requests here, too.
 *
 * Way. libmicrohttpd takes requests apart (server.c); a guard (guard.h) turns away what is not of
 * our page; a worker (workers.h) computes the answer, while others go on. An endpoint is a function
 * from parameters to JSON in a file answer_NAME.c. Answers are made of things that questions share,
 * such as the costs of a filter or the tree of a lens; these are kept in a cache (cache.h) by what
 * they depend on, and computed once when several ask at a time. What the traces are just now is a
 * reading (viewer.h), which is immutable. News go to the page by a stream of events (streams.h).
 *
 * Why not otherwise. All data at once to the page, as other viewers do it, ends at some hundred
 * megabytes. A process for each request would have to read the trace again.
 *
 * What must hold. An answer depends on the reading and the parameters alone. Threads share nothing
 * that changes, but through the cache and the viewer. Nothing is served that the page does not
 * need: no files but those that the trace names as sources. */
#ifndef SERVE_SERVER_H
#define SERVE_SERVER_H

#include "serve/viewer.h"

typedef struct server server;

typedef struct server_options {
    const char *host; /* address or name to listen at; NULL: the loopback interface */
    uint16_t port;    /* 0: the first free one from SERVER_PORT on */
} server_options;

#define SERVER_PORT 8080

/* Starts to listen and to answer. NULL, with one line in `why`, when it cannot. */
server *server_start(viewer *v, const server_options *options, char *why, size_t size);

/* `http://localhost:8080/?token=…`, until the server is stopped. */
const char *server_address(const server *s);

/* To be called about once a second: ends exchanges that take too long, keeps streams alive. */
void server_tick(server *s);

/* Ends all connections. Requests that are being answered are waited for. Nobody may publish
 * meanwhile. */
void server_stop(server *s);

#endif
