/* recorder.c: the life of a recording. It starts at the first allocation after the C library has
 * set up the environment, or in our constructor, whichever comes first. In a run with many
 * processes, child processes wait for their first sample, since most end before it: each thread
 * counts down a gap of its own, and the first thread to reach the end of its gap begins the
 * session. A recording ends after the last destructor of the process, in _exit, or when the file
 * cannot be written.
 * The child of a fork no longer uses the parent's session. It waits for its first sample, too, if
 * it may. Otherwise its first thread with something to record starts a session of the child's own,
 * if the file name is its own. Only then is the parent's session dropped: most children end before,
 * and memory that is not touched costs nothing. A child of a bare clone is recognized by the wiped
 * page `alive`; the session's memory then stays mapped. (If the process was waiting, it continues
 * the parent's gap, which is as good.) A child that shares memory (vfork) records for its
 * parent. */
#include "record/recorder.h"

#include <errno.h>
#include <linux/random.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/hot.h"
#include "contract/control.h"
#include "contract/settings.h"
#include "platform/loader.h"
#include "platform/module.h"
#include "platform/pages.h"
#include "platform/stack.h"
#include "platform/syscall.h"
#include "record/heirs.h"
#include "record/imports.h"
#include "record/late.h"
#include "record/linked.h"
#include "record/lock.h"
#include "record/next.h"
#include "record/runtime.h"
#include "record/say.h"
#include "record/text.h"

enum state {
    UNDECIDED, /* the environment has not been read yet */
    STARTING,  /* a thread is starting the recording */
    OFF,       /* nothing is recorded, and nothing will be */
    WAITING,   /* no session yet: it begins with the first sample */
    ON,
    LEFT, /* this is the child of a fork; the session is the parent's */
    ENDED /* some thread may still be inside the session */
};

static HOT_DATA struct {
    _Atomic int state;        /* enum state */
    struct session *session;  /* valid while ON, LEFT or ENDED */
    struct session *parents;  /* after a fork: session to abandon; NULL: none, or it must stay */
    unsigned n_sessions;      /* number begun so far, with those of ancestors */
    pthread_key_t thread_key; /* set in each thread with a sampler, to run a destructor */
    bool has_fork_handler;
    bool has_page;            /* thread_key and recorder_page exist */
    bool is_wiped;            /* the kernel wipes recorder_page in children */
    bool is_late;             /* loaded by dlopen, on demand */
    bool is_preempted;        /* another malloc preempts ours, and cannot be redirected */
    rescue silent;            /* while WAITING: tells `allotrace run` that this process exists */
    uint64_t counted;         /* id of the process that is counted in `silent`; 0: none */
    _Atomic uint64_t n_gaps;  /* number of gaps drawn while WAITING */
    struct session_plan plan; /* valid unless UNDECIDED or STARTING; so is recorder_config */
} recorder;

static config recorder_config;

/* Set in a thread that does not wait for a recording to start: it starts it itself, or has waited
 * in vain. */
static __thread bool recorder_hurries;

/* State for the child of a fork, prepared before the fork, where that costs less. */
static __thread struct {
    bool is_ready;
    int64_t gap; /* words until its first sample */
    struct clock_anchor began;
} recorder_child;

static struct recorder_page no_page;
struct recorder_page *recorder_page = &no_page; /* replaced before the first session */

/* The value of MEMPROF_FILTER_INIT, on the page of the filter. */
static HOT_DATA _Alignas(64) char no_bits[64];
#define NO_FILTER ((memprof_filter){no_bits + 63})

__thread struct self self;
memprof_filter recorder_filter = {no_bits + 63};
HOT_DATA bool recorder_maps;
HOT_DATA bool recorder_took_everything;
HOT_DATA _Atomic bool recorder_stopped;

/* ---- start ------------------------------------------------------------------------------- */

/* Runs at the end of a thread. If the thread allocates afterwards, it runs once more. */
static void on_thread_exit(void *value) {
    (void)value;
    if (atomic_load(&recorder.state) != ON || !atomic_load(&recorder_page->alive) ||
        self.sampler.busy)
        return;
    self.registered = false;
    session_thread_exit(recorder.session);
}

