/* session.c: the life of a recording. recorder.c opens a session. native.c and the runtimes then
 * put events into the streams of its domains (domain.c), and now and then come here:
 * session_sweep_due writes out old data and reads gauges. At the end the gauges are read a last
 * time, losses are counted, the streams are flushed, and the end is described in the trace. After a
 * fork, the child lets go of everything that belongs to the parent. The functions called hook_* are
 * called by the trace writer and the engine. */
#include "record/session.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/random.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/utsname.h>

#include "base/hash.h"
#include "base/hot.h"
#include "platform/maps.h"
#include "platform/module.h"
#include "platform/pages.h"
#include "platform/syscall.h"
#include "record/calls.h"
#include "record/ids.h"
#include "record/native.h"
#include "record/newborn.h"
#include "record/runtime.h"
#include "record/text.h"

/* Returns how long after a sweep the next one is due, which bounds what is lost if the process is
 * killed: an eighth of the process's life so far, at most a tenth of a second. The next event after
 * that makes the sweep. So a program that is sampled more rarely has each event written at once. */
static uint64_t sweep_interval(uint64_t now) {
    enum { LEAST = 1000, MOST = 100000 }; /* µs */
    uint64_t part = now / 8;
    return part < LEAST ? LEAST : part < MOST ? part : MOST;
}

/* Most frames of the recorder itself on a stack. */
#define OWN_FRAMES 16

/* Fewest native frames that a splicing runtime gets. One frame of the language may stand for a
 * dozen native ones, and the outermost frames may tell where its innermost ones belong. */
#define SPLICED_DEPTH 2048

static const char *const type_names[N_CALL_TYPES] = {
#define TYPE_NAME(name, text, ...)         [TYPE_##name] = text,
#define TYPE_NAME_OTHER(result, name, ...) [TYPE_##name] = #name,
    CALLS_ALLOCATING(TYPE_NAME) CALLS_NEW(TYPE_NAME) CALLS_RESIZING(TYPE_NAME_OTHER)
        CALLS_MAPPED(TYPE_NAME)};
_Static_assert(N_CALL_TYPES + SESSION_RUNTIME_TYPES < CODE_TYPE_POOL, "a code has six bits for it");

static void session_name_types(struct session *s) {
    const struct runtime *r = s->runtime;
    memcpy(s->type_names, type_names, sizeof type_names);
    for (size_t i = 0; r && i < r->n_types && i < SESSION_RUNTIME_TYPES; i++)
        s->type_names[N_CALL_TYPES + i] = r->type_names[i];
    s->n_object_types = r && r->splice ? r->n_object_types : 0;
}

/* ---- hooks for the writer and the engine --------------------------------------------------- */

static int hook_sink(void *context, const void *packets, size_t size) {
    struct session *s = context;
    return sink_write(&s->sink, packets, size);
}

static int hook_sink_spread(void *context, const void *bytes, size_t size, size_t hole,
                            size_t times) {
    struct session *s = context;
    return sink_write_spread(&s->sink, bytes, size, hole, times);
}

static int hook_amend(void *context, uint64_t offset, const void *bytes, size_t size) {
    struct session *s = context;
    return sink_amend(&s->sink, offset, bytes, size);
}

static size_t locate_spliced(struct session *s, uintptr_t slot, memtrace_location *locations,
                             size_t max) {
    const unsigned type = code_spliced_type(slot);
    size_t n = 0;
    if (type && n < max)
        locations[n++] =
            (memtrace_location){.file = MEMTRACE_TYPE_FILE, .function = s->type_names[type - 1]};
    return n + s->runtime->locate(&s->codes, code_spliced_slot(slot), locations + n, max - n);
}

static size_t locate(struct session *s, uint64_t code, memtrace_location *locations, size_t max) {
    if (s->splices && code_is_of_runtime(code))
        return locate_spliced(s, code_runtime_slot(code), locations, max);
    if (s->runtime && code_is_of_runtime(code))
        return s->runtime->locate(&s->codes, code_runtime_slot(code), locations, max);
    return code_locate(&s->codes, s->type_names, code, locations, max);
}

