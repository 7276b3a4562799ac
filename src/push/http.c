/* http.c: requests are transfers of one libcurl multi handle, so a slow receiver does not hold up
 * the others. `stop` is called ten times a second. */
#include "push/http.h"

#include <curl/curl.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    CONNECT_MS = 5000,
    WAIT_MS = 100,        /* between calls of `stop` */
    ANSWER_MAX = 1 << 20, /* largest response, in bytes */
};

/* The functions of libcurl that are used. */
#define CURL_FUNCTIONS(X)                                                                          \
    X(curl_global_init)                                                                            \
    X(curl_easy_init)                                                                              \
    X(curl_easy_setopt)                                                                            \
    X(curl_easy_getinfo)                                                                           \
    X(curl_easy_strerror)                                                                          \
    X(curl_easy_cleanup)                                                                           \
    X(curl_multi_init)                                                                             \
    X(curl_multi_add_handle)                                                                       \
    X(curl_multi_perform)                                                                          \
    X(curl_multi_poll)                                                                             \
    X(curl_multi_info_read)                                                                        \
    X(curl_multi_remove_handle)                                                                    \
    X(curl_multi_cleanup)                                                                          \
    X(curl_slist_append)                                                                           \
    X(curl_slist_free_all)

/* The functions are called through pointers, but libcurl's header wraps some in macros. */
#undef curl_easy_setopt
#undef curl_easy_getinfo
static struct {
#define CURL_POINTER(name) __typeof__(&name) name;
    CURL_FUNCTIONS(CURL_POINTER)
#undef CURL_POINTER
} curl;

static const char *load(void) {
    static const char *const names[] = {"libcurl.so.4", "libcurl-gnutls.so.4"};
    void *library = NULL;
    for (size_t i = 0; !library && i < sizeof names / sizeof *names; i++)
        library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return "libcurl is not installed (Debian: apt-get install libcurl4)";
#define CURL_LOAD(name)                                                                            \
    *(void **)&curl.name = dlsym(library, #name);                                                  \
    if (!curl.name)                                                                                \
        return "this libcurl is too old: it lacks " #name;
    CURL_FUNCTIONS(CURL_LOAD)
#undef CURL_LOAD
    return NULL;
}

const char *http_begin(void) {
    static bool loaded;
    if (loaded)
        return NULL;
    const char *why = load();
    if (!why && curl.curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
        why = "libcurl cannot be started";
    loaded = !why;
    return why;
}

/* ---- one request ------------------------------------------------------------------------- */

typedef struct transfer {
    http_request *request;
    CURL *handle;
    struct curl_slist *headers;
    size_t received;
    bool done;
} transfer;

/* Keeps the beginning of the response, on one line. More than ANSWER_MAX bytes end the transfer. */
static size_t take_answer(char *bytes, size_t size, size_t n, void *context) {
    transfer *t = context;
    char *answer = t->request->answer;
    size_t used = strlen(answer);
    for (size_t i = 0; i < size * n && used < HTTP_ANSWER - 1; i++) {
        const unsigned char c = (unsigned char)bytes[i];
        answer[used++] = c >= ' ' && c < 0x7F ? (char)c : ' ';
        answer[used] = '\0';
    }
    t->received += size * n;
    return t->received <= ANSWER_MAX ? size * n : 0;
}

static bool set_headers(transfer *t) {
    for (size_t i = 0; i < t->request->n_headers; i++) {
        struct curl_slist *longer = curl.curl_slist_append(t->headers, t->request->headers[i]);
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

static bool start(transfer *t, http_request *r, CURLM *all, unsigned timeout_ms) {
    *t = (transfer){.request = r, .handle = curl.curl_easy_init()};
    r->status = 0;
    r->answer[0] = '\0';
    if (!t->handle || !set_headers(t))
        return false;
    const char *file = certificates();
    CURL *h = t->handle;
    curl.curl_easy_setopt(h, CURLOPT_URL, r->url);
    curl.curl_easy_setopt(h, CURLOPT_NOSIGNAL, 1L);
    curl.curl_easy_setopt(h, CURLOPT_PROTOCOLS_STR, "http,https");
    curl.curl_easy_setopt(h, CURLOPT_USERAGENT, "allotrace");
    curl.curl_easy_setopt(h, CURLOPT_TIMEOUT_MS, (long)timeout_ms);
    curl.curl_easy_setopt(h, CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_MS);
    curl.curl_easy_setopt(h, CURLOPT_POSTFIELDS, r->body);
    curl.curl_easy_setopt(h, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)r->size);
    curl.curl_easy_setopt(h, CURLOPT_HTTPHEADER, t->headers);
    curl.curl_easy_setopt(h, CURLOPT_WRITEFUNCTION, take_answer);
    curl.curl_easy_setopt(h, CURLOPT_WRITEDATA, t);
    curl.curl_easy_setopt(h, CURLOPT_PRIVATE, t);
    if (file && *file)
        curl.curl_easy_setopt(h, CURLOPT_CAINFO, file);
    return curl.curl_multi_add_handle(all, h) == CURLM_OK;
}

static void say(http_request *r, const char *why) {
    r->status = 0;
    snprintf(r->answer, HTTP_ANSWER, "%s", why);
}

static void take_results(CURLM *all) {
    int left;
    for (CURLMsg *m; (m = curl.curl_multi_info_read(all, &left));) {
        transfer *t = NULL;
        if (m->msg != CURLMSG_DONE)
            continue;
        curl.curl_easy_getinfo(m->easy_handle, CURLINFO_PRIVATE, &t);
        t->done = true;
        if (m->data.result == CURLE_OK)
            curl.curl_easy_getinfo(t->handle, CURLINFO_RESPONSE_CODE, &t->request->status);
        else
            say(t->request, curl.curl_easy_strerror(m->data.result));
        t->request->certificate = m->data.result == CURLE_PEER_FAILED_VERIFICATION ||
                                  m->data.result == CURLE_SSL_CACERT_BADFILE;
    }
}

static void finish(transfer *t, CURLM *all) {
    if (!t->done)
        say(t->request, t->handle ? "given up" : "not enough memory");
    if (t->handle) {
        curl.curl_multi_remove_handle(all, t->handle);
        curl.curl_easy_cleanup(t->handle);
    }
    curl.curl_slist_free_all(t->headers);
}

static void send_all(CURLM *all, transfer *transfers, http_request *requests, size_t n,
                     unsigned timeout_ms, bool (*stop)(void *context), void *context) {
    int running = 0;
    for (size_t i = 0; i < n; i++)
        start(&transfers[i], &requests[i], all, timeout_ms);
    while (curl.curl_multi_perform(all, &running) == CURLM_OK && running && !stop(context))
        curl.curl_multi_poll(all, NULL, 0, WAIT_MS, NULL);
    take_results(all);
    for (size_t i = 0; i < n; i++)
        finish(&transfers[i], all);
}

void http_send(http_request *requests, size_t n, unsigned timeout_ms, bool (*stop)(void *context),
               void *context) {
    CURLM *all = curl.curl_multi_init();
    transfer *transfers = calloc(n, sizeof *transfers);
    if (all && transfers)
        send_all(all, transfers, requests, n, timeout_ms, stop, context);
    else
        for (size_t i = 0; i < n; i++)
            say(&requests[i], "not enough memory");
    free(transfers);
    if (all)
        curl.curl_multi_cleanup(all);
}