/* Clears the thread's state of an earlier session, which is meaningless in a later one. */
static void recorder_part(void) {
    if (self.session || self.waits)
        memprof_disown(&self.sampler, NULL);
    self.domain = NULL;
    self.owner = NULL;
    self.session = 0;
    self.waits = false;
}

static uint64_t recorder_process(void) {
    return (uint64_t)syscall4(SYS_getpid, 0, 0, 0, 0);
}

/* Returns whether this is the recorded process itself, not a child of it. */
static bool recorder_is_own_process(void) {
    return recorder.session->pid == recorder_process();
}

/* Returns whether children may wait. That is for sampled children of `allotrace run`, which learns
 * of them through the memory that they share. */
static bool recorder_children_may_wait(void) {
    const config *c = &recorder_config;
    return c->per_process && c->process && *c->rescue && c->rate < SESSION_IDS_RATE && !c->mmap &&
           (!recorder.plan.runtime || recorder.plan.runtime->splice) &&
           recorder.plan.records_malloc;
}

HOT_CODE static int64_t recorder_first_gap(void) {
    const config *c = &recorder_config;
    uint64_t seed = 0;
    if (c->seeded ||
        syscall4(SYS_getrandom, (long)&seed, sizeof seed, GRND_NONBLOCK, 0) != sizeof seed)
        seed = c->seed + atomic_fetch_add(&recorder.n_gaps, 1);
    return memprof_first_gap(c->rate, seed);
}

/* Returns whether a signal handler may be on the calling thread's stack. If it has interrupted the
 * recorder inside the session, its fork would leave the child with half an event. */
static bool recorder_may_be_interrupted(void) {
    enum { FRAMES = 1 << 12 };
    static HOT_DATA _Atomic(unwind_cache *) kept; /* NULL also while a thread uses it */
    const size_t size = unwind_cache_size(), pcs_size = FRAMES * sizeof(uintptr_t);
    unwind_cache *cache = atomic_exchange(&kept, NULL), *none = NULL;
    unsigned flags = UNWIND_FAILED;
    struct unwind_start start;
    if (!cache)
        cache = pages_alloc(size + pcs_size);
    if (!cache)
        return true;
    unwind_cache_check(cache);
    unwind_here(&start);
    unwind_stack(cache, &start, 0, 0, (uintptr_t *)((char *)cache + size), FRAMES, &flags);
    if (!atomic_compare_exchange_strong(&kept, &none, cache))
        pages_free(cache, size + pcs_size);
    return flags != 0; /* also if a caller was guessed: a handler may have been skipped */
}

static void recorder_prepare_child(int state) {
    recorder_child.is_ready =
        (state == ON || state == WAITING) && !self.sampler.busy && recorder_children_may_wait();
    if (!recorder_child.is_ready)
        return;
    recorder_child.gap = recorder_first_gap();
    recorder_child.began = clock_anchor_now();
}

/* The loader allocates; those are not the program's blocks. */
static __attribute__((noinline)) void recorder_look_for_heirs(void) {
    const int error = errno;
    const int64_t left = recorder_pause();
    const char *const why = heirs_look(&recorder_config, &recorder.plan);
    recorder_resume(left);
    if (why)
        recorder_tell_user(why);
    errno = error;
}

static bool recorder_may_have_heirs(int state) {
    return (state == ON || state == WAITING) && recorder_config.per_process && !recorder.is_late &&
           !self.sampler.busy && heirs_may_come(&recorder.plan);
}

/* Flushes before a fork, because the parent may end unseen after it: daemon() in the C library ends
 * by a call of _exit that cannot be interposed. */
HOT_CODE static void before_fork(void) {
    const int state = atomic_load(&recorder.state);
    recorder_prepare_child(state);
    next_resolve(); /* once here, rather than in each child */
    if (recorder_may_have_heirs(state) && !recorder_may_be_interrupted())
        recorder_look_for_heirs();
    if (state != ON || !recorder_is_own_process())
        return;
    if (!recorder_config.per_process)
        recorder_leave_out(); /* once here, rather than in each child */
    self.interrupted = self.sampler.busy || recorder_may_be_interrupted();
    if (!self.sampler.busy && session_has_pending(recorder.session))
        session_flush(recorder.session);
    if (self.interrupted)
        session_before_fork(recorder.session);
}

