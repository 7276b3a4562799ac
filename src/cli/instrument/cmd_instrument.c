/* cmd_instrument.c: `allotrace instrument MAIN.ml`: makes an OCaml program trace itself on request,
 * by a call in its main module and a library in its dune file. Shows the patch, or applies it. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/path.h"
#include "base/text.h"
#include "cli/instrument/instrument_edit.h"
#include "cli/message.h"
#include "trace/replacement.h"

#define MAX_SIZE (64 << 20) /* bytes; source files are smaller */

typedef struct instrument_options {
    const char *dune;
    bool apply;
} instrument_options;

static const instrument_options defaults = {0};

static const option options[] = {
    {.name = "dune",
     OPTION_TAKES(FILE, instrument_options, dune, "FILE"),
     .help = "the dune file with the program's stanza (default: `dune` next to MAIN.ml)"},
    {.name = "apply",
     OPTION_SETS(FLAG, instrument_options, apply),
     .help = "apply the patch to the files"},
};

/* A file to be changed. */
typedef struct target {
    char path[PATH_MAX];
    char *old, *new; /* `new` is NULL if the file needs no change */
    size_t old_size, new_size;
    edit edit;
} target;

/* ---- reading ----------------------------------------------------------------------------- */

/* Returns NULL with errno set if the file cannot be read. */
static char *read_all(int fd, size_t size) {
    char *text = malloc(size + 1);
    if (!text)
        return NULL;
    text[size] = '\0';
    const int why = file_read_at(fd, text, size, 0);
    if (!why)
        return text;
    free(text);
    errno = why;
    return NULL;
}

static bool target_read(target *t) {
    struct stat status;
    int fd = open(t->path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0 && fstat(fd, &status) == 0) {
        errno = S_ISDIR(status.st_mode) ? EISDIR : status.st_size > MAX_SIZE ? EFBIG : 0;
        t->old_size = (size_t)status.st_size;
        if (!errno)
            t->old = read_all(fd, t->old_size);
    }
    if (!t->old)
        message_error("%s: %s", t->path, strerror(errno));
    file_close(fd);
    if (t->old && strlen(t->old) != t->old_size) {
        message_error("%s: not a text file", t->path);
        return false;
    }
    return t->old != NULL;
}

/* ---- deciding ---------------------------------------------------------------------------- */

/* Reports why a file is refused, or makes its new text. */
static bool target_decide(target *t) {
    const edit *e = &t->edit;
    if (e->verdict == EDIT_REFUSED) {
        if (e->line)
            message_error("%s: line %zu: %s", t->path, e->line, e->reason);
        else
            message_error("%s: %s", t->path, e->reason);
        return false;
    }
    if (*e->reason)
        message_warning("%s: %s", t->path, e->reason);
    if (e->verdict == EDIT_PRESENT)
        return true;
    t->new = edit_apply(e, t->old, t->old_size, &t->new_size);
    if (!t->new)
        message_no_memory();
    return t->new != NULL;
}

/* Returns the length of the folder in a path, including the slash; 0: there is none. */
static size_t folder_size(const char *path) {
    return (size_t)(path_base(path) - path);
}

/* Derives the module's name from that of its file. Returns false if the name does not end in
 * .ml. */
static bool module_of(const char *path, char *module, size_t size) {
    const char *base = path_base(path);
    const size_t length = strlen(base);
    if (length <= 3 || !text_ends_with(base, ".ml"))
        return false;
    snprintf(module, size, "%.*s", (int)(length - 3), base);
    return true;
}

/* Returns whether a module next to the program's hides the library. */
static bool is_hidden(const target *ml) {
    char path[PATH_MAX + 16];
    snprintf(path, sizeof path, "%.*smemtrace.ml", (int)folder_size(ml->path), ml->path);
    return access(path, F_OK) == 0;
}

