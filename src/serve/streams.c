/* streams.c: a stream without news is asleep: its connection is suspended. */
#include "serve/streams.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "serve/mhd.h"

enum { STREAMS_MAX = 256, BLOCK = 4096 };

typedef struct news {
    uint64_t serial; /* 0: none yet */
    char *text;
    size_t size;
} news;

typedef struct stream {
    struct stream *next, **previous;
    streams *all;
    struct MHD_Connection *connection;
    bool asleep, ping;
    char *text; /* what is being sent */
    size_t sent, size;
    uint64_t heard[]; /* newest serial sent, by trace */
} stream;

struct streams {
    pthread_mutex_t lock; /* guards all below, and all fields of the streams */
    stream *first;
    size_t n, n_traces;
    bool ending;
    news latest[];
};

streams *streams_new(size_t n_traces) {
    streams *s = calloc(1, sizeof *s + n_traces * sizeof *s->latest);
    if (!s)
        return NULL;
    s->n_traces = n_traces;
    pthread_mutex_init(&s->lock, NULL);
    return s;
}

void streams_free(streams *s) {
    if (!s)
        return;
    for (size_t i = 0; i < s->n_traces; i++)
        free(s->latest[i].text);
    pthread_mutex_destroy(&s->lock);
    free(s);
}

/* ---- waking; the lock is held ------------------------------------------------------------ */

static void wake(stream *s) {
    if (s->asleep)
        mhd.resume_connection(s->connection);
    s->asleep = false;
}

static void wake_all(streams *s) {
    for (stream *each = s->first; each; each = each->next)
        wake(each);
}

void streams_publish(streams *s, size_t trace, uint64_t serial, char *text, size_t size) {
    pthread_mutex_lock(&s->lock);
    news *latest = &s->latest[trace];
    const bool is_newer = serial > latest->serial;
    free(is_newer ? latest->text : text);
    if (is_newer) {
        *latest = (news){.serial = serial, .text = text, .size = size};
        wake_all(s);
    }
    pthread_mutex_unlock(&s->lock);
}

void streams_ping(streams *s) {
    pthread_mutex_lock(&s->lock);
    for (stream *each = s->first; each; each = each->next)
        each->ping = true;
    wake_all(s);
    pthread_mutex_unlock(&s->lock);
}

void streams_end(streams *s) {
    pthread_mutex_lock(&s->lock);
    s->ending = true;
    wake_all(s);
    pthread_mutex_unlock(&s->lock);
}

/* ---- sending; the lock is held ----------------------------------------------------------- */

static void take_text(stream *s, const char *text, size_t size) {
    free(s->text);
    s->text = malloc(size);
    s->sent = 0;
    s->size = s->text ? size : 0;
    if (s->text)
        memcpy(s->text, text, size);
}

/* Finds what to send next; false if there is nothing. */
static bool find_text(stream *s) {
    static const char ping[] = ": still here\n\n";
    for (size_t i = 0; i < s->all->n_traces; i++) {
        const news *n = &s->all->latest[i];
        if (n->serial > s->heard[i]) {
            s->heard[i] = n->serial;
            take_text(s, n->text, n->size);
            return s->size > 0;
        }
    }
    if (!s->ping)
        return false;
    s->ping = false;
    take_text(s, ping, sizeof ping - 1);
    return s->size > 0;
}

static ssize_t send_text(stream *s, char *to, size_t room) {
    if (s->all->ending)
        return MHD_CONTENT_READER_END_OF_STREAM;
    if (s->sent == s->size && !find_text(s)) {
        s->asleep = true;
        mhd.suspend_connection(s->connection);
        return 0;
    }
    size_t n = s->size - s->sent < room ? s->size - s->sent : room;
    memcpy(to, s->text + s->sent, n);
    s->sent += n;
    return (ssize_t)n;
}

static ssize_t on_send(void *context, uint64_t position, char *to, size_t room) {
    stream *s = context;
    (void)position;
    pthread_mutex_lock(&s->all->lock);
    ssize_t n = send_text(s, to, room);
    pthread_mutex_unlock(&s->all->lock);
    return n;
}

/* ---- streams ----------------------------------------------------------------------------- */

static void on_free(void *context) {
    stream *s = context;
    pthread_mutex_lock(&s->all->lock);
    *s->previous = s->next;
    if (s->next)
        s->next->previous = s->previous;
    s->all->n--;
    pthread_mutex_unlock(&s->all->lock);
    free(s->text);
    free(s);
}

static stream *add(streams *all, struct MHD_Connection *connection) {
    stream *s = calloc(1, sizeof *s + all->n_traces * sizeof *s->heard);
    if (!s)
        return NULL;
    s->all = all;
    s->connection = connection;
    pthread_mutex_lock(&all->lock);
    bool full = all->n >= STREAMS_MAX || all->ending;
    if (!full) {
        all->n++;
        s->next = all->first;
        s->previous = &all->first;
        if (s->next)
            s->next->previous = &s->next;
        all->first = s;
    }
    pthread_mutex_unlock(&all->lock);
    if (full) {
        free(s);
        return NULL;
    }
    return s;
}

struct MHD_Response *streams_response(streams *all, struct MHD_Connection *connection) {
    stream *s = add(all, connection);
    if (!s)
        return NULL;
    struct MHD_Response *r =
        mhd.create_response_from_callback(MHD_SIZE_UNKNOWN, BLOCK, on_send, s, on_free);
    if (!r)
        on_free(s);
    return r;
}