HOT_CODE static void after_fork(void) {
    if (self.interrupted && atomic_load(&recorder.state) == ON)
        session_after_fork(recorder.session);
}

/* The child draws a gap of its own instead of using the parent's. */
static void recorder_wait_as_child(void) {
    recorder_part();
    recorder.counted = 0;
    recorder.plan.cpu = 0; /* the child's CPU time begins at 0 */
    if (!recorder_child.is_ready)
        return; /* its first block will draw a gap */
    recorder.plan.began = recorder_child.began;
    self.sampler.countdown = recorder_child.gap;
    self.waits = true;
}

static void recorder_wipe_page(void) {
    if (recorder.is_wiped)
        return;
    atomic_store(&recorder_page->alive, 0);
    session_open_gates(recorder.session, false);
    atomic_store(&recorder_page->current, NULL);
}

/* The calling thread was interrupted in the parent's session and continues there. */
static void recorder_leave_inside(int was_busy) {
    session_orphan(recorder.session);
    recorder.parents = NULL;
    atomic_store(&recorder.state, LEFT);
    atomic_signal_fence(memory_order_seq_cst);
    self.sampler.busy = was_busy;
}

/* Most children become other programs at once, or end. So time-consuming work waits until there is
 * something to record, or until much was allocated. */
static void recorder_leave(void) {
    enum { CHILD_IDLE_WORDS = 1 << 16 };
    session_let_go(recorder.session);
    recorder.parents = recorder.session;
    atomic_store(&recorder.state, recorder_child.is_ready ? WAITING : LEFT);
    atomic_signal_fence(memory_order_seq_cst);
    recorder_wait_as_child();
    self.sampler.busy = 0; /* also if the thread had no event before */
    if (!recorder_config.per_process)
        self.sampler.countdown = CHILD_IDLE_WORDS;
    heirs_begin(&recorder.plan);
}

/* Runs in the child while it has one thread. The file and its lock belong to the parent alone, and
 * later threads must not use the old session. Each page that this touches is copied. */
HOT_CODE static void on_fork_child(void) {
    const int was_busy = self.sampler.busy;
    span_after_fork();
    if (atomic_load(&recorder.state) == WAITING) {
        recorder_wait_as_child();
        heirs_begin(&recorder.plan);
    }
    if (atomic_load(&recorder.state) != ON || recorder_is_own_process())
        return;            /* otherwise another fork handler has begun our own session */
    self.sampler.busy = 1; /* for signal handlers that allocate */
    atomic_signal_fence(memory_order_seq_cst);
    recorder_wipe_page();
    recorder_filter = NO_FILTER;
    if (self.interrupted)
        recorder_leave_inside(was_busy);
    else
        recorder_leave();
}

static void recorder_add_fork_handler(void) {
    if (!recorder.has_fork_handler)
        loader_at_fork(before_fork, after_fork, on_fork_child);
    recorder.has_fork_handler = true;
}

static bool recorder_add_page(void) {
    if (recorder.has_page)
        return true;
    struct recorder_page *page = pages_alloc(pages_unit());
    if (!page || !loader_key_create(&recorder.thread_key, on_thread_exit))
        return false;
    /* Old kernels lack this; then the fork handler has to suffice. */
    recorder.is_wiped =
        !syscall_failed(syscall4(SYS_madvise, (long)page, (long)pages_unit(), MADV_WIPEONFORK, 0));
    recorder_page = page;
    return recorder.has_page = true;
}

/* Returns 0 or an errno. */
static int recorder_try_open(void) {
    int error = ENOMEM;
    const bool waited = self.waits;
    const int64_t left = self.sampler.countdown;
    self.waits = false;
    recorder_add_fork_handler();
    if (recorder_add_page())
        recorder.session = session_open(&recorder.plan, &recorder_filter, &error);
    if (error == 0) {
        recorder.session->number = self.session = ++recorder.n_sessions;
        recorder_took_everything = session_is_of_everything(recorder.session);
        recorder.session->gates = &recorder_page->gates;
        recorder_maps |= recorder.session->maps;
        atomic_store(&recorder_page->alive, 1);
        session_open_gates(recorder.session, true);
        atomic_store(&recorder_page->current, recorder.session);
        if (waited && recorder.session->engine)
            memprof_resume(recorder.session->engine, &self.sampler, left);
    }
    return error;
}

