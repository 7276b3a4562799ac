/* push.c: a thread reads the trace as it grows, adds each packet to the tally, and sends to each
 * target when it is due. At the end of the trace, all targets get the rest, within a time that a
 * user can wait. */
#include "push/push.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "platform/clock.h"
#include "push/http.h"
#include "push/labels.h"
#include "push/places.h"
#include "push/shared.h"
#include "push/tally.h"
#include "push/target.h"
#include "trace/segment.h"

enum {
    LOOK_MS = 200, /* between looks at the file */
    TOKEN_MAX = 4096,
    HEADER_MAX = TOKEN_MAX + 64,
};

struct push_session {
    push_options options;
    const char *path;
    uint64_t every_ms;
    target targets[PUSH_TARGETS_MAX];
    size_t n_targets;
    char authorization[HEADER_MAX]; /* an HTTP header; empty: none */
    char *more_headers;             /* $OTEL_EXPORTER_OTLP_HEADERS */

    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t change;
    atomic_bool finishing, ended, over; /* see push_finish, push_end_trace, push_is_over */
    _Atomic uint64_t end_ms; /* monotonic clock; then everything is given up; 0: not known yet */

    /* The thread's own state. */
    memtrace_reader *reader;
    struct stat file; /* the file that it reads */
    tally tally;
    places places;
    labels labels;
    bool at_last;      /* all was read */
    bool looked_again; /* at the end of the file, after the trace had ended */
    bool failed;       /* no memory: what would be sent is wrong */
    bool unread;       /* time ran out before all was read */
};

/* ---- options ----------------------------------------------------------------------------- */

static bool fail(char *error, size_t size, const char *what, const char *why) {
    snprintf(error, size, "%s: %s", what, why);
    return false;
}

static bool begin_target(push_session *s, const char *url, char *error, size_t size) {
    if (s->n_targets == PUSH_TARGETS_MAX)
        return fail(error, size, url, "too many URLs: at most 8");
    const char *wrong = target_begin(&s->targets[s->n_targets++], url);
    return !wrong || fail(error, size, url, wrong);
}

static bool begin_targets(push_session *s, char *error, size_t size) {
    char *urls = strdup(s->options.urls), *rest = NULL;
    bool ok = urls || fail(error, size, s->options.urls, "not enough memory");
    for (char *url = urls ? strtok_r(urls, ",", &rest) : NULL; url && ok;
         url = strtok_r(NULL, ",", &rest))
        ok = begin_target(s, url, error, size);
    if (ok && s->n_targets == 0)
        ok = fail(error, size, s->options.urls, "no URL to push to");
    free(urls);
    return ok;
}

/* Reads the token, which is the first line of the file or, without a file, the environment's. */
static bool read_token(push_session *s, char *error, size_t size) {
    char text[TOKEN_MAX] = "";
    const char *set = getenv("ALLOTRACE_PUSH_TOKEN"), *path = s->options.token_file;
    const int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    const ssize_t n = fd >= 0 ? read(fd, text, sizeof text - 1) : -1;
    const int os_error = errno;
    if (fd >= 0)
        close(fd);
    if (path && n < 0)
        return fail(error, size, path, strerror(os_error));
    if (!path && set)
        snprintf(text, sizeof text, "%s", set);
    text[strcspn(text, "\r\n")] = '\0';
    if (path && !*text)
        return fail(error, size, path, "its first line, which must be the token, is empty");
    if (*text)
        snprintf(s->authorization, sizeof s->authorization, "Authorization: Bearer %s", text);
    return true;
}

static bool set_labels(push_session *s, char *error, size_t size) {
    for (size_t i = 0; i < s->options.n_labels; i++)
        if (!labels_set_pair(&s->labels, s->options.labels[i]))
            return fail(error, size, s->options.labels[i],
                        errno == EINVAL ? "a label must be KEY=VALUE" : "not enough memory");
    return true;
}

static bool begin(push_session *s, const push_options *o, char *error, size_t size) {
    s->options = *o;
    s->every_ms = (o->every_us ? o->every_us : PUSH_EVERY_US) / 1000;
    const char *headers = getenv("OTEL_EXPORTER_OTLP_HEADERS");
    s->more_headers = headers ? strdup(headers) : NULL;
    return begin_targets(s, error, size) && read_token(s, error, size) &&
           set_labels(s, error, size) &&
           (s->every_ms >= 100 ||
            fail(error, size, "--every", "100ms is the shortest time between pushes"));
}

