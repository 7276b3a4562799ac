/* answer_advice.c: `/api/advice`: why the largest functions allocate, and what to do about it. */
#include <stdio.h>
#include <stdlib.h>

#include "advice/advise.h"
#include "serve/request.h"

static const profile_location *place_of(const advise *a, const advice *item) {
    return item->n_places ? a->places.items[item->first_place].location : NULL;
}

static void write_item(output *o, const asked *q, const advice *item, int64_t place) {
    const advise_rule *rule = item->rule;
    output_text(o, "{\"rule\":");
    output_json(o, rule->name);
    output_text(o, ",\"title\":");
    output_json(o, rule->title);
    output_text(o, ",\"text\":");
    output_json(o, rule->why);
    output_text(o, ",\"do\":");
    output_json(o, rule->what_to_do);
    output_format(o, ",\"certainty\":\"%s\",\"worth\":%s,\"gain\":%.6f,\"place\":%lld,\"figure\":{",
                  advise_certainties[item->certainty], item->worth ? "true" : "false", item->gain,
                  (long long)place);
    write_cost(o, q, &item->cost);
    output_text(o, "},\"filter\":");
    if (item->filter)
        output_json(o, item->filter);
    else
        output_text(o, "null");
    output_char(o, '}');
}

static bool write_advice(request *r, const asked *q, const advise *a) {
    place_list places = {0};
    output *o = r->o;
    bool ok = true, any = false;
    for (size_t i = 0; i < a->items.count; i++)
        ok = ok && place_list_add(&places, place_of(a, &a->items.items[i])) >= -1;
    output_char(o, '{');
    write_head(o, q);
    output_text(o, ",\n");
    ok = ok && write_places(o, &places, &q->reading->profile, true, NULL);
    output_text(o, ",\n\"advice\":[");
    for (size_t i = 0; i < a->items.count; i++) {
        const advice *item = &a->items.items[i];
        if (!item->rule)
            continue;
        output_text(o, any ? ",\n" : "\n");
        any = true;
        write_item(o, q, item, place_list_add(&places, place_of(a, item)));
    }
    output_text(o, "]}\n");
    place_list_free(&places);
    return ok;
}

typedef struct advice_making {
    const query_result *query;
    double share;
} advice_making;

static void release_advice(void *value) {
    advise_free(value);
    free(value);
}

static bool make_advice(void *context, cache_value *value) {
    const advice_making *m = context;
    advise *a = malloc(sizeof *a);
    if (!a || !advise_query(m->query, m->share, a)) {
        free(a);
        return false;
    }
    *value = (cache_value){.value = a,
                           .size = sizeof *a + a->items.capacity * sizeof *a->items.items +
                                   a->places.capacity * sizeof *a->places.items,
                           .release = release_advice};
    return true;
}

/* It takes seconds on a large trace. Who gives up and asks again finds what was begun for him,
 * which for that reason is not given up with him. */
bool answer_advice(request *r) {
    asked q = {.needs_blocks = true, .needs_rows = true, .of_allocated = true};
    double share = ADVISE_WORTH;
    bool ok = request_number(r, "share", 0.1, 100, &share) && request_ask(r, &q);
    if (ok) {
        advice_making m = {.query = q.query, .share = share};
        char key[40];
        snprintf(key, sizeof key, "advice %.17g", share);
        cache_entry *e = asked_cached(r, &q, key, make_advice, &m);
        ok = e && write_advice(r, &q, cache_entry_value(e));
        cache_release(r->viewer->cache, e);
    }
    asked_close(r, &q);
    return ok;
}