/* The type precedes the locations of the code without a type. */
static size_t locate_in_pool(struct session *s, uint64_t code, memtrace_location *locations,
                             size_t max) {
    uint16_t pool;
    const uint64_t site = code_pool_site(&s->codes, code, &pool);
    if (max == 0)
        return 0;
    locations[0] = (memtrace_location){.file = MEMTRACE_TYPE_FILE, .function = pools_text(pool)};
    return 1 + locate(s, site, locations + 1, max - 1);
}

static size_t hook_locate(void *context, uint64_t code, memtrace_location *locations, size_t max) {
    struct session *s = context;
    return (code_is_of_pool(code) ? locate_in_pool : locate)(s, code, locations, max);
}

static void *hook_reallocate(void *context, void *old, size_t old_size, size_t size) {
    struct session *s = context;
    if (!old && s->domains.opens_stream) {
        void *stream = rescue_alloc(&s->rescue, size);
        if (stream)
            return stream;
    }
    if (old && size == 0 && rescue_free(&s->rescue, old))
        return NULL;
    return memory_realloc(&s->memory, old, old_size, size);
}

/* ---- events ------------------------------------------------------------------------------ */

static bool is_main_thread(void) {
    return syscall4(SYS_gettid, 0, 0, 0, 0) == syscall4(SYS_getpid, 0, 0, 0, 0);
}

struct domain *session_domain(struct session *s) {
    if (!self.domain) {
        self.domain = domain_acquire(&s->domains, is_main_thread());
        if (self.domain)
            self.domain->now_cycles = self.domain->name_since = self.domain->name_due = 0;
        self.owner = self.domain && !self.domain->fenced ? s : NULL;
    }
    return self.domain;
}

void session_open_gates(struct session *s, bool open) {
    if (!s->gates)
        return;
    open &= !s->splices; /* the fast paths handle only native stacks */
    atomic_store(&s->gates->everything, open && session_is_of_everything(s) ? s : NULL);
    atomic_store(&s->gates->fast, open && s->ids ? s : NULL);
}

void session_note(struct session *s, memtrace_status status) {
    if (status == MEMTRACE_NOMEM)
        atomic_fetch_add_explicit(&s->lost_event, 1, memory_order_relaxed);
    else if (status != MEMTRACE_OK) {
        atomic_store_explicit(&s->failed, true, memory_order_relaxed);
        session_open_gates(s, false);
    }
}

/* Returns the time of the domain's oldest event that is not written out; UINT64_MAX: there is none.
 * A guess unless the domain is entered. */
static uint64_t domain_oldest(const struct domain *d) {
    const bool waits = atomic_load_explicit(&d->newborn.waits, memory_order_relaxed);
    const uint64_t oldest = memtrace_stream_oldest(d->stream);
    return waits && d->newborn.time < oldest ? d->newborn.time : oldest;
}

static void domain_flush_inside(struct session *s, struct domain *d) {
    newborn_settle(s, d, NULL);
    if (memtrace_stream_oldest(d->stream) != UINT64_MAX)
        session_note(s, memtrace_stream_flush(d->stream));
}

/* Writes a mark, or the value of a gauge. The calling thread must have entered the domain. */
void session_put_remark(struct session *s, struct domain *d, uint64_t now, uint64_t code,
                        uint64_t value) {
    newborn_settle(s, d, NULL);
    const memtrace_status status = memtrace_stream_remark(d->stream, now, code, value);
    if (status == MEMTRACE_OK)
        rescue_count_remark(&s->rescue);
    domain_forget_stack(d); /* it is no longer the last one in the stream */
    if (d->runtime)
        s->runtime->domain_forget(d->runtime);
    session_note(s, status);
}

static _Atomic bool names_forbidden; /* for good, because filters stay, also in children */

void session_forbid_asking(void) {
    atomic_store_explicit(&names_forbidden, true, memory_order_relaxed);
    maps_forbid_query();
}

void session_name_thread(struct session *s, struct domain *d) {
    enum { OFTEN = 100000 /* us */ };
    char name[CODE_THREAD_NAME] = "";
    d->name_since = d->name_since ? d->name_since : d->now;
    const uint64_t age = d->now - d->name_since;
    d->name_due = d->now + (age < OFTEN ? age : OFTEN);
    if (atomic_load_explicit(&names_forbidden, memory_order_relaxed) ||
        syscall_failed(syscall4(SYS_prctl, PR_GET_NAME, (long)name, 0, 0)))
        return;
    memset(name + strnlen(name, sizeof name - 1), 0, sizeof name - strnlen(name, sizeof name - 1));
    if (!name[0] || memcmp(name, d->name, sizeof name) == 0)
        return;
    const uint64_t code = code_of_thread(&s->codes, name);
    if (!code)
        return;
    memcpy(d->name, name, sizeof name);
    session_put_remark(s, d, session_now_nearly(s, d), code, 0);
}