static int recorder_open(void) {
    int error = recorder_try_open();
    if (error == 0)
        return ON;
    if (error != EWOULDBLOCK) /* otherwise our parent is recording to it, and we were exec'ed */
        recorder_decline_open(&recorder_config, error);
    return OFF;
}

static bool recorder_may_wait(void) {
    return recorder_children_may_wait() && recorder_config.process != recorder_process();
}

HOT_CODE static int recorder_wait(bool is_program) {
    recorder_add_fork_handler();
    recorder.plan.began = clock_anchor_now();
    if (!recorder.silent.head) {
        recorder.silent.path = recorder_config.rescue;
        rescue_begin(&recorder.silent);
    }
    if (is_program)
        rescue_count_silent(&recorder.silent, true);
    recorder.counted = is_program ? recorder_process() : 0;
    return WAITING;
}

static void recorder_abandon_parents(void) {
    if (recorder.parents) {
        session_give_head(recorder.parents, &recorder.silent);
        session_abandon(recorder.parents);
    }
    recorder.parents = NULL;
}

/* Makes the calling thread the one that starts the recording. Returns false if the state is no
 * longer `from`. */
static bool recorder_take_start(int from) {
    const bool hurried = recorder_hurries;
    recorder_hurries = true; /* for what it allocates, and its signal handlers */
    const bool taken = atomic_compare_exchange_strong(&recorder.state, &from, STARTING);
    recorder_hurries = taken || hurried;
    return taken;
}

static void recorder_end_start(int state) {
    atomic_store(&recorder.state, state);
    recorder_hurries = false;
}

/* Waits briefly for another thread to start the recording: otherwise, short-lived threads would run
 * unseen. In the child of a fork, the start may never end. Returns the state. */
static __attribute__((cold, noinline)) int recorder_await_start(void) {
    int state = atomic_load(&recorder.state);
    for (int i = 0; state == STARTING && !recorder_hurries; i++) {
        lock_nap();
        state = atomic_load(&recorder.state);
        recorder_hurries = state == STARTING && i == LOCK_PATIENCE;
    }
    return state;
}

/* Begins a session because there is something to record. */
static void recorder_end_wait(void) {
    int saved_errno = errno;
    if (!recorder_take_start(WAITING))
        return;
    recorder_abandon_parents();
    if (recorder.counted == recorder_process()) /* not in a bare clone of it */
        rescue_count_silent(&recorder.silent, false);
    const int decision = recorder_open();
    rescue_leave(&recorder.silent);
    recorder_end_start(decision);
    errno = saved_errno;
}

static int recorder_begin_process(bool is_program) {
    return recorder_may_wait() ? recorder_wait(is_program) : recorder_open();
}

/* Returns false if the program writes this trace itself. */
HOT_CODE static bool recorder_plan_runtime(enum runtime_id id) {
    const struct runtime *runtime = runtimes[id];
    const char *why = NULL;
    char program[PATH_MAX];
    switch (runtime->find(&why)) {
    case RUNTIME_ABSENT:
        break;
    case RUNTIME_RECORDABLE:
        recorder.plan.runtime = runtime;
        recorder.plan.runtime_depth = recorder_config.runtime_depths[id];
        recorder.plan.parameters = runtime->parameters();
        recorder.plan.records_malloc = recorder_config.heaps[id] & CONFIG_MALLOC;
        break;
    case RUNTIME_UNFIT:
        recorder_program(program);
        say_to_user(program, why, 0);
        break;
    case RUNTIME_TRACED:
        recorder_program(program);
        recorder_tell(RESCUE_LEFT_TO_PROGRAM);
        recorder_decline(program, why, 0);
        return false;
    }
    return true;
}

/* NULL in most programs: see MEMTRACE_WRITES_OWN_TRACE. */
extern const char allotrace_own_trace __attribute__((weak));

/* Redirects allocators that are not interposed: the program's own, and functions of libraries that
 * the recorder does not define. */
