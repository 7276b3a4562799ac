/* server.h: the viewer on the network: sockets, who may ask, and the way of a request to its
 * answer. What is answered is the business of api.h. */
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
