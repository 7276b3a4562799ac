/* plain_server.c: libmicrohttpd without threads, with an epoll descriptor for each socket. */
#include "serve/plain_server.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/number.h"
#include "serve/guard.h"
#include "serve/mhd.h"

enum { CONNECTIONS_MAX = 64, TIMEOUT_S = 10, HOST_MAX = 256 };

struct plain_server {
    listener listener;
    struct MHD_Daemon *daemons[LISTEN_SOCKETS];
    guard guard;
    bool is_local; /* listens on a UNIX socket, which browsers cannot reach */
    char path[sizeof((struct sockaddr_un *)0)->sun_path]; /* of the UNIX socket; empty: there is
                                                             none */
    char host[HOST_MAX];
    plain_answerer *answer;
    void *context;
};

const char *plain_request_value(const plain_request *r, const char *name) {
    return mhd.lookup_connection_value((struct MHD_Connection *)r->of, MHD_GET_ARGUMENT_KIND, name);
}

/* ---- answers ----------------------------------------------------------------------------- */

static enum MHD_Result send_body(struct MHD_Connection *connection, int status, output *body,
                                 const char *type) {
    if (body->error || !body->buffer)
        return MHD_NO;
    struct MHD_Response *r =
        mhd.create_response_from_buffer(body->used, body->buffer, MHD_RESPMEM_MUST_COPY);
    enum MHD_Result queued = MHD_NO;
    if (r && mhd.add_response_header(r, "Content-Type", type) == MHD_YES &&
        mhd.add_response_header(r, "X-Content-Type-Options", "nosniff") == MHD_YES)
        queued = mhd.queue_response(connection, (unsigned)status, r);
    if (r)
        mhd.destroy_response(r);
    return queued;
}

static enum MHD_Result handle(void *context, struct MHD_Connection *connection, const char *url,
                              const char *method, const char *version, const char *upload,
                              size_t *size, void **client) {
    static int seen;
    plain_server *s = context;
    const char *type = "application/json",
               *host = mhd.lookup_connection_value(connection, MHD_HEADER_KIND, "Host");
    output body;
    int status = MHD_HTTP_FORBIDDEN;
    (void)version, (void)upload;
    if (!*client || *size > 0) { /* only headers, or a body, which is dropped */
        *client = &seen;
        *size = 0;
        return MHD_YES;
    }
    output_start(&body, OUTPUT_MEMORY);
    if (strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0)
        status = MHD_HTTP_METHOD_NOT_ALLOWED;
    else if (s->is_local || (host && guard_host(&s->guard, host)))
        status =
            s->answer(s->context, &(plain_request){.path = url, .of = connection}, &body, &type);
    if (body.used == 0)
        output_text(&body, "\n");
    const enum MHD_Result sent = send_body(connection, status, &body, type);
    free(body.buffer);
    return sent;
}

/* ---- sockets ----------------------------------------------------------------------------- */

/* Opens a UNIX socket. A stale one, on which nobody listens, is replaced. */
static bool open_local(plain_server *s, const char *path, char *why, size_t size) {
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    struct stat about;
    if (strlen(path) >= sizeof at.sun_path) {
        snprintf(why, size, "%s: the name is too long for a socket", path);
        return false;
    }
    memcpy(at.sun_path, path, strlen(path) + 1);
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    const bool in_use = fd >= 0 && connect(fd, (struct sockaddr *)&at, sizeof at) == 0;
    if (!in_use && lstat(path, &about) == 0 && S_ISSOCK(about.st_mode))
        unlink(path);
    if (fd >= 0 && !in_use && bind(fd, (struct sockaddr *)&at, sizeof at) == 0 &&
        chmod(path, 0666) == 0 && listen(fd, CONNECTIONS_MAX) == 0) {
        s->listener = (listener){.fds = {fd}, .n = 1};
        memcpy(s->path, path, strlen(path) + 1);
        return true;
    }
    snprintf(why, size, "%s: %s", path, strerror(in_use ? EADDRINUSE : errno));
    if (fd >= 0)
        close(fd);
    return false;
}

static bool open_port(plain_server *s, const char *where, char *why, size_t size) {
    const char *colon = strrchr(where, ':'), *port = colon ? colon + 1 : where;
    uint64_t number;
    if (number_parse_whole(port, &number) != NUMBER_WHOLE || number == 0 || number > UINT16_MAX ||
        (colon && (size_t)(colon - where) >= sizeof s->host)) {
        snprintf(why, size, "%s: not a PORT, HOST:PORT or unix:PATH", where);
        return false;
    }
    if (colon)
        snprintf(s->host, sizeof s->host, "%.*s", (int)(colon - where), where);
    if (!listen_open(&s->listener, colon ? s->host : NULL, (uint16_t)number, (uint16_t)number, why,
                     size))
        return false;
    s->guard = (guard){.host = colon ? s->host : NULL, .any_address = s->listener.any_address};
    return true;
}

static bool start_daemons(plain_server *s) {
    for (int i = 0; i < s->listener.n; i++) {
        s->daemons[i] = mhd.start_daemon(
            MHD_USE_EPOLL, 0, NULL, NULL, handle, s, MHD_OPTION_LISTEN_SOCKET, s->listener.fds[i],
            MHD_OPTION_CONNECTION_LIMIT, (unsigned)CONNECTIONS_MAX, MHD_OPTION_CONNECTION_TIMEOUT,
            (unsigned)TIMEOUT_S, MHD_OPTION_END);
        if (!s->daemons[i])
            return false;
        s->listener.fds[i] = -1; /* owned by the daemon */
    }
    return true;
}

plain_server *plain_server_start(const char *where, plain_answerer *answer, void *context,
                                 char *why, size_t size) {
    static const char local[] = "unix:";
    const char *lack = mhd_load();
    plain_server *s = lack ? NULL : calloc(1, sizeof *s);
    snprintf(why, size, "%s", lack ? lack : "not enough memory");
    if (!s)
        return NULL;
    s->answer = answer;
    s->context = context;
    s->is_local = strncmp(where, local, sizeof local - 1) == 0;
    const bool open = s->is_local ? open_local(s, where + sizeof local - 1, why, size)
                                  : open_port(s, where, why, size);
    if (open && start_daemons(s))
        return s;
    if (open)
        snprintf(why, size, "%s: cannot answer requests", where);
    plain_server_stop(s);
    return NULL;
}

int plain_server_fds(const plain_server *s, int fds[LISTEN_SOCKETS]) {
    int n = 0;
    for (int i = 0; i < s->listener.n; i++)
        fds[n++] = mhd.get_daemon_info(s->daemons[i], MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd;
    return n;
}

void plain_server_run(plain_server *s) {
    for (int i = 0; i < s->listener.n; i++)
        mhd.run(s->daemons[i]);
}

void plain_server_stop(plain_server *s) {
    if (!s)
        return;
    for (int i = 0; i < s->listener.n; i++)
        if (s->daemons[i])
            mhd.stop_daemon(s->daemons[i]);
    listen_close(&s->listener);
    if (*s->path)
        unlink(s->path);
    free(s);
}