HOT_CODE static void recorder_lead_linked(void) {
    struct module other;
    const bool preempted = next_is_preempted(&other);
    recorder.is_preempted = !linked_begin(preempted ? &other : NULL);
    if (!preempted && next_is_library(&other))
        linked_begin_library(&other);
    if (!recorder.is_preempted)
        late_enter_imports();
}

/* Plans which heaps are recorded. Returns false if the program writes this trace itself. */
HOT_CODE static bool recorder_plan(void) {
    if (&allotrace_own_trace) {
        recorder_tell(RESCUE_LEFT_TO_PROGRAM);
        return false;
    }
    recorder.plan = (struct session_plan){
        .config = &recorder_config,
        .waited = &recorder.silent,
        .cpu = session_process_cpu(),
        .records_malloc = true,
        .room = recorder_config.room && recorder_config.rate == 1 ? code_names_room() : 0};
    for (int id = 0; id < N_RUNTIMES && !recorder.plan.runtime; id++)
        if ((recorder_config.heaps[id] & CONFIG_HEAP) &&
            !recorder_plan_runtime((enum runtime_id)id))
            return false;
    if (recorder.plan.records_malloc)
        recorder_lead_linked();
    return true;
}

const struct runtime *recorder_runtime(void) {
    return recorder.plan.runtime;
}

/* Tells `run` that a child was left out, once for all processes: children inherit the flag. Does
 * not read the environment, which may be changing. */
void recorder_leave_out(void) {
    static _Atomic bool told;
    if (!atomic_load(&told) && !atomic_exchange(&told, true))
        rescue_tell(recorder_config.rescue, RESCUE_LEFT_CHILD);
}

/* Declines because the trace belongs to another process. */
static int recorder_stand_back(void) {
    recorder_leave_out();
    return OFF;
}

HOT_CODE static void recorder_start(void) {
    int setting = 0, decision = OFF, saved_errno = errno;
    if (!recorder_take_start(UNDECIDED))
        return;
    say_init();
    next_wake_library();
    switch (config_read(&recorder_config, secure_getenv, &setting)) {
    case CONFIG_OFF:
        break;
    case CONFIG_BAD:
        recorder_decline_setting(setting);
        break;
    case CONFIG_ON:
        if (!config_chooses(&recorder_config, (uint64_t)syscall4(SYS_getpid, 0, 0, 0, 0)))
            decision = recorder_stand_back();
        else if (recorder_plan())
            decision = recorder_begin_process(true);
        break;
    }
    recorder_end_start(decision);
    errno = saved_errno;
}

/* ---- end --------------------------------------------------------------------------------- */

static void recorder_fail(struct session *s) {
    int on = ON;
    if (!atomic_compare_exchange_strong(&recorder.state, &on, ENDED))
        return;
    if (s->engine) {
        memprof_status status = memprof_stop(s->engine, &self.sampler);
        (void)status; /* in a signal handler this fails, and the engine continues to no effect */
    }
    session_open_gates(recorder.session, false);
    atomic_store(&recorder_page->current, NULL);
    recorder_filter = NO_FILTER;
    session_say_failed(s);
    if (sink_outgrew(&s->sink))
        say_to_user(s->sink.path, "recording has ended: " SINK_OUTGREW, 0);
    else
        say_to_user(s->sink.path, "recording has ended", s->sink.error);
}

/* One thread of the child begins a new session; the others find it STARTING. */
static void recorder_leave_parent(int state) {
    int saved_errno = errno;
    if (!recorder_take_start(state))
        return;
    recorder_abandon_parents();
    recorder_filter = NO_FILTER;
    recorder_part();
    recorder_end_start(recorder_config.per_process ? recorder_begin_process(false)
                                                   : recorder_stand_back());
    errno = saved_errno;
}

static void recorder_register_thread(void) {
    int saved_errno = errno;
    self.registered = true; /* before the call, which may allocate */
    loader_key_set(recorder.thread_key, &self);
    errno = saved_errno;
}

/* Joins a session. A gap that the thread has already drawn continues. */
static void recorder_join(const struct session *s) {
    if (__builtin_expect(self.session != s->number, 0)) {
        const bool waited = self.waits;
        const int64_t left = self.sampler.countdown;
        recorder_part();
        self.session = s->number;
        if (waited && s->engine)
            memprof_resume(s->engine, &self.sampler, left);
    }
    if (__builtin_expect(!self.registered, 0))
        recorder_register_thread();
}

