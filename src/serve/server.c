/* server.c: the threads of libmicrohttpd, one for each socket, parse requests and send answers;
 * they never compute. A request to the API suspends its connection and becomes a job of the
 * workers, which resume the connection when the answer is ready. */
#include "serve/server.h"

#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "answers/api.h"
#include "answers/assets.h"
#include "answers/upload.h"
#include "base/arena.h"
#include "base/file.h"
#include "base/number.h"
#include "base/text.h"
#include "platform/clock.h"
#include "serve/guard.h"
#include "serve/listen.h"
#include "serve/mhd.h"
#include "serve/streams.h"
#include "serve/workers.h"

enum {
    CONNECTIONS_MAX = 2048,
    FILES_WANTED = CONNECTIONS_MAX + 256,
    REQUEST_MEMORY = 48 * 1024, /* bytes per connection: request, headers, output */
    IDLE_SECONDS = 30,          /* without a byte in either direction */
    ANSWER_SECONDS = 120,       /* for computing an answer, where that can be cancelled */
    EXCHANGE_SECONDS = 60,      /* from the end of one answer to the end of the next */
    PING_SECONDS = 15,
    PARAMETERS_MAX = 24,
};

/* A connection, with its time limit. */
typedef struct client {
    struct client *next, **previous;
    int fd;
    time_t since; /* when the exchange began; 0: no time limit */
} client;

struct server {
    viewer *viewer;
    listener listener;
    struct MHD_Daemon *daemons[LISTEN_SOCKETS];
    workers *workers;
    streams *streams;
    guard guard;
    char host[256];
    char address[512];
    time_t pinged;
    pthread_mutex_t lock; /* guards the clients and changes of `stopping` */
    client *clients;
    atomic_bool stopping;
    bool is_local;         /* listens on the loopback interface only */
    atomic_flag uploading; /* set during an upload; there is one at a time */
};

/* One request and its answer. */
typedef struct exchange {
    job job;
    server *server;
    struct MHD_Connection *connection;
    client *client;
    arena strings;
    api_kind kind;
    const char *path;
    api_parameter parameters[PARAMETERS_MAX];
    size_t n_parameters;
    bool too_many; /* too many parameters */
    bool answered;
    bool late;       /* computing took too long */
    time_t patience; /* when computing must end */
    api_reply reply;
    bool uploads; /* sends a trace, which goes into `upload` */
    upload upload;
} exchange;

static time_t now(void) {
    return (time_t)(clock_monotonic_ms() / 1000) + 1; /* never 0 */
}

/* ---- time limits ------------------------------------------------------------------------- */

static void set_clock(server *s, client *c, time_t since) {
    pthread_mutex_lock(&s->lock);
    if (c)
        c->since = since;
    pthread_mutex_unlock(&s->lock);
}

static void add_client(server *s, struct MHD_Connection *connection, void **context) {
    client *c = calloc(1, sizeof *c);
    *context = c;
    if (!c)
        return;
    c->fd = mhd.get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
    c->since = now();
    pthread_mutex_lock(&s->lock);
    c->next = s->clients;
    c->previous = &s->clients;
    if (c->next)
        c->next->previous = &c->next;
    s->clients = c;
    pthread_mutex_unlock(&s->lock);
}

/* The socket is still open here, so its number cannot have been reused. */
static void remove_client(server *s, client *c) {
    if (!c)
        return;
    pthread_mutex_lock(&s->lock);
    *c->previous = c->next;
    if (c->next)
        c->next->previous = c->previous;
    pthread_mutex_unlock(&s->lock);
    free(c);
}

static void on_connection(void *context, struct MHD_Connection *connection, void **client_context,
                          enum MHD_ConnectionNotificationCode code) {
    if (code == MHD_CONNECTION_NOTIFY_STARTED)
        add_client(context, connection, client_context);
    else
        remove_client(context, *client_context);
}

static void end_slow_clients(server *s, time_t time) {
    pthread_mutex_lock(&s->lock);
    for (client *c = s->clients; c; c = c->next)
        if (c->since && time - c->since > EXCHANGE_SECONDS)
            shutdown(c->fd, SHUT_RDWR);
    pthread_mutex_unlock(&s->lock);
}

