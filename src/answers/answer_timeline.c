/* answer_timeline.c: `/api/timeline`: memory over time. */
#include <inttypes.h>
#include <stdio.h>

#include "answers/endpoints.h"
#include "answers/write.h"
#include "render/render.h"
#include "reports/timeline.h"

enum { MAX_BUCKETS = 4096, MAX_LAYERS = 100 };

static bool write_points(request *r, const asked *a, const char *name, const timeline *t) {
    const timeline_report shown = {.report = &a->report, .timeline = t};
    const table points = timeline_points(&shown);
    return write_table_rows(r->o, name, &(page_rows){.table = &points, .n = points.n}, NULL, false);
}

static void write_scale(output *o, const timeline *t) {
    const timeline_point *points = t->points.items;
    size_t n = t->points.count;
    output_format(o,
                  ",\n\"from\":%" PRIu64 ",\"to\":%" PRIu64 ",\"buckets\":%zu,\"width\":%" PRIu64,
                  points[0].begin, points[n - 1].end - 1, n, points[0].end - points[0].begin);
}

static bool write_gauges(request *r, const asked *a, const timeline *t) {
    document kept = {0};
    gauge_list list;
    if (!gauges_find(&a->reading->profile, &list))
        return false;
    timeline_report shown = {.report = &a->report, .timeline = t, .gauges = &list};
    const table gauges = timeline_gauges(&kept, &shown);
    output_text(r->o, ",\n\"gauges\":");
    if (!kept.failed)
        render_json_rows(r->o, &gauges);
    const bool ok = !kept.failed;
    document_free(&kept);
    gauges_free(&list);
    return ok;
}

typedef struct timeline_making {
    const profile *profile;
    const timeline_spec *spec;
} timeline_making;

static void release_timeline(void *value) {
    timeline_free(value);
    free(value);
}

static bool make_timeline(void *context, cache_value *value) {
    const timeline_making *m = context;
    timeline *t = malloc(sizeof *t);
    if (!t || !timeline_query(m->profile, m->spec, t)) {
        free(t);
        return false;
    }
    *value = (cache_value){.value = t,
                           .size = sizeof *t + t->points.capacity * sizeof *t->points.items,
                           .release = release_timeline};
    return true;
}

/* The timeline of all blocks does not depend on the filter, so all questions share it. */
static cache_entry *find_all(request *r, const asked *a, const timeline_spec *spec) {
    timeline_making m = {.profile = &a->reading->profile, .spec = spec};
    char key[160];
    snprintf(key, sizeof key, "%zu %" PRIu64 " timeline %" PRIu64 " %" PRIu64 " %" PRIu64, a->trace,
             a->reading->serial, spec->from, spec->to, spec->points);
    return cache_get(r->viewer->cache, key, (cache_maker){.make = make_timeline, .context = &m});
}

/* ---- layers ------------------------------------------------------------------------------ */

/* Which layers of live memory are wanted: by site, thread or lifetime. */
typedef struct layers_wanted {
    int by; /* a groups_by; N_GROUPS_BY: no layers */
    uint64_t top;
} layers_wanted;

typedef struct layers_making {
    const asked *asked;
    const timeline_spec *spec;
    layers_wanted wanted;
} layers_making;

static void release_layers(void *value) {
    timeline_groups_free(value);
    free(value);
}

static bool moment_of_most(const asked *a, const uint8_t *kept, blocks_moment *at) {
    blocks_most most = a->reading->peak;
    const bool ok = !kept || blocks_peak_of(&a->reading->profile.table, kept, &most);
    *at = most.at;
    return ok;
}

static bool make_layers(void *context, cache_value *value) {
    const layers_making *m = context;
    timeline_groups *list = calloc(1, sizeof *list);
    blocks_moment at;
    if (!list || !moment_of_most(m->asked, m->spec->kept, &at) ||
        !timeline_of_groups(&m->asked->query->lens, m->spec, (groups_by)m->wanted.by, at,
                            m->wanted.top, list)) {
        free(list);
        return false;
    }
    size_t size = sizeof *list + list->capacity * sizeof *list->items;
    for (size_t i = 0; i < list->count; i++)
        size += list->items[i].line.points.capacity * sizeof(timeline_point);
    *value = (cache_value){.value = list, .size = size, .release = release_layers};
    return true;
}

static bool write_groups(request *r, const asked *a, const timeline *t, int by,
                         const timeline_groups *list) {
    document kept = {0};
    timeline_report shown = {.report = &a->report,
                             .timeline = t,
                             .by = (groups_by)by,
                             .groups = list->items,
                             .n_groups = list->count};
    const table layers = timeline_layers(&kept, &shown);
    const page_rows all = {.table = &layers, .n = layers.n};
    const bool ok = !kept.failed &&
                    write_table_rows(r->o, "layers", &all, &a->reading->profile, layers.by_line);
    document_free(&kept);
    return ok;
}

static bool write_layers(request *r, const asked *a, const timeline_spec *spec, const timeline *t,
                         layers_wanted wanted) {
    layers_making m = {.asked = a, .spec = spec, .wanted = wanted};
    char key[160];
    if (wanted.by == N_GROUPS_BY)
        return true;
    snprintf(key, sizeof key, "layers %d %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64, wanted.by,
             wanted.top, spec->from, spec->to, spec->points);
    cache_entry *e = asked_cached(r, a, key, (cache_maker){.make = make_layers, .context = &m});
    const bool ok = e && write_groups(r, a, t, wanted.by, cache_entry_value(e));
    cache_release(r->viewer->cache, e);
    return ok;
}

/* ---- all of it --------------------------------------------------------------------------- */

static bool write_timeline(request *r, asked *a, const timeline_spec *spec, layers_wanted wanted) {
    timeline filtered = {0};
    timeline_spec of_kept = *spec;
    if (!asked_rows(r, a, &of_kept.kept))
        return false;
    cache_entry *all = find_all(r, a, spec);
    bool ok = all && (!of_kept.kept || timeline_query(&a->reading->profile, &of_kept, &filtered));
    if (ok) {
        output_char(r->o, '{');
        write_head(r->o, a);
        write_scale(r->o, cache_entry_value(all));
        ok = write_points(r, a, "all", cache_entry_value(all)) &&
             (!of_kept.kept || write_points(r, a, "filtered", &filtered)) &&
             write_layers(r, a, &of_kept, cache_entry_value(all), wanted) &&
             write_gauges(r, a, cache_entry_value(all));
        output_text(r->o, "}\n");
    }
    cache_release(r->viewer->cache, all);
    timeline_free(&filtered);
    return ok || request_no_memory(r);
}

bool answer_timeline(request *r) {
    timeline_spec spec = {.to = TIMELINE_END, .points = 400, .without_peak = true};
    asked a = {.needs_blocks = true};
    layers_wanted layers = {.by = N_GROUPS_BY, .top = 10};
    bool ok = request_integer(r, "buckets", 1, MAX_BUCKETS, &spec.points) &&
              request_moment(r, "from", &spec.from) && request_moment(r, "to", &spec.to) &&
              (spec.from <= spec.to || request_refuse(r, "from", 0, "is later than `to`")) &&
              request_choice(r, "by", groups_by_names, &layers.by) &&
              request_integer(r, "top", 1, MAX_LAYERS, &layers.top) && asked_open(r, &a) &&
              write_timeline(r, &a, &spec, layers);
    asked_close(r, &a);
    return ok;
}