static void release(push_session *s) {
    for (size_t i = 0; i < s->n_targets; i++)
        target_free(&s->targets[i]);
    labels_free(&s->labels);
    free(s->more_headers);
    free(s);
}

/* Returns a session whose thread has not started; NULL, with one line in `error`, on failure. */
static push_session *prepare(const push_options *o, char *error, size_t size) {
    push_session *s = calloc(1, sizeof *s);
    if (!s) {
        fail(error, size, "--push", "not enough memory");
        return NULL;
    }
    const char *why = begin(s, o, error, size) ? http_begin() : error;
    if (!why)
        return s;
    if (why != error)
        fail(error, size, "--push", why);
    release(s);
    return NULL;
}

const char *push_check(const push_options *o, char *error, size_t size) {
    push_session *s = prepare(o, error, size);
    if (!s)
        return error;
    release(s);
    return NULL;
}

/* ---- sending ----------------------------------------------------------------------------- */

/* Whether time is up. Half of the time at the end is reserved for the last push, so that a receiver
 * that hangs cannot take the others' time. */
static bool is_over(void *context) {
    const push_session *s = context;
    const uint64_t end = atomic_load(&s->end_ms);
    return end && clock_monotonic_ms() >= end - (s->at_last ? 0 : PUSH_END_MS / 2);
}

/* Turns KEY=VALUE,… into headers "KEY: VALUE", for receivers of OpenTelemetry's protocol. */
static void add_otlp_headers(push_session *s, http_request *r, char *room, size_t size) {
    char *rest = NULL, *list = s->more_headers ? strdup(s->more_headers) : NULL;
    size_t used = 0;
    for (char *pair = list ? strtok_r(list, ",", &rest) : NULL;
         pair && r->n_headers < HTTP_HEADERS_MAX; pair = strtok_r(NULL, ",", &rest)) {
        const char *equals = strchr(pair, '=');
        pair += strspn(pair, " \t");
        if (!equals || used >= size)
            continue;
        const int n =
            snprintf(room + used, size - used, "%.*s: %s", (int)(equals - pair), pair, equals + 1);
        if (n < 0 || (size_t)n >= size - used)
            break;
        r->headers[r->n_headers++] = room + used;
        used += (size_t)n + 1;
    }
    free(list);
}

static http_request request_of(push_session *s, const target *t, char *room, size_t size) {
    http_request r = {.url = t->request_url, .body = t->body.buffer, .size = t->body.used};
    if (*s->authorization)
        r.headers[r.n_headers++] = s->authorization;
    if (t->kind == TARGET_OTLP) {
        r.headers[r.n_headers++] = "Content-Type: application/x-protobuf";
        r.headers[r.n_headers++] = "Content-Encoding: gzip";
        add_otlp_headers(s, &r, room, size);
    } else {
        r.headers[r.n_headers++] = t->kind == TARGET_PARCA
                                       ? "Content-Type: application/json"
                                       : "Content-Type: application/octet-stream";
    }
    return r;
}

void push_tell(const push_options *o, bool warning, const char *format, ...) {
    char line[TARGET_URL_MAX + TARGET_REASON + 256];
    va_list rest;
    va_start(rest, format);
    vsnprintf(line, sizeof line, format, rest);
    va_end(rest);
    if (o->tell)
        o->tell(o->context, warning, line);
}

/* Reports the first failure at once, as somebody may fix it while the program runs. */
static void tell_failure(push_session *s, target *t, const char *what_follows) {
    if (t->told)
        return;
    t->told = true;
    if (!s->options.shared || shared_tells_first(s->options.shared, (size_t)(t - s->targets)))
        push_tell(&s->options, true, "%s: %s; %s", t->url, t->reason, what_follows);
}

/* Names the frames read since the last call. Returns false when there is no memory. */
static bool learn_places(push_session *s) {
    push_shared *others = s->options.shared;
    if (others)
        pthread_mutex_lock(&others->names_lock);
    const bool known = places_learn(&s->places, s->reader, &s->tally.profile);
    if (others)
        pthread_mutex_unlock(&others->names_lock);
    return known;
}

/* Whether all targets have everything that was allocated in a row. */
static bool is_said(void *context, size_t row) {
    const push_session *s = context;
    bool all = true;
    for (size_t i = 0; all && i < s->n_targets; i++)
        all = target_has(&s->targets[i], &s->tally, row);
    return all;
}

static void drop_row(void *context, size_t row) {
    push_session *s = context;
    for (size_t i = 0; i < s->n_targets; i++)
        target_drop(&s->targets[i], row);
}