void server_tick(server *s) {
    time_t time = now();
    end_slow_clients(s, time);
    if (time - s->pinged >= PING_SECONDS) {
        s->pinged = time;
        streams_ping(s->streams);
    }
}

/* ---- answers ----------------------------------------------------------------------------- */

/* Returns false when there is no memory. */
static bool add_header(struct MHD_Response *r, const char *name, const char *value) {
    return mhd.add_response_header(r, name, value) == MHD_YES;
}

static bool add_policy(struct MHD_Response *r) {
    static const char policy[] =
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
        "font-src 'self'; connect-src 'self'; worker-src 'self'; manifest-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
    return add_header(r, "Content-Security-Policy", policy) &&
           add_header(r, "X-Content-Type-Options", "nosniff") &&
           add_header(r, "X-Frame-Options", "DENY") &&
           add_header(r, "Referrer-Policy", "no-referrer") &&
           add_header(r, "Cross-Origin-Opener-Policy", "same-origin") &&
           add_header(r, "Cross-Origin-Resource-Policy", "same-origin");
}

/* Takes `r` over. `whole` says that all its own headers were added. A response that lacks a header
 * is not sent, as the browser would then allow what the header forbids. */
static enum MHD_Result send_response(struct MHD_Connection *connection, int status,
                                     struct MHD_Response *r, bool whole) {
    enum MHD_Result queued = MHD_NO;
    if (whole && add_policy(r))
        queued = mhd.queue_response(connection, (unsigned)status, r);
    mhd.destroy_response(r);
    return queued;
}

/* Takes the body of the reply over. */
static enum MHD_Result send_reply(struct MHD_Connection *connection, api_reply *reply) {
    output *o = &reply->body;
    char disposition[200];
    struct MHD_Response *r =
        o->error ? NULL
                 : mhd.create_response_from_buffer(o->used, o->buffer, MHD_RESPMEM_MUST_FREE);
    if (!r)
        free(o->buffer);
    o->buffer = NULL;
    if (!r)
        return MHD_NO;
    snprintf(disposition, sizeof disposition, "attachment; filename=\"%s\"", reply->file);
    bool whole =
        add_header(r, "Content-Type", reply->type) && add_header(r, "Cache-Control", "no-store") &&
        (!*reply->file || add_header(r, "Content-Disposition", disposition)) &&
        (reply->status != MHD_HTTP_METHOD_NOT_ALLOWED || add_header(r, "Allow", "GET, HEAD"));
    return send_response(connection, reply->status, r, whole);
}

static enum MHD_Result refuse(struct MHD_Connection *connection, int status, const char *reason) {
    api_reply reply = {0};
    api_refuse(&reply, status, reason);
    return send_reply(connection, &reply);
}

/* ---- the page ---------------------------------------------------------------------------- */

static bool header_has(struct MHD_Connection *connection, const char *name, const char *word) {
    const char *value = mhd.lookup_connection_value(connection, MHD_HEADER_KIND, name);
    return value && strstr(value, word);
}

static struct MHD_Response *asset_unpacked(const asset *a) {
    unsigned char *plain = assets_unpack(a);
    return plain ? mhd.create_response_from_buffer(a->size, plain, MHD_RESPMEM_MUST_FREE) : NULL;
}

static struct MHD_Response *asset_response(struct MHD_Connection *connection, const asset *a) {
    if (!header_has(connection, "Accept-Encoding", "gzip"))
        return asset_unpacked(a);
    struct MHD_Response *r =
        mhd.create_response_from_buffer(a->gzip_size, (void *)a->gzip, MHD_RESPMEM_PERSISTENT);
    if (!r || add_header(r, "Content-Encoding", "gzip"))
        return r;
    mhd.destroy_response(r);
    return NULL;
}

/* Sets the cookie for a client that opens the page with the token. */
static bool give_cookie(const server *s, struct MHD_Connection *connection,
                        struct MHD_Response *r) {
    char cookie[128];
    const char *token = mhd.lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, "token");
    if (!token || !guard_token(&s->guard, token, NULL))
        return true;
    snprintf(cookie, sizeof cookie, "%s=%s; Path=/; HttpOnly; SameSite=Strict", s->guard.cookie,
             s->guard.token);
    return add_header(r, "Set-Cookie", cookie);
}

