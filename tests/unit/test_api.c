/* test_api.c: answers of the viewer without a socket: what is kept of them, and clients that go. */
#include <stdatomic.h>
#include <stdio.h>

#include "advice/advise.h"
#include "answers/api.h"
#include "tape.h"
#include "unit.h"

static void record(profile *p) {
    tape t;
    tape_start(&t, 0.5);
    allocate(&t, 0, MEMTRACE_MINOR, 100, 60, STACK(MAIN, PARSE, LEAF));
    tape_read_blocks(&t, p, false);
}

static atomic_int advised;

bool __real_advise_query_for(const advise_asker *asker, const query_result *q, double min_share,
                             advice_list *result);
bool __wrap_advise_query_for(const advise_asker *asker, const query_result *q, double min_share,
                             advice_list *result);

bool __wrap_advise_query_for(const advise_asker *asker, const query_result *q, double min_share,
                             advice_list *result) {
    advised++;
    return __real_advise_query_for(asker, q, min_share, result);
}

static void ask(viewer *v, const char *path, const api_parameter *parameters, size_t n,
                const api_client *client, int status, api_reply *reply) {
    api_answer(v, path, parameters, n, client, reply);
    ck_assert_int_eq(reply->status, status);
    ck_assert_int_eq(reply->body.error, 0);
}

static void check_status(viewer *v, const char *path, const api_parameter *parameters, size_t n,
                         const api_client *client, int status) {
    api_reply reply;
    ask(v, path, parameters, n, client, status, &reply);
    output_finish(&reply.body);
}

/* The answer to a request for advice, which the caller frees. */
static char *ask_advice(viewer *v, const char *terms, const char *share) {
    const api_parameter parameters[] = {{"filter", terms}, {"share", share}};
    api_reply reply;
    ask(v, "/api/advice", parameters, 2, NULL, HTTP_OK, &reply);
    return output_take(&reply.body);
}

START_TEST(advice_is_not_sought_again) {
    static const struct {
        const char *filter, *share;
        int advised;
    } asked[] = {{"", "10", 1}, {"", "10", 1}, {"size:50w", "10", 2}, {"", "20", 3}, {"", "10", 3}};
    profile p;
    viewer v;
    char name[] = "a.ctf", *first = NULL;
    record(&p);
    ck_assert(viewer_init(&v, (char *[]){name}, 1));
    ck_assert(viewer_publish(&v, 0, &p, NULL, 0, READING_WHOLE));
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        char *answer = ask_advice(&v, asked[i].filter, asked[i].share);
        ck_assert_int_eq(advised, asked[i].advised);
        if (asked[i].advised == 1 && first)
            ck_assert_str_eq(answer, first);
        free(first);
        first = answer;
    }
    free(first);
    record(&p);
    ck_assert(viewer_publish(&v, 0, &p, NULL, 0, READING_WHOLE));
    free(ask_advice(&v, "", "10"));
    ck_assert_int_eq(advised, 4);
    viewer_free(&v);
}
END_TEST

/* Where no memory was ever taken for rows, none may be moved: what checks for that says so. */
START_TEST(a_table_may_be_empty) {
    const api_parameter parameters[] = {{"filter", "fn:nowhere"}, {"kind", "leaks"}};
    profile p;
    viewer v;
    char name[] = "a.ctf";
    record(&p);
    ck_assert(viewer_init(&v, (char *[]){name}, 1));
    ck_assert(viewer_publish(&v, 0, &p, NULL, 0, READING_WHOLE));
    for (size_t n = 1; n <= 2; n++)
        check_status(&v, "/api/table", parameters, n, NULL, HTTP_OK);
    viewer_free(&v);
}
END_TEST

static bool goes_at_once(void *context) {
    ++*(int *)context;
    return true;
}

START_TEST(a_search_ends_when_its_client_has_gone) {
    const api_parameter parameters[] = {{"search", "leaf"}};
    int asked = 0;
    const api_client client = {goes_at_once, &asked};
    profile p;
    viewer v;
    char name[] = "a.ctf";
    record(&p);
    ck_assert(viewer_init(&v, (char *[]){name}, 1));
    ck_assert(viewer_publish(&v, 0, &p, NULL, 0, READING_WHOLE));
    check_status(&v, "/api/tree", parameters, 1, &client, HTTP_UNAVAILABLE);
    ck_assert_int_eq(asked, 1);
    check_status(&v, "/api/tree", parameters, 1, NULL, HTTP_OK);
    viewer_free(&v);
}
END_TEST

START_TEST(advice_ends_when_its_client_has_gone) {
    int asked = 0;
    const api_client client = {goes_at_once, &asked};
    profile p;
    viewer v;
    char name[] = "a.ctf";
    record(&p);
    ck_assert(viewer_init(&v, (char *[]){name}, 1));
    ck_assert(viewer_publish(&v, 0, &p, NULL, 0, READING_WHOLE));
    check_status(&v, "/api/advice", NULL, 0, &client, HTTP_UNAVAILABLE);
    ck_assert_int_ge(asked, 1);
    check_status(&v, "/api/advice", NULL, 0, NULL, HTTP_OK);
    viewer_free(&v);
}
END_TEST

START_TEST(an_address_has_a_kind) {
    static const struct {
        const char *path;
        api_kind kind;
    } known[] = {{"/", API_NOTHING},
                 {"/debug/pprof/profile", API_NOTHING},
                 {"/api/nothing", API_DOCUMENT}, /* which says that there is no such endpoint */
                 {"/api/info", API_DOCUMENT},
                 {"/api/export", API_FILE},
                 {"/debug/pprof/heap", API_FILE},
                 {"/debug/pprof/allocs", API_FILE},
                 {"/api/live", API_EVENTS},
                 {"/api/open", API_OPENING}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        ck_assert_msg(api_kind_of(known[i].path) == known[i].kind, "%s", known[i].path);
}
END_TEST

/* A file that took too long, or whose viewer ends, is refused in its place. */
START_TEST(a_refusal_replaces_an_answer) {
    api_reply reply = {.status = HTTP_OK, .type = "text/plain", .file = "a.txt"};
    output_start(&reply.body, OUTPUT_MEMORY);
    output_text(&reply.body, "begun");
    api_refuse(&reply, HTTP_UNAVAILABLE, "late");
    ck_assert_int_eq(reply.status, HTTP_UNAVAILABLE);
    ck_assert_str_eq(reply.type, "application/json");
    ck_assert_str_eq(reply.file, "");
    char *body = output_take(&reply.body);
    ck_assert_str_eq(body, "{\"error\":{\"reason\":\"late\"}}\n");
    free(body);
}
END_TEST

static Suite *suite(void) {
    Suite *s = suite_create("api");
    TCase *t = tcase_create("api");
    tcase_add_test(t, advice_is_not_sought_again);
    tcase_add_test(t, a_table_may_be_empty);
    tcase_add_test(t, a_search_ends_when_its_client_has_gone);
    tcase_add_test(t, advice_ends_when_its_client_has_gone);
    tcase_add_test(t, an_address_has_a_kind);
    tcase_add_test(t, a_refusal_replaces_an_answer);
    suite_add_tcase(s, t);
    return s;
}

UNIT_MAIN(suite)
