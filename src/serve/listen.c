/* listen.c: without a host, IPv4 and IPv6 loopback sockets are opened at the same port. If that is
 * taken, the next hundred ports are tried, unless the user chose the port. */
#include "serve/listen.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { PORTS_TRIED = 100, BACKLOG = 1024 };

typedef union address {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
    struct sockaddr_storage storage;
} address;

static void set_port(address *a, uint16_t port) {
    if (a->any.sa_family == AF_INET6)
        a->v6.sin6_port = htons(port);
    else
        a->v4.sin_port = htons(port);
}

static bool is_wildcard(const address *a) {
    return a->any.sa_family == AF_INET6 ? IN6_IS_ADDR_UNSPECIFIED(&a->v6.sin6_addr)
                                        : a->v4.sin_addr.s_addr == htonl(INADDR_ANY);
}

/* Returns an errno. */
static int open_one(listener *l, const address *a) {
    const int on = 1;
    bool v6 = a->any.sa_family == AF_INET6;
    socklen_t size = v6 ? sizeof a->v6 : sizeof a->v4;
    int fd = socket(a->any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return errno;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if ((v6 && setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on) != 0) ||
        bind(fd, &a->any, size) != 0 || listen(fd, BACKLOG) != 0) {
        int error = errno;
        close(fd);
        return error;
    }
    l->fds[l->n++] = fd;
    return 0;
}

void listen_close(listener *l) {
    for (int i = 0; i < l->n; i++)
        if (l->fds[i] >= 0)
            close(l->fds[i]);
    l->n = 0;
}

/* Opens all addresses at one port. An address family may be missing, but a port taken in one family
 * counts as taken. Returns an errno. */
static int open_all(listener *l, address *addresses, int n, uint16_t port) {
    int missing = EADDRNOTAVAIL;
    for (int i = 0; i < n; i++) {
        set_port(&addresses[i], port);
        int error = open_one(l, &addresses[i]);
        if (error == EAFNOSUPPORT || error == EADDRNOTAVAIL) {
            missing = error;
            continue;
        }
        if (error) {
            listen_close(l);
            return error;
        }
    }
    l->port = port;
    return l->n ? 0 : missing;
}

static int find_addresses(const char *host, address addresses[LISTEN_SOCKETS], char *why,
                          size_t size) {
    if (!host) {
        addresses[0].v4 =
            (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
        addresses[1].v6 =
            (struct sockaddr_in6){.sin6_family = AF_INET6, .sin6_addr = in6addr_loopback};
        return LISTEN_SOCKETS;
    }
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE};
    struct addrinfo *found;
    int error = getaddrinfo(host, NULL, &hints, &found);
    if (error) {
        snprintf(why, size, "%s: %s", host, gai_strerror(error));
        return 0;
    }
    memcpy(&addresses[0].storage, found->ai_addr, found->ai_addrlen);
    freeaddrinfo(found);
    return 1;
}

bool listen_open(listener *l, const char *host, uint16_t port, uint16_t first, char *why,
                 size_t size) {
    address addresses[LISTEN_SOCKETS];
    *l = (listener){0};
    int n = find_addresses(host, addresses, why, size), error = 0;
    if (n == 0)
        return false;
    l->any_address = is_wildcard(&addresses[0]);
    uint16_t from = port ? port : first;
    for (uint16_t i = 0; i < (port ? 1 : PORTS_TRIED); i++) {
        error = open_all(l, addresses, n, (uint16_t)(from + i));
        if (!error)
            return true;
        if (error != EADDRINUSE)
            break;
    }
    snprintf(why, size, "%s port %u: %s", host ? host : "localhost", from, strerror(error));
    return false;
}