static enum MHD_Result send_asset(const server *s, struct MHD_Connection *connection,
                                  const asset *a) {
    bool known = header_has(connection, "If-None-Match", a->tag);
    struct MHD_Response *r = known
                                 ? mhd.create_response_from_buffer(0, NULL, MHD_RESPMEM_PERSISTENT)
                                 : asset_response(connection, a);
    if (!r)
        return MHD_NO;
    bool whole = add_header(r, "Content-Type", a->type) &&
                 add_header(r, "Cache-Control", "no-cache") &&
                 add_header(r, "Vary", "Accept-Encoding") && add_header(r, "ETag", a->tag) &&
                 (strcmp(a->path, "/") != 0 || give_cookie(s, connection, r));
    return send_response(connection, known ? MHD_HTTP_NOT_MODIFIED : MHD_HTTP_OK, r, whole);
}

static enum MHD_Result send_page(const server *s, struct MHD_Connection *connection,
                                 const char *url) {
    const asset *a = assets_find(url);
    return a ? send_asset(s, connection, a) : refuse(connection, MHD_HTTP_NOT_FOUND, "not found");
}

/* ---- the API ----------------------------------------------------------------------------- */

static enum MHD_Result on_parameter(void *context, enum MHD_ValueKind kind, const char *name,
                                    size_t name_size, const char *value, size_t value_size) {
    exchange *e = context;
    (void)kind;
    value = value ? value : "";
    if (strcmp(name, "token") == 0 || (name_size == 0 && value_size == 0)) /* `?&token=…` */
        return MHD_YES;
    api_parameter p = {.name = arena_strndup(&e->strings, name, name_size),
                       .value = arena_strndup(&e->strings, value, value_size)};
    if (e->n_parameters == PARAMETERS_MAX || !p.name || !p.value || strlen(name) != name_size ||
        strlen(value) != value_size) {
        e->too_many = true;
        return MHD_NO;
    }
    e->parameters[e->n_parameters++] = p;
    return MHD_YES;
}

