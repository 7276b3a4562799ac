/* anonymise.c: a pseudonym is a letter for its kind followed by the first 48 bits of a keyed hash
 * (SipHash). Folders and parts of names get pseudonyms of their own, so that files of one folder
 * stay together. Marks, gauges, threads and scopes keep the keyword that identifies them. */
#include "trace/anonymise.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/siphash.h"
#include "base/vec.h"
#include "trace/failure.h"
#include "trace/imported.h"

typedef struct anonymiser {
    anonymise_options options;
    arena names;
    uint64_t next_code;
    bool failed; /* out of memory for a name */
} anonymiser;

enum { PSEUDONYM_SIZE = 16 }; /* bytes, with its NUL */

/* 48 bits: among 10,000 names, two collide with a probability of one in five million. `kind`
 * becomes the first letter. */
static void pseudonym(const anonymiser *a, char kind, const char *name, size_t size,
                      char text[PSEUDONYM_SIZE]) {
    const uint64_t hash = siphash(a->options.key, name, size) >> 16;
    snprintf(text, PSEUDONYM_SIZE, "%c%012" PRIx64, kind, hash);
}

static bool is_separator(char c) {
    return isascii(c) && !isalnum(c) && c != '_' && c != '\'';
}

typedef VEC(char) growing_text;

static bool append(growing_text *text, const char *piece, size_t n) {
    if (!vec_reserve(text, n + 1))
        return false;
    memcpy(text->items + text->count, piece, n);
    text->items[text->count += n] = '\0';
    return true;
}

/* Returns the start of a file name's extension, or the end of the name. */
static const char *extension(const char *name) {
    const char *base = strrchr(name, '/'), *dot = strrchr(base ? base : name, '.');
    return dot && dot != (base ? base + 1 : name) && strlen(dot) <= 5 ? dot : name + strlen(name);
}

/* Keeps separators and the extension of a file, and replaces everything else. */
static char *replace_parts(const anonymiser *a, char kind, const char *name, const char *end) {
    char part[PSEUDONYM_SIZE];
    growing_text text = {0};
    bool ok = true;
    while (ok && name < end) {
        size_t n = 0;
        while (name + n < end && !is_separator(name[n]))
            n++;
        if (n > 0) {
            pseudonym(a, kind, name, n, part);
            ok = append(&text, part, strlen(part));
        } else {
            ok = append(&text, name, n = 1);
        }
        name += n;
    }
    if (ok && append(&text, end, strlen(end)))
        return text.items;
    vec_free(&text);
    return NULL;
}

/* An empty name means that there is none, which is no secret. */
static const char *rename_one(anonymiser *a, char kind, const char *name) {
    if (!*name)
        return "";
    char whole[PSEUDONYM_SIZE], *parts = NULL;
    if (a->options.keep_structure)
        parts = replace_parts(a, kind, name, kind == 'p' ? extension(name) : name + strlen(name));
    else
        pseudonym(a, kind, name, strlen(name), whole);
    const char *text = a->options.keep_structure ? parts : whole;
    const char *kept = text ? arena_strndup(&a->names, text, strlen(text)) : NULL;
    free(parts);
    a->failed |= !kept;
    return kept ? kept : "";
}

/* Marks, gauges, threads and scopes keep the keyword that identifies them. */
static const char *rename_file(anonymiser *a, const char *file) {
    return strcmp(file, MEMTRACE_MARK_FILE) == 0     ? MEMTRACE_MARK_FILE
           : strcmp(file, MEMTRACE_GAUGE_FILE) == 0  ? MEMTRACE_GAUGE_FILE
           : strcmp(file, MEMTRACE_THREAD_FILE) == 0 ? MEMTRACE_THREAD_FILE
           : strcmp(file, MEMTRACE_SCOPE_FILE) == 0  ? MEMTRACE_SCOPE_FILE
                                                     : rename_one(a, 'p', file);
}

static void rename_location(anonymiser *a, memtrace_location *l) {
    if (strcmp(l->file, MEMTRACE_TYPE_FILE) == 0) {
        l->function = a->options.keep_types ? l->function : rename_one(a, 't', l->function);
        return;
    }
    l->file = rename_file(a, l->file);
    if (strcmp(l->file, MEMTRACE_SCOPE_FILE) != 0 || strcmp(l->function, MEMTRACE_NO_SCOPE) != 0)
        l->function = rename_one(a, 'f', l->function);
    if (!a->options.keep_lines) {
        l->line = 0;
        l->start_char = l->end_char = 0;
    }
}

static size_t locate(void *user, uint64_t code, const memtrace_frame *frame,
                     memtrace_location *locations, size_t max) {
    (void)code;
    const size_t n = frame ? rewrite_frame_locations(frame, locations, max) : 0;
    for (size_t i = 0; i < n; i++)
        rename_location(user, &locations[i]);
    return n;
}

/* Drops spans: their ids also appear in the logs of requests. */
static bool goes_on(void *user, memtrace_event *event) {
    (void)user;
    return event->kind != MEMTRACE_SPAN;
}

static uint64_t recode(void *user, const memtrace_frame *frame) {
    anonymiser *a = user;
    (void)frame;
    return a->next_code++;
}

static memtrace_info blank_head(const memtrace_reader *reader) {
    memtrace_info info = *memtrace_reader_info(reader);
    if (info.version < 2)
        info.version = 2;
    info.pid = 0;
    info.executable_name = info.host_name = info.runtime_params = "";
    if (!imported_is(info.context))
        info.context = "";
    return info;
}

memtrace_status anonymise_trace(memtrace_reader *reader, const anonymise_options *options, int fd,
                                compression how, memtrace_error *error) {
    anonymiser a = {.options = *options, .next_code = 1};
    const rewrite_input input = {
        .reader = reader,
        .options = {.locate = locate, .select = goes_on, .recode = recode, .user = &a}};
    const memtrace_info info = blank_head(reader);
    memtrace_status status = rewrite_traces(&info, &input, 1, fd, how, error);
    if (status == MEMTRACE_OK && a.failed)
        status = failure(error, MEMTRACE_NOMEM, 0, "not enough memory for names");
    arena_free(&a.names);
    return status;
}
