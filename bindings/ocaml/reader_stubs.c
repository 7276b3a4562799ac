/* reader_stubs.c: Trace.Reader, implemented with allotrace/memtrace.h. A `pass` reads a file once
 * from its start; it may be closed before it is collected. */
#define CAML_NAME_SPACE
#include <caml/alloc.h>
#include <caml/callback.h>
#include <caml/custom.h>
#include <caml/fail.h>
#include <caml/memory.h>
#include <caml/mlvalues.h>

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "allotrace/memtrace.h"
#include "ocaml_errors.h"

typedef struct pass {
    memtrace_reader *reader; /* NULL: closed */
    memtrace_event event;    /* the last event; its frames are valid until the next */
    atomic_flag in_use; /* a thread is using the pass, in OCaml 5 perhaps from another domain */
} pass;

#define PASS(v) (*(pass **)Data_custom_val(v))

static void pass_free(value v) {
    pass *p = PASS(v);
    if (p)
        memtrace_reader_close(p->reader);
    free(p);
}

static struct custom_operations pass_operations = {
    .identifier = "memtrace.pass",
    .finalize = pass_free,
    .compare = custom_compare_default,
    .hash = custom_hash_default,
    .serialize = custom_serialize_default,
    .deserialize = custom_deserialize_default,
    .compare_ext = custom_compare_ext_default,
};

/* No OCaml exception may be raised between pass_enter and pass_leave. */
static pass *pass_enter(value v) {
    pass *p = PASS(v);
    if (atomic_flag_test_and_set(&p->in_use))
        caml_invalid_argument("Memtrace.Trace.Reader: another thread is using it");
    if (p->reader)
        return p;
    atomic_flag_clear(&p->in_use);
    caml_invalid_argument("Memtrace.Trace.Reader: it is closed");
}

static void pass_leave(pass *p) {
    atomic_flag_clear(&p->in_use);
}

static void raise_error(const memtrace_error *error) {
    switch (error->status) {
    case MEMTRACE_IO:
        raise_errno(error->os_error ? error->os_error : EIO, "read");
        break;
    case MEMTRACE_NOMEM:
        caml_raise_out_of_memory();
    default:
        caml_raise_with_string(*caml_named_value("caml_memtrace_parse_error"), error->reason);
    }
}

/* Opens the file once more, from its start, with an offset of its own if the system allows that. */
static int open_again(int fd) {
    struct stat status;
    char path[32];
    if (fstat(fd, &status) != 0)
        return -1;
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    int own = S_ISREG(status.st_mode) ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (own < 0)
        own = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    if (own >= 0 && S_ISREG(status.st_mode))
        lseek(own, 0, SEEK_SET);
    return own;
}

value caml_memtrace_pass_open(value fd, value backtraces);
value caml_memtrace_pass_open(value fd, value backtraces) {
    CAMLparam0();
    CAMLlocal1(result);
    const memtrace_reader_options options = {.skip_backtraces = !Bool_val(backtraces),
                                             .as_written = true};
    memtrace_error error;
    result = caml_alloc_custom_mem(&pass_operations, sizeof(pass *), sizeof(pass));
    PASS(result) = NULL;
    int own = open_again(Int_val(fd));
    if (own < 0)
        raise_errno(errno, "open");
    pass *p = calloc(1, sizeof *p);
    if (!p) {
        close(own);
        caml_raise_out_of_memory();
    }
    PASS(result) = p;
    if (memtrace_reader_open_fd(own, &options, &p->reader, &error) != MEMTRACE_OK)
        raise_error(&error);
    CAMLreturn(result);
}

value caml_memtrace_pass_close(value v);
value caml_memtrace_pass_close(value v) {
    pass *p = PASS(v);
    if (!p->reader) /* called twice if one pass serves two purposes */
        return Val_unit;
    pass_enter(v);
    memtrace_reader_close(p->reader);
    p->reader = NULL;
    pass_leave(p);
    return Val_unit;
}

static value some_text(const char *text) {
    CAMLparam0();
    CAMLlocal2(string, result);
    if (!*text)
        CAMLreturn(Val_int(0));
    string = caml_copy_string(text);
    result = caml_alloc_small(1, 0);
    Field(result, 0) = string;
    CAMLreturn(result);
}

/* Returns a Trace.Info.t; the fields are in its order. */
value caml_memtrace_pass_info(value v);
value caml_memtrace_pass_info(value v) {
    CAMLparam1(v);
    CAMLlocal1(result);
    const memtrace_info *info = memtrace_reader_info(PASS(v)->reader); /* no other thread has it */
    result = caml_alloc(8, 0);
    Store_field(result, 0, caml_copy_double(info->sample_rate));
    Store_field(result, 1, Val_int(info->word_size));
    Store_field(result, 2, caml_copy_string(info->executable_name));
    Store_field(result, 3, caml_copy_string(info->host_name));
    Store_field(result, 4, caml_copy_string(info->runtime_params));
    Store_field(result, 5, caml_copy_int64((int64_t)info->pid));
    Store_field(result, 6, Val_long(info->start_time));
    Store_field(result, 7, some_text(info->context));
    CAMLreturn(result);
}

