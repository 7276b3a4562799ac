/* guard.c: Host must name this machine, Origin and Sec-Fetch-Site must show that the request comes
 * from our page, and the token, given as parameter or cookie, is compared in constant time. */
#include "serve/guard.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>

bool guard_init(guard *g, const char *host, bool any_address, unsigned port) {
    unsigned char random[GUARD_TOKEN_SIZE / 2];
    *g = (guard){.host = host, .any_address = any_address};
    if (getrandom(random, sizeof random, 0) != (ssize_t)sizeof random)
        return false;
    for (size_t i = 0; i < sizeof random; i++)
        snprintf(g->token + 2 * i, 3, "%02x", random[i]);
    snprintf(g->cookie, sizeof g->cookie, "allotrace-%u", port);
    return true;
}

/* ---- Host -------------------------------------------------------------------------------- */

enum { MAX_NAME = 255 };

/* Extracts the name from `NAME`, `NAME:PORT` or `[NAME]:PORT`; false if it is none of these. */
static bool split_host(const char *host, char name[MAX_NAME + 1]) {
    bool bracket = *host == '[';
    const char *start = host + bracket;
    size_t size = strcspn(start, bracket ? "]" : ":");
    const char *rest = start + size;
    if (bracket && *rest++ != ']')
        return false;
    if (size == 0 || size > MAX_NAME)
        return false;
    memcpy(name, start, size);
    name[size] = '\0';
    return *rest == '\0' || (*rest == ':' && rest[strspn(rest + 1, "0123456789") + 1] == '\0');
}

static bool is_address(const char *name) {
    unsigned char bytes[sizeof(struct in6_addr)];
    return inet_pton(AF_INET, name, bytes) == 1 || inet_pton(AF_INET6, name, bytes) == 1;
}

static bool is_loopback(const char *name) {
    unsigned char bytes[sizeof(struct in6_addr)];
    if (strcasecmp(name, "localhost") == 0 || strcmp(name, "::1") == 0)
        return true;
    return inet_pton(AF_INET, name, bytes) == 1 && bytes[0] == 127;
}

bool guard_host(const guard *g, const char *host) {
    char name[MAX_NAME + 1];
    if (!host || !split_host(host, name))
        return false;
    return is_loopback(name) || (g->host && strcasecmp(name, g->host) == 0) ||
           (g->any_address && is_address(name));
}

/* ---- where it comes from ----------------------------------------------------------------- */

bool guard_origin(const char *origin, const char *host) {
    static const char scheme[] = "http://";
    return !origin || (host && strncmp(origin, scheme, sizeof scheme - 1) == 0 &&
                       strcasecmp(origin + sizeof scheme - 1, host) == 0);
}

bool guard_site(const char *site, const char *mode, bool opens_page) {
    if (!site || strcmp(site, "same-origin") == 0 || strcmp(site, "none") == 0)
        return true;
    return opens_page && mode && strcmp(mode, "navigate") == 0;
}

/* ---- the token --------------------------------------------------------------------------- */

/* Compares in constant time: the duration does not depend on where the first difference is. */
static bool is_token(const guard *g, const char *text, size_t size) {
    unsigned char different = size != GUARD_TOKEN_SIZE;
    for (size_t i = 0; i < size && i < GUARD_TOKEN_SIZE; i++)
        different |= (unsigned char)(text[i] ^ g->token[i]);
    return !different;
}

bool guard_token(const guard *g, const char *parameter, const char *cookie) {
    if (parameter && is_token(g, parameter, strlen(parameter)))
        return true;
    size_t name = strlen(g->cookie);
    while (cookie && *cookie) {
        cookie += strspn(cookie, "; ");
        size_t size = strcspn(cookie, "; ");
        if (size > name && cookie[name] == '=' && strncmp(cookie, g->cookie, name) == 0 &&
            is_token(g, cookie + name + 1, size - name - 1))
            return true;
        cookie += size;
    }
    return false;
}
