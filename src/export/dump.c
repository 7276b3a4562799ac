/* dump.c: stacks can be thousands of frames deep, and most equal the previous one. So the text of
 * each frame is made once, and the text of each domain's last stack is kept, with the end of each
 * frame. An event truncates that text to the shared frames and appends the others. */
#include "export/dump.h"

#include <inttypes.h>
#include <string.h>

#include "base/vec.h"

typedef struct frame_text {
    size_t first; /* offset in `frame_texts` */
    size_t size;
    const char *type; /* as in memtrace_frame */
} frame_text;

/* The last stack of a domain. */
typedef struct stack_text {
    output text;
    VEC(size_t) ends; /* ends of the frames' texts */
} stack_text;

typedef struct dump {
    const memtrace_reader *reader;
    const dump_options *options;
    output *out;
    output frame_texts;
    VEC(frame_text) frames; /* by frame index */
    VEC(stack_text) stacks; /* by domain */
} dump;

/* ---- frames ------------------------------------------------------------------------------ */

/* Escapes names, so that they stay on their line and are safe in a terminal. */
static void text_location(output *o, const memtrace_location *l) {
    output_char(o, ' ');
    output_shown(o, l->function);
    output_char(o, '@');
    output_shown(o, l->file);
    output_char(o, ':');
    output_u64(o, l->line, 0, ' ');
    output_char(o, ':');
    output_u64(o, l->start_char, 0, ' ');
    output_char(o, '-');
    output_u64(o, l->end_char, 0, ' ');
}

static void text_code(output *o, uint64_t code) {
    output_format(o, " $%" PRId64, (int64_t)code);
}

/* Like other tools for the format, shows a type as a location. */
static void text_frame(output *o, const memtrace_frame *f) {
    if (f->type)
        text_location(o, &(memtrace_location){.file = MEMTRACE_TYPE_FILE, .function = f->type});
    for (uint32_t i = 0; i < f->n_locations; i++)
        text_location(o, &f->locations[i]);
    if (f->n_locations == 0 && !f->type)
        text_code(o, f->code);
}

static void csv_frame(output *o, const memtrace_frame *f) {
    for (uint32_t i = 0; i < f->n_locations; i++) {
        const memtrace_location *l = &f->locations[i];
        output_char(o, ';');
        output_csv_inside(o, l->function);
        output_char(o, '@');
        output_csv_inside(o, l->file);
        output_format(o, ":%" PRIu32 ":%u-%u", l->line, l->start_char, l->end_char);
    }
    if (f->n_locations == 0)
        output_format(o, ";$%" PRId64, (int64_t)f->code);
}

static void json_frame(output *o, const memtrace_frame *f) {
    for (uint32_t i = 0; i < f->n_locations; i++) {
        const memtrace_location *l = &f->locations[i];
        output_text(o, ",{\"function\":");
        output_json(o, l->function);
        output_text(o, ",\"file\":");
        output_json(o, l->file);
        output_format(o, ",\"line\":%" PRIu32 ",\"start\":%u,\"end\":%u%s}", l->line, l->start_char,
                      l->end_char, i > 0 ? ",\"inlined\":true" : "");
    }
    if (f->n_locations == 0)
        output_format(o, ",{\"code\":%" PRId64 "}", (int64_t)f->code);
}

/* Returns the text of a frame. Frames are numbered in the order of their first use. */
static const frame_text *frame_of(dump *d, uint32_t index) {
    static void (*const render[])(output *, const memtrace_frame *) = {
        [DUMP_TEXT] = text_frame, [DUMP_CSV] = csv_frame, [DUMP_JSON] = json_frame};
    while (d->frames.count <= index) {
        const memtrace_frame *f = memtrace_reader_frame(d->reader, (uint32_t)d->frames.count);
        size_t first = d->frame_texts.used;
        render[d->options->format](&d->frame_texts, f);
        frame_text text = {.first = first, .size = d->frame_texts.used - first, .type = f->type};
        if (d->frame_texts.error || !vec_push(&d->frames, text))
            return NULL;
    }
    return &d->frames.items[index];
}

/* ---- stacks ------------------------------------------------------------------------------ */