/* Whether computing may stop. While somebody types, many requests are cancelled. */
static bool has_gone(void *context) {
    exchange *e = context;
    char byte;
    e->late |= e->kind != API_FILE && now() > e->patience;
    if (e->late)
        return true;
    return e->client && recv(e->client->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
}

static void answer_question(exchange *e) {
    const api_client asks = {has_gone, e};
    char reason[120];
    api_answer(e->server->viewer, e->path, e->parameters, e->n_parameters, &asks, &e->reply);
    if (!e->late || e->reply.status == MHD_HTTP_OK)
        return;
    snprintf(reason, sizeof reason,
             "this takes more than %d s; narrow it with a filter, or use the command line",
             ANSWER_SECONDS);
    api_refuse(&e->reply, e->reply.status, reason);
}

/* Runs in a worker. */
static void run_exchange(job *j) {
    exchange *e = (exchange *)j;
    e->patience = now() + ANSWER_SECONDS;
    if (e->server->stopping || has_gone(e))
        api_refuse(&e->reply, MHD_HTTP_SERVICE_UNAVAILABLE, "the viewer is shutting down");
    else if (e->uploads) /* all of it has arrived */
        api_open(e->server->viewer, &e->upload, &e->reply);
    else
        answer_question(e);
    e->answered = true;
    set_clock(e->server, e->client, now());
    mhd.resume_connection(e->connection);
}

static enum MHD_Result send_stream(server *s, struct MHD_Connection *connection, client *c) {
    struct MHD_Response *r = streams_response(s->streams, connection);
    if (!r)
        return refuse(connection, MHD_HTTP_SERVICE_UNAVAILABLE, "too many streams are open");
    set_clock(s, c, 0);
    bool whole = add_header(r, "Content-Type", "text/event-stream") &&
                 add_header(r, "Cache-Control", "no-store");
    return send_response(connection, MHD_HTTP_OK, r, whole);
}

/* Suspends the connection before a worker can resume it. Once the server is stopping, no connection
 * is suspended, since libmicrohttpd waits for those that are. */
static enum MHD_Result start_job(exchange *e) {
    server *s = e->server;
    bool submitted = false;
    e->job.run = run_exchange;
    set_clock(s, e->client, 0);
    pthread_mutex_lock(&s->lock);
    bool stopping = s->stopping;
    if (!stopping) {
        mhd.suspend_connection(e->connection);
        submitted = workers_submit(s->workers, &e->job);
    }
    pthread_mutex_unlock(&s->lock);
    if (stopping)
        return refuse(e->connection, MHD_HTTP_SERVICE_UNAVAILABLE, "the viewer is shutting down");
    if (!submitted) {
        api_refuse(&e->reply, MHD_HTTP_SERVICE_UNAVAILABLE, "cannot start a thread");
        e->answered = true;
        mhd.resume_connection(e->connection);
    }
    return MHD_YES;
}

static enum MHD_Result ask_api(exchange *e, const char *path) {
    server *s = e->server;
    const char *token = mhd.lookup_connection_value(e->connection, MHD_GET_ARGUMENT_KIND, "token");
    const char *cookie = mhd.lookup_connection_value(e->connection, MHD_HEADER_KIND, "Cookie");
    if (!guard_token(&s->guard, token, cookie))
        return refuse(e->connection, MHD_HTTP_FORBIDDEN,
                      "the token is missing or wrong; open the address shown in the terminal");
    if (e->kind == API_EVENTS)
        return send_stream(s, e->connection, e->client);
    mhd.get_connection_values_n(e->connection, MHD_GET_ARGUMENT_KIND, on_parameter, e);
    e->path = arena_strndup(&e->strings, path, strlen(path));
    if (e->too_many || !e->path)
        return refuse(e->connection, MHD_HTTP_BAD_REQUEST, "too many parameters");
    return start_job(e);
}

/* ---- requests ---------------------------------------------------------------------------- */

static bool is_welcome(const exchange *e, const char *url, int *status, const char **reason) {
    struct MHD_Connection *c = e->connection;
    const char *host = mhd.lookup_connection_value(c, MHD_HEADER_KIND, "Host");
    const char *origin = mhd.lookup_connection_value(c, MHD_HEADER_KIND, "Origin");
    const char *site = mhd.lookup_connection_value(c, MHD_HEADER_KIND, "Sec-Fetch-Site");
    const char *mode = mhd.lookup_connection_value(c, MHD_HEADER_KIND, "Sec-Fetch-Mode");
    if (!guard_host(&e->server->guard, host)) {
        *status = MHD_HTTP_MISDIRECTED_REQUEST;
        *reason = "the Host header does not match this server; --host sets another name";
        return false;
    }
    *status = MHD_HTTP_FORBIDDEN;
    *reason = "requests from other sites are refused";
    return guard_origin(origin, host) && guard_site(site, mode, strcmp(url, "/") == 0);
}

/* Returns why an upload is refused, or NULL. A request that changes something must pass more checks
 * than a question: it must come from the page itself, with a header that no form can send. */
static const char *unwelcome_upload(const exchange *e) {
    struct MHD_Connection *c = e->connection;
    const char *origin = mhd.lookup_connection_value(c, MHD_HEADER_KIND, "Origin");
    const char *mark = mhd.lookup_connection_value(c, MHD_HEADER_KIND, "X-Allotrace");
    const char *token = mhd.lookup_connection_value(c, MHD_GET_ARGUMENT_KIND, "token");
    const char *cookie = mhd.lookup_connection_value(c, MHD_HEADER_KIND, "Cookie");
    if (!origin || !mark || strcmp(mark, "open") != 0)
        return "only the page itself can open files";
    if (!guard_token(&e->server->guard, token, cookie))
        return "the token is missing or wrong; open the address shown in the terminal";
    return e->server->is_local && e->server->viewer->open
               ? NULL
               : "files are opened only where the viewer is at the loopback interface";
}

static bool read_length(struct MHD_Connection *c, uint64_t *length) {
    const char *text = mhd.lookup_connection_value(c, MHD_HEADER_KIND, "Content-Length");
    return text && number_parse_whole(text, length) == NUMBER_WHOLE;
}

/* Runs when the headers are there, before the file's content. */
static enum MHD_Result begin_upload(exchange *e, const char *url) {
    const char *name = mhd.lookup_connection_value(e->connection, MHD_GET_ARGUMENT_KIND, "name");
    const char *reason;
    char why[200];
    uint64_t size;
    int status;
    if (!is_welcome(e, url, &status, &reason))
        return refuse(e->connection, status, reason);
    if ((reason = unwelcome_upload(e)))
        return refuse(e->connection, MHD_HTTP_FORBIDDEN, reason);
    if (!read_length(e->connection, &size))
        return refuse(e->connection, MHD_HTTP_LENGTH_REQUIRED, "the file's size is missing");
    if (atomic_flag_test_and_set(&e->server->uploading))
        return refuse(e->connection, MHD_HTTP_SERVICE_UNAVAILABLE, "another file is being opened");
    e->uploads = true;
    if (!upload_begin(&e->upload, name, size, why, sizeof why))
        return refuse(e->connection, MHD_HTTP_CONTENT_TOO_LARGE, why);
    return MHD_YES;
}

static enum MHD_Result take_body(exchange *e, const char *body, size_t *size) {
    if (e->uploads && e->upload.fd >= 0) {
        upload_take(&e->upload, body, *size);
        set_clock(e->server, e->client, now());
    }
    *size = 0;
    return MHD_YES;
}

static enum MHD_Result begin(exchange *e, const char *url) {
    int status;
    const char *reason;
    if (!is_welcome(e, url, &status, &reason))
        return refuse(e->connection, status, reason);
    e->kind = api_kind_of(url);
    return e->kind == API_NOTHING ? send_page(e->server, e->connection, url) : ask_api(e, url);
}

static exchange *exchange_new(server *s, struct MHD_Connection *connection) {
    exchange *e = calloc(1, sizeof *e);
    if (!e)
        return NULL;
    e->server = s;
    e->connection = connection;
    e->upload.fd = -1;
    e->client =
        mhd.get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context;
    return e;
}

static enum MHD_Result on_request(void *context, struct MHD_Connection *connection, const char *url,
                                  const char *method, const char *version, const char *body,
                                  size_t *body_size, void **state) {
    exchange *e = *state;
    (void)version;
    if (!e) { /* the headers have arrived */
        e = *state = exchange_new(context, connection);
        if (!e)
            return MHD_NO;
        bool asks = strcmp(method, "GET") == 0 || strcmp(method, "HEAD") == 0;
        if (strcmp(method, "POST") == 0 && api_kind_of(url) == API_OPENING)
            return begin_upload(e, url);
        return asks ? MHD_YES
                    : refuse(connection, MHD_HTTP_METHOD_NOT_ALLOWED, "only GET is supported");
    }
    if (*body_size)
        return take_body(e, body, body_size);
    if (e->answered)
        return send_reply(connection, &e->reply);
    return e->uploads ? start_job(e) : begin(e, url);
}

static void on_completed(void *context, struct MHD_Connection *connection, void **state,
                         enum MHD_RequestTerminationCode code) {
    exchange *e = *state;
    (void)connection;
    (void)code;
    if (!e)
        return;
    set_clock(context, e->client, now());
    upload_cancel(&e->upload);
    if (e->uploads)
        atomic_flag_clear(&e->server->uploading);
    free(e->reply.body.buffer);
    arena_free(&e->strings);
    free(e);
    *state = NULL;
}

/* ---- news -------------------------------------------------------------------------------- */

static void on_published(void *context, size_t trace) {
    server *s = context;
    output o;
    reading *r = viewer_take(s->viewer, trace, false);
    if (!r)
        return;
    output_start(&o, OUTPUT_MEMORY);
    output_format(&o, "event: trace\nid: %zu-%llu\ndata: ", trace,
                  (unsigned long long)r->generation);
    api_live(s->viewer, trace, r, &o);
    output_text(&o, "\n\n");
    if (o.error)
        free(o.buffer);
    else
        streams_publish(s->streams, trace, r->serial, o.buffer, o.used);
    reading_release(r);
}

/* ---- starting and stopping --------------------------------------------------------------- */

static size_t on_unescape(void *context, struct MHD_Connection *connection, char *text) {
    (void)context;
    (void)connection;
    return text_decode_percent(text);
}

static struct MHD_Daemon *start_daemon(server *s, int fd) {
    return mhd.start_daemon(
        MHD_USE_EPOLL_INTERNAL_THREAD | MHD_USE_ITC | MHD_ALLOW_SUSPEND_RESUME, 0, NULL, NULL,
        on_request, s, MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_CONNECTION_LIMIT,
        (unsigned)CONNECTIONS_MAX, MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)IDLE_SECONDS,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)REQUEST_MEMORY, MHD_OPTION_NOTIFY_CONNECTION,
        on_connection, s, MHD_OPTION_NOTIFY_COMPLETED, on_completed, s,
        MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_UNESCAPE_CALLBACK, on_unescape, NULL,
        MHD_OPTION_END);
}

