/* writer_stubs.c: Trace.Writer, implemented with allotrace/memtrace.h: a trace with a stream for
 * each domain, which is opened at the domain's first event.
 *
 * Writing calls back into OCaml (where is a frame? is this still the same process?), and so may
 * collect, raise, and let other threads run. */
#define CAML_NAME_SPACE
#include <caml/alloc.h>
#include <caml/callback.h>
#include <caml/custom.h>
#include <caml/fail.h>
#include <caml/memory.h>
#include <caml/mlvalues.h>

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "allotrace/memtrace.h"
#include "ocaml_errors.h"
#include "write_all.h"

/* The stream of a domain. */
struct domain_stream {
    struct domain_stream *next;
    uint16_t domain;
    memtrace_stream *stream;
};

/* A string of a location, which lives as long as the streams do. */
struct text {
    struct text *older;
    char bytes[];
};

typedef struct writer {
    memtrace_writer *trace; /* NULL: closed */
    struct domain_stream *streams;
    struct text *texts;
    uint64_t start; /* microseconds since the epoch */
    int fd;
    bool numbers;       /* version 2: one domain, whose blocks are numbered from 0 */
    uint64_t n_ids;     /* number of ids given */
    const char *misuse; /* the caller's mistake, for MEMTRACE_USAGE */
    int failure;        /* errno that ended the trace; 0: none */
    bool pid_changed;   /* the trace ended since the process is another one */
    atomic_flag in_use;

    /* While the writer is in use: the OCaml callbacks, and the exception that one raised (Val_unit:
     * none). Both are roots of the function that called writer_enter. */
    value *questions, *raised;
} writer;

#define WRITER(v) (*(writer **)Data_custom_val(v))

/* The fields of Writer.questions. */
enum { QUESTION_PLACES, QUESTION_IS_OTHER_PROCESS };

static bool ask(writer *w, int question, value argument, value *answer) {
    if (*w->raised != Val_unit)
        return false;
    *answer = caml_callback_exn(Field(*w->questions, question), argument);
    if (!Is_exception_result(*answer))
        return true;
    *w->raised = Extract_exception(*answer);
    return false;
}

/* ---- hooks ------------------------------------------------------------------------------- */

static int hook_sink(void *context, const void *packets, size_t size) {
    writer *w = context;
    value answer;
    if (!w->questions) /* collected without having been closed */
        return w->failure = ECANCELED;
    if (!ask(w, QUESTION_IS_OTHER_PROCESS, Val_unit, &answer))
        return w->failure = ECANCELED;
    w->pid_changed = Bool_val(answer);
    return w->failure = w->pid_changed ? ECANCELED : write_all(w->fd, packets, size);
}

static const char *keep_text(writer *w, value string) {
    size_t size = caml_string_length(string) + 1;
    struct text *t = malloc(sizeof *t + size);
    if (!t)
        return "?";
    memcpy(t->bytes, String_val(string), size);
    t->older = w->texts;
    w->texts = t;
    return t->bytes;
}

static uint64_t natural(value v) {
    return Long_val(v) < 0 ? 0 : (uint64_t)Long_val(v);
}

static uint64_t at_most(uint64_t n, uint64_t most) {
    return n < most ? n : most;
}

/* Copies a Trace.Location.t. */
static memtrace_location keep_location(writer *w, value l) {
    return (memtrace_location){
        .file = keep_text(w, Field(l, 0)),
        .line = (uint32_t)at_most(natural(Field(l, 1)), MEMTRACE_MAX_LINE),
        .start_char = (uint16_t)at_most(natural(Field(l, 2)), UINT16_MAX),
        .end_char = (uint16_t)at_most(natural(Field(l, 3)), UINT16_MAX),
        .function = keep_text(w, Field(l, 4)),
    };
}

/* Whether the names fit. A name that is cut would be the name of something else. */
static bool location_fits(value l) {
    return caml_string_length(Field(l, 0)) <= MEMTRACE_MAX_NAME &&
           caml_string_length(Field(l, 4)) <= MEMTRACE_MAX_NAME;
}

/* Trace.Location.unknown. */
static size_t unknown_location(memtrace_location *locations) {
    locations[0] = (memtrace_location){.file = "<unknown>", .function = "??"};
    return 1;
}

static size_t hook_locate(void *context, uint64_t code, memtrace_location *locations, size_t max) {
    writer *w = context;
    value list;
    size_t n = 0;
    if (!ask(w, QUESTION_PLACES, Val_long(code), &list))
        return 0;
    for (; list != Val_emptylist && n < max; list = Field(list, 1)) { /* does not allocate */
        if (!location_fits(Field(list, 0)))
            return unknown_location(locations);
        locations[n++] = keep_location(w, Field(list, 0));
    }
    return list == Val_emptylist ? n : unknown_location(locations);
}

/* ---- life -------------------------------------------------------------------------------- */

static void writer_release(writer *w) {
    while (w->texts) {
        struct text *t = w->texts;
        w->texts = t->older;
        free(t);
    }
}

