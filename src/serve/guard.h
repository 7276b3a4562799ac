/* guard.h: decides which requests are answered. A page of another site, open in the same browser,
 * can send requests here. So that it learns nothing, a request must name this machine, must not
 * come from another site, and must know the token. These are pure functions of the request's
 * headers. */
#ifndef SERVE_GUARD_H
#define SERVE_GUARD_H

#include <stdbool.h>
#include <stddef.h>

#define GUARD_TOKEN_SIZE 32 /* hexadecimal digits: 128 bits */

typedef struct guard {
    const char *host; /* an accepted name beside those of the loopback interface; NULL: none */
    bool any_address; /* any IP address is accepted, as the server listens on all addresses */
    char token[GUARD_TOKEN_SIZE + 1];
    char cookie[32]; /* its name; contains the port, to distinguish servers */
} guard;

/* Draws the token. Returns false if the system has no random numbers. */
bool guard_init(guard *g, const char *host, bool any_address, unsigned port);

/* Checks `Host: NAME[:PORT]`. The port is ignored, since a tunnel may change it; the name alone
 * stops DNS rebinding, in which a site has its own name resolve to this machine. */
bool guard_host(const guard *g, const char *host);

/* `Origin` must be `http://` followed by the host. `Sec-Fetch-Site` must not be another site,
 * unless the user opens the page itself. NULL, a header that is missing, passes. */
bool guard_origin(const char *origin, const char *host);
bool guard_site(const char *site, const char *mode, bool opens_page);

/* Whether the parameter or the cookie has the token. `cookie` is the whole header; both may be
 * NULL. */
bool guard_token(const guard *g, const char *parameter, const char *cookie);

#endif