static stack_text *stack_of(dump *d, uint16_t domain) {
    while (d->stacks.count <= domain) {
        stack_text s = {0};
        output_start(&s.text, OUTPUT_MEMORY);
        if (s.text.error || !vec_push(&d->stacks, s))
            return NULL;
    }
    return &d->stacks.items[domain];
}

static bool update_stack(dump *d, stack_text *s, const memtrace_event *e) {
    size_t common = e->common_prefix < s->ends.count ? e->common_prefix : s->ends.count;
    if (common > e->n_frames)
        common = e->n_frames;
    s->ends.count = common;
    s->text.used = common ? s->ends.items[common - 1] : 0;
    if (!vec_reserve(&s->ends, e->n_frames - common))
        return false;
    for (size_t i = common; i < e->n_frames; i++) {
        const frame_text *f = frame_of(d, e->frames[i]);
        if (!f)
            return false;
        output_bytes(&s->text, d->frame_texts.buffer + f->first, f->size);
        s->ends.items[s->ends.count++] = s->text.used;
    }
    return !s->text.error;
}

/* Returns the text of the frames to show. `*cut` is the number of outer frames left out. */
static const char *shown_part(const dump *d, const stack_text *s, size_t *size, size_t *cut) {
    size_t n = s->ends.count, max = d->options->max_depth;
    *cut = max && n > max ? n - max : 0;
    size_t first = *cut ? s->ends.items[*cut - 1] : 0;
    *size = s->text.used - first;
    return s->text.buffer + first;
}

/* ---- events ------------------------------------------------------------------------------ */

static void text_head(output *o, const memtrace_event *e) {
    output_u64(o, e->time, 10, '0');
    output_char(o, ' ');
    output_u64(o, e->id, 10, '0');
    output_char(o, ' ');
}

static void text_event(dump *d, const memtrace_event *e, const stack_text *s) {
    static const char *const kinds[] = {[MEMTRACE_MINOR] = "alloc ",
                                        [MEMTRACE_MAJOR] = "alloc_major ",
                                        [MEMTRACE_EXTERNAL] = "alloc_ext "};
    output *o = d->out;
    text_head(o, e);
    if (e->kind != MEMTRACE_ALLOC) {
        output_text(o, e->kind == MEMTRACE_PROMOTE ? "promote\n" : "collect\n");
        return;
    }
    output_text(o, kinds[e->source]);
    output_u64(o, e->samples, 0, ' ');
    output_number(o, " len=", e->length);
    output_number(o, " dom=", e->domain);
    output_char(o, ' ');
    if (e->common_prefix >= 1000) /* like `% 4d` of OCaml's printf */
        output_char(o, ' ');
    output_u64(o, e->common_prefix, 4, ' ');
    output_char(o, ':');
    if (s) {
        size_t size, cut;
        const char *text = shown_part(d, s, &size, &cut);
        if (cut)
            output_format(o, " ...+%zu", cut);
        output_bytes(o, text, size);
    }
    output_char(o, '\n');
}

static void plain_event(dump *d, const memtrace_event *e, const stack_text *s) {
    static const char *const kinds[] = {
        [MEMTRACE_MINOR] = "a ", [MEMTRACE_MAJOR] = "A ", [MEMTRACE_EXTERNAL] = "AE "};
    (void)s;
    text_head(d->out, e);
    if (e->kind == MEMTRACE_ALLOC) {
        output_text(d->out, kinds[e->source]);
        output_u64(d->out, e->length, 0, ' ');
    } else {
        output_char(d->out, e->kind == MEMTRACE_PROMOTE ? 'P' : 'C');
    }
    output_char(d->out, '\n');
}

static const char *type_of(dump *d, const memtrace_event *e) {
    const frame_text *f = e->n_frames ? frame_of(d, e->frames[e->n_frames - 1]) : NULL;
    return f ? f->type : NULL;
}

static const char *kind_name(const memtrace_event *e) {
    static const char *const names[] = {
        [MEMTRACE_ALLOC] = "alloc", [MEMTRACE_PROMOTE] = "promote", [MEMTRACE_COLLECT] = "collect"};
    return names[e->kind];
}

static const char *source_name(const memtrace_event *e) {
    static const char *const names[] = {
        [MEMTRACE_MINOR] = "minor", [MEMTRACE_MAJOR] = "major", [MEMTRACE_EXTERNAL] = "external"};
    return names[e->source];
}

