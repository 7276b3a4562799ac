/* expect.c: an expectation names a site by file and line, by its name, or by its function. The
 * counts of all matching sites are summed and compared as a ratio. */
#include "guest/expect.h"

#include <math.h>
#include <string.h>

#include "base/path.h"
#include "guest/text.h"

static bool is_text(const char *s, const char *text, size_t size) {
    return s && strlen(s) == size && memcmp(s, text, size) == 0;
}

static bool site_matches(const expectation *e, const site *s) {
    if (!e->site_size)
        return true;
    if (!s)
        return is_text("<runtime>", e->text, e->site_size);
    uint32_t line;
    const size_t file = path_line(e->text, e->site_size, &line);
    if (file && s->place.line == line && path_ends(s->place.file, e->text, file))
        return true;
    return is_text(s->name, e->text, e->site_size) ||
           is_text(s->place.function, e->text, e->site_size);
}

static verdict judge(const expectation *e, const view *v) {
    verdict result = {.expectation = e};
    for (size_t i = 0; i < v->entries.count; i++)
        if (site_matches(e, v->entries.items[i].site))
            tally_add(&result.actual, &v->entries.items[i].leaf->tally);
    result.count = tally_count(&result.actual, v->tracer->options->rate);
    double actual = result.count.value;
    result.ratio = e->expected > 0 ? actual / e->expected : actual > 0 ? INFINITY : 1;
    result.pass = result.ratio >= 0.1 && result.ratio <= 10;
    return result;
}

bool expect_judge(verdict_list *verdicts, const view *v) {
    const memtracer_options *o = v->tracer->options;
    for (size_t i = 0; i < o->expect.count; i++)
        if (!vec_push(verdicts, judge(&o->expect.items[i], v)))
            return false;
    return true;
}

bool expect_all_pass(const verdict_list *verdicts) {
    for (size_t i = 0; i < verdicts->count; i++)
        if (!verdicts->items[i].pass)
            return false;
    return true;
}