uint16_t session_scope_of_task(struct session *s, struct domain *d, unsigned type) {
    return s->runtime->scope ? s->runtime->scope(d->runtime, type, self.scope) : self.scope;
}

void session_tell_scope(struct session *s, struct domain *d, uint64_t now, uint16_t scope) {
    d->scope = scope;
    session_put_remark(s, d, now, CODE_SCOPES + d->scope, 0);
}

void session_tell_span(struct session *s, struct domain *d, uint64_t now) {
    struct span_remark remarks[SPAN_REMARKS];
    memtrace_span span;
    if (!span_has_changed(&d->span, d->now, &span))
        return;
    d->span.now = span;
    const size_t n = span_remark_list(&d->span.said, &span, remarks);
    for (size_t i = 0; i < n; i++)
        session_put_remark(s, d, now, CODE_SPANS + remarks[i].which, remarks[i].value);
}

static void session_put_gauges(struct session *s, struct domain *d, uint64_t now) {
    uint64_t bytes[(int)N_GAUGES > (int)RUNTIME_GAUGES ? N_GAUGES : RUNTIME_GAUGES];
    const struct runtime *const r = s->runtime;
    const bool is_read = gauges_read(&s->gauges, bytes);
    for (unsigned i = 0; is_read && i < N_GAUGES; i++)
        session_put_remark(s, d, now, CODE_GAUGES + i, bytes[i] / sizeof(uint64_t));
    if (r && r->n_gauges)
        r->read_gauges(bytes);
    for (unsigned i = 0; r && i < r->n_gauges; i++)
        if (bytes[i] != RUNTIME_GAUGE_UNKNOWN)
            session_put_remark(s, d, now, CODE_GAUGES + N_GAUGES + i, bytes[i] / sizeof(uint64_t));
}

