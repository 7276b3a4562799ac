/* request.c: parses a request's parameters. An error names the parameter and the column in it; the
 * first error becomes the answer. */
#include "answers/request.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"

/* ---- errors ------------------------------------------------------------------------------ */

static void complain(request *r, int status, const char *parameter, size_t column,
                     const char *format, va_list args) {
    if (r->status != HTTP_OK)
        return;
    r->status = status;
    r->parameter = parameter;
    r->column = column;
    vsnprintf(r->reason, sizeof r->reason, format, args);
}

bool request_refuse(request *r, const char *parameter, size_t column, const char *format, ...) {
    va_list args;
    va_start(args, format);
    complain(r, HTTP_BAD_REQUEST, parameter, column, format, args);
    va_end(args);
    return false;
}

bool request_fail(request *r, int status, const char *format, ...) {
    va_list args;
    va_start(args, format);
    complain(r, status, NULL, 0, format, args);
    va_end(args);
    return false;
}

bool request_no_memory(request *r) {
    return request_fail(r, HTTP_UNAVAILABLE, "not enough memory");
}

bool request_client_has_gone(const request *r) {
    return r->client && r->client->has_gone(r->client->context);
}

static bool nobody_waits(request *r) {
    return request_fail(r, HTTP_UNAVAILABLE, "the request was cancelled");
}

bool request_no_answer(request *r) {
    return request_client_has_gone(r) ? nobody_waits(r) : request_no_memory(r);
}

/* ---- texts ------------------------------------------------------------------------------- */

const char *request_text(const request *r, const char *name) {
    for (size_t i = 0; i < r->n_parameters; i++)
        if (strcmp(r->parameters[i].name, name) == 0)
            return r->parameters[i].value[0] ? r->parameters[i].value : NULL;
    for (const api_parameter *p = r->implied; p->name; p++)
        if (strcmp(p->name, name) == 0)
            return p->value;
    return NULL;
}

/* ---- numbers ----------------------------------------------------------------------------- */

/* Parses digits up to the first other character. Returns false if there are none, or the number
 * exceeds `most`. */
static bool take_integer(const char **text, uint64_t most, uint64_t *value) {
    const char *start = *text;
    *value = 0;
    for (; isdigit((unsigned char)**text); ++*text) {
        uint64_t digit = (uint64_t)(**text - '0');
        if (digit > most || *value > (most - digit) / 10)
            return false;
        *value = *value * 10 + digit;
    }
    return *text > start;
}

bool request_integer(request *r, const char *name, uint64_t low, uint64_t high, uint64_t *value) {
    const char *text = request_text(r, name);
    if (!text)
        return true;
    if (!take_integer(&text, high, value) || *text || *value < low)
        return request_refuse(r, name, 0, "a whole number from %" PRIu64 " to %" PRIu64, low, high);
    return true;
}

bool request_number(request *r, const char *name, double low, double high, double *value) {
    const char *text = request_text(r, name);
    if (!text)
        return true;
    if (!number_parse(text, value) || !(*value >= low && *value <= high))
        return request_refuse(r, name, 0, "a number from %g to %g", low, high);
    return true;
}

bool request_flag(request *r, const char *name, bool *value) {
    uint64_t number = *value;
    if (!request_integer(r, name, 0, 1, &number))
        return false;
    *value = number;
    return true;
}

/* Sets a moment of `trace` that has a name: the peak or the end. */
static bool named_time(request *r, bool is_peak, uint64_t *micros) {
    reading *now;
    size_t trace;
    if (!request_reading(r, "trace", 0, true, &trace, &now))
        return false;
    *micros = is_peak ? now->peak.at.time : now->profile.duration;
    reading_release(now);
    return true;
}

/* Accepts whole microseconds, or a number with a unit. */
bool request_time(request *r, const char *name, uint64_t *micros) {
    const char *text = request_text(r, name), *end = text;
    filter_error error;
    if (!text || (take_integer(&end, UINT64_MAX - 1, micros) && !*end))
        return true;
    return filter_parse_time(text, micros, &error) ||
           request_refuse(r, name, error.column, "%s", error.reason);
}

bool request_moment(request *r, const char *name, uint64_t *micros) {
    const char *text = request_text(r, name);
    if (!text || text[0] != '@')
        return request_time(r, name, micros);
    if (strcmp(text, "@end") == 0 || strcmp(text, "@peak") == 0)
        return named_time(r, strcmp(text, "@peak") == 0, micros);
    *micros = 0;
    return strcmp(text, "@start") == 0 ||
           request_refuse(r, name, 0, "a time, or one of @start, @peak, @end");
}

