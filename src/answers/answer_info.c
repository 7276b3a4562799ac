/* answer_info.c: `/api/info`: what is known of the traces as a whole. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "answers/download.h"
#include "answers/endpoints.h"
#include "query/estimate.h"
#include "render/render.h"
#include "reports/info.h"

static void write_samples(output *o, reading *r, const char *name, uint64_t samples) {
    figure f = reading_figure(r, samples);
    output_format(o, "\"%s\":{", name);
    figure_json(o, &f);
    output_char(o, '}');
}

static void write_state(output *o, const viewer_trace *t, const reading *r) {
    static const char *const states[] = {[READING_BEGUN] = "reading",
                                         [READING_PARTIAL] = "partial",
                                         [READING_GROWING] = "ready",
                                         [READING_WHOLE] = "ready"};
    output_format(o, "\"generation\":%" PRIu64 ",\"state\":\"%s\",", r->generation,
                  states[r->state]);
    if (r->state == READING_BEGUN)
        output_format(o, "\"progress\":%.3f,", atomic_load(&t->progress));
    output_format(o, "\"growing\":%s", r->state == READING_GROWING ? "true" : "false");
}

static void write_about(output *o, info_report *about) {
    document d = {0};
    info_document(&d, about);
    if (d.failed)
        o->error = o->error ? o->error : ENOMEM;
    else
        render_json_object(o, &d);
    document_free(&d);
    info_free(about);
}

static void write_trace(output *o, const viewer_trace *t, size_t index, reading *r) {
    const profile *p = &r->profile;
    info_report about = {.profile = p,
                         .path = strcmp(t->path, "-") == 0 ? "standard input" : t->path,
                         .size = t->size,
                         .warnings = r->warnings,
                         .n_warnings = r->n_warnings,
                         .promotion_unknown = !reading_has_blocks(r)};
    output_format(o, "{\"trace\":%zu,", index);
    write_state(o, t, r);
    output_text(o, ",\"name\":");
    output_json(o, t->name);
    output_format(o, ",\"locations\":%zu,\"bytes_per_sample\":%.0f,\"invisible\":%.0f,",
                  p->locations.count, profile_bytes_per_sample(p),
                  estimate_invisible(p->info.sample_rate) * p->info.word_size / 8);
    if (reading_has_blocks(r) && profile_has_times(p)) {
        figure peak = r->spread.low < r->spread.high ? figure_between(p, r->peak.samples, r->spread)
                                                     : reading_figure(r, r->peak.samples);
        output_format(o, "\"peak\":{\"time\":%" PRIu64 ",", r->peak.at.time);
        figure_json(o, &peak);
        output_text(o, "},");
    }
    output_text(o, "\n\"about\":");
    write_about(o, &about);
    output_char(o, '}');
}

static void write_downloads(output *o, const download *list) {
    if (!list)
        return;
    output_text(o, ",\"downloads\":[");
    for (const download *d = list; d->name; d++) {
        output_text(o, d == list ? "" : ",");
        output_json(o, d->name);
    }
    output_char(o, ']');
}

bool answer_info(request *r) {
    output *o = r->o;
    output_text(o, "{\"version\":");
    output_json(o, r->viewer->version);
    if (r->viewer->pid)
        output_format(o, ",\"pid\":%ld", r->viewer->pid);
    write_downloads(o, r->viewer->downloads);
    output_format(o, ",\"live\":%s,\"traces\":[", r->viewer->live ? "true" : "false");
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

void api_live(viewer *v, size_t trace, reading *r, output *o) {
    const profile *p = &r->profile;
    uint64_t live = 0;
    for (size_t i = 0; i < p->table.count; i++)
        live += blocks_died(&p->table, i) == BLOCKS_NEVER ? blocks_samples(&p->table, i) : 0;
    output_format(o, "{\"trace\":%zu,", trace);
    write_state(o, &v->traces[trace], r);
    output_format(o, ",\"duration\":%" PRIu64 ",\"samples\":%" PRIu64 ",\"blocks\":%" PRIu64 ",",
                  p->duration, cct_sum(p->samples), cct_sum(p->blocks));
    if (reading_has_blocks(r)) {
        write_samples(o, r, "live", live);
        output_char(o, ',');
    }
    write_samples(o, r, "allocated", cct_sum(p->samples));
    output_char(o, '}');
}
