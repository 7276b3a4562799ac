/* streams.h: the event streams of `/api/live`: each client gets the newest news of each trace, and
 * whatever is older than that when it is slow, not at all. */
#ifndef SERVE_STREAMS_H
#define SERVE_STREAMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct MHD_Connection;
struct MHD_Response;

typedef struct streams streams;

streams *streams_new(size_t n_traces); /* NULL when there is no memory */
void streams_free(streams *s);         /* no response may be left */

/* What all clients shall hear; takes `text` over. */
void streams_publish(streams *s, size_t trace, uint64_t serial, char *text, size_t size);

/* A response for one client; NULL if there are too many, or no memory. */
struct MHD_Response *streams_response(streams *s, struct MHD_Connection *connection);

/* Sends every client something, so that those who went away are noticed. */
void streams_ping(streams *s);

/* Ends all, and those to come. */
void streams_end(streams *s);

#endif
