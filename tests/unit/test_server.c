/* Tests of the viewer's server where the system fails it: answers are whole, or there are none. */
#include <arpa/inet.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "serve/mhd.h"
#include "serve/server.h"
#include "unit.h"

/* ---- headers for which there is no memory ------------------------------------------------ */

static atomic_int added, failing; /* headers of an answer; which of them fails, from 1 */

static __typeof__(mhd.add_response_header) add; /* the library's own */

static enum MHD_Result add_or_fail(struct MHD_Response *r, const char *name, const char *value) {
    return atomic_fetch_add(&added, 1) + 1 == failing ? MHD_NO : add(r, name, value);
}

/* ---- a server and its client ------------------------------------------------------------- */

static int connect_to(const char *address) {
    struct timeval patience = {.tv_sec = 60};
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    unsigned port;
    ck_assert_int_eq(sscanf(address, "http://localhost:%u/", &port), 1);
    to.sin_port = htons((uint16_t)port);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience), 0);
    ck_assert_int_eq(connect(fd, (struct sockaddr *)&to, sizeof to), 0);
    return fd;
}

/* Bytes of the answer to a request with the token. */
static size_t ask(const server *s, const char *method, const char *path, const char *header) {
    const char *token = strstr(server_address(s), "?token=");
    char text[4096];
    size_t got = 0;
    int fd = connect_to(server_address(s));
    int n = snprintf(text, sizeof text,
                     "%s %s%s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n%s\r\n", method,
                     path, token, header);
    ck_assert_int_eq(send(fd, text, (size_t)n, MSG_NOSIGNAL), n);
    for (ssize_t part; (part = recv(fd, text, sizeof text, 0)) > 0;)
        got += (size_t)part;
    close(fd);
    return got;
}

/* ---- tests ------------------------------------------------------------------------------- */

START_TEST(an_answer_has_all_its_headers) {
    static const char *const requests[][3] = {{"GET", "/", ""},
                                              {"GET", "/", "Accept-Encoding: gzip\r\n"},
                                              {"GET", "/nothing", ""},
                                              {"GET", "/api/nothing", ""},
                                              {"POST", "/api/nothing", ""}};
    viewer v;
    char why[200] = "";
    ck_assert(viewer_init(&v, NULL, 0));
    server *s = server_start(&v, &(server_options){0}, why, sizeof why);
    ck_assert_msg(s, "%s", why);
    add = mhd.add_response_header;
    mhd.add_response_header = add_or_fail;
    for (size_t i = 0; i < sizeof requests / sizeof *requests; i++) {
        const char *const *r = requests[i];
        added = failing = 0;
        ck_assert_uint_gt(ask(s, r[0], r[1], r[2]), 0);
        const int headers = added;
        ck_assert_int_ge(headers, 8);
        for (int n = 1; n <= headers; n++) {
            added = 0;
            failing = n;
            ck_assert_msg(ask(s, r[0], r[1], r[2]) == 0, "%s %s without header %d", r[0], r[1], n);
        }
    }
    server_stop(s);
    viewer_free(&v);
}
END_TEST

static Suite *suite(void) {
    Suite *s = suite_create("server");
    TCase *t = tcase_create("server");
    tcase_add_test(t, an_answer_has_all_its_headers);
    suite_add_tcase(s, t);
    return s;
}

UNIT_MAIN(suite)
