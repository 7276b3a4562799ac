/* answer_advice.c: `/api/advice`: why the largest functions allocate, and what to do about it. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "answers/endpoints.h"
#include "answers/write.h"
#include "reports/advise.h"

/* Finds the items for which a rule gives a reason. */
typedef VEC(uint32_t) row_list;
static bool find_rows(const advice_list *a, row_list *rows) {
    bool ok = true;
    for (uint32_t i = 0; ok && i < a->items.count; i++)
        ok = !a->items.items[i].rule || vec_push(rows, i);
    return ok;
}

/* Returns the trace's path for suggested commands, or a placeholder where that is no file. */
static const char *trace_name(const request *r, const asked *q) {
    const char *path = r->viewer->traces[q->trace].path;
    return access(path, F_OK) == 0 ? path : "BEFORE.ctf";
}

static bool write_advice(request *r, const asked *q, const advice_list *a, double share) {
    document kept = {0};
    row_list list = {0};
    advise_report shown = {
        .report = &q->report, .advise = a, .view = {.trace = trace_name(r, q), .min_share = share}};
    const table t = advise_table(&kept, &shown);
    bool ok = find_rows(a, &list) && !kept.failed;
    const page_rows rows = {.table = &t, .rows = list.items, .n = list.count};
    output_char(r->o, '{');
    write_head(r->o, q);
    ok = ok && write_table_rows(r->o, "advice", &rows, &q->reading->profile, true);
    output_text(r->o, "}\n");
    vec_free(&list);
    document_free(&kept);
    return ok || request_no_memory(r);
}

typedef struct advice_making {
    const query_result *query;
    advise_asker asker;
    double share;
} advice_making;

static void release_advice(void *value) {
    advise_free(value);
    free(value);
}

static bool make_advice(void *context, cache_value *value) {
    const advice_making *m = context;
    advice_list *a = malloc(sizeof *a);
    if (!a || !advise_query_for(&m->asker, m->query, m->share, a)) {
        free(a);
        return false;
    }
    *value = (cache_value){.value = a,
                           .size = sizeof *a + a->items.capacity * sizeof *a->items.items +
                                   a->places.capacity * sizeof *a->places.items,
                           .release = release_advice};
    return true;
}

/* Returns the bytes that the query takes: the stack of each block, and a summary of each stack. */
static size_t need_to_advise(const profile *p) {
    enum { OF_BLOCK = 8, OF_STACK = 16 };
    return p->table.count * OF_BLOCK + p->tree.n_stacks * OF_STACK;
}

/* The query takes seconds on a large trace, so it ends when its client has gone. */
bool answer_advice(request *r) {
    asked q = {.needs_blocks = true, .needs_rows = true, .of_allocated = true};
    double share = ADVISE_WORTH;
    bool ok = request_number(r, "share", 0.1, 100, &share) && asked_open(r, &q);
    if (ok) {
        advice_making m = {.query = q.query, .share = share};
        if (r->client)
            m.asker = (advise_asker){r->client->has_gone, r->client->context};
        char key[40];
        snprintf(key, sizeof key, "advice %.17g", share);
        const cache_maker maker = {
            .make = make_advice, .context = &m, .needs = need_to_advise(&q.reading->profile)};
        cache_entry *e = asked_cached(r, &q, key, maker);
        ok = e ? write_advice(r, &q, cache_entry_value(e), share) : request_no_answer(r);
        cache_release(r->viewer->cache, e);
    }
    asked_close(r, &q);
    return ok;
}
