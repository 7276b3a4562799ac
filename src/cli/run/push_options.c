/* push_options.c: converts command-line options to those of src/push, and prints messages of push
 * as messages of the command. */
#include "cli/run/push_options.h"

#include "cli/message.h"

enum { LINE_SIZE = 4096 };

static void say(void *context, bool warning, const char *line) {
    (void)context;
    if (warning)
        message_warning("%s", line);
    else
        message_note("%s", line);
}

static void say_warnings(void *context, bool warning, const char *line) {
    if (warning)
        say(context, warning, line);
}

static push_options options_of(const push_flags *f) {
    return (push_options){.urls = f->urls,
                          .every_us = f->every,
                          .labels = f->labels.items,
                          .n_labels = f->labels.n,
                          .by_thread = f->threads,
                          .token_file = f->token_file,
                          .tell = say};
}

bool push_flags_check(const push_flags *f) {
    char line[LINE_SIZE];
    const push_options o = options_of(f);
    if (!f->urls && (f->every || f->labels.n || f->threads || f->token_file)) {
        message_error("--every, --label, --push-threads and --token-file require --push URL");
        return false;
    }
    if (!f->urls || !push_check(&o, line, sizeof line))
        return true;
    message_error("%s", line);
    return false;
}

push_session *push_flags_start(const push_flags *f, const char *path, struct timespec since,
                               int files, push_position *position, bool quiet) {
    char line[LINE_SIZE];
    push_options o = options_of(f);
    if (!f->urls)
        return NULL;
    o.tell = quiet ? say_warnings : say;
    o.position = position;
    o.files = files;
    o.since = since;
    push_session *s = push_start(path, &o, line, sizeof line);
    if (!s)
        message_warning("%s", line);
    if (!s && position)
        atomic_store(&position->offset, UINT64_MAX);
    return s;
}

push_family *push_flags_start_family(const push_flags *f, family_options *how, bool quiet) {
    char line[LINE_SIZE];
    const struct timespec since = how->push.since;
    how->push = options_of(f);
    how->push.since = since;
    how->push.tell = quiet ? say_warnings : say;
    push_family *family = family_start(how, line, sizeof line);
    if (!family)
        message_warning("%s", line);
    return family;
}