/* Makes the decisions that a process makes at its first event. Returns the state. */
HOT_CODE static int recorder_decide(void) {
    int state = atomic_load_explicit(&recorder.state, memory_order_acquire);
    if (__builtin_expect(state == UNDECIDED, 0) && environ)
        recorder_start();
    else if ((state == ON || state == LEFT) && !self.sampler.busy &&
             __builtin_expect(!atomic_load_explicit(&recorder_page->alive, memory_order_relaxed),
                              0))
        recorder_leave_parent(state);
    else
        return state;
    return atomic_load(&recorder.state);
}

HOT_CODE struct session *recorder_enter(void) {
    int state = recorder_decide();
    if (__builtin_expect(state == WAITING, 0) && !self.sampler.busy) {
        recorder_end_wait();
        state = atomic_load(&recorder.state);
    }
    if (__builtin_expect(state == STARTING, 0) && !self.sampler.busy && !recorder.is_late)
        state = recorder_await_start();
    if (state == ON && !self.sampler.busy) {
        if (atomic_load_explicit(&recorder.session->failed, memory_order_relaxed))
            recorder_fail(recorder.session);
        else
            recorder_join(recorder.session);
        state = atomic_load(&recorder.state);
    }
    if (__builtin_expect(state == ON, 1))
        return recorder.session;
    enum { LATE_IDLE_WORDS = 1 << 20 }; /* another session may begin later */
    int64_t idle = recorder.is_late ? LATE_IDLE_WORDS : INT64_MAX;
    self.sampler.countdown = state == OFF || state == ENDED ? idle : 0;
    self.waits = false; /* the rest of the gap is dropped: a new one is as good */
    return NULL;
}

void recorder_settle(void) {
    (void)recorder_decide();
}

/* ---- questions of an event --------------------------------------------------------------- */

/* Returns whether the thread continues without a session. The `words` counted last are one block,
 * with which its first gap begins. */
HOT_CODE static bool recorder_waits(uint64_t words) {
    if (__builtin_expect(recorder_decide() != WAITING, 1) || self.waits || self.sampler.busy)
        return false;
    self.waits = true;
    self.sampler.countdown = recorder_first_gap();
    return !memprof_count(&self.sampler, words);
}

/* Entering may have begun a session, in which nothing has been counted yet. */
struct session *recorder_enter_counted(uint64_t words) {
    const unsigned before = recorder.n_sessions;
    if (recorder_waits(words))
        return NULL;
    const bool counted = self.waits;
    struct session *s = recorder_enter();
    const bool is_new = s && s->engine && !counted && recorder.n_sessions != before;
    return is_new && !memprof_count(&self.sampler, words) ? NULL : s;
}

/* Coroutines have large stacks and many events, so the kernel is asked only once about a page. */
bool recorder_has_room_elsewhere(uintptr_t sp) {
    struct domain *d = self.domain;
    const uintptr_t page = sp & ~(uintptr_t)(pages_unit() - 1);
    if (d && d->elsewhere == page)
        return true;
    const size_t room = stack_alternate_room(sp);
    if (d && room == SIZE_MAX)
        d->elsewhere = page;
    if (__builtin_expect(room >= RECORDER_STACK_BEGIN, 1))
        return true;
    struct session *s = atomic_load_explicit(&recorder_page->current, memory_order_acquire);
    if (s && room >= RECORDER_STACK)
        return true;
    if (s)
        atomic_fetch_add_explicit(&s->lost_room, 1, memory_order_relaxed);
    return false;
}

struct session *recorder_enter_begun(void) {
    const bool is_on = atomic_load_explicit(&recorder.state, memory_order_acquire) == ON &&
                       atomic_load_explicit(&recorder_page->alive, memory_order_relaxed);
    return is_on ? recorder_enter() : NULL;
}

struct session *recorder_come_back(void) {
    return atomic_load(&recorder.state) == LEFT ? NULL : recorder.session;
}

/* ---- the end of the process -------------------------------------------------------------- */

HOT_CODE static bool recorder_is_at_work(void) {
    return atomic_load(&recorder.state) == ON && atomic_load(&recorder_page->alive) &&
           recorder_is_own_process();
}

