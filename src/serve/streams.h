/* streams.h: the event streams of `/api/live`. Each client gets the newest event of each trace; a
 * slow client misses older ones. */
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

/* Sends an event to all clients; takes `text` over. */
void streams_publish(streams *s, size_t trace, uint64_t serial, char *text, size_t size);

/* Returns a response for one client; NULL if there are too many, or no memory. */
struct MHD_Response *streams_response(streams *s, struct MHD_Connection *connection);

/* Sends something to every client, so that those that went away are noticed. */
void streams_ping(streams *s);

/* Ends all streams, and refuses new ones. */
void streams_end(streams *s);

#endif
