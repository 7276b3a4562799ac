/* http.c: requests are transfers of one libcurl multi handle, so a slow receiver does not hold up
 * the others, nor their next tries. `stop` is called ten times a second. */
#include "push/http.h"

#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/library.h"
#include "platform/clock.h"

enum {
    CONNECT_MS = 5000,
    WAIT_MS = 100,        /* between calls of `stop` */
    ANSWER_MAX = 1 << 20, /* largest response, in bytes */
    RETRY_MAX_S = 24 * 60 * 60,
};

/* The functions of libcurl that are used. */
#define CURL_FUNCTIONS(X)                                                                          \
    X(global_init)                                                                                 \
    X(easy_init)                                                                                   \
    X(easy_setopt)                                                                                 \
    X(easy_getinfo)                                                                                \
    X(easy_strerror)                                                                               \
    X(easy_cleanup)                                                                                \
    X(multi_init)                                                                                  \
    X(multi_add_handle)                                                                            \
    X(multi_perform)                                                                               \
    X(multi_poll)                                                                                  \
    X(multi_info_read)                                                                             \
    X(multi_remove_handle)                                                                         \
    X(multi_cleanup)                                                                               \
    X(slist_append)                                                                                \
    X(slist_free_all)

/* The functions are called through pointers, but libcurl's header wraps some in macros. */
#undef curl_easy_setopt
#undef curl_easy_getinfo
static struct {
#define CURL_POINTER(name) __typeof__(&curl_##name) name;
    CURL_FUNCTIONS(CURL_POINTER)
#undef CURL_POINTER
} curl;

static const char *load(void) {
#define CURL_NAME(name) "curl_" #name,
    static const char *const files[] = {"libcurl.so.4", "libcurl-gnutls.so.4", NULL},
                             *const functions[] = {CURL_FUNCTIONS(CURL_NAME)};
#undef CURL_NAME
    static const library libcurl = {
        .files = files,
        .functions = functions,
        .n = sizeof functions / sizeof *functions,
        .missing = "libcurl is not installed (Debian: apt-get install libcurl4)",
        .too_old = "this libcurl is too old",
    };
    return library_load(&libcurl, (void **)&curl);
}

const char *http_begin(void) {
    static bool loaded;
    if (loaded)
        return NULL;
    const char *why = load();
    if (!why && curl.global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
        why = "libcurl cannot be started";
    loaded = !why;
    return why;
}

/* ---- one request ------------------------------------------------------------------------- */

typedef struct transfer {
    http_request *request;
    CURL *handle; /* NULL: not being sent */
    struct curl_slist *headers;
    size_t received;
    char answer[HTTP_ANSWER]; /* becomes the request's, which has the previous one until then */
    bool answered;            /* at least once */
    uint64_t again_ms;        /* on the monotonic clock: when to send it again; 0: it is done */
} transfer;

/* Keeps the beginning of the response, on one line. More than ANSWER_MAX bytes end the transfer. */
static size_t take_answer(char *bytes, size_t size, size_t n, void *context) {
    transfer *t = context;
    size_t used = strlen(t->answer);
    for (size_t i = 0; i < size * n && used < HTTP_ANSWER - 1; i++) {
        const unsigned char c = (unsigned char)bytes[i];
        t->answer[used++] = c >= ' ' && c < 0x7F ? (char)c : ' ';
        t->answer[used] = '\0';
    }
    t->received += size * n;
    return t->received <= ANSWER_MAX ? size * n : 0;
}

static bool set_headers(transfer *t) {
    for (size_t i = 0; i < t->request->n_headers; i++) {
        struct curl_slist *longer = curl.slist_append(t->headers, t->request->headers[i]);
        if (!longer)
            return false;
        t->headers = longer;
    }
    return true;
}

/* Returns the file of certificates from OpenTelemetry's or OpenSSL's variable, which libcurl does
 * not read by itself. */
static const char *certificates(void) {
    const char *file = getenv("OTEL_EXPORTER_OTLP_CERTIFICATE");
    return file && *file ? file : getenv("SSL_CERT_FILE");
}

static void start(transfer *t, http_request *r, CURLM *all, unsigned timeout_ms) {
    *t = (transfer){.request = r, .handle = curl.easy_init(), .answered = t->answered};
    r->n_sent++;
    if (!t->handle || !set_headers(t))
        return;
    const char *file = certificates();
    CURL *h = t->handle;
    curl.easy_setopt(h, CURLOPT_URL, r->url);
    curl.easy_setopt(h, CURLOPT_NOSIGNAL, 1L);
    curl.easy_setopt(h, CURLOPT_PROTOCOLS_STR, "http,https");
    curl.easy_setopt(h, CURLOPT_USERAGENT, "allotrace");
    curl.easy_setopt(h, CURLOPT_TIMEOUT_MS, (long)timeout_ms);
    curl.easy_setopt(h, CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_MS);
    curl.easy_setopt(h, CURLOPT_POSTFIELDS, r->body);
    curl.easy_setopt(h, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)r->size);
    curl.easy_setopt(h, CURLOPT_HTTPHEADER, t->headers);
    curl.easy_setopt(h, CURLOPT_WRITEFUNCTION, take_answer);
    curl.easy_setopt(h, CURLOPT_WRITEDATA, t);
    curl.easy_setopt(h, CURLOPT_PRIVATE, t);
    if (file && *file)
        curl.easy_setopt(h, CURLOPT_CAINFO, file);
    curl.multi_add_handle(all, h);
}