static bool decide(target *ml, target *dune) {
    char module[NAME_MAX + 1];
    if (!module_of(ml->path, module, sizeof module)) {
        message_error("%s: not an OCaml source file; its name must end in .ml", ml->path);
        return false;
    }
    if (!target_read(ml))
        return false;
    if (!target_read(dune)) {
        message_hint("use --dune FILE to name the dune file that builds the program");
        return false;
    }
    ml->edit = is_hidden(ml) ? edit_refuse(0, "a module memtrace.ml next to it hides the library")
                             : edit_ml(ml->old, ml->old_size);
    dune->edit = edit_dune(dune->old, dune->old_size, module);
    return target_decide(ml) && target_decide(dune);
}

/* ---- changing ---------------------------------------------------------------------------- */

/* Writes the new text to a temporary file next to the old one. */
static bool prepare_target(const target *t, replacement *r) {
    memtrace_error error;
    if (replacement_begin(r, t->path, &error) != MEMTRACE_OK) {
        message_error("%s: %s", t->path, error.reason);
        return false;
    }
    const int why = file_write_all(r->fd, t->new, t->new_size);
    if (!why)
        return true;
    message_error("%s: %s", t->path, strerror(why));
    replacement_abort(r);
    return false;
}

static bool target_commit(const target *t, replacement *r) {
    memtrace_error error;
    if (replacement_commit(r, &error) == MEMTRACE_OK)
        return true;
    message_error("%s: %s", t->path, error.reason);
    return false;
}

/* Changes both files, or none, as far as failures can be detected before the first change. */
static bool apply(target *targets, size_t n) {
    replacement replacements[2];
    size_t prepared = 0;
    bool done = true;
    for (; prepared < n && done; prepared += done)
        done =
            !targets[prepared].new || prepare_target(&targets[prepared], &replacements[prepared]);
    for (size_t i = 0; i < prepared; i++) {
        if (!targets[i].new)
            continue;
        if (done)
            done = target_commit(&targets[i], &replacements[i]);
        else
            replacement_abort(&replacements[i]);
    }
    return done;
}

static int run(const void *opts_, char **operands) {
    const instrument_options *opts = opts_;
    target targets[2] = {0};
    enum { ML, DUNE, N };
    int status = STATUS_FAILED;
    snprintf(targets[ML].path, sizeof targets->path, "%s", operands[0]);
    if (opts->dune)
        snprintf(targets[DUNE].path, sizeof targets->path, "%s", opts->dune);
    else
        snprintf(targets[DUNE].path, sizeof targets->path, "%.*sdune",
                 (int)folder_size(operands[0]), operands[0]);
    if (decide(&targets[ML], &targets[DUNE])) {
        for (size_t i = 0; i < N; i++)
            if (targets[i].new)
                edit_print(stdout, targets[i].path, targets[i].old, targets[i].old_size,
                           targets[i].new, targets[i].new_size);
        if (!targets[ML].new && !targets[DUNE].new)
            message_hint("nothing to do: the call and the library are already there");
        status = !opts->apply || apply(targets, N) ? STATUS_OK : STATUS_FAILED;
    }
    for (size_t i = 0; i < N; i++) {
        free(targets[i].old);
        free(targets[i].new);
    }
    return status;
}

const command command_instrument = {
    .name = "instrument",
    .group = GROUP_RECORD,
    .operand = OPERAND_SOURCE,
    .usage = "MAIN.ml",
    .summary = "make an OCaml program write traces",
    .description =
        "Prints a patch that adds the call `Memtrace.trace_if_requested ()` at the start of an "
        "OCaml program's main module, and the library memtrace to the stanza that builds it. A "
        "patched program writes a trace if MEMTRACE=FILE is set in its environment.\n"
        "\n"
        "If the program becomes a daemon, the call goes after the fork. If instrument is not sure "
        "that a change is correct, it explains why and changes nothing. Nothing is added twice.",
    .example = "allotrace instrument bin/main.ml\n"
               "allotrace instrument test/test.ml --dune test/dune --apply\n",
    OPTIONS_OF(options, defaults),
    .run = run,
};
