/* asked_moments.c: turns two moments into filters of questions about one trace. */
#include "answers/asked_moments.h"

#include <inttypes.h>
#include <stdio.h>

/* Writes the filter term of the state at `moment`. The terms also work if `to` is before `from`. */
static void write_state(const asked_moments *m, uint64_t moment, bool is_peak, char *text,
                        size_t size) {
    if (m->of == MOMENTS_LIVE && is_peak)
        snprintf(text, size, "live:@peak");
    else
        snprintf(text, size, "%s%" PRIu64 "us", m->of == MOMENTS_LIVE ? "live:" : "alloc:..",
                 moment);
}

static void write_moments_terms(asked_moments *m, const reading *now) {
    write_state(m, m->from, reading_peaks_at(now, m->from), m->before, sizeof m->before);
    write_state(m, m->to, reading_peaks_at(now, m->to), m->after, sizeof m->after);
    snprintf(m->went, sizeof m->went, "%s -%s", m->before, m->after);
    snprintf(m->came, sizeof m->came, "%s -%s", m->after, m->before);
}

bool asked_moments_read(request *r, asked_moments *m) {
    static const char *const kinds[] = {
        [MOMENTS_LIVE] = "live", [MOMENTS_ALLOCATED] = "allocated", NULL};
    m->given = request_text(r, "from") || request_text(r, "to");
    if (!request_choice(r, "of", kinds, &m->of))
        return false;
    if (!m->given)
        return !request_text(r, "of") || request_refuse(r, "of", 0, "needs from and to");
    if (!request_text(r, "from") || !request_text(r, "to"))
        return request_refuse(r, request_text(r, "to") ? "from" : "to", 0, "both are needed");
    if (!request_moment(r, "from", &m->from) || !request_moment(r, "to", &m->to))
        return false;
    if (request_text(r, "before") || request_text(r, "after"))
        return request_refuse(r, "from", 0, "excludes before and after: it is of one trace");
    reading *now;
    size_t trace;
    if (!request_reading(r, "trace", 0, true, &trace, &now))
        return false;
    write_moments_terms(m, now);
    reading_release(now);
    return true;
}

bool asked_moments_open_states(request *r, const asked_moments *m, asked *before, asked *after) {
    if (m->of == MOMENTS_LIVE) {
        before->live_at = &m->from;
        after->live_at = &m->to;
    } else {
        before->of_allocated = after->of_allocated = true;
        before->also = m->before;
        after->also = m->after;
    }
    return asked_open_of(r, before, "trace", 0) && asked_open_of(r, after, "trace", 0);
}

bool asked_moments_open_changes(request *r, const asked_moments *m, asked *went, asked *came) {
    went->of_allocated = came->of_allocated = true;
    went->also = m->went;
    came->also = m->came;
    return asked_open_of(r, went, "trace", 0) && asked_open_of(r, came, "trace", 0);
}
