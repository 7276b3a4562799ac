/* control.c: requests to the recorder while the program runs. They come from the command line,
 * which makes a thread of the program call allotrace_control (contract/control.h), and from the
 * program itself, through allotrace/mark.h. */
#include "contract/control.h"

#include <string.h>

#include "record/calls.h"
#include "record/linked.h"
#include "record/recorder.h"
#include "record/runtime.h"
#include "record/session.h"
#include "record/text.h"

#define EXPORT __attribute__((visibility("default"))) CPU_ALIGN_STACK

EXPORT void allotrace_control(control *c);
EXPORT void allotrace_mark(const char *name);
EXPORT unsigned allotrace_scope(const char *name, unsigned scope);
EXPORT const char *allotrace_flush(void);
EXPORT int allotrace_finds_tasks(void);

/* Settings of the current request; there is only one at a time. */
static const char *settings;

/* Used by a recording that the command line has begun. It is static because the process that keeps
 * the recording uses its address. */
static struct pace pace;

static char *setting(const char *name) {
    size_t length = strlen(name);
    for (const char *s = settings; *s; s += strlen(s) + 1)
        if (strncmp(s, name, length) == 0 && s[length] == '=')
            return (char *)s + length + 1;
    return NULL;
}

static void reply(control *c, const char *message, int error) {
    text t = text_in(c->reply, sizeof c->reply);
    text_add(&t, message);
    c->error = error;
}

static void control_begin(control *c) {
    int error;
    settings = c->text;
    if (c->may_not_ask)
        session_forbid_asking();
    if (!recorder_path())
        pace = (struct pace){.magic = PACE_MAGIC, .follows = 1};
    const char *declined = NULL;
    const char *why = recorder_begin(setting, c->is_paced ? &pace : NULL, &declined, &error);
    text t = text_in(c->declined, sizeof c->declined);
    text_add(&t, declined ? declined : "");
    settings = NULL;
    c->pace = (uintptr_t)recorder_pace();
    if (why) {
        c->outcome = CONTROL_REFUSED;
        reply(c, why, error);
    }
}

/* Also handles a recording that has ended by itself, because that could restore no code. */
static void control_ask_for_codes(control *c) {
    const struct runtime *const r = recorder_runtime();
    const bool asks = c->action == CONTROL_BEGIN || c->action == CONTROL_END;
    const char *const found = c->action == CONTROL_BEGIN ? linked_found() : NULL;
    text t = text_in(c->linked, sizeof c->linked);
    text_add(&t, found ? found : "");
    c->n_codes = asks && r && r->codes ? (uint32_t)r->codes(c->codes) : 0;
    c->n_linked = asks ? (uint32_t)linked_codes(c->codes + c->n_codes) : 0;
    c->n_codes += c->n_linked;
}

static void control_act(control *c) {
    switch (c->action) {
    case CONTROL_END:
        recorder_end();
        break;
    case CONTROL_START:
    case CONTROL_STOP:
        recorder_stop(c->action == CONTROL_STOP);
        break;
    case CONTROL_MARK:
        recorder_mark(c->text);
        break;
    case CONTROL_FLUSH:
        recorder_look_again();
        recorder_flush();
        break;
    case CONTROL_STATUS:
        break;
    default:
        c->outcome = CONTROL_UNKNOWN;
    }
}

void allotrace_control(control *c) {
    c->outcome = c->version == CONTROL_VERSION ? CONTROL_DONE : CONTROL_UNKNOWN;
    c->text[sizeof c->text - 1] = c->text[sizeof c->text - 2] = '\0';
    c->reply[0] = '\0';
    if (c->outcome == CONTROL_DONE && c->action == CONTROL_BEGIN)
        control_begin(c);
    if (c->outcome != CONTROL_DONE)
        return;
    control_ask_for_codes(c);
    const char *path = recorder_path();
    if (!path) {
        c->outcome = CONTROL_IDLE;
        return;
    }
    reply(c, path, 0);
    if (c->action != CONTROL_BEGIN)
        control_act(c);
    c->stopped = recorder_is_stopped();
}

void allotrace_mark(const char *name) {
    recorder_mark(name);
}

unsigned allotrace_scope(const char *name, unsigned scope) {
    return recorder_scope(name, scope);
}

/* Completes the trace up to now and returns its path, which lives as long as the process; NULL:
 * nothing is recorded. For libraries of languages, which are installed separately and so must not
 * depend on `control`. Any thread may call this, but no signal handler. */
const char *allotrace_flush(void) {
    const char *path = recorder_path();
    if (path) {
        recorder_look_again();
        recorder_flush();
    }
    return path;
}

/* Returns whether the runtime finds tasks by itself, so that tasks of the language become scopes
 * without any call by the program. Also for libraries of languages. */
int allotrace_finds_tasks(void) {
    const struct runtime *const r = recorder_runtime();
    return r && r->scope && !r->lacks();
}