static void set_address(server *s) {
    if (s->listener.any_address && gethostname(s->host, sizeof s->host - 1) == 0)
        s->guard.host = s->host;
    const char *shown = s->guard.host ? s->guard.host : "localhost";
    bool brackets = strchr(shown, ':');
    snprintf(s->address, sizeof s->address, "http://%s%s%s:%u/?token=%s", brackets ? "[" : "",
             shown, brackets ? "]" : "", s->listener.port, s->guard.token);
}

static bool start_daemons(server *s, char *why, size_t size) {
    for (int i = 0; i < s->listener.n; i++) {
        s->daemons[i] = start_daemon(s, s->listener.fds[i]);
        if (!s->daemons[i]) {
            snprintf(why, size, "cannot start the server");
            return false;
        }
        s->listener.fds[i] = -1; /* owned by the daemon */
    }
    return true;
}

static bool start(server *s, const server_options *options, char *why, size_t size) {
    s->workers = workers_new();
    s->streams = streams_new(s->viewer->most_traces);
    const char *lack = s->workers && s->streams ? mhd_load() : "not enough memory";
    if (lack) {
        snprintf(why, size, "%s", lack);
        return false;
    }
    file_allow(FILES_WANTED); /* a thousand clients need a thousand descriptors */
    if (!listen_open(&s->listener, options->host, options->port, SERVER_PORT, why, size))
        return false;
    if (!guard_init(&s->guard, options->host, s->listener.any_address, s->listener.port)) {
        snprintf(why, size, "cannot get random numbers");
        return false;
    }
    set_address(s);
    viewer_listen(s->viewer, on_published, s);
    return start_daemons(s, why, size);
}

