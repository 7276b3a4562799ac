/* view_downloads.c: connects the server's downloads to the exporters. Formats whose size depends on
 * the number of blocks rather than of stacks are available only in `allotrace export`. */
#include "cli/view/view_downloads.h"

#include "export/exports.h"

static bool write_by(export_function *write, output *o, const download_subject *s) {
    export_subject subject = {.lens = &s->query->lens,
                              .kept = s->kept,
                              .measure = s->query->measure,
                              .costs = &s->query->costs,
                              .title = s->viewer->traces[s->trace].name,
                              .viewer = s->viewer,
                              .filter = s->filter};
    return write(o, &subject);
}

static bool write_html(output *o, const download_subject *s) {
    return export_html(o, &(export_subject){.viewer = s->viewer, .filter = s->filter});
}

static bool write_speedscope(output *o, const download_subject *s) {
    return write_by(export_speedscope, o, s);
}

static bool write_collapsed(output *o, const download_subject *s) {
    return write_by(export_collapsed, o, s);
}

static bool write_pprof(output *o, const download_subject *s) {
    return write_by(export_pprof, o, s);
}

const download view_downloads[] = {
    {.name = "html",
     .ending = "html",
     .type = "text/html; charset=utf-8",
     .needs_blocks = true,
     .is_page = true,
     .write = write_html},
    {.name = "speedscope",
     .ending = "speedscope.json",
     .type = "application/json",
     .write = write_speedscope},
    {.name = "pprof",
     .ending = "pb.gz",
     .type = "application/octet-stream",
     .needs_blocks = true,
     .write = write_pprof},
    {.name = "collapsed",
     .ending = "collapsed.txt",
     .type = "text/plain; charset=utf-8",
     .write = write_collapsed},
    {0},
};
