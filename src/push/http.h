/* http.h: sends requests by HTTP, several at once, with libcurl. That is loaded when it is needed,
 * as its many libraries would make each command start later. */
#ifndef PUSH_HTTP_H
#define PUSH_HTTP_H

#include <stdbool.h>
#include <stddef.h>

enum { HTTP_HEADERS_MAX = 24, HTTP_ANSWER = 200 };

typedef struct http_request {
    const char *url;
    const char *headers[HTTP_HEADERS_MAX]; /* "NAME: VALUE" */
    size_t n_headers;
    const void *body; /* is posted */
    size_t size;

    long status;              /* of the answer; 0: there was none, and `answer` says why */
    char answer[HTTP_ANSWER]; /* how it begins, on one line */
    bool certificate; /* there was none: the receiver's certificate was refused, or there are none
                         to check it by */
} http_request;

/* NULL: it can be done; else why not. Before any other thread uses libcurl. */
const char *http_begin(void);

/* Sends all and waits for the answers, at most so long in all. `stop` is asked now and then. */
void http_send(http_request *requests, size_t n, unsigned timeout_ms, bool (*stop)(void *context),
               void *context);

#endif
