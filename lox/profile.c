/* profile.c: writes a memtrace trace of what the engine samples.
 *
 * A frame's code in the trace identifies a function and an instruction in it. The code of the
 * innermost frame also has the type of the object, so that one expression may allocate several
 * types:
 *
 *     63     44 43      24 23          0
 *     |  type  | function | place + 1 |    function and place are 0 for the runtime itself
 *
 * A type is that of an object or, for an instance, N_OBJECT_TYPES plus the number of its class's
 * name. Functions and places that do not fit, which no real program has, count as the runtime's. */
#include "profile.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "allotrace/memtrace.h"
#include "memory.h"

enum { TYPE_SHIFT = 44, FUNCTION_SHIFT = 24 };

#define LOW_BITS(n) ((UINT64_C(1) << (n)) - 1)

/* Not a frame: stands for the remark. */
#define CODE_OF_REMARK UINT64_MAX

typedef struct profile {
    lox_vm *vm;
    memtrace_writer *writer;
    memtrace_stream *stream;
    int file;
    off_t written;  /* bytes of complete packets */
    int failure;    /* errno of the first write that failed */
    uint64_t start; /* microseconds, monotonic */

    table class_numbers; /* name → number */
    string **class_names;
    uint32_t n_class_names, class_names_capacity;
    struct text *texts; /* strings used by names in the trace */
    char remark[64];    /* says what was lost */
} profile;

typedef struct text {
    struct text *next;
    char text[];
} text;

static const char *const type_names[] = {
#define TYPE_NAME(id, name) name,
    OBJECT_TYPES(TYPE_NAME)
#undef TYPE_NAME
};

