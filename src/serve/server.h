/* server.h: the viewer's HTTP server. It owns the sockets, decides who may ask, and takes a request
 * to its answer. What an answer contains is up to answers/api.h.
 *
 * Problem. A page in the browser asks about ten questions at once about a trace of any size, and
 * asks most of them again with another filter a moment later. The trace may still be growing. Other
 * pages open in the same browser can send requests here, too.
 *
 * Way. libmicrohttpd parses requests (server.c) from the sockets of listen.h. A guard (guard.h)
 * rejects requests that do not come from our page. A worker (workers.h) computes the answer while
 * others proceed. The page learns of new readings of a trace through a stream of events
 * (streams.h).
 *
 * Why not otherwise. Other viewers send all data to the page at once, which fails at some hundred
 * megabytes. A process for each request would have to read the trace again.
 *
 * What must hold. The server hands out nothing that the page does not need: the only files it reads
 * for the page are those that the trace names as sources. */
#ifndef SERVE_SERVER_H
#define SERVE_SERVER_H

#include "answers/viewer.h"

typedef struct server server;

typedef struct server_options {
    const char *host; /* address or name to listen on; NULL: the loopback interface */
    uint16_t port;    /* 0: the first free port, counting up from SERVER_PORT */
} server_options;

#define SERVER_PORT 8080

/* Starts to listen and to answer. Returns NULL, with one line in `why`, on failure. */
server *server_start(viewer *v, const server_options *options, char *why, size_t size);

/* Returns `http://localhost:8080/?token=…`, valid until the server is stopped. */
const char *server_address(const server *s);

/* Must be called about once a second: ends exchanges that take too long, keeps streams alive. */
void server_tick(server *s);

/* Ends all connections, after the requests that are being answered. Nobody may publish
 * meanwhile. */
void server_stop(server *s);

#endif