/* Closes all streams and the trace. Returns the first failure. */
static memtrace_status writer_close(writer *w) {
    memtrace_status status = MEMTRACE_OK;
    while (w->streams) {
        struct domain_stream *s = w->streams;
        w->streams = s->next;
        memtrace_status closed = memtrace_stream_close(s->stream);
        status = status == MEMTRACE_OK ? closed : status;
        free(s);
    }
    memtrace_status closed = memtrace_writer_close(w->trace);
    w->trace = NULL;
    writer_release(w);
    return status == MEMTRACE_OK ? closed : status;
}

static void writer_finalize(value v) {
    writer *w = WRITER(v);
    if (w && w->trace && writer_close(w) != MEMTRACE_OK) {
        /* the writer was not closed, so what is buffered is lost */
    }
    free(w);
}

static struct custom_operations writer_operations = {
    .identifier = "memtrace.writer",
    .finalize = writer_finalize,
    .compare = custom_compare_default,
    .hash = custom_hash_default,
    .serialize = custom_serialize_default,
    .deserialize = custom_deserialize_default,
    .compare_ext = custom_compare_ext_default,
};

/* Returns the writer, which is in use until writer_leave. */
static writer *writer_enter(value v, value *questions, value *raised) {
    writer *w = WRITER(v);
    if (atomic_flag_test_and_set(&w->in_use))
        caml_invalid_argument("Memtrace.Trace.Writer: somebody is using it");
    if (!w->trace) {
        atomic_flag_clear(&w->in_use);
        caml_invalid_argument("Memtrace.Trace.Writer: it is closed");
    }
    w->questions = questions;
    w->raised = raised;
    w->misuse = "Memtrace.Trace.Writer: more samples than words";
    return w;
}

/* Ends the use of the writer, and raises the exception, if there is one. */
static void writer_leave(writer *w, memtrace_status status) {
    value raised = *w->raised;
    const char *misuse = w->misuse;
    w->questions = w->raised = NULL;
    atomic_flag_clear(&w->in_use);
    if (raised != Val_unit)
        caml_raise(raised);
    if (status == MEMTRACE_USAGE)
        caml_invalid_argument(misuse);
    if (status == MEMTRACE_NOMEM)
        caml_raise_out_of_memory();
    if (status != MEMTRACE_OK && w->pid_changed)
        caml_raise_constant(*caml_named_value("caml_memtrace_pid_changed"));
    if (status != MEMTRACE_OK)
        raise_errno(w->failure, "write");
}

/* Converts a Trace.Info.t. The strings may move when OCaml is called, but the writer has copied
 * them before that. */
static memtrace_info info_of(value info) {
    value context = Field(info, 7);
    return (memtrace_info){
        .sample_rate = Double_val(Field(info, 0)),
        .word_size = (uint8_t)Int_val(Field(info, 1)),
        .executable_name = String_val(Field(info, 2)),
        .host_name = String_val(Field(info, 3)),
        .runtime_params = String_val(Field(info, 4)),
        .pid = (uint64_t)Int64_val(Field(info, 5)),
        .start_time = natural(Field(info, 6)),
        .context = Is_block(context) ? String_val(Field(context, 0)) : "",
    };
}

value caml_memtrace_raw_create(value fd, value info, value has_domains, value questions);
value caml_memtrace_raw_create(value fd, value info, value has_domains, value questions) {
    CAMLparam2(info, questions);
    CAMLlocal2(result, raised);
    raised = Val_unit;
    result = caml_alloc_custom_mem(&writer_operations, sizeof(writer *), sizeof(writer));
    writer *w = WRITER(result) = calloc(1, sizeof *w);
    if (!w)
        caml_raise_out_of_memory();
    const memtrace_writer_options options = {
        .sink = hook_sink, .locate = hook_locate, .context = w};
    memtrace_info head = info_of(info);
    w->numbers = !Bool_val(has_domains);
    head.version = w->numbers ? 2 : 3;
    w->fd = Int_val(fd);
    w->start = head.start_time;
    w->questions = &questions;
    w->raised = &raised;
    memtrace_status status = memtrace_writer_open(&head, &options, &w->trace, NULL);
    writer_leave(w, status);
    CAMLreturn(result);
}

/* ---- events ------------------------------------------------------------------------------ */

static uint64_t time_of(const writer *w, value timestamp) {
    uint64_t time = natural(timestamp);
    return time > w->start ? time - w->start : 0;
}

/* Returns the domain's stream; NULL when there is no memory. */
static memtrace_stream *stream_of(writer *w, value domain) {
    struct domain_stream **at = &w->streams, *s;
    while ((s = *at) && s->domain != Int_val(domain))
        at = &s->next;
    if (s)
        return s->stream;
    s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->domain = (uint16_t)Int_val(domain);
    if (memtrace_stream_open(w->trace, s->domain, &s->stream) != MEMTRACE_OK) {
        free(s);
        return NULL;
    }
    return (*at = s)->stream;
}

/* The fields of Writer.alloc. */
enum { ALLOC_TIME, ALLOC_DOMAIN, ALLOC_HEAP, ALLOC_WORDS, ALLOC_SAMPLES, ALLOC_FRAMES, ALLOC_ID };

