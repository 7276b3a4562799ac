/* answer_info.c: `/api/info`: what the traces are about. */
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "analyse/estimate.h"
#include "present/http/request.h"
#include "present/info.h"

static void write_samples(output *o, reading *r, const char *name, uint64_t samples) {
    figure f = reading_figure(r, samples);
    output_format(o, "\"%s\":{", name);
    figure_json(o, &f);
    output_char(o, '}');
}

static void write_trace(output *o, const viewer_trace *t, size_t index, reading *r) {
    const profile *p = &r->profile;
    const info_view view = {.path = strcmp(t->path, "-") == 0 ? "standard input" : t->path,
                            .size = t->size,
                            .warnings = r->warnings,
                            .n_warnings = r->n_warnings,
                            .promotion_unknown = r->state == READING_PARTIAL};
    bool partial = r->state == READING_PARTIAL;
    output_format(o, "{\"trace\":%zu,\"generation\":%" PRIu64 ",\"state\":\"%s\",\"growing\":%s",
                  index, r->generation, partial ? "partial" : "ready",
                  r->state == READING_GROWING ? "true" : "false");
    output_text(o, ",\"name\":");
    output_json(o, t->name);
    output_format(o, ",\"locations\":%zu,\"bytes_per_sample\":%.0f,\"invisible\":%.0f,",
                  p->locations.count, profile_bytes_per_sample(p),
                  estimate_invisible(p->info.sample_rate) * p->info.word_size / 8);
    if (!partial) {
        figure peak = reading_figure(r, r->peak_samples);
        output_format(o, "\"peak\":{\"time\":%" PRIu64 ",", r->peak_time);
        figure_json(o, &peak);
        output_text(o, "},");
    }
    output_text(o, "\n\"about\":");
    info_json(o, p, &view);
    output_char(o, '}');
}

bool answer_info(request *r) {
    output *o = r->o;
    output_text(o, "{\"version\":");
    output_json(o, r->viewer->version);
    output_format(o, ",\"pid\":%ld,\"live\":%s,\"traces\":[", (long)getpid(),
                  r->viewer->live ? "true" : "false");
    for (size_t i = 0; i < r->viewer->n_traces; i++) {
        reading *now = viewer_take(r->viewer, i, false);
        output_text(o, i ? ",\n" : "\n");
        if (now) {
            write_trace(o, &r->viewer->traces[i], i, now);
        } else {
            output_format(o, "{\"trace\":%zu,\"generation\":0,\"state\":\"waiting\",\"name\":", i);
            output_json(o, r->viewer->traces[i].name);
            output_char(o, '}');
        }
        reading_release(now);
    }
    output_text(o, "]}\n");
    return true;
}

void api_live(viewer *v, size_t trace, output *o) {
    reading *r = viewer_take(v, trace, false);
    if (!r)
        return;
    const profile *p = &r->profile;
    bool partial = r->state == READING_PARTIAL;
    uint64_t live = 0;
    for (size_t i = 0; i < p->table.count; i++)
        live += p->table.died[i] == BLOCKS_NEVER ? blocks_samples(&p->table, i) : 0;
    output_format(o,
                  "{\"trace\":%zu,\"generation\":%" PRIu64 ",\"state\":\"%s\",\"growing\":%s"
                  ",\"duration\":%" PRIu64 ",\"samples\":%" PRIu64 ",\"blocks\":%" PRIu64 ",",
                  trace, r->generation, partial ? "partial" : "ready",
                  r->state == READING_GROWING ? "true" : "false", p->duration, cct_sum(p->samples),
                  cct_sum(p->blocks));
    if (!partial) {
        write_samples(o, r, "live", live);
        output_char(o, ',');
    }
    write_samples(o, r, "allocated", cct_sum(p->samples));
    output_char(o, '}');
    reading_release(r);
}