void recorder_flush(void) {
    if (recorder_is_at_work())
        session_flush(recorder.session);
}

HOT_CODE static void recorder_flush_last(const char *why) {
    if (recorder_is_at_work())
        session_say_whole(recorder.session, session_flush(recorder.session), why);
}

HOT_CODE void recorder_before_exec(void) {
    recorder_flush_last("the process became another program");
}

void recorder_before_abort(void) {
    recorder_flush_last("the process aborted");
}

void recorder_after_exec(void) {
    if (recorder_is_at_work())
        session_say_open(recorder.session);
}

HOT_CODE void recorder_finish(void) {
    int on = ON, state = atomic_load(&recorder.state);
    if ((state == ON || state == LEFT) && !self.sampler.busy && recorder_config.per_process &&
        !recorder_may_wait() && !atomic_load(&recorder_page->alive))
        recorder_leave_parent(state); /* a child without samples has a trace of its own, too */
    if (atomic_load(&recorder.state) == ON && atomic_load(&recorder_page->alive) &&
        recorder_is_own_process() && atomic_compare_exchange_strong(&recorder.state, &on, ENDED)) {
        session_open_gates(recorder.session, false);
        atomic_store(&recorder_page->current, NULL);
        session_finish(recorder.session);
    }
}

static void finish_at_exit(void *unused) {
    (void)unused;
    recorder_finish();
}

static void finish_at_quick_exit(void) {
    recorder_finish();
}

int __cxa_atexit(void (*handler)(void *), void *argument, void *module);

static __attribute__((noinline)) void recorder_say_preempted(const struct module *module,
                                                             const char *why) {
    char path[PATH_MAX], mark[PATH_MAX + 64];
    module_path(module, path, sizeof path);
    text t = text_in(mark, sizeof mark);
    text_add(&t, "nothing is recorded, as malloc is that of ");
    text_add(&t, path);
    if (recorder_enter()) {
        recorder_maps = false;
        session_mark(recorder.session, mark);
        session_end_early(recorder.session, mark);
        recorder_finish();
    }
    recorder_decline(path, why, 0);
}

/* Reports an allocator of the program's own. Returns false if nothing is recorded. */
HOT_CODE static bool recorder_say_linked(void) {
    char program[PATH_MAX];
    struct module preempting;
    const char *found = linked_found();
    if (recorder.is_preempted) {
        next_is_preempted(&preempting);
        recorder_say_preempted(
            &preempting,
            found ? found : "has its own malloc in front of ours, so nothing is recorded");
        return false;
    }
    if (found && rescue_tell(recorder_config.rescue, RESCUE_LINKED)) {
        recorder_program(program);
        say_to_user(program, found, 0);
    }
    return true;
}

/* Draws the gap, so that the first block need not. */
static void recorder_draw_early(void) {
    if (atomic_load(&recorder.state) != WAITING || self.waits)
        return;
    self.waits = true;
    self.sampler.countdown = recorder_first_gap();
}

/* An exit handler that belongs to no module, and is registered before the loader's own, runs after
 * the destructors of all modules. So their frees are recorded. */
__attribute__((constructor)) HOT_CODE static void recorder_construct(void) {
    recorder.plan.is_late = recorder.is_late = late_is();
    if (recorder.is_late) {
        next_be_late();
        atomic_store(&recorder.state, OFF);
        return;
    }
    next_resolve(); /* now: a handler may lack the stack later, and mmap asks who allocates */
    next_know_libc();
    recorder_start();
    recorder_draw_early();
    if (atomic_load(&recorder.state) != ON && atomic_load(&recorder.state) != WAITING)
        return;
    __cxa_atexit(finish_at_exit, NULL, NULL);
    loader_at_quick_exit(finish_at_quick_exit);
    if (recorder.plan.records_malloc && !recorder_say_linked())
        return;
    if (recorder.plan.runtime && recorder.plan.runtime->begin)
        recorder.plan.runtime->begin();
}

/* ---- on demand --------------------------------------------------------------------------- */

static void finish_later(void) {
    static bool is_registered;
    if (!is_registered)
        is_registered = __cxa_atexit(finish_at_exit, NULL, NULL) == 0;
}

