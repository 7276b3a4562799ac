/* listen.h: the sockets that the viewer listens on. */
#ifndef SERVE_LISTEN_H
#define SERVE_LISTEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LISTEN_SOCKETS 2 /* IPv4 and IPv6 on the loopback interface, since browsers try both */

typedef struct listener {
    int fds[LISTEN_SOCKETS]; /* -1: taken over by the HTTP daemon */
    int n;
    uint16_t port;
    bool any_address; /* listens on all addresses of this machine */
} listener;

/* Opens the sockets. `host` NULL: the loopback interface. `port` 0: the first port from `first` on
 * that is free for all sockets. Returns false, with one line in `why`, on failure. */
bool listen_open(listener *l, const char *host, uint16_t port, uint16_t first, char *why,
                 size_t size);
void listen_close(listener *l);

#endif
