/* answer_export.c: `/api/export`: a trace as a file for other tools, in the formats that the server
 * was given (download.h). */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "answers/asked.h"
#include "answers/download.h"
#include "answers/endpoints.h"
#include "base/path.h"

enum { SECONDS_MAX = 60, LOOK_MS = 100 };

/* ---- formats ----------------------------------------------------------------------------- */

static bool find_format(request *r, const download **d) {
    const char *to = request_text(r, "to");
    for (*d = r->viewer->downloads; *d && (*d)->name && strcmp((*d)->name, to ? to : "") != 0;)
        ++*d;
    if (!*d || !(*d)->name)
        return request_refuse(r, "to", 0, "there is no such format");
    if ((*d)->is_page && r->viewer->n_traces > 1)
        return request_refuse(r, "to", 0,
                              "a page holds one trace; use allotrace export --to %s for each",
                              (*d)->name);
    return true;
}

/* Writes `NAME.ending`, in characters that need no quoting in a header. */
static void set_name(api_reply *reply, const viewer_trace *trace, const download *d) {
    const char *title = path_base(trace->name);
    const size_t length = strlen(title), cut = length > 4 ? length - 4 : 0;
    const int kept = (int)(cut && strcmp(title + cut, ".ctf") == 0 ? cut : length);
    snprintf(reply->file, sizeof reply->file, "%.*s.%s", kept < 100 ? kept : 100, title, d->ending);
    for (char *c = reply->file; *c; c++)
        if (*c <= ' ' || *c > '~' || strchr("\"\\%;/", *c))
            *c = '_';
}

/* ---- what is allocated from now on ------------------------------------------------------- */

/* Waits, then sets `term` to a filter term that keeps what was allocated during the wait. */
static bool wait_for(request *r, uint64_t seconds, char *term, size_t size) {
    const struct timespec step = {.tv_nsec = LOOK_MS * 1000000L};
    size_t trace;
    reading *now;
    if (!request_reading(r, "trace", 0, false, &trace, &now))
        return false;
    const uint64_t from = now->profile.duration;
    const bool grows = now->state != READING_WHOLE;
    reading_release(now);
    if (!grows)
        return request_refuse(r, "seconds", 0, "the trace does not grow; leave out `seconds`");
    if (atomic_exchange(&r->viewer->waiting, true)) /* a wait occupies a worker */
        return request_fail(r, HTTP_UNAVAILABLE, "another request with `seconds` is waiting");
    for (uint64_t i = 0; i < seconds * 1000 / LOOK_MS && !request_client_has_gone(r); i++)
        nanosleep(&step, NULL);
    atomic_store(&r->viewer->waiting, false);
    if (request_client_has_gone(r))
        return request_no_answer(r);
    snprintf(term, size, "alloc:%" PRIu64 "us..", from);
    return true;
}

/* ---- the answer -------------------------------------------------------------------------- */

static bool is_wanted(void *context, uint64_t bytes) {
    return bytes <= DOWNLOAD_BYTES_MAX && !request_client_has_gone(context);
}

static bool is_waited_for(void *context, uint64_t bytes) {
    (void)bytes;
    return !request_client_has_gone(context);
}

static bool write_file(request *r, const download *d, asked *a) {
    download_subject s = {.viewer = r->viewer,
                          .trace = a->trace,
                          .query = d->is_page ? NULL : a->query,
                          .filter = a->text ? a->text : request_text(r, "filter")};
    const output_watch watch = {.expect = is_wanted, .go_on = is_waited_for, .context = r};
    r->reply->type = d->type;
    set_name(r->reply, &r->viewer->traces[a->trace], d);
    if (!d->is_page && !asked_rows(r, a, &s.kept))
        return false;
    cache_make_room(r->viewer->cache);
    if (d->is_page)
        asked_release_query(r, a);
    r->o->watch = &watch;
    bool ok = d->write(r->o, &s);
    r->o->watch = NULL;
    if (request_client_has_gone(r))
        return request_no_answer(r);
    if (r->o->error == ECANCELED)
        return request_fail(r, HTTP_UNAVAILABLE,
                            "the file would take more than %d MB; use allotrace export --to %s",
                            (int)(DOWNLOAD_BYTES_MAX >> 20), d->name);
    return (ok && !r->o->error) || request_no_memory(r);
}

bool answer_export(request *r) {
    const download *d;
    char term[48] = "";
    uint64_t seconds = 0;
    if (!find_format(r, &d) || !request_integer(r, "seconds", 0, SECONDS_MAX, &seconds) ||
        (seconds && !wait_for(r, seconds, term, sizeof term)))
        return false;
    asked a = {.needs_blocks = d->needs_blocks, .also = *term ? term : NULL};
    const bool ok = asked_open(r, &a) && write_file(r, d, &a);
    asked_close(r, &a);
    return ok;
}