/* Sets the fields of Reader.cursor, which are all integers. */
static void cursor_set(value cursor, const memtrace_event *e) {
    const uint64_t fields[] = {e->kind,   e->time,    e->id,       e->domain,       e->source,
                               e->length, e->samples, e->n_frames, e->common_prefix};
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        Field(cursor, i) = Val_long(fields[i]);
}

value caml_memtrace_pass_next(value v, value cursor);
value caml_memtrace_pass_next(value v, value cursor) {
    pass *p = pass_enter(v);
    memtrace_status status = memtrace_reader_next(p->reader, &p->event);
    memtrace_error error = *memtrace_reader_error(p->reader);
    pass_leave(p);
    if (status == MEMTRACE_OK)
        cursor_set(cursor, &p->event);
    else if (status != MEMTRACE_END)
        raise_error(&error);
    return Val_bool(status == MEMTRACE_OK);
}

/* Writes the codes of the last event's frames, starting with frame `from`, into an array. */
value caml_memtrace_pass_frames(value v, value from, value array);
value caml_memtrace_pass_frames(value v, value from, value array) {
    pass *p = pass_enter(v);
    const size_t n = p->event.n_frames < Wosize_val(array) ? p->event.n_frames : Wosize_val(array);
    for (size_t i = (size_t)Long_val(from); i < n; i++)
        Field(array, i) = Val_long(memtrace_reader_frame(p->reader, p->event.frames[i])->code);
    pass_leave(p);
    return Val_unit;
}

value caml_memtrace_pass_n_codes(value v);
value caml_memtrace_pass_n_codes(value v) {
    pass *p = pass_enter(v);
    uint32_t n = memtrace_reader_n_frames(p->reader);
    pass_leave(p);
    return Val_long(n);
}

value caml_memtrace_pass_code(value v, value index);
value caml_memtrace_pass_code(value v, value index) {
    pass *p = pass_enter(v);
    uint64_t code = memtrace_reader_frame(p->reader, (uint32_t)Long_val(index))->code;
    pass_leave(p);
    return Val_long(code);
}

/* Returns a Trace.Location.t; the fields are in its order. */
static value copy_location(const memtrace_location *l) {
    CAMLparam0();
    CAMLlocal1(result);
    result = caml_alloc(5, 0);
    Store_field(result, 0, caml_copy_string(l->file));
    Store_field(result, 1, Val_long(l->line));
    Store_field(result, 2, Val_long(l->start_char));
    Store_field(result, 3, Val_long(l->end_char));
    Store_field(result, 4, caml_copy_string(l->function));
    CAMLreturn(result);
}

static value cons(value head, value tail) {
    CAMLparam2(head, tail);
    CAMLlocal1(result);
    result = caml_alloc_small(2, Tag_cons);
    Field(result, 0) = head;
    Field(result, 1) = tail;
    CAMLreturn(result);
}

/* Returns the places of a frame. They are copied first, since the reader's own copy may move while
 * OCaml allocates, if another thread reads on. */
value caml_memtrace_pass_places(value v, value index);
value caml_memtrace_pass_places(value v, value index) {
    CAMLparam1(v);
    CAMLlocal2(head, result);
    memtrace_location places[1 + MEMTRACE_MAX_LOCATIONS];
    size_t n = 0;
    pass *p = pass_enter(v);
    const memtrace_frame *frame = memtrace_reader_frame(p->reader, (uint32_t)Long_val(index));
    if (frame->type)
        places[n++] = (memtrace_location){.file = MEMTRACE_TYPE_FILE, .function = frame->type};
    for (uint32_t i = 0; i < frame->n_locations && n < sizeof places / sizeof *places; i++)
        places[n++] = frame->locations[i];
    pass_leave(p);
    result = Val_emptylist;
    while (n-- > 0) {
        head = copy_location(&places[n]);
        result = cons(head, result);
    }
    CAMLreturn(result);
}

static value copy_warning(const memtrace_warning *w) {
    char text[256];
    snprintf(text, sizeof text, "%s (%llu, the first at byte %llu)", w->text,
             (unsigned long long)w->count, (unsigned long long)w->first_offset);
    return caml_copy_string(text);
}

value caml_memtrace_pass_warnings(value v);
value caml_memtrace_pass_warnings(value v) {
    CAMLparam1(v);
    CAMLlocal2(head, result);
    memtrace_warning warnings[MEMTRACE_N_DEFECTS];
    size_t n;
    pass *p = pass_enter(v);
    const memtrace_warning *all = memtrace_reader_warnings(p->reader, &n);
    if (n > 0)
        memcpy(warnings, all, n * sizeof *all);
    pass_leave(p);
    result = Val_emptylist;
    while (n-- > 0) {
        head = copy_warning(&warnings[n]);
        result = cons(head, result);
    }
    CAMLreturn(result);
}
