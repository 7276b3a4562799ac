/* api.c: finds the endpoint of a request, and makes a reply of what it answers. */
#include "answers/api.h"

#include <stdio.h>
#include <string.h>

#include "answers/endpoints.h"

typedef struct endpoint {
    const char *path;
    api_kind kind;
    bool (*answer)(request *r);
    const char *parameters;       /* each followed by a space */
    const api_parameter *implied; /* ends with a name that is NULL */
} endpoint;

#define API_ENTRY(path_, kind_, answer_, parameters_, ...)                                         \
    {.path = path_,                                                                                \
     .kind = kind_,                                                                                \
     .answer = answer_,                                                                            \
     .parameters = parameters_,                                                                    \
     .implied = (const api_parameter[]){__VA_ARGS__ __VA_OPT__(, ){0}}},

static const endpoint endpoints[] = {{.path = "/api/live", .kind = API_EVENTS},
                                     {.path = "/api/open", .kind = API_OPENING},
                                     API_ENDPOINTS(API_ENTRY)};

static const endpoint *find_endpoint(const char *path) {
    for (size_t i = 0; i < sizeof endpoints / sizeof *endpoints; i++)
        if (strcmp(endpoints[i].path, path) == 0)
            return &endpoints[i];
    return NULL;
}

api_kind api_kind_of(const char *path) {
    static const char api[] = "/api/";
    const endpoint *e = find_endpoint(path);
    return e                                         ? e->kind
           : strncmp(path, api, sizeof api - 1) == 0 ? API_DOCUMENT /* a refusal */
                                                     : API_NOTHING;
}

/* ---- replies ----------------------------------------------------------------------------- */

static void reply_start(api_reply *reply) {
    *reply = (api_reply){.status = HTTP_OK, .type = "application/json"};
    output_start(&reply->body, OUTPUT_MEMORY);
}

static void refuse(api_reply *reply, int status, const char *parameter, size_t column,
                   const char *reason) {
    output *o = &reply->body;
    *reply = (api_reply){.status = status, .type = "application/json", .body = *o};
    if (o->buffer)
        o->used = 0, o->error = 0;
    else
        output_start(o, OUTPUT_MEMORY);
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

void api_refuse(api_reply *reply, int status, const char *reason) {
    refuse(reply, status, NULL, 0, reason);
}

/* ---- answers ----------------------------------------------------------------------------- */

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
            return request_refuse(r, name, 0, "%s takes no such parameter", e->path);
        for (size_t j = 0; j < i; j++)
            if (strcmp(r->parameters[j].name, name) == 0)
                return request_refuse(r, name, 0, "given twice");
    }
    return true;
}

static bool answer(request *r, const endpoint *e) {
    if (!e || !e->answer)
        return request_fail(r, HTTP_NOT_FOUND, "there is no such endpoint");
    r->implied = e->implied;
    return check_parameters(r, e) && e->answer(r);
}

void api_answer(viewer *v, const char *path, const api_parameter *parameters, size_t n,
                const api_client *client, api_reply *reply) {
    request r = {.viewer = v,
                 .parameters = parameters,
                 .n_parameters = n,
                 .client = client,
                 .reply = reply,
                 .o = &reply->body,
                 .status = HTTP_OK};
    reply_start(reply);
    if ((!answer(&r, find_endpoint(path)) || r.o->error) && r.status == HTTP_OK)
        request_no_memory(&r);
    if (r.status != HTTP_OK)
        refuse(reply, r.status, r.parameter, r.column, r.reason);
}

void api_open(viewer *v, upload *u, api_reply *reply) {
    char why[300] = "not enough memory";
    size_t trace;
    char *path = upload_end(u, why, sizeof why);
    reply_start(reply);
    if (path && viewer_open(v, path, u->name, &trace, why, sizeof why))
        output_format(&reply->body, "{\"trace\":%zu}\n", trace);
    else
        api_refuse(reply, HTTP_BAD_REQUEST, why);
}