bool request_choice(request *r, const char *name, const char *const *choices, int *value) {
    const char *text = request_text(r, name);
    if (!text)
        return true;
    char known[160] = "";
    for (int i = 0; choices[i]; i++) {
        if (strcmp(choices[i], text) == 0) {
            *value = i;
            return true;
        }
        size_t used = strlen(known);
        snprintf(known + used, sizeof known - used, "%s%s", i ? ", " : "", choices[i]);
    }
    return request_refuse(r, name, 0, "one of %s", known);
}

/* Sets `*value` to whether the second of two choices is made. */
static bool choose_second(request *r, const char *name, const char *const choices[3], bool *value) {
    int choice = *value;
    if (!request_choice(r, name, choices, &choice))
        return false;
    *value = choice;
    return true;
}

bool request_by_line(request *r, bool *by_line) {
    return choose_second(r, "by", (const char *const[]){"function", "line", NULL}, by_line);
}

bool request_order(request *r, bool *ascending) {
    return choose_second(r, "order", (const char *const[]){"desc", "asc", NULL}, ascending);
}

bool request_ids(request *r, const char *name, id_list *ids) {
    const char *text = request_text(r, name);
    for (; text; text++) {
        uint64_t id;
        if (!take_integer(&text, UINT32_MAX - 1, &id) || (*text && *text != '.'))
            return request_refuse(r, name, 0, "ids of places, separated by dots");
        if (!vec_push(ids, (uint32_t)id))
            return request_no_memory(r);
        if (!*text)
            break;
    }
    return true;
}

/* ---- names ------------------------------------------------------------------------------- */

static bool focus_of_ids(request *r, const profile *p, const id_list *ids, call_site **focus) {
    const char **names = malloc((ids->count + 1) * sizeof *names);
    bool ok = names;
    for (size_t i = 0; ok && i < ids->count; i++) {
        if (ids->items[i] >= p->locations.count) {
            free(names);
            return request_refuse(r, "focus_ids", 0, "there is no place %" PRIu32, ids->items[i]);
        }
        names[i] = p->locations.items[ids->items[i]].function;
    }
    ok = ok && call_site_of(names, ids->count, focus);
    free(names);
    return ok || request_no_memory(r);
}

bool request_focus(request *r, const profile *p, call_site **focus) {
    id_list ids = {0};
    filter_error error;
    const char *text = request_text(r, "focus");
    if (text && request_text(r, "focus_ids"))
        return request_refuse(r, "focus_ids", 0, "excludes focus");
    if (text)
        return call_site_parse(text, p, focus, &error) ||
               (error.column ? request_refuse(r, "focus", error.column, "%s", error.reason)
                             : request_no_memory(r));
    bool ok = request_ids(r, "focus_ids", &ids);
    if (ok && ids.count == 0)
        ok = request_refuse(r, "focus", 0, "callers and callees need a focus");
    ok = ok && focus_of_ids(r, p, &ids, focus);
    vec_free(&ids);
    return ok;
}

/* Remembers results by name, since many locations share a function or a file. */
static bool matches_name(const call_site *s, map64 *known, const char *name) {
    uint32_t *match = map64_put(known, (uintptr_t)name);
    if (!match)
        return call_site_match(s, 0, name);
    if (*match == MAP64_NONE)
        *match = call_site_match(s, 0, name);
    return *match;
}

enum { ASK_AFTER = 256 /* locations */ };

bool request_search(request *r, const profile *p, uint8_t **matches) {
    const char *text = request_text(r, "search");
    call_site *s;
    filter_error error;
    map64 known = {0};
    *matches = NULL;
    if (!text)
        return true;
    if (!call_site_search(text, &s, &error))
        return error.column ? request_refuse(r, "search", error.column, "%s", error.reason)
                            : request_no_memory(r);
    *matches = malloc(p->locations.count + 1);
    bool gone = false;
    for (size_t i = 0; *matches && !gone && i < p->locations.count; i++) {
        const profile_location *l = &p->locations.items[i];
        gone = i % ASK_AFTER == 0 && request_client_has_gone(r);
        (*matches)[i] = matches_name(s, &known, l->function) || matches_name(s, &known, l->file);
    }
    map64_free(&known);
    call_site_free(s);
    if (gone) {
        free(*matches);
        *matches = NULL;
        return nobody_waits(r);
    }
    return *matches || request_no_memory(r);
}

bool request_reading(request *r, const char *parameter, uint64_t otherwise, bool blocks,
                     size_t *trace, reading **now) {
    uint64_t index = otherwise;
    *now = NULL;
    if (!request_integer(r, parameter, 0, UINT32_MAX, &index))
        return false;
    if (index >= r->viewer->n_traces)
        return request_fail(r, HTTP_NOT_FOUND, "there is no trace %" PRIu64, index);
    *trace = (size_t)index;
    *now = viewer_take(r->viewer, *trace, blocks);
    return *now || request_fail(r, HTTP_UNAVAILABLE,
                                blocks ? "the blocks of the trace cannot be read"
                                       : "the trace has not been read yet");
}