/* The requests of one round. */
typedef struct sending {
    push_session *session;
    http_request requests[PUSH_TARGETS_MAX];
    target *of[PUSH_TARGETS_MAX];
    char rooms[PUSH_TARGETS_MAX][HEADER_MAX]; /* for headers */
    size_t n;
} sending;

static bool is_given_up(void *context) {
    return is_over(((const sending *)context)->session);
}

/* After the end, what failed is sent again soon. Reports a failure that keeps the user waiting. */
static unsigned send_again(void *context, const http_request *r) {
    enum { NOTICED_MS = 1000 };
    const sending *all = context;
    push_session *s = all->session;
    target *t = all->of[r - all->requests];
    const uint64_t begun = atomic_load(&s->end_ms) - PUSH_END_MS, now = clock_monotonic_ms();
    const unsigned pause_ms = s->at_last ? target_again(t, r, now - begun) : 0;
    if (pause_ms >= NOTICED_MS)
        tell_failure(s, t, "trying again for at most ten seconds; Ctrl-C ends that");
    return pause_ms;
}

static void prepare_due(sending *all) {
    push_session *s = all->session;
    const uint64_t now = clock_monotonic_ms();
    for (size_t i = 0; i < s->n_targets; i++) {
        target *t = &s->targets[i];
        if (now < t->next_ms || !target_prepare(t, &s->tally, &s->places, &s->labels))
            continue;
        all->requests[all->n] = request_of(s, t, all->rooms[all->n], HEADER_MAX);
        all->of[all->n++] = t;
    }
}

/* At the end, one line says what is missing then, and nothing is said before. */
static void settle(push_session *s, target *t, const http_request *r) {
    target_settle(t, r, clock_monotonic_ms(), s->every_ms);
    if (t->failures && !s->at_last)
        tell_failure(s, t,
                     t->n_refused ? "refused data is not sent again"
                                  : "missed data is sent when the server accepts data again");
}

/* Sends what is new to the targets that are due. */
static void send_due(push_session *s) {
    static const unsigned TIMEOUT_MS = 10000;
    sending *all = calloc(1, sizeof *all);
    const bool known = all && learn_places(s);
    s->failed |= !known;
    if (known) {
        all->session = s;
        prepare_due(all);
    }
    if (known && all->n > 0)
        http_send(all->requests, all->n, TIMEOUT_MS,
                  &(http_watch){.stop = is_given_up, .again = send_again, .context = all});
    for (size_t i = 0; known && i < all->n; i++)
        settle(s, all->of[i], &all->requests[i]);
    s->failed |= !tally_drop_spans(&s->tally, is_said, drop_row, s);
    free(all);
}

static uint64_t next_ms(const push_session *s) {
    uint64_t next = UINT64_MAX;
    for (size_t i = 0; i < s->n_targets; i++)
        next = s->targets[i].next_ms < next ? s->targets[i].next_ms : next;
    return next;
}

static void send_if_due(push_session *s) {
    const uint64_t now = clock_monotonic_ms();
    if (now < next_ms(s) || atomic_load(&s->finishing))
        return;
    send_due(s);
    for (size_t i = 0; i < s->n_targets; i++) /* targets that had nothing to send */
        if (s->targets[i].next_ms <= now)
            s->targets[i].next_ms = now + s->every_ms;
}

/* ---- reading ----------------------------------------------------------------------------- */

/* Waits a moment. Returns false once the trace has ended. */
static bool pause_a_moment(push_session *s) {
    const struct timespec until = clock_in_ms(LOOK_MS);
    pthread_mutex_lock(&s->lock);
    if (!atomic_load(&s->finishing))
        pthread_cond_clockwait(&s->change, &s->lock, CLOCK_MONOTONIC, &until);
    pthread_mutex_unlock(&s->lock);
    return !atomic_load(&s->finishing);
}

/* Whether the process has begun another trace, as after exec. */
static bool is_replaced(const push_session *s) {
    struct stat now;
    return stat(s->path, &now) == 0 &&
           (now.st_ino != s->file.st_ino || now.st_dev != s->file.st_dev);
}

/* Called at the end of the file. What was written before push_end_trace may have arrived after the
 * reader reached the end, so the file is read once more after that. */
static bool wait_for_more(void *context) {
    push_session *s = context;
    send_if_due(s);
    if (pause_a_moment(s) && !atomic_load(&s->ended) && !is_replaced(s)) {
        s->looked_again = false;
        return true;
    }
    s->looked_again = !s->looked_again;
    return s->looked_again;
}

