/* http.h: sends several HTTP requests at once, with libcurl. The library is loaded only when it is
 * needed, as its many dependencies would delay the start of every command. */
#ifndef PUSH_HTTP_H
#define PUSH_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { HTTP_HEADERS_MAX = 24, HTTP_ANSWER = 200 };

typedef struct http_request {
    const char *url;
    const char *headers[HTTP_HEADERS_MAX]; /* "NAME: VALUE" */
    size_t n_headers;
    const void *body; /* posted */
    size_t size;

    long status;              /* of the response; 0: there was none, and `answer` says why */
    char answer[HTTP_ANSWER]; /* beginning of the response, on one line */
    uint64_t retry_after_ms;  /* the pause that the response asks for; 0: none */
    bool certificate; /* no response, since the receiver's certificate was refused, or there are no
                         certificates to check it against */
    bool unreached;   /* no response, since there was no connection: nobody listens there */
    unsigned n_sent;  /* how often it was sent */
} http_request;

/* What the caller of http_send decides while it runs. */
typedef struct http_watch {
    bool (*stop)(void *context); /* called regularly; true ends the wait */

    /* Called with each response. Returns after how many milliseconds the same request is sent
     * again; 0: never. */
    unsigned (*again)(void *context, const http_request *r);
    void *context;
} http_watch;

/* Loads libcurl. Returns NULL, or why it cannot be used. Must be called before any other thread
 * uses libcurl. */
const char *http_begin(void);

/* Sends all requests and waits for the responses, at most `timeout_ms` for each. */
void http_send(http_request *requests, size_t n, unsigned timeout_ms, const http_watch *watch);

#endif
