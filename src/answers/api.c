/* api.c: finds the endpoint of a request, and turns an error into an answer. */
#include "answers/api.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "answers/request.h"

typedef struct endpoint {
    const char *name;
    bool (*answer)(request *r);
    const char *parameters; /* each followed by a space */
} endpoint;

static const endpoint endpoints[] = {
#define API_ENTRY(name_, function_, parameters_)                                                   \
    {.name = name_, .answer = function_, .parameters = parameters_},
    API_ENDPOINTS(API_ENTRY)
#undef API_ENTRY
};

/* ---- complaints -------------------------------------------------------------------------- */

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

void api_error(output *o, const char *parameter, size_t column, const char *reason) {
    output_text(o, "{\"error\":{");
    if (parameter) {
        output_text(o, "\"parameter\":");
        output_json(o, parameter);
        output_format(o, ",\"column\":%zu,", column);
    }
    output_text(o, "\"reason\":");
    output_json(o, reason);
    output_text(o, "}}\n");
}

/* ---- endpoints --------------------------------------------------------------------------- */

static bool is_listed(const char *names, const char *name) {
    size_t size = strlen(name);
    for (; *names; names += strcspn(names, " ") + 1)
        if (strcspn(names, " ") == size && strncmp(names, name, size) == 0)
            return true;
    return false;
}

static bool check_parameters(request *r, const endpoint *e) {
    for (size_t i = 0; i < r->n_parameters; i++) {
        const char *name = r->parameters[i].name;
        if (!is_listed(e->parameters, name))
            return request_refuse(r, name, 0, "/api/%s takes no such parameter", e->name);
        for (size_t j = 0; j < i; j++)
            if (strcmp(r->parameters[j].name, name) == 0)
                return request_refuse(r, name, 0, "given twice");
    }
    return true;
}

static bool answer(request *r, const char *name) {
    for (size_t i = 0; i < sizeof endpoints / sizeof *endpoints; i++)
        if (strcmp(endpoints[i].name, name) == 0)
            return check_parameters(r, &endpoints[i]) && endpoints[i].answer(r);
    return request_fail(r, HTTP_NOT_FOUND, "there is no such endpoint");
}

int api_answer(viewer *v, const char *name, const api_parameter *parameters, size_t n,
               const api_client *client, output *o) {
    request r = {.viewer = v,
                 .parameters = parameters,
                 .n_parameters = n,
                 .client = client,
                 .o = o,
                 .status = HTTP_OK};
    if ((!answer(&r, name) || o->error) && r.status == HTTP_OK)
        request_no_memory(&r);
    if (r.status != HTTP_OK) {
        o->used = 0;
        o->error = 0;
        api_error(o, r.parameter, r.column, r.reason);
    }
    return r.status;
}
