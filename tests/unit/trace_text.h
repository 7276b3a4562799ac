/* trace_text.h: prints what the C reader reads from a trace, in the format of `decode.py
 * --changed`, to compare two decoders or two traces event by event. Marks and gauges get lines of
 * their own, which decode.py does not print. So for a comparison with decode.py, a trace must be
 * read with `as_written`. */
#ifndef TRACE_TEXT_H
#define TRACE_TEXT_H

#include "trace_fixture.h"

static inline void print_frame(FILE *out, const memtrace_frame *frame) {
    if (frame->type)
        fprintf(out, " %s@%s:0:0-0", frame->type, MEMTRACE_TYPE_FILE);
    for (uint32_t i = 0; i < frame->n_locations; i++) {
        const memtrace_location *l = &frame->locations[i];
        fprintf(out, " %s@%s:%u:%u-%u", l->function, l->file, l->line, l->start_char, l->end_char);
    }
    if (!frame->type && frame->n_locations == 0)
        fprintf(out, " $%" PRId64, (int64_t)frame->code);
}

static inline void print_event(FILE *out, const memtrace_reader *reader, const memtrace_event *e) {
    static const char *const kinds[] = {"alloc", "alloc_major", "alloc_ext"};
    fprintf(out, "%010" PRIu64 " %010" PRId64, e->time, (int64_t)e->id); /* below 0 after damage */
    if (e->kind >= MEMTRACE_MARK) {
        static const char *const remarks[] = {"mark", "gauge", "thread"};
        fprintf(out, " %s %s=%" PRIu64 " dom=%u\n", remarks[e->kind - MEMTRACE_MARK],
                e->name ? e->name : "?", e->length, e->domain);
        return;
    }
    if (e->kind != MEMTRACE_ALLOC) {
        fputs(e->kind == MEMTRACE_PROMOTE ? " promote\n" : " collect\n", out);
        return;
    }
    fprintf(out, " %s %" PRIu64 " len=%" PRIu64 " dom=%u depth=%u % 4d:", kinds[e->source],
            e->samples, e->length, e->domain, e->n_frames, (int)e->common_prefix);
    for (uint32_t i = e->common_prefix; i < e->n_frames; i++)
        print_frame(out, memtrace_reader_frame(reader, e->frames[i]));
    fputc('\n', out);
}

/* Returns the text of all events; the caller frees it. Closes the reader. If this function is
 * inlined, gcc 12 confuses pointers into the text with pointers to the variable. */
__attribute__((noinline, unused)) static char *text_of(memtrace_reader *reader) {
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    memtrace_event event;
    memtrace_status status;
    while ((status = memtrace_reader_next(reader, &event)) == MEMTRACE_OK)
        print_event(out, reader, &event);
    ck_assert_int_eq(status, MEMTRACE_END);
    memtrace_reader_close(reader);
    fclose(out);
    return text;
}

static inline memtrace_reader *open_path(const char *path) {
    memtrace_reader *reader;
    memtrace_error error;
    const memtrace_status status = memtrace_reader_open(path, NULL, &reader, &error);
    ck_assert_msg(status == MEMTRACE_OK, "%s: %s", path, error.reason);
    return reader;
}

static inline memtrace_reader *open_bytes(const void *bytes, size_t size) {
    memtrace_reader *reader;
    memtrace_error error;
    const memtrace_status status = memtrace_reader_open_memory(bytes, size, NULL, &reader, &error);
    ck_assert_msg(status == MEMTRACE_OK, "%s", error.reason);
    return reader;
}

#endif