/* Called before each packet: everything before it is in the tally. */
static void at_packet(void *context, const memtrace_reader *reader) {
    push_session *s = context;
    if (s->options.position)
        atomic_store(&s->options.position->offset, memtrace_reader_packet(reader)->offset);
    send_if_due(s);
}

static void begin_position(const push_session *s) {
    push_position *p = s->options.position;
    if (!p)
        return;
    atomic_store(&p->offset, 0);
    atomic_store(&p->inode, s->file.st_ino);
}

/* Opens the trace. The recorder creates the file with its first event. */
static bool open_file(push_session *s) {
    const int fd = open(s->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd >= 0 && (fstat(fd, &s->file) != 0 || !S_ISREG(s->file.st_mode) ||
                    clock_is_before(s->file.st_mtim, s->options.since))) {
        close(fd); /* reading a pipe would block, or take what is meant for others */
        return false;
    }
    return fd >= 0 && memtrace_reader_open_fd(fd, NULL, &s->reader, NULL) == MEMTRACE_OK;
}

static bool open_trace(push_session *s) {
    do
        if (open_file(s))
            return true;
    while (!atomic_load(&s->ended) && pause_a_moment(s));
    return open_file(s);
}

/* Labels a trace that was read from a runtime. A process that also has a native trace has two
 * series, which this label tells apart. */
static bool label_runtime(push_session *s, const memtrace_info *info) {
    static const char go[] = MEMTRACE_IMPORTED MEMTRACE_GO_PROFILE;
    return strncmp(info->context, go, strlen(go)) != 0 ||
           labels_set(&s->labels, "process.runtime.name", "go");
}

static bool begin_trace(push_session *s) {
    const memtrace_info *info = memtrace_reader_info(s->reader);
    labels given = s->labels;
    bool ok = true;
    memset(&s->labels, 0, sizeof s->labels);
    ok = labels_gather(&s->labels, info->executable_name, info->pid, info->host_name,
                       s->options.shared) &&
         label_runtime(s, info);
    for (size_t i = 0; ok && i < given.count; i++)
        ok = labels_set(&s->labels, given.items[i].key, given.items[i].value);
    labels_free(&given);
    s->tally.by_thread = s->options.by_thread;
    for (size_t i = 0; i < s->n_targets; i++)
        s->tally.by_span |= target_links(&s->targets[i]);
    return ok && tally_begin(&s->tally, info) &&
           places_begin(&s->places, s->options.shared ? s->options.shared->symbolizer : NULL,
                        info->start_time, s->options.files);
}

/* Returns false when there is no memory. */
static bool add_event(push_session *s, const memtrace_event *e) {
    if (segment_remark_of(s->reader, e) == SEGMENT_LEVEL &&
        !tally_set_level(&s->tally, e->domain, e->length))
        return false;
    return tally_add(&s->tally, e);
}

static void read_events(push_session *s) {
    memtrace_event event;
    memtrace_reader_on_end(s->reader, wait_for_more, s);
    memtrace_reader_on_packet(s->reader, at_packet, s);
    while (!s->failed && !(s->unread = is_over(s)) &&
           memtrace_reader_next(s->reader, &event) == MEMTRACE_OK)
        s->failed |= !add_event(s, &event);
}

/* ---- the session ------------------------------------------------------------------------- */

static void tell_end(push_session *s, const target *t) {
    static const char late[] = "the time was up before the rest was read";
    if (s->options.shared)
        shared_add(s->options.shared, (size_t)(t - s->targets), t,
                   s->failed   ? "out of memory"
                   : s->unread ? late
                               : NULL);
    else if (s->failed)
        push_tell(&s->options, true, "%s: out of memory; nothing was pushed from then on", t->url);
    else if (t->failures && t->n_taken == 0)
        push_tell(&s->options, true, "nothing was pushed to %s: %s", t->url, t->reason);
    else if (t->failures)
        push_tell(&s->options, true,
                  "%s accepted what was recorded up to %.1f s, but not what came later: %s", t->url,
                  (double)t->sent_until / 1e6, t->reason);
    else if (s->unread)
        push_tell(&s->options, true, "%s got what was recorded up to %.1f s; %s", t->url,
                  (double)t->sent_until / 1e6, late);
    else
        push_tell(&s->options, t->n_refused > 0, "pushed %" PRIu64 " times to %s%s%s", t->n_taken,
                  t->url, t->n_refused ? "; parts were refused: " : "",
                  t->n_refused ? t->reason : "");
}

