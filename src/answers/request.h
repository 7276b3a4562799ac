/* request.h: one request to the API while it is being answered: its parameters and its error. For
 * the endpoints only. */
#ifndef ANSWERS_REQUEST_H
#define ANSWERS_REQUEST_H

#include "answers/api.h"
#include "render/output.h"

typedef struct request {
    viewer *viewer;
    const api_parameter *parameters;
    size_t n_parameters;
    const api_parameter *implied; /* by the path; ends with a name that is NULL */
    const api_client *client;     /* NULL: it cannot go away */
    api_reply *reply;             /* dropped when `status` is an error */
    output *o;                    /* its body */
    int status;                   /* HTTP_OK until the first error, which stays */
    const char *parameter;        /* the wrong one; NULL: none */
    size_t column;
    char reason[200];
} request;

/* Functions that report an error return false, so that they can end a function. */
__attribute__((format(printf, 4, 5))) bool request_refuse(request *r, const char *parameter,
                                                          size_t column, const char *format, ...);
bool request_no_memory(request *r);
bool request_no_answer(request *r); /* because the client has gone, or else for lack of memory */
bool request_client_has_gone(const request *r);
__attribute__((format(printf, 3, 4))) bool request_fail(request *r, int status, const char *format,
                                                        ...);

/* ---- parameters -------------------------------------------------------------------------- */

/* Returns NULL if the parameter is absent or empty. */
const char *request_text(const request *r, const char *name);

/* Set `*value` if the parameter is there. Return false if it is not a number, or outside the
 * limits. */
bool request_integer(request *r, const char *name, uint64_t low, uint64_t high, uint64_t *value);
bool request_number(request *r, const char *name, double low, double high, double *value);
bool request_flag(request *r, const char *name, bool *value);

/* Set `*micros` if the parameter is there. A time is in whole microseconds, or has a unit. A moment
 * may also be @start, @peak or @end of the trace that the parameter `trace` names. */
bool request_time(request *r, const char *name, uint64_t *micros);
bool request_moment(request *r, const char *name, uint64_t *micros);

/* Sets `*value` to the index in `choices`, which ends with NULL. */
bool request_choice(request *r, const char *name, const char *const *choices, int *value);

/* Read `by`, function or line, and `order`, asc or desc. */
bool request_by_line(request *r, bool *by_line);
bool request_order(request *r, bool *ascending);

/* Numbers separated by dots. The caller frees the list. */
typedef VEC(uint32_t) id_list;
bool request_ids(request *r, const char *name, id_list *ids);

/* Reads `focus` or `focus_ids`, one of which must be there. */
bool request_focus(request *r, const profile *p, call_site **focus);

/* Sets `*matches`, by location, to whether its function or file matches `search`; NULL if there is
 * no search. The caller frees it. */
bool request_search(request *r, const profile *p, uint8_t **matches);

/* Takes the trace that `parameter` names, as far as it has been read; with `blocks`, waits until
 * the table of blocks is there. */
bool request_reading(request *r, const char *parameter, uint64_t otherwise, bool blocks,
                     size_t *trace, reading **now);

#endif