static uint64_t microseconds(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

static uint64_t now(const profile *p) {
    return microseconds(CLOCK_MONOTONIC) - p->start;
}

static void note(profile *p, memtrace_status status) {
    if (status && !p->failure)
        p->failure = ENOMEM;
}

/* ---- the engine's host ----------------------------------------------------------------------- */

static void *reallocate(void *context, void *old, size_t old_size, size_t size) {
    (void)context, (void)old_size;
    if (size)
        return realloc(old, size);
    free(old);
    return NULL;
}

static uint64_t code_of(const frame *f) {
    uint64_t key = frame_key(f), id = key >> 32, at = key & LOW_BITS(32);
    bool fits = id <= LOW_BITS(TYPE_SHIFT - FUNCTION_SHIFT) && at <= LOW_BITS(FUNCTION_SHIFT);
    return fits ? id << FUNCTION_SHIFT | at : 0;
}

/* Class names do not move and live as long as the VM. */
static uint64_t type_of_instance(profile *p, string *class_name) {
    const value *known = table_get(&p->class_numbers, class_name);
    uint64_t type = N_OBJECT_TYPES + (known ? *known : p->n_class_names);
    if (type > LOW_BITS(64 - TYPE_SHIFT))
        return OBJECT_INSTANCE;
    if (!known) {
        table_set(&p->class_numbers, class_name, p->n_class_names);
        MEMORY_PUSH(p->class_names, p->n_class_names, p->class_names_capacity, class_name);
    }
    return type;
}

/* Called while the object is being allocated, when an instance does not have its class yet. */
static uint64_t type_of(const lox_vm *vm, const object *o) {
    object_type type = object_type_of(o);
    return type == OBJECT_INSTANCE ? type_of_instance(vm->profile, vm->heap.new_class->name) : type;
}

/* Writes the stack, outermost frame first, as the trace needs it. If there is not enough room,
 * keeps the innermost frames. */
static size_t callstack(void *context, memprof_thread *thread, const void *site, uint64_t *frames,
                        size_t max) {
    (void)thread;
    const object *o = site;
    lox_vm *vm = context;
    size_t depth = lox_stack_depth(vm);
    bool own = vm->heap.locked || !depth; /* nothing in the program asked for it */
    size_t room = max - (own && max), n = depth < room ? depth : room;
    for (size_t i = 0; i < n; i++)
        frames[n - 1 - i] = code_of(vm->frame - i);
    if (own && max)
        frames[n++] = 0;
    if (n)
        frames[n - 1] |= type_of(vm, o) << TYPE_SHIFT;
    return n;
}

/* ---- the engine's tracker; metadata is the id in the trace, plus one ------------------------- */

static void *born(profile *p, const memprof_allocation *info, memtrace_source source) {
    uint64_t id;
    if (p->failure)
        return NULL;
    memtrace_status status =
        memtrace_stream_alloc(p->stream, now(p), source, info->size, info->n_samples,
                              info->callstack, info->callstack_length, 0, &id);
    note(p, status);
    return status ? NULL : (void *)(uintptr_t)(id + 1);
}

static void *born_minor(void *context, memprof_thread *thread, const memprof_allocation *info) {
    (void)thread;
    return born(context, info, MEMTRACE_MINOR);
}

static void *born_major(void *context, memprof_thread *thread, const memprof_allocation *info) {
    (void)thread;
    return born(context, info, MEMTRACE_MAJOR);
}

static void *promoted(void *context, memprof_thread *thread, void *metadata) {
    (void)thread;
    profile *p = context;
    note(p, memtrace_stream_promote(p->stream, now(p), (uintptr_t)metadata - 1));
    return metadata;
}

static void died(void *context, memprof_thread *thread, void *metadata) {
    (void)thread;
    profile *p = context;
    note(p, memtrace_stream_collect(p->stream, now(p), (uintptr_t)metadata - 1));
}

void profile_track(lox_vm *vm, object *o, uint64_t k, memprof_heap where) {
    heap *h = &vm->heap;
    if (k)
        memprof_track(h->engine, &h->thread,
                      &(memprof_birth){.address = (uintptr_t)o,
                                       .size = object_payload(o),
                                       .n_samples = k,
                                       .heap = where,
                                       .site = o});
    if (memprof_has_postponed(&h->thread))
        memprof_run_postponed(h->engine, &h->thread);
}

/* ---- the trace ------------------------------------------------------------------------------- */

/* After a failed write, a regular file keeps complete packets only. */
static int give_up(const profile *p, int error) {
    if (ftruncate(p->file, p->written) != 0)
        return error; /* a pipe, or else damage that readers skip */
    return error;
}

static int sink(void *context, const void *packets, size_t size) {
    profile *p = context;
    const size_t whole = size;
    const char *at = packets;
    while (size) {
        ssize_t n = write(p->file, at, size);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return p->failure = give_up(p, errno);
        at += n;
        size -= (size_t)n;
    }
    p->written += (off_t)whole;
    return 0;
}

/* Overwrites part of the file, which works even where writing has failed, as on a full disk. */
static int amend(void *context, uint64_t offset, const void *bytes, size_t size) {
    const profile *p = context;
    ssize_t n = pwrite(p->file, bytes, size, (off_t)offset);
    return n < 0 ? errno : (size_t)n == size ? 0 : EIO;
}

/* Concatenates three strings. The result lives as long as the profile. If there is no memory the
 * trace fails, but the function returns, since the writer is its caller. */
static const char *join(profile *p, const char *a, const char *b, const char *c) {
    size_t size = strlen(a) + strlen(b) + strlen(c) + 1;
    text *t = malloc(sizeof *t + size);
    if (!t) {
        p->failure = p->failure ? p->failure : ENOMEM;
        return c;
    }
    snprintf(t->text, size, "%s%s%s", a, b, c);
    t->next = p->texts;
    p->texts = t;
    return t->text;
}

/* Returns "LoxArray" or "Point LoxObject": the kind comes last, where the advice expects it. */
static const char *type_name(profile *p, uint64_t type) {
    if (type < N_OBJECT_TYPES)
        return type_names[type];
    return join(p, p->class_names[type - N_OBJECT_TYPES]->text, " ", type_names[OBJECT_INSTANCE]);
}

/* Returns "name" or "Class.name". */
static const char *function_name(profile *p, const function *f) {
    if (!f->name)
        return "script";
    return f->class_name ? join(p, f->class_name->text, ".", f->name->text) : f->name->text;
}

static memtrace_location location_of(profile *p, uint64_t id, uint64_t at) {
    if (!at)
        return (memtrace_location){.file = "", .function = "lox"};
    const function *f = p->vm->functions[id];
    const place *where = &f->places[at - 1];
    return (memtrace_location){.file = f->file,
                               .function = function_name(p, f),
                               .line = where->line,
                               .start_char = where->start_column,
                               .end_char = where->end_column};
}

static size_t locate(void *context, uint64_t key, memtrace_location *locations, size_t max) {
    profile *p = context;
    size_t n = 0;
    uint64_t type = key >> TYPE_SHIFT;
    if (key == CODE_OF_REMARK) {
        if (max)
            locations[n++] = (memtrace_location){.file = MEMTRACE_MARK_FILE, .function = p->remark};
        return n;
    }
    if (type && n < max)
        locations[n++] =
            (memtrace_location){.file = MEMTRACE_TYPE_FILE, .function = type_name(p, type)};
    if (n < max)
        locations[n++] =
            location_of(p, key >> FUNCTION_SHIFT & LOW_BITS(TYPE_SHIFT - FUNCTION_SHIFT),
                        key & LOW_BITS(FUNCTION_SHIFT));
    return n;
}

static memtrace_status open_trace(profile *p, const lox_trace_options *o) {
    char host[256] = "", program[PATH_MAX] = "lox";
    gethostname(host, sizeof host - 1);
    ssize_t n = readlink("/proc/self/exe", program, sizeof program - 1);
    if (n > 0)
        program[n] = '\0';
    memtrace_info info = {.version = 2, /* memtrace 0.2.3 can read this version */
                          .sample_rate = o->rate,
                          .start_time = microseconds(CLOCK_REALTIME),
                          .pid = (uint64_t)getpid(),
                          .executable_name = program,
                          .host_name = host,
                          .runtime_params = "",
                          .context = o->context ? o->context : ""};
    memtrace_writer_options options = {
        .sink = sink, .locate = locate, .amend = amend, .context = p};
    memtrace_error error;
    memtrace_status status = memtrace_writer_open(&info, &options, &p->writer, &error);
    return status ? status : memtrace_stream_open(p->writer, 0, &p->stream);
}

static void start_engine(lox_vm *vm, profile *p, const lox_trace_options *o) {
    heap *h = &vm->heap;
    h->engine = memprof_create(&(memprof_host){
        .context = vm, .reallocate = reallocate, .callstack = callstack, .collects = true});
    if (!h->engine)
        memory_exhausted();
    memprof_tracker tracker = {.context = p,
                               .alloc_minor = born_minor,
                               .alloc_major = born_major,
                               .promote = promoted,
                               .dealloc_minor = died,
                               .dealloc_major = died};
    memprof_options options = {.rate = o->rate, .callstack_size = o->depth, .seed = o->seed};
    if (memprof_start(h->engine, &h->thread, &options, &tracker))
        memory_exhausted();
    heap_set_limit(h);
}

void profile_start_sampler(heap *h, double rate, uint64_t seed) {
    h->sampler = memprof_create(&(memprof_host){.reallocate = reallocate, .collects = true});
    memprof_options options = {.rate = rate, .seed = seed};
    if (!h->sampler ||
        memprof_start(h->sampler, &h->sampler_thread, &options, &memprof_null_tracker))
        memory_exhausted();
}

void profile_stop_sampler(heap *h) {
    if (!h->sampler)
        return;
    memprof_nursery_leave(h->sampler, &h->sampler_thread, h->next);
    memprof_thread_exit(h->sampler, &h->sampler_thread);
    memprof_destroy(h->sampler);
    h->sampler = NULL;
}

static void profile_free(profile *p) {
    while (p->texts) {
        text *next = p->texts->next;
        free(p->texts);
        p->texts = next;
    }
    memory_free(p->class_names);
    table_free(&p->class_numbers);
    memory_free(p);
}

/* Opens the file, unless another process is writing it, which its lock shows if the file system has
 * locks. Returns 0 or an errno. */
static int open_file(profile *p, const char *path) {
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    struct stat st;
    p->file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    if (p->file < 0 || fstat(p->file, &st) != 0)
        return errno;
    if (!S_ISREG(st.st_mode))
        return 0;
    if (fcntl(p->file, F_OFD_SETLK, &whole) != 0 && (errno == EAGAIN || errno == EACCES))
        return EWOULDBLOCK;
    return ftruncate(p->file, 0) == 0 ? 0 : errno;
}

int lox_trace_start(lox_vm *vm, const char *path, const lox_trace_options *options) {
    if (vm->profile || !(options->rate > 0 && options->rate <= 1))
        return EINVAL;
    profile *p = memory_new(sizeof *p);
    *p = (profile){.vm = vm, .start = microseconds(CLOCK_MONOTONIC)};
    int why = open_file(p, path);
    if (!why && open_trace(p, options))
        why = p->failure ? p->failure : ENOMEM;
    if (why) {
        if (p->file >= 0)
            close(p->file);
        profile_free(p);
        return why;
    }
    vm->profile = p;
    start_engine(vm, p, options);
    return 0;
}

/* If samples were dropped, says so in the trace, and with ENOMEM. */
static void note_loss(profile *p, memprof *engine) {
    memprof_stats stats;
    memprof_get_stats(engine, &stats);
    if (!stats.lost_memory)
        return;
    snprintf(p->remark, sizeof p->remark, "dropped %llu samples: the engine had no memory",
             (unsigned long long)stats.lost_memory);
    note(p, memtrace_stream_remark(p->stream, now(p), CODE_OF_REMARK, 0));
    note(p, MEMTRACE_NOMEM);
}

int lox_trace_stop(lox_vm *vm) {
    heap *h = &vm->heap;
    profile *p = vm->profile;
    if (!p)
        return 0;
    memprof_nursery_leave(h->engine, &h->thread, h->next);
    memprof_status stopped = memprof_stop(h->engine, &h->thread);
    note_loss(p, h->engine);
    if (!stopped) { /* otherwise memory ran out in a callback that never returned, so the engine is
                       not freed */
        memprof_thread_exit(h->engine, &h->thread);
        memprof_destroy(h->engine);
    }
    h->engine = NULL;
    heap_set_limit(h);
    note(p, memtrace_stream_close_at(p->stream, now(p)));
    note(p, memtrace_writer_close(p->writer));
    int why = p->failure ? p->failure : stopped ? EINVAL : 0;
    if (close(p->file) && !why)
        why = errno;
    vm->profile = NULL;
    profile_free(p);
    return why;
}