static void csv_event(dump *d, const memtrace_event *e, const stack_text *s) {
    output *o = d->out;
    output_u64(o, e->time, 0, ' ');
    output_char(o, ',');
    output_u64(o, e->id, 0, ' ');
    output_char(o, ',');
    output_text(o, kind_name(e));
    output_char(o, ',');
    output_u64(o, e->domain, 0, ' ');
    if (e->kind != MEMTRACE_ALLOC) {
        output_text(o, ",,,,,\n");
        return;
    }
    output_char(o, ',');
    output_text(o, source_name(e));
    output_char(o, ',');
    output_u64(o, e->length, 0, ' ');
    output_char(o, ',');
    output_u64(o, e->samples, 0, ' ');
    output_char(o, ',');
    const char *type = type_of(d, e);
    if (type)
        output_csv(o, type);
    output_char(o, ',');
    if (s && s->ends.count) {
        size_t size, cut;
        const char *text = shown_part(d, s, &size, &cut);
        output_char(o, '"');
        if (cut)
            output_format(o, "...+%zu", cut);
        output_bytes(o, text + !cut, size - !cut); /* no separator before the first */
        output_char(o, '"');
    }
    output_char(o, '\n');
}

static void json_event(dump *d, const memtrace_event *e, const stack_text *s) {
    output *o = d->out;
    output_number(o, "{\"time\":", e->time);
    output_number(o, ",\"id\":", e->id);
    output_text(o, ",\"event\":\"");
    output_text(o, kind_name(e));
    output_number(o, "\",\"domain\":", e->domain);
    if (e->kind == MEMTRACE_ALLOC) {
        output_text(o, ",\"source\":\"");
        output_text(o, source_name(e));
        output_number(o, "\",\"length\":", e->length);
        output_number(o, ",\"samples\":", e->samples);
        const char *type = type_of(d, e);
        if (type) {
            output_text(o, ",\"type\":");
            output_json(o, type);
        }
        if (e->suspect)
            output_text(o, ",\"suspect\":true");
    }
    if (s) {
        size_t size, cut;
        const char *text = shown_part(d, s, &size, &cut);
        if (cut)
            output_format(o, ",\"cut\":%zu", cut);
        output_text(o, ",\"backtrace\":[");
        if (size)
            output_bytes(o, text + 1, size - 1); /* no separator before the first */
        output_char(o, ']');
    }
    output_text(o, "}\n");
}

bool dump_shows_backtraces(const dump_options *options) {
    return options->backtraces && options->format != DUMP_PLAIN;
}

static bool write_event(dump *d, const memtrace_event *e) {
    static void (*const write[])(dump *, const memtrace_event *,
                                 const stack_text *) = {[DUMP_TEXT] = text_event,
                                                        [DUMP_PLAIN] = plain_event,
                                                        [DUMP_CSV] = csv_event,
                                                        [DUMP_JSON] = json_event};
    stack_text *s = NULL;
    if (e->kind == MEMTRACE_ALLOC && dump_shows_backtraces(d->options)) {
        s = stack_of(d, e->domain);
        if (!s || !update_stack(d, s, e))
            return false;
    }
    write[d->options->format](d, e, s);
    return true;
}

static void dump_free(dump *d) {
    output_finish(&d->frame_texts);
    vec_free(&d->frames);
    for (size_t i = 0; i < d->stacks.count; i++) {
        output_finish(&d->stacks.items[i].text);
        vec_free(&d->stacks.items[i].ends);
    }
    vec_free(&d->stacks);
}

memtrace_status dump_events(memtrace_reader *reader, const dump_options *options, output *o) {
    dump d = {.reader = reader, .options = options, .out = o};
    output_start(&d.frame_texts, OUTPUT_MEMORY);
    if (options->format == DUMP_CSV)
        output_text(o, "time,id,event,domain,source,length,samples,type,backtrace\n");
    memtrace_event event;
    memtrace_status status = MEMTRACE_OK;
    while (!o->error && (status = memtrace_reader_next(reader, &event)) == MEMTRACE_OK) {
        if (!write_event(&d, &event)) {
            status = MEMTRACE_NOMEM;
            break;
        }
    }
    dump_free(&d);
    return status == MEMTRACE_END ? MEMTRACE_OK : status;
}