static bool owes(const push_session *s) {
    for (size_t i = 0; i < s->n_targets; i++)
        if (s->targets[i].owed)
            return true;
    return false;
}

static void send_to_all(push_session *s) {
    for (size_t i = 0; i < s->n_targets; i++)
        s->targets[i].next_ms = 0;
    send_due(s);
}

/* Targets that have everything are not due any more: they would get once more what is live. */
static void leave_done(push_session *s) {
    for (size_t i = 0; i < s->n_targets; i++)
        if (!s->targets[i].owed)
            s->targets[i].next_ms = UINT64_MAX;
}

/* Runs after the process is gone: goes on until all targets have everything, or time is up. */
static void insist(push_session *s) {
    for (leave_done(s); !s->failed && owes(s) && pause_a_moment(s); leave_done(s))
        if (clock_monotonic_ms() >= next_ms(s))
            send_due(s);
    s->at_last = true;
    for (size_t i = 0; i < s->n_targets; i++)
        if (s->targets[i].owed)
            s->targets[i].next_ms = 0;
    if (!s->failed && owes(s))
        send_due(s);
}

static void push_trace(push_session *s) {
    s->looked_again = false;
    for (size_t i = 0; i < s->n_targets; i++)
        target_forget(&s->targets[i]);
    s->failed = !begin_trace(s);
    begin_position(s);
    read_events(s);
    s->at_last = atomic_load(&s->finishing);
    if (s->options.position && atomic_load(&s->ended))
        atomic_store(&s->options.position->offset, UINT64_MAX);
    if (!s->failed)
        send_to_all(s);
    if (atomic_load(&s->ended) && !s->at_last)
        insist(s);
    places_free(&s->places);
    tally_free(&s->tally);
    memtrace_reader_close(s->reader);
}

static void *run(void *context) {
    push_session *s = context;
    const uint64_t begun = clock_monotonic_ms();
    bool any = false;
    for (size_t i = 0; i < s->n_targets; i++)
        s->targets[i].next_ms = begun + s->every_ms;
    while (!s->failed && open_trace(s)) {
        any = true;
        push_trace(s);
        if (atomic_load(&s->ended) || (atomic_load(&s->finishing) && !is_replaced(s)))
            break;
    }
    for (size_t i = 0; any && i < s->n_targets; i++)
        tell_end(s, &s->targets[i]);
    if (s->options.position && !s->options.shared && atomic_load(&s->options.position->overrun))
        push_tell(&s->options, true,
                  "receivers were too slow: some of what was recorded was not pushed, since "
                  "the recording's space was used up before");
    if (s->options.position)
        atomic_store(&s->options.position->offset, UINT64_MAX);
    atomic_store(&s->over, true);
    return NULL;
}

push_session *push_start(const char *path, const push_options *o, char *error, size_t size) {
    push_session *s = prepare(o, error, size);
    if (!s)
        return NULL;
    s->path = path;
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->change, NULL);
    if (pthread_create(&s->thread, NULL, run, s) == 0)
        return s;
    fail(error, size, "--push", "cannot start a thread");
    release(s);
    return NULL;
}

void push_end_trace(push_session *s) {
    pthread_mutex_lock(&s->lock);
    atomic_store(&s->ended, true);
    pthread_cond_signal(&s->change);
    pthread_mutex_unlock(&s->lock);
}

void push_hurry(push_session *s, uint64_t end_ms) {
    pthread_mutex_lock(&s->lock);
    atomic_store(&s->end_ms, end_ms);
    atomic_store(&s->finishing, true);
    pthread_cond_signal(&s->change);
    pthread_mutex_unlock(&s->lock);
}

bool push_is_over(const push_session *s) {
    return atomic_load(&s->over);
}

/* Waits for the thread, a moment. */
static bool has_ended(const push_session *s) {
    enum { ENOUGH_MS = 100 };
    const struct timespec until = clock_in_ms(ENOUGH_MS);
    return pthread_clockjoin_np(s->thread, NULL, CLOCK_MONOTONIC, &until) != ETIMEDOUT;
}

void push_finish(push_session *s, bool (*enough)(void *context), void *context) {
    if (!s)
        return;
    if (!atomic_load(&s->finishing))
        push_hurry(s, clock_monotonic_ms() + PUSH_END_MS);
    while (!has_ended(s))
        if (enough && enough(context))
            push_hurry(s, clock_monotonic_ms());
    pthread_cond_destroy(&s->change);
    pthread_mutex_destroy(&s->lock);
    release(s);
}