server *server_start(viewer *v, const server_options *options, char *why, size_t size) {
    server *s = calloc(1, sizeof *s);
    if (!s) {
        snprintf(why, size, "not enough memory");
        return NULL;
    }
    s->viewer = v;
    s->is_local = !options->host;
    atomic_flag_clear(&s->uploading);
    s->pinged = now();
    pthread_mutex_init(&s->lock, NULL);
    if (start(s, options, why, size))
        return s;
    server_stop(s);
    return NULL;
}

const char *server_address(const server *s) {
    return s->address;
}

/* After this, no connection is suspended. */
static void stop_suspending(server *s) {
    pthread_mutex_lock(&s->lock);
    s->stopping = true;
    pthread_mutex_unlock(&s->lock);
    if (s->streams)
        streams_end(s->streams);
    workers_free(s->workers);
}

void server_stop(server *s) {
    if (!s)
        return;
    viewer_listen(s->viewer, NULL, NULL);
    viewer_end(s->viewer);
    stop_suspending(s);
    for (int i = 0; i < LISTEN_SOCKETS; i++)
        if (s->daemons[i])
            mhd.stop_daemon(s->daemons[i]);
    streams_free(s->streams);
    listen_close(&s->listener);
    pthread_mutex_destroy(&s->lock);
    free(s);
}
