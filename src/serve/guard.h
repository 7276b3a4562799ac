/* guard.h: who may ask. A page of another site, open in the same browser, can send requests here;
 * so that it learns nothing, a request must name this machine, must not come from elsewhere, and
 * must know the token. Pure functions on what stands in the request. */
#ifndef SERVE_GUARD_H
#define SERVE_GUARD_H

#include <stdbool.h>
#include <stddef.h>

#define GUARD_TOKEN_SIZE 32 /* hexadecimal digits: 128 bits */

typedef struct guard {
    const char *host; /* a name beside those of the loopback interface; NULL: none */
    bool any_address; /* any number of an address is a name: it listens on all */
    char token[GUARD_TOKEN_SIZE + 1];
    char cookie[32]; /* its name: another server on this machine has another */
} guard;

/* Draws the token; false if the system gives no random numbers. */
bool guard_init(guard *g, const char *host, bool any_address, unsigned port);

/* `Host: NAME[:PORT]`. The port is not looked at: a tunnel may change it, and by the name alone a
 * page that had its own name resolve to this machine is told from its user. */
bool guard_host(const guard *g, const char *host);

/* `Origin` must be `http://` and the host, `Sec-Fetch-Site` not another site, but for pages that
 * are opened. NULL: the request has no such header, and is fine as far as that goes. */
bool guard_origin(const char *origin, const char *host);
bool guard_site(const char *site, const char *mode, bool opens_page);

/* `cookie` is the whole header; both may be NULL. */
bool guard_token(const guard *g, const char *parameter, const char *cookie);

#endif
