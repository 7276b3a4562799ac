/* answer_timepaths.c: `/api/timepaths`: which calls allocated most, over time. */
#include <inttypes.h>
#include <stddef.h>

#include "answers/asked_paths.h"
#include "answers/endpoints.h"
#include "answers/write.h"
#include "paths/time_paths.h"

enum { PIXELS_A_COLUMN = 2, ROWS = 96 };

typedef struct time_asked {
    asked question;
    uint64_t from, to, rows;
    double width;
    const uint8_t *kept;
} time_asked;

static bool parse(request *r, time_asked *t) {
    if (!request_by_line(r, &t->question.by_line) ||
        !request_number(r, "width", 1, 16384, &t->width) ||
        !request_integer(r, "rows", 1, 1000, &t->rows) || !asked_open(r, &t->question))
        return false;
    t->to = t->question.reading->profile.duration;
    if (!request_moment(r, "from", &t->from) || !request_moment(r, "to", &t->to))
        return false;
    if (t->to < t->from)
        return request_refuse(r, "from", 0, "is later than `to`");
    t->to++; /* from here on not included */
    return asked_rows(r, &t->question, &t->kept);
}

/* ---- writing ----------------------------------------------------------------------------- */

static const profile_location *place_of(const profile *names, const void *thing) {
    const time_paths_box *b = thing;
    return b->place == PATH_NOWHERE ? NULL : &names->locations.items[b->place];
}

static bool write_paths(request *r, const time_asked *t, const time_paths_spec *spec,
                        const time_paths *p) {
    const write_things all = WRITE_THINGS(p->boxes);
    output *o = r->o;
    output_char(o, '{');
    write_head(o, &t->question);
    output_format(o, ",\n\"columns\":%" PRIu32 ",\n", p->columns);
    const bool ok = write_node_places(o, &t->question.reading->profile, t->question.by_line, NULL,
                                      all, place_of);
    WRITE_COLUMN(o, "parent", p->boxes, b, b->parent == PATH_NOWHERE ? -1 : (int64_t)b->parent);
    write_figures(o, &t->question, all, offsetof(time_paths_box, total), false);
    WRITE_COLUMN(o, "self", p->boxes, b, ((void)b, 0)); /* the page expects it; it means nothing */
    WRITE_COLUMN(o, "begin", p->boxes, b, (int64_t)time_paths_begin(spec, p, b->first));
    WRITE_COLUMN(o, "end", p->boxes, b, (int64_t)time_paths_begin(spec, p, b->end));
    output_text(o, "}}\n");
    return ok;
}

/* The query scans all blocks, so it ends when its client has gone. */
static bool find_paths(request *r, time_asked *t, time_paths_spec *spec, time_paths *p) {
    const callpaths_spec shape = {.shape = CALLPATHS_DOWN, .by_line = t->question.by_line};
    const double columns = t->width / PIXELS_A_COLUMN;
    asked_paths paths;
    *spec = (time_paths_spec){.kept = t->kept,
                              .from = t->from,
                              .to = t->to,
                              .columns = columns > 1 ? (uint32_t)columns : 1,
                              .rows = (uint32_t)t->rows};
    if (r->client) {
        spec->stop = r->client->has_gone;
        spec->context = r->client->context;
    }
    const bool ok = asked_paths_tree(r, &t->question, &shape, &paths) &&
                    (time_paths_query(&paths.view, spec, p) || request_no_answer(r));
    asked_paths_release(r, &paths);
    return ok;
}

bool answer_timepaths(request *r) {
    time_asked t = {.question.needs_blocks = true, .width = 1200, .rows = ROWS};
    time_paths_spec spec;
    time_paths p = {0};
    const bool ok = parse(r, &t) && find_paths(r, &t, &spec, &p) && write_paths(r, &t, &spec, &p);
    time_paths_free(&p);
    asked_close(r, &t.question);
    return ok;
}