/* Returns the frames, outermost first; NULL when there is no memory. */
static uint64_t *copy_frames(value frames, size_t n) {
    uint64_t *codes = malloc((n + 1) * sizeof *codes);
    for (size_t i = 0; codes && i < n; i++)
        codes[i] = (uint64_t)Long_val(Field(frames, n - 1 - i));
    return codes;
}

static memtrace_status put_alloc(writer *w, memtrace_stream *s, uint64_t time, value alloc,
                                 const uint64_t *codes, size_t n, uint64_t *id) {
    memtrace_source heap = (memtrace_source)Int_val(Field(alloc, ALLOC_HEAP));
    uint64_t words = (uint64_t)Long_val(Field(alloc, ALLOC_WORDS)),
             samples = (uint64_t)Long_val(Field(alloc, ALLOC_SAMPLES));
    intnat chosen = Long_val(Field(alloc, ALLOC_ID));
    if (chosen < 0 || w->numbers) {
        memtrace_status status =
            memtrace_stream_alloc(s, time, heap, words, samples, codes, n, 0, id);
        w->n_ids += status == MEMTRACE_OK;
        return status;
    }
    *id = (uint64_t)chosen;
    return memtrace_stream_alloc_as(s, time, *id, heap, words, samples, codes, n, 0);
}

/* Whether the id is the one that readers of version 2 will assume, since they count blocks; any
 * other id would then refer to another block. */
static bool id_follows(writer *w, value alloc) {
    intnat chosen = Long_val(Field(alloc, ALLOC_ID));
    if (chosen < 0 || !w->numbers || (uint64_t)chosen == w->n_ids)
        return true;
    w->misuse = "Memtrace.Trace.Writer.put_event: the block's id does not follow on those before, "
                "which takes a writer that was created with a domain";
    return false;
}

static bool id_is_known(writer *w, uint64_t id) {
    w->misuse = "Memtrace.Trace.Writer: a change of a block that was not written";
    return !w->numbers || id < w->n_ids;
}

value caml_memtrace_raw_alloc(value v, value questions, value alloc);
value caml_memtrace_raw_alloc(value v, value questions, value alloc) {
    CAMLparam3(v, questions, alloc);
    CAMLlocal1(raised);
    uint64_t id = 0;
    raised = Val_unit;
    writer *w = writer_enter(v, &questions, &raised);
    size_t n = Wosize_val(Field(alloc, ALLOC_FRAMES));
    uint64_t *codes = copy_frames(Field(alloc, ALLOC_FRAMES), n);
    memtrace_stream *s = stream_of(w, Field(alloc, ALLOC_DOMAIN));
    memtrace_status status = MEMTRACE_NOMEM;
    if (!id_follows(w, alloc))
        status = MEMTRACE_USAGE;
    else if (codes && s)
        status = put_alloc(w, s, time_of(w, Field(alloc, ALLOC_TIME)), alloc, codes, n, &id);
    free(codes);
    writer_leave(w, status);
    CAMLreturn(Val_long(id));
}

/* The fields of Writer.change. */
enum { CHANGE_TIME, CHANGE_DOMAIN, CHANGE_ID, CHANGE_IS_PROMOTION };

value caml_memtrace_raw_change(value v, value questions, value change);
value caml_memtrace_raw_change(value v, value questions, value change) {
    CAMLparam3(v, questions, change);
    CAMLlocal1(raised);
    raised = Val_unit;
    writer *w = writer_enter(v, &questions, &raised);
    uint64_t time = time_of(w, Field(change, CHANGE_TIME)),
             id = (uint64_t)Long_val(Field(change, CHANGE_ID));
    bool is_promotion = Bool_val(Field(change, CHANGE_IS_PROMOTION));
    memtrace_stream *s = stream_of(w, Field(change, CHANGE_DOMAIN));
    memtrace_status status = MEMTRACE_NOMEM;
    if (!id_is_known(w, id))
        status = MEMTRACE_USAGE;
    else if (s)
        status = is_promotion ? memtrace_stream_promote(s, time, id)
                              : memtrace_stream_collect(s, time, id);
    writer_leave(w, status);
    CAMLreturn(Val_unit);
}

value caml_memtrace_raw_flush(value v, value questions);
value caml_memtrace_raw_flush(value v, value questions) {
    CAMLparam2(v, questions);
    CAMLlocal1(raised);
    memtrace_status status = MEMTRACE_OK;
    raised = Val_unit;
    writer *w = writer_enter(v, &questions, &raised);
    for (struct domain_stream *s = w->streams; s && status == MEMTRACE_OK; s = s->next)
        status = memtrace_stream_flush(s->stream);
    writer_leave(w, status);
    CAMLreturn(Val_unit);
}

value caml_memtrace_raw_close(value v, value questions);
value caml_memtrace_raw_close(value v, value questions) {
    CAMLparam2(v, questions);
    CAMLlocal1(raised);
    raised = Val_unit;
    writer *w = writer_enter(v, &questions, &raised);
    writer_leave(w, writer_close(w));
    CAMLreturn(Val_unit);
}