/* Plans for a runtime that is already running: it is recorded beside malloc or not at all, with the
 * reason in *why. */
static void recorder_plan_late(const char **why) {
    for (int id = 0; id < N_RUNTIMES && !recorder.plan.runtime; id++) {
        const struct runtime *runtime = runtimes[id];
        if (!(recorder_config.heaps[id] & CONFIG_HEAP) || !runtime->end ||
            runtime->find(why) != RUNTIME_RECORDABLE)
            continue;
        recorder.plan.runtime = runtime;
        recorder.plan.runtime_depth = recorder_config.runtime_depths[id];
        recorder.plan.parameters = runtime->parameters();
    }
}

static const char *recorder_configure(char *get(const char *name), const char **why_not) {
    int setting;
    if (config_read(&recorder_config, get, &setting) != CONFIG_ON)
        return "a setting is invalid";
    recorder.plan = (struct session_plan){
        .config = &recorder_config, .records_malloc = true, .is_late = recorder.is_late};
    recorder_plan_late(why_not);
    linked_begin_late();
    imports_look(true);
    return NULL;
}

/* Intercepts everything that is to be recorded. Returns false if there is no memory. */
static bool recorder_enter_late(const char *why_not) {
    if (!late_enter())
        return false;
    if (recorder.plan.runtime && recorder.plan.runtime->begin)
        recorder.plan.runtime->begin();
    if (why_not)
        recorder_mark(why_not);
    return true;
}

const char *recorder_begin(char *get(const char *name), struct pace *pace, const char **declined,
                           int *error) {
    int before = atomic_load(&recorder.state);
    *error = 0;
    if (before == ON || before == STARTING || before == WAITING)
        return CONTROL_REPLY_RECORDED;
    if (!recorder.is_late)
        return "it was started with the recorder, but without a trace to write";
    if (!atomic_compare_exchange_strong(&recorder.state, &before, STARTING))
        return "another process is starting a recording";
    /* A thread may have been inside an event when the last recording ended. That is long ago, and
     * the descriptor is now the program's to use. The memory stays, in case the thread returns. */
    if (before == ENDED)
        sink_retire(&recorder.session->sink);
    const char *why = recorder_configure(get, declined);
    recorder_part();
    recorder.plan.pace = pace;
    if (!why && (*error = recorder_try_open()) != 0)
        why = "its trace cannot be written";
    atomic_store(&recorder_stopped, false);
    atomic_store(&recorder.state, why ? OFF : ON);
    if (why)
        return why;
    finish_later();
    if (recorder_enter_late(*declined))
        return NULL;
    recorder_finish();
    return "it is out of memory";
}

/* Calls under way will find that the session has ended. */
void recorder_end(void) {
    if (recorder.is_late && recorder.plan.runtime)
        recorder.plan.runtime->end();
    if (recorder.is_late)
        late_leave();
    recorder_finish();
    if (recorder.is_late)
        session_leave(recorder.session);
}

bool recorder_is_late(void) {
    return recorder.is_late;
}

bool recorder_runtime_is_late(void) {
    return recorder.is_late || heirs_have_begun();
}

struct pace *recorder_pace(void) {
    return atomic_load(&recorder.state) == ON ? recorder.session->pace : NULL;
}

void recorder_look_again(void) {
    late_look_again();
}

void recorder_stop(bool stopped) {
    if (recorder_is_stopped() == stopped)
        return;
    recorder_mark(stopped ? CONTROL_MARK_STOPPED : "sampling started");
    atomic_store(&recorder_stopped, stopped);
    if (atomic_load(&recorder.state) == ON)
        session_open_gates(recorder.session, !stopped);
}

struct session *recorder_enter_own(void) {
    struct session *s = recorder_enter();
    return s && recorder_is_own_process() ? s : NULL;
}

void recorder_tell_user(const char *message) {
    char program[PATH_MAX];
    recorder_program(program);
    say_to_user(program, message, 0);
}

const char *recorder_path(void) {
    if (atomic_load(&recorder.state) == WAITING)
        (void)recorder_enter(); /* the caller expects a trace */
    return atomic_load(&recorder.state) == ON && atomic_load(&recorder_page->alive)
               ? recorder.session->sink.path
               : NULL;
}
