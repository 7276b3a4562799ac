/* recorder_say.c: messages about a recording while the program runs: marks and scopes, and the
 * reasons why there is no recording or why it ends before the program. */
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "contract/settings.h"
#include "platform/module.h"
#include "platform/syscall.h"
#include "record/recorder.h"
#include "record/runtime.h"
#include "record/say.h"
#include "record/scope.h"
#include "record/session.h"
#include "record/text.h"

void recorder_tell(enum rescue_note note) {
    rescue_tell(secure_getenv(setting_infos[SETTING_RESCUE].name), note);
}

void recorder_decline(const char *subject, const char *message, int os_error) {
    if (say_to_user(subject, message, os_error))
        recorder_tell(RESCUE_TOLD);
}

void recorder_decline_setting(int setting) {
    const struct setting_info *info = &setting_infos[setting];
    char message[384];
    text t = text_in(message, sizeof message);
    text_add(&t, "`");
    text_add(&t, secure_getenv(info->name));
    text_add(&t, "` is not ");
    text_add(&t, info->valid);
    text_add(&t, ", so nothing is recorded");
    recorder_decline(info->name, message, 0);
}

void recorder_program(char path[PATH_MAX]) {
    struct module executable = {.name = ""};
    module_path(&executable, path, PATH_MAX);
}

/* Only the first process of a run says why, because a server may run forever, and start processes,
 * after the folder of its traces was removed. */
void recorder_decline_open(const config *c, int os_error) {
    if (c->per_process && !rescue_tell(c->rescue, rescue_unopened(os_error)))
        return;
    char program[PATH_MAX], message[256], file[PATH_MAX];
    uint64_t pid = (uint64_t)syscall4(SYS_getpid, 0, 0, 0, 0);
    bool named = config_file_for(c, pid, file, sizeof file);
    text t = text_in(message, sizeof message);
    text_add(&t, "nothing is recorded");
    if (c->per_process) { /* names the program, as it is one of several in the run */
        recorder_program(program);
        text_add(&t, " of ");
        text_add(&t, program);
        text_add(&t, *c->rescue ? " (said of the first such process)" : "");
    }
    recorder_decline(named ? file : c->file, message, os_error);
}

void recorder_mark(const char *name) {
    struct session *s = recorder_enter();
    if (!s || self.sampler.busy)
        return;
    self.sampler.busy = true; /* for signal handlers that allocate */
    atomic_signal_fence(memory_order_seq_cst);
    session_mark(s, name);
    atomic_signal_fence(memory_order_seq_cst);
    self.sampler.busy = false;
}

/* If the thread runs a task of a language runtime, makes this the task's scope and returns true. */
static bool recorder_scope_of_task(uint16_t scope, uint16_t *before) {
    const struct runtime *const r = recorder_runtime();
    const bool has_domain = !self.sampler.busy && recorder_look() && self.domain;
    return r && r->enter_scope &&
           r->enter_scope(has_domain ? self.domain->runtime : NULL, scope, before);
}

unsigned recorder_scope(const char *name, unsigned scope) {
    uint16_t before = self.scope;
    const int error = errno;
    const uint16_t entered = name                   ? scope_number(name)
                             : scope <= SCOPE_NAMES ? (uint16_t)scope
                                                    : SCOPE_NONE;
    if (!recorder_scope_of_task(entered, &before))
        self.scope = entered;
    errno = error;
    return before;
}

void recorder_yield(struct session *s, const char *why) {
    char message[256];
    text t = text_in(message, sizeof message);
    text_add(&t, "recording has ended: ");
    text_add(&t, why);
    recorder_mark(message);
    session_end_early(s, why);
    recorder_end();
    say_to_user(s->sink.path, message, 0);
}

void recorder_lose_runtime(const char *why, const char *message) {
    struct session *s = recorder_enter();
    if (!s)
        return;
    recorder_mark(why);
    session_end_early(s, why);
    recorder_tell_user(message);
}
