/* document.c: adds the parts one by one. Running out of memory marks the document as failed, so
 * that reports need not check each call. */
#include "document/document.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void add(document *d, document_part p) {
    if (!vec_push(&d->parts, p))
        d->failed = true;
}

void document_rows(document *d, const table *t, unsigned in, const char *heading) {
    add(d, (document_part){.kind = PART_ROWS, .in = in, .heading = heading, .table = *t});
}

void document_object(document *d, const table *t, unsigned in) {
    document_section(d, t, in, NULL);
}

void document_section(document *d, const table *t, unsigned in, const char *heading) {
    add(d, (document_part){.kind = PART_OBJECT, .in = in, .heading = heading, .table = *t});
}

void *document_keep(document *d, size_t size) {
    void *room = arena_alloc(&d->arena, size ? size : 1);
    if (room)
        memset(room, 0, size);
    else
        d->failed = true;
    return room;
}

static char *print(document *d, const char *format, va_list args) {
    va_list again;
    va_copy(again, args);
    const int size = vsnprintf(NULL, 0, format, again);
    va_end(again);
    char *text = size < 0 ? NULL : document_keep(d, (size_t)size + 1);
    if (text)
        vsnprintf(text, (size_t)size + 1, format, args);
    return text;
}

const char *document_text(document *d, const char *format, ...) {
    va_list args;
    va_start(args, format);
    const char *text = print(d, format, args);
    va_end(args);
    return text;
}

static void add_text(document *d, part_kind kind, const char *text, size_t strong) {
    if (text)
        add(d, (document_part){.kind = kind, .in = IN_TEXT, .text = text, .strong = strong});
}

void document_note(document *d, const char *format, ...) {
    va_list args;
    va_start(args, format);
    add_text(d, PART_NOTE, print(d, format, args), 0);
    va_end(args);
}

void document_hint(document *d, const char *format, ...) {
    va_list args;
    va_start(args, format);
    add_text(d, PART_HINT, print(d, format, args), 0);
    va_end(args);
}

void document_title(document *d, const char *strong, const char *rest) {
    const size_t n = strlen(strong);
    char *text = document_keep(d, n + strlen(rest) + 1);
    if (text) {
        memcpy(text, strong, n);
        memcpy(text + n, rest, strlen(rest));
    }
    add_text(d, PART_TITLE, text, n);
}

void document_free(document *d) {
    vec_free(&d->parts);
    arena_free(&d->arena);
    *d = (document){0};
}