static void say(http_request *r, const char *why) {
    r->status = 0;
    snprintf(r->answer, HTTP_ANSWER, "%s", why);
}

static void release(transfer *t, CURLM *all) {
    if (t->handle) {
        curl.multi_remove_handle(all, t->handle);
        curl.easy_cleanup(t->handle);
    }
    t->handle = NULL;
    curl.slist_free_all(t->headers);
    t->headers = NULL;
}

static void take_result(transfer *t, CURLcode result) {
    http_request *r = t->request;
    curl_off_t seconds = 0;
    r->retry_after_ms = 0;
    r->certificate = result == CURLE_PEER_FAILED_VERIFICATION || result == CURLE_SSL_CACERT_BADFILE;
    r->unreached = result == CURLE_COULDNT_CONNECT || result == CURLE_COULDNT_RESOLVE_HOST ||
                   result == CURLE_COULDNT_RESOLVE_PROXY;
    t->answered = true;
    if (result != CURLE_OK) {
        say(r, curl.easy_strerror(result));
        return;
    }
    say(r, t->answer);
    curl.easy_getinfo(t->handle, CURLINFO_RESPONSE_CODE, &r->status);
    if (curl.easy_getinfo(t->handle, CURLINFO_RETRY_AFTER, &seconds) == CURLE_OK && seconds > 0)
        r->retry_after_ms = (uint64_t)(seconds < RETRY_MAX_S ? seconds : RETRY_MAX_S) * 1000;
}

static void take_results(CURLM *all, const http_watch *watch) {
    int left;
    for (CURLMsg *m; (m = curl.multi_info_read(all, &left));) {
        transfer *t = NULL;
        if (m->msg != CURLMSG_DONE)
            continue;
        curl.easy_getinfo(m->easy_handle, CURLINFO_PRIVATE, &t);
        take_result(t, m->data.result);
        release(t, all);
        const unsigned pause_ms = watch->again(watch->context, t->request);
        t->again_ms = pause_ms ? clock_monotonic_ms() + pause_ms : 0;
    }
}

/* Sends again what is due. Returns whether a transfer waits for that. */
static bool start_again(CURLM *all, transfer *transfers, size_t n, unsigned timeout_ms) {
    bool any = false;
    for (size_t i = 0; i < n; i++) {
        any |= transfers[i].again_ms != 0;
        if (transfers[i].again_ms && clock_monotonic_ms() >= transfers[i].again_ms)
            start(&transfers[i], transfers[i].request, all, timeout_ms);
    }
    return any;
}

static void finish(transfer *t, CURLM *all) {
    if (!t->answered)
        say(t->request, t->handle ? "given up before it answered" : "not enough memory");
    release(t, all);
}

static void send_all(CURLM *all, transfer *transfers, http_request *requests, size_t n,
                     unsigned timeout_ms, const http_watch *watch) {
    int running = 0;
    for (size_t i = 0; i < n; i++)
        start(&transfers[i], &requests[i], all, timeout_ms);
    while (curl.multi_perform(all, &running) == CURLM_OK) {
        take_results(all, watch);
        if ((!start_again(all, transfers, n, timeout_ms) && !running) ||
            watch->stop(watch->context))
            break;
        curl.multi_poll(all, NULL, 0, WAIT_MS, NULL);
    }
    for (size_t i = 0; i < n; i++)
        finish(&transfers[i], all);
}

void http_send(http_request *requests, size_t n, unsigned timeout_ms, const http_watch *watch) {
    CURLM *all = curl.multi_init();
    transfer *transfers = calloc(n, sizeof *transfers);
    if (all && transfers)
        send_all(all, transfers, requests, n, timeout_ms, watch);
    else
        for (size_t i = 0; i < n; i++)
            say(&requests[i], "not enough memory");
    free(transfers);
    if (all)
        curl.multi_cleanup(all);
}
