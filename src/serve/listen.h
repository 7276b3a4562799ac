/* listen.h: the sockets that the viewer listens at. */
#ifndef SERVE_LISTEN_H
#define SERVE_LISTEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LISTEN_SOCKETS 2 /* of the loopback interface: both families, since browsers try both */

typedef struct listener {
    int fds[LISTEN_SOCKETS]; /* -1: somebody else's by now */
    int n;
    uint16_t port;
    bool any_address; /* not only one address of this machine */
} listener;

/* `host` NULL: the loopback interface. `port` 0: the first one from `first` on that is free for all
 * sockets. False, with one line in `why`, when there is none. */
bool listen_open(listener *l, const char *host, uint16_t port, uint16_t first, char *why,
                 size_t size);
void listen_close(listener *l);

#endif
