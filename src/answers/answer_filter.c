/* answer_filter.c: `/api/filter`: checks and completes a filter while it is being typed. */
#include <inttypes.h>
#include <string.h>

#include "answers/endpoints.h"
#include "base/utf8.h"
#include "query/filter_complete.h"

enum { COMPLETIONS = 20 };

static size_t byte_of(const char *text, uint64_t character) {
    const char *at = text;
    for (; *at && character > 0; character--)
        at = utf8_next(at);
    return (size_t)(at - text);
}

static void write_error(output *o, const filter_error *error) {
    output_format(o, "{\"ok\":%s,\"error\":", error ? "false" : "true");
    if (error) {
        output_format(o, "{\"column\":%zu,\"reason\":", error->column);
        output_json(o, error->reason);
        output_char(o, '}');
    } else {
        output_text(o, "null");
    }
}

static void write_bytes(output *o, const char *text, size_t size) {
    char *copy = strndup(text, size);
    output_json(o, copy ? copy : "");
    free(copy);
}

static bool write_terms(output *o, const char *text) {
    filter_spans spans;
    if (!filter_find_terms(text, &spans))
        return false;
    output_text(o, ",\n\"terms\":[");
    for (size_t i = 0; i < spans.count; i++) {
        const filter_span *s = &spans.items[i];
        output_format(o, "%s{\"start\":%zu,\"end\":%zu,\"kind\":", i ? "," : "",
                      utf8_count(text, s->start), utf8_count(text, s->end));
        write_bytes(o, text + s->name, s->name_size);
        output_format(o, ",\"negated\":%s}", s->negated ? "true" : "false");
    }
    output_char(o, ']');
    vec_free(&spans);
    return true;
}

static bool write_completion(output *o, const char *text, size_t cursor, const profile *p) {
    filter_completion c;
    if (!filter_complete(text, cursor, p, COMPLETIONS, &c))
        return false;
    output_format(o, ",\n\"completion\":{\"start\":%zu,\"end\":%zu,\"items\":[",
                  utf8_count(text, c.start), utf8_count(text, c.end));
    for (size_t i = 0; i < c.choices.count; i++) {
        output_text(o, i ? ",{\"text\":" : "{\"text\":");
        output_json(o, c.choices.items[i].text);
        output_text(o, ",\"detail\":");
        output_json(o, c.choices.items[i].detail);
        output_char(o, '}');
    }
    output_text(o, "]}");
    filter_completion_free(&c);
    return true;
}

static bool check(request *r, const profile *p, const char *text, uint64_t cursor) {
    filter *f;
    filter_error error;
    bool ok = filter_parse(text, &f, &error);
    if (!ok && error.column == 0)
        return request_no_memory(r);
    filter_free(f);
    write_error(r->o, ok ? NULL : &error);
    ok = write_terms(r->o, text) && write_completion(r->o, text, byte_of(text, cursor), p);
    output_text(r->o, "}\n");
    return ok;
}

bool answer_filter(request *r) {
    const char *text = request_text(r, "text");
    uint64_t cursor = UINT32_MAX;
    size_t trace;
    reading *now;
    bool ok = request_integer(r, "cursor", 0, UINT32_MAX, &cursor) &&
              request_reading(r, "trace", 0, false, &trace, &now);
    if (ok) {
        ok = check(r, &now->profile, text ? text : "", cursor);
        reading_release(now);
    }
    return ok;
}