uint64_t session_process_cpu(void) {
    struct timespec t;
    return syscall_failed(syscall4(SYS_clock_gettime, CLOCK_PROCESS_CPUTIME_ID, (long)&t, 0, 0))
               ? 0
               : (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

void session_put_cpu(struct session *s) {
    const uint64_t cpu = session_process_cpu(),
                   before = atomic_exchange_explicit(&s->cpu, cpu, memory_order_relaxed);
    if (cpu > before)
        atomic_fetch_add_explicit(&s->pace->cpu, cpu - before, memory_order_relaxed);
    atomic_store_explicit(&s->cpu_due, false, memory_order_relaxed);
}

/* Flushes a domain. Returns whether everything that its thread has recorded so far is now written.
 * `sees`: the thread has seen our time; only then is the look at its stream more than a guess. The
 * look saves visits to empty streams. */
static bool session_sweep_one(struct session *s, struct domain *d, bool sees) {
    const bool is_inside = atomic_load_explicit(&d->inside, memory_order_acquire);
    if (domain_oldest(d) == UINT64_MAX)
        return sees && !is_inside;
    if (!domain_visit(d, false))
        return false;
    domain_flush_inside(s, d);
    domain_visit_end(d);
    return true;
}

/* Begins a statement in the trace for the process that cuts it into segments: all events up to
 * `now` are written. From now on, any event of any thread is later than `now`, except in domains
 * that are named as left out. Returns false if another thread is still making such a statement,
 * because both would be mixed up. Also returns false if other threads cannot be made to see the
 * time: all would be left out every time, so nothing is stated. */
static bool session_begin_written(struct session *s, uint64_t now) {
    if (!s->sink.space || atomic_exchange(&s->tells_written, true))
        return false;
    self.domain->now = now + 1;
    session_raise_latest(s, now + 1);
    const bool seen = domain_table_barrier(&s->domains);
    if (!seen)
        atomic_store(&s->tells_written, false);
    return seen;
}

static void session_tell_written(struct session *s, uint64_t now, uint64_t n_left) {
    session_put_remark(s, self.domain, now, CODE_WRITTEN, n_left);
    domain_flush_inside(s, self.domain);
    atomic_store(&s->tells_written, false);
}

void session_sweep_due(struct session *s, uint64_t now, uint64_t due) {
    if (!atomic_compare_exchange_strong(&s->next_sweep, &due, now + sweep_interval(now)))
        return;
    session_put_gauges(s, self.domain, now);
    if (s->pace) {
        atomic_store_explicit(&s->pace->cycles, cpu_cycles(), memory_order_relaxed);
        atomic_store_explicit(&s->pace->at, clock_monotonic_us(), memory_order_relaxed);
        atomic_store_explicit(&s->cpu_due, true, memory_order_relaxed);
    }
    const bool tells = session_begin_written(s, now);
    uint64_t n_left = 0;
    for (struct domain *d = atomic_load(&s->domains.all); d; d = d->older) {
        if (d == self.domain || session_sweep_one(s, d, tells) || !tells)
            continue;
        session_put_remark(s, self.domain, now, CODE_LEFT, d->number);
        n_left++;
    }
    if (tells)
        session_tell_written(s, now, n_left);
    else
        domain_flush_inside(s, self.domain);
}

/* ---- start and end ----------------------------------------------------------------------- */

static uint64_t session_seed(const config *c) {
    uint64_t seed = c->seed;
    if (!c->seeded &&
        syscall4(SYS_getrandom, (long)&seed, sizeof seed, GRND_NONBLOCK, 0) != sizeof seed)
        seed = hash_u64(clock_wall_us()) ^ (uintptr_t)&seed;
    return seed;
}

/* Returns whether opening the file may block for as long as another process likes. */
static bool is_special(const char *file) {
    struct stat st;
    return syscall4(SYS_newfstatat, AT_FDCWD, (long)file, (long)&st, 0) == 0 &&
           !S_ISREG(st.st_mode);
}

/* Opens the file and writes its head, with all signals blocked. Otherwise a process that a signal
 * ends in between, as in pools of processes, would leave an empty file. Returns 0 or an errno. */
static int session_begin_file(struct session *s, const char *file, bool by_process, uint64_t space,
                              const memtrace_info *info, memtrace_writer_options *options) {
    const uint64_t every_signal = UINT64_MAX;
    uint64_t before;
    bool hold = !is_special(file);
    if (hold)
        syscall4(SYS_rt_sigprocmask, SIG_BLOCK, (long)&every_signal, (long)&before, sizeof before);
    int error = sink_open(&s->sink, file, s->pid, by_process);
    s->sink.space = space;
    if (!s->sink.regular)
        options->room = 0;
    if (!error && memtrace_writer_open(info, options, &s->writer, NULL) != MEMTRACE_OK)
        error = s->sink.error ? s->sink.error : ENOMEM;
    if (hold)
        syscall4(SYS_rt_sigprocmask, SIG_SETMASK, (long)&before, 0, sizeof before);
    return error;
}

/* Buffers that are not on the stack: a coroutine that forks may have little. */
struct paths {
    char program[PATH_MAX], file[PATH_MAX];
};

/* Returns 0 or an errno. */
static int session_open_writer(struct session *s, const struct session_plan *plan,
                               struct paths *paths) {
    const config *const c = plan->config;
    struct clock_anchor anchor = plan->began.wall_us ? plan->began : clock_anchor_now();
    struct utsname host = {0};
    syscall4(SYS_uname, (long)&host, 0, 0, 0);
    module_program(paths->program, sizeof paths->program);
    s->start = anchor.monotonic_us;
    s->rescue = (rescue){.path = c->rescue, .pid = s->pid, .start_time = anchor.wall_us};
    if (plan->waited)
        rescue_take_head(&s->rescue, plan->waited);
    if (!s->rescue.head)
        rescue_begin(&s->rescue);
    memtrace_info info = {
        .sample_rate = c->rate,
        .start_time = anchor.wall_us,
        .pid = s->pid,
        .executable_name = paths->program,
        .host_name = host.nodename,
        .runtime_params = plan->parameters ? plan->parameters : "",
        .context = c->context,
    };
    memtrace_writer_options options = {.sink = hook_sink,
                                       .locate = hook_locate,
                                       .reallocate = hook_reallocate,
                                       .amend = hook_amend,
                                       .sink_spread = hook_sink_spread,
                                       .room = c->rate == 1 ? plan->room : 0,
                                       .context = s};
    return config_file_for(c, s->pid, paths->file, sizeof paths->file)
               ? session_begin_file(s, paths->file, c->per_process, c->space, &info, &options)
               : ENAMETOOLONG;
}

/* Starts the engine. It draws the samples, and it keeps the sampled blocks unless `ids` does. */
static bool session_start_engine(struct session *s, const config *c, memprof_filter *filter) {
    const memprof_host host = {
        .context = s, .reallocate = hook_reallocate, .filter = s->ids ? NULL : filter};
    const memprof_options options = {.rate = c->rate, .seed = session_seed(c)};
    s->engine = memprof_create(&host);
    return s->engine &&
           memprof_start(s->engine, &self.sampler, &options, &memprof_null_tracker) == MEMPROF_OK;
}

static bool session_record_malloc(struct session *s, const config *c, memprof_filter *filter) {
    return (c->rate < SESSION_IDS_RATE || native_start(s, filter)) &&
           (c->rate == 1 || session_start_engine(s, c, filter));
}

/* Returns for how many cycles a thread uses its last reading of the clock. Where events are rare,
 * the clock is read for each. */
static uint64_t clock_lasts(double rate) {
    return rate == 1 ? CPU_CYCLES_SHORT : rate >= SESSION_IDS_RATE ? CPU_CYCLES_SHORTEST : 0;
}

/* Returns the pace that the rate follows, or NULL. The rate is fixed if a runtime's heap is
 * recorded, because its engine has a single rate, and at high rates, whose paths assume a single
 * rate. */
static struct pace *session_pace(const struct session *s, const struct session_plan *plan) {
    struct pace *pace = plan->pace ? plan->pace : s->rescue.head ? &s->rescue.head->pace : NULL;
    return pace && !s->runtime && plan->config->rate < SESSION_IDS_RATE &&
                   atomic_load(&pace->follows)
               ? pace
               : NULL;
}

/* Returns 0 or an errno. */
static int session_build(struct session *s, const struct session_plan *plan,
                         memprof_filter *filter) {
    const config *c = plan->config;
    struct module own;
    s->runtime = s->domains.runtime = plan->runtime;
    s->splices = plan->runtime && plan->runtime->splice;
    session_name_types(s);
    s->codes.runtime_gauges = plan->runtime ? plan->runtime->gauge_names : NULL;
    s->codes.memory = s->regions.memory = s->pools.memory = &s->memory;
    s->maps = plan->records_malloc && c->mmap;
    s->depth = c->depth;
    s->runtime_depth = plan->runtime_depth;
    s->rate = c->rate;
    s->runtime_seed = session_seed(c);
    const size_t least = s->splices ? SPLICED_DEPTH : 0;
    const size_t depth = c->depth > least ? c->depth : least;
    s->domains.depth = plan->records_malloc ? depth + OWN_FRAMES : 0;
    s->domains.runtime_depth = s->runtime_depth;
    if (module_find((uintptr_t)session_build, &own)) {
        s->own_low = own.low;
        s->own_high = own.high;
    }
    struct paths *paths = pages_alloc(sizeof *paths);
    int error = paths ? session_open_writer(s, plan, paths) : ENOMEM;
    pages_free(paths, sizeof *paths);
    if (error)
        return error;
    s->domains.writer = s->writer;
    s->records_malloc = plan->records_malloc;
    s->pace = session_pace(s, plan);
    s->cpu = plan->cpu;
    s->domains.clock_lasts = clock_lasts(c->rate);
    domain_table_init(&s->domains);
    return !plan->records_malloc || session_record_malloc(s, c, filter) ? 0 : ENOMEM;
}

struct session *session_open(const struct session_plan *plan, memprof_filter *filter, int *error) {
    struct session *s = pages_alloc(sizeof *s);
    *error = ENOMEM;
    if (!s)
        return NULL;
    s->pid = (uint64_t)syscall4(SYS_getpid, 0, 0, 0, 0);
    s->sink.fd = -1;
    *error = session_build(s, plan, filter);
    if (!*error) {
        gauges_open(&s->gauges);
        span_look(plan->is_late);
        return s;
    }
    if (*error == EACCES || *error == EPERM)
        rescue_count_refused(&s->rescue);
    sink_close(&s->sink);
    memprof_disown(&self.sampler, filter);
    self.domain = NULL;
    self.owner = NULL;
    session_abandon(s);
    return NULL;
}

/* Returns false if a thread that cannot continue holds a lock that every flush takes. If the
 * calling thread was interrupted inside the session, that thread may be itself, so it does not
 * wait. */
static bool session_is_passable(struct session *s) {
    lock *locks[] = {&s->memory.lock, &s->sink.lock};
    for (size_t i = 0; i < sizeof locks / sizeof *locks; i++) {
        if (!(self.sampler.busy ? lock_try : lock_acquire_patiently)(locks[i]))
            return false;
        lock_release(locks[i]);
    }
    return true;
}

/* Flushes one domain. A thread enters its own without a membarrier, which a sandbox may forbid. It
 * cannot enter if a signal handler has interrupted it inside. */
static bool session_flush_one(struct session *s, struct domain *d) {
    bool own = d == self.domain && self.session == s->number;
    if (own && atomic_load_explicit(&d->inside, memory_order_relaxed))
        return false;
    if (own) {
        domain_enter(d);
        domain_flush_inside(s, d);
        domain_leave(d);
    } else if (!domain_visit(d, true)) {
        return false;
    } else {
        domain_flush_inside(s, d);
        domain_visit_end(d);
    }
    return true;
}

HOT_CODE bool session_has_pending(const struct session *s) {
    const struct domain *d = atomic_load(&s->domains.all);
    while (d && domain_oldest(d) == UINT64_MAX)
        d = d->older;
    return d;
}

bool session_flush(struct session *s) {
    bool all = true;
    if (!session_is_passable(s))
        return false;
    for (struct domain *d = atomic_load(&s->domains.all); d; d = d->older)
        all &= session_flush_one(s, d);
    return all && !atomic_load(&s->failed);
}

/* Describes the end of a trace that can no longer be written: events are missing from the oldest
 * unwritten one on. Other threads may be inside their streams, which can only make the time too
 * early. */
static memtrace_end session_end_of_failed(struct session *s) {
    memtrace_end end = {.time = session_now(s)};
    uint64_t n_lost = 0;
    for (struct domain *d = atomic_load(&s->domains.all); d; d = d->older) {
        const uint64_t oldest = domain_oldest(d);
        end.time = oldest < end.time ? oldest : end.time;
        n_lost += memtrace_stream_pending(d->stream);
    }
    end.n_lost = n_lost;
    end.how = MEMTRACE_END_EARLY;
    end.os_error = sink_outgrew(&s->sink) ? 0 : s->sink.error;
    text t = text_in(end.reason, sizeof end.reason);
    text_add(&t, sink_outgrew(&s->sink) ? SINK_OUTGREW : "the trace cannot be written");
    return end;
}

static void session_say(struct session *s, const memtrace_end *end) {
    const memtrace_status status = memtrace_writer_end(s->writer, end);
    (void)status; /* nothing more can be done: the trace then has no end */
}

void session_say_failed(struct session *s) {
    if (s->ended_early || !session_is_passable(s))
        return;
    const memtrace_end end = session_end_of_failed(s);
    session_say(s, &end);
}

void session_end_early(struct session *s, const char *why) {
    memtrace_end end = {.how = MEMTRACE_END_EARLY, .time = session_now(s)};
    text t = text_in(end.reason, sizeof end.reason);
    text_add(&t, why);
    if (s->ended_early || !session_is_passable(s))
        return;
    s->ended_early = true;
    session_say(s, &end);
}

void session_say_whole(struct session *s, bool all, const char *why) {
    memtrace_end end = {.how = MEMTRACE_END_WHOLE, .time = session_now(s)};
    text t = text_in(end.reason, sizeof end.reason);
    text_add(&t, why);
    if (atomic_load(&s->failed))
        session_say_failed(s);
    else if (all && !s->ended_early)
        session_say(s, &end);
}

void session_say_open(struct session *s) {
    const memtrace_end end = {.how = MEMTRACE_END_OPEN};
    if (!s->ended_early && !atomic_load(&s->failed) && session_is_passable(s))
        session_say(s, &end);
}

void session_mark(struct session *s, const char *remark) {
    uint64_t code = code_of_mark(&s->codes, remark);
    struct domain *d = session_domain(s);
    if (!code || !d)
        return;
    domain_enter(d);
    session_read_clock(s, d, cpu_cycles());
    session_put_remark(s, d, session_now_nearly(s, d), code, 0);
    domain_leave(d);
}

static void session_last_gauges(struct session *s) {
    struct domain *d = session_domain(s);
    if (!d)
        return;
    domain_enter(d);
    session_read_clock(s, d, cpu_cycles());
    session_put_gauges(s, d, session_now_nearly(s, d));
    domain_leave(d);
}

static void session_mark_loss(struct session *s, uint64_t count, const char *what) {
    char line[128];
    text t = text_in(line, sizeof line);
    if (count == 0)
        return;
    text_add(&t, "dropped ");
    text_add_number(&t, count, 10);
    text_add(&t, what);
    session_mark(s, line);
}

static void session_mark_losses(struct session *s) {
    memprof_stats stats = {0};
    if (s->engine)
        memprof_get_stats(s->engine, &stats);
    session_mark_loss(s, stats.lost_busy + atomic_load(&s->lost_busy),
                      " allocations or frees: a signal handler made them inside the recorder");
    session_mark_loss(s, atomic_load(&s->lost_room),
                      " allocations or frees: a signal handler made them on a small stack");
    session_mark_loss(s, stats.lost_memory, " samples: the engine had no memory");
    session_mark_loss(s, atomic_load(&s->lost_id), " frees: there was no memory for their ids");
    session_mark_loss(s, stats.implied_deaths + atomic_load(&s->implied_deaths),
                      " frees: the allocator was called behind the recorder's back");
    session_mark_loss(s, atomic_load(&s->lost_domain), " samples: there were too many threads");
    session_mark_loss(s, atomic_load(&s->lost_event), " events: the writer had no memory");
    const char *const lacks = s->runtime && s->runtime->lacks ? s->runtime->lacks() : NULL;
    if (lacks)
        session_mark(s, lacks);
}

void session_finish(struct session *s) {
    if (!self.sampler.busy && session_is_passable(s)) {
        session_last_gauges(s);
        session_mark_losses(s);
        if (s->pace)
            session_put_cpu(s);
    }
    session_say_whole(s, session_flush(s), "");
    gauges_close(&s->gauges);
}

void session_leave(struct session *s) {
    sink_unlock(&s->sink);
    if (s->ids)
        ids_forget(s->ids);
    pools_close(&s->pools);
}

/* Returns the calling thread's stream; NULL: it has none. */
static void *session_own_stream(const struct session *s) {
    const struct domain *d = self.domain;
    return d && self.session == s->number ? d->stream : NULL;
}

void session_before_fork(struct session *s) {
    rescue_before_fork(&s->rescue, session_own_stream(s));
}

void session_after_fork(struct session *s) {
    rescue_after_fork(&s->rescue, session_own_stream(s));
}

/* Resets locks that threads of the parent may have held, which do not exist in the child. */
static void session_release_locks(struct session *s) {
    lock *locks[] = {&s->memory.lock,  &s->sink.lock,  &s->domains.lock,     &s->codes.lock,
                     &s->regions_lock, &s->pools.lock, &s->pools.blocks.lock};
    for (size_t i = 0; i < sizeof locks / sizeof *locks; i++)
        atomic_store(&locks[i]->word, 0);
    if (self.domain)
        atomic_store(&self.domain->wanted, 0);
}

HOT_CODE void session_let_go(const struct session *s) {
    sink_drop(&s->sink);
    gauges_drop(&s->gauges);
}

void session_orphan(struct session *s) {
    sink_close(&s->sink);
    gauges_close(&s->gauges);
    s->gates = NULL;
    s->sink.error = ESHUTDOWN;
    session_release_locks(s);
    atomic_store(&s->next_sweep, UINT64_MAX);
    rescue_orphan(&s->rescue, session_own_stream(s));
}

void session_give_head(struct session *s, rescue *to) {
    rescue_take_head(to, &s->rescue);
}

void session_abandon(struct session *s) {
    domain_table_release(&s->domains);
    rescue_leave(&s->rescue);
    memory_release(&s->pools.blocks);
    memory_release(&s->memory);
    pages_free(s, sizeof *s);
}

void session_thread_exit(struct session *s) {
    if (s->engine)
        memprof_thread_exit(s->engine, &self.sampler);
    if (!self.domain || self.domain->number == 0)
        return; /* the main thread's domain is never reused */
    domain_release(&s->domains, self.domain);
    self.domain = NULL;
    self.owner = NULL;
}
