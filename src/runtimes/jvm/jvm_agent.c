/* jvm_agent.c: receives the JVM's events about objects, and asks the JVM for stacks and names
 * (jvm.c has the design).
 *
 * An object that is in the trace is tagged with its number in the trace. When it is freed, the JVM
 * reports the tag. Classes are tagged with the number of their name. As a class is an object too,
 * these tags belong to a second JVMTI environment. Tags of other agents are separate from both.
 *
 * A stack is a list of method ids, which stay valid when classes are unloaded. Each method's name
 * is asked for once (jvm_names.h), and each thread caches the codes of the places that it has
 * met. */
#include "runtimes/jvm/jvm_agent.h"

#include <jni.h>
#include <jvmti.h>
#include <stdatomic.h>
#include <string.h>

#include "base/hash.h"
#include "record/recorder.h"
#include "record/runtime_events.h"
#include "runtimes/jvm/jvm_names.h"
#include "runtimes/jvm/jvm_weigh.h"

const char *const jvm_agent_missing = NULL;

static struct {
    jvmtiEnv *objects, *classes; /* environments for tags of objects and of classes */
    JNIEnv *creator;             /* of the thread that created the JVM */
    bool has_joined;             /* the JVM was running already */
    _Atomic bool is_settled;     /* the creator's allocations are sampled */
    _Atomic size_t
        n_old; /* threads whose next gap was drawn before we joined, see first_sample_counts */
    _Atomic int32_t gap_before; /* mean of these gaps, bytes */
    _Atomic int32_t interval;   /* the JVM's sampling interval, bytes; 0: all objects */
    _Atomic uint64_t gc_marked; /* time of the last mark of a collection, monotonic, us */
} agent;

/* ---- the state of a thread --------------------------------------------------------------- */

enum { PLACES = 1024 };

struct place {
    jmethodID method;
    jlocation at;
    uint64_t slot;
};

struct state {
    size_t depth;
    uint64_t random; /* 0: not seeded yet */
    bool is_busy;    /* inside an event, which may allocate */
    struct place places[PLACES];
    jvmtiFrameInfo *frames; /* depth + 1, to see whether a stack is cut */
    uint64_t *codes;        /* depth + 1 */
};

size_t jvm_agent_domain_size(size_t depth) {
    return sizeof(struct state) + (depth + 1) * (sizeof(jvmtiFrameInfo) + sizeof(uint64_t));
}

void jvm_agent_domain_init(void *state, size_t depth) {
    struct state *s = state;
    s->depth = depth;
    s->frames = (jvmtiFrameInfo *)(s + 1);
    s->codes = (uint64_t *)(s->frames + depth + 1);
}

/* Returns the calling thread's state; NULL: nothing can be recorded. The state belongs to the
 * thread even while it is outside its domain. */
static struct state *state_of_thread(double *rate) {
    const struct runtime_place at = runtime_enter();
    if (!at.domain)
        return runtime_takes(at, 1), NULL; /* counts the loss */
    struct state *s = at.domain->runtime;
    *rate = at.session->rate;
    if (!s->random)
        s->random = hash_u64(at.session->runtime_seed + at.domain->number) | 1;
    runtime_leave(at, MEMTRACE_OK);
    return s;
}

/* ---- methods ------------------------------------------------------------------------------- */

static void drop(void *given) {
    if (given)
        (*agent.objects)->Deallocate(agent.objects, given);
}

/* Packs the lines in place, as ours are smaller. Returns their number. */
static size_t pack_lines(jvmtiLineNumberEntry *lines, jint n) {
    struct jvm_line *packed = (struct jvm_line *)lines;
    for (jint i = 0; i < n; i++) {
        const jvmtiLineNumberEntry entry = lines[i];
        packed[i] = (struct jvm_line){.start = (uint16_t)entry.start_location,
                                      .line = (uint16_t)entry.line_number};
    }
    return (size_t)n;
}

static const jvm_known *method_tell(jvmtiEnv *ti, jmethodID id, const char *class, char *file) {
    char *called = NULL;
    jvmtiLineNumberEntry *lines = NULL;
    jint n = 0;
    if ((*ti)->GetMethodName(ti, id, &called, NULL, NULL) != JVMTI_ERROR_NONE)
        called = NULL;
    if ((*ti)->GetLineNumberTable(ti, id, &n, &lines) != JVMTI_ERROR_NONE)
        lines = NULL;
    const size_t n_lines = lines ? pack_lines(lines, n) : 0;
    const jvm_known *known = jvm_names_tell(&(struct jvm_method){.id = id,
                                                                 .class = class,
                                                                 .name = called,
                                                                 .file = file,
                                                                 .lines = (void *)lines,
                                                                 .n_lines = n_lines});
    drop(lines);
    drop(called);
    return known;
}

/* Names a method that is met for the first time; NULL: it cannot be named. */
static const jvm_known *method_meet(jvmtiEnv *ti, JNIEnv *jni, jmethodID id) {
    jclass class;
    char *signature = NULL, *file = NULL;
    const jvm_known *known = NULL;
    if ((*ti)->GetMethodDeclaringClass(ti, id, &class) != JVMTI_ERROR_NONE)
        return NULL;
    if ((*ti)->GetSourceFileName(ti, class, &file) != JVMTI_ERROR_NONE)
        file = NULL;
    if ((*ti)->GetClassSignature(ti, class, &signature, NULL) == JVMTI_ERROR_NONE)
        known = method_tell(ti, id, signature, file);
    drop(signature);
    drop(file);
    (*jni)->DeleteLocalRef(jni, class);
    return known;
}

static uint64_t slot_ask(jvmtiEnv *ti, JNIEnv *jni, const jvmtiFrameInfo *frame) {
    const jvm_known *known = jvm_names_method(frame->method);
    if (!known)
        known = method_meet(ti, jni, frame->method);
    return known ? jvm_names_frame(known, frame->location) : jvm_names_full();
}

static uint64_t slot_of(struct state *s, jvmtiEnv *ti, JNIEnv *jni, const jvmtiFrameInfo *frame) {
    const uint64_t hash = hash_u64((uintptr_t)frame->method * 31 + (uint64_t)frame->location);
    struct place *p = &s->places[hash % PLACES];
    if (p->method != frame->method || p->at != frame->location)
        *p = (struct place){
            .method = frame->method, .at = frame->location, .slot = slot_ask(ti, jni, frame)};
    return p->slot;
}

/* ---- stacks and types ---------------------------------------------------------------------- */

static uint32_t type_of(jclass class) {
    jvmtiEnv *ti = agent.classes;
    jlong tag = 0;
    char *signature = NULL;
    if ((*ti)->GetTag(ti, class, &tag) == JVMTI_ERROR_NONE && tag)
        return (uint32_t)tag;
    if ((*ti)->GetClassSignature(ti, class, &signature, NULL) != JVMTI_ERROR_NONE)
        return jvm_names_type(""); /* the JVM is ending and no longer answers: `?` */
    const uint32_t type = jvm_names_type(signature);
    drop(signature);
    (*ti)->SetTag(ti, class, type);
    return type;
}

/* Takes a stack. The JVM gives the innermost frame first. */
static struct runtime_stack stack_take(struct state *s, jvmtiEnv *ti, JNIEnv *jni, jclass class) {
    const uint32_t type = type_of(class);
    jint n = 0;
    size_t out = 0;
    if ((*ti)->GetStackTrace(ti, NULL, 0, (jint)s->depth + 1, s->frames, &n) != JVMTI_ERROR_NONE)
        n = 0;
    const bool is_cut = n > (jint)s->depth;
    uint64_t innermost = jvm_names_nowhere();
    if (is_cut)
        s->codes[out++] = CODE_CUT;
    for (jint i = n - is_cut; i-- > 0;) {
        const uint64_t slot = slot_of(s, ti, jni, &s->frames[i]);
        if (slot)
            s->codes[out++] = code_of_runtime(innermost = slot);
    }
    out -= out > is_cut;
    s->codes[out++] = code_of_runtime(jvm_names_pair(innermost, type));
    return (struct runtime_stack){.codes = s->codes, .n = out};
}

/* ---- events -------------------------------------------------------------------------------- */

static void record(struct state *s, jvmtiEnv *ti, JNIEnv *jni, jobject object, jclass class,
                   uint64_t words, uint64_t samples) {
    uint64_t block;
    const int64_t left = recorder_pause();
    const struct runtime_stack stack = stack_take(s, ti, jni, class);
    recorder_resume(left);
    const struct runtime_place at = runtime_enter();
    if (runtime_takes(at, samples) &&
        runtime_alloc(at, MEMTRACE_MAJOR, words - 1, samples, &stack, &block)) {
        const int64_t again = recorder_pause();
        (*ti)->SetTag(ti, object, (jlong)block);
        recorder_resume(again);
    }
}

/* Decides whether the first sample of a thread that existed when we joined counts. Its distance to
 * that sample was drawn with another interval, so it is hit with rate 1 / before per byte instead
 * of 1 / now. If that is too often, the first sample is kept with probability before / now, which
 * makes it exact. If it is too seldom, fewer objects are seen. */
static bool first_sample_counts(jvmtiEnv *ti, struct state *s) {
    void *is_old = NULL;
    if (!atomic_load_explicit(&agent.n_old, memory_order_relaxed) ||
        (*ti)->GetThreadLocalStorage(ti, NULL, &is_old) != JVMTI_ERROR_NONE || !is_old)
        return true;
    (*ti)->SetThreadLocalStorage(ti, NULL, NULL);
    atomic_fetch_sub_explicit(&agent.n_old, 1, memory_order_relaxed);
    const uint32_t drawn = (uint32_t)hash_u64(s->random++);
    return (double)drawn * atomic_load(&agent.interval) < 0x1p32 * atomic_load(&agent.gap_before);
}

static void JNICALL on_alloc(jvmtiEnv *ti, JNIEnv *jni, jthread thread, jobject object,
                             jclass class, jlong size) {
    double rate;
    (void)thread;
    if (!atomic_load_explicit(&agent.is_settled, memory_order_relaxed) && jni == agent.creator) {
        atomic_store_explicit(&agent.is_settled, true, memory_order_relaxed);
        return;
    }
    struct state *s = recorder_is_stopped() ? NULL : state_of_thread(&rate);
    if (!s || s->is_busy)
        return;
    s->is_busy = true;
    const uint64_t words = (uint64_t)size / sizeof(uint64_t);
    const uint64_t samples =
        words && first_sample_counts(ti, s) ? jvm_weigh(rate, words, &s->random) : 0;
    if (samples)
        record(s, ti, jni, object, class, words, samples);
    s->is_busy = false;
}

/* Called in any thread of the JVM, also while the world is stopped. */
static void JNICALL on_free(jvmtiEnv *ti, jlong tag) {
    (void)ti;
    runtime_changed((uint64_t)tag, memtrace_stream_collect);
}

/* Marks a collection, but not each: a program that collects a thousand times a second would have
 * nothing but marks. */
static void JNICALL on_collected(jvmtiEnv *ti) {
    enum { SELDOM = 100000 /* us */ };
    const uint64_t now = clock_monotonic_us();
    (void)ti;
    if (now - atomic_load(&agent.gc_marked) < SELDOM)
        return;
    atomic_store(&agent.gc_marked, now);
    recorder_mark("GC");
}

/* ---- the start ----------------------------------------------------------------------------- */

static void refuse(const char *why) {
    recorder_mark(why);
    recorder_tell_user(why);
}

/* Returns whether the JVM is HotSpot, the only one whose sampler is known. */
static bool is_hotspot(jvmtiEnv *ti) {
    char *vm = NULL;
    if ((*ti)->GetSystemProperty(ti, "java.vm.name", &vm) != JVMTI_ERROR_NONE)
        return false;
    const bool is = strstr(vm, "OpenJDK") || strstr(vm, "HotSpot");
    drop(vm);
    return is;
}

/* Requests events of virtual threads, if the JVM has them. Their capability is the bit after that
 * of the sampler, for which jvmti.h before 21 has no name. */
static void want_virtual_threads(jvmtiCapabilities *wanted, const jvmtiCapabilities *there) {
    enum { BIT = 44 };
    const unsigned char bit = 1u << BIT % 8;
    ((unsigned char *)wanted)[BIT / 8] |= ((const unsigned char *)there)[BIT / 8] & bit;
}

static bool add_capabilities(jvmtiEnv *ti) {
    jvmtiCapabilities there, wanted = {.can_tag_objects = 1,
                                       .can_generate_object_free_events = 1,
                                       .can_generate_sampled_object_alloc_events = 1};
    if ((*ti)->GetPotentialCapabilities(ti, &there) != JVMTI_ERROR_NONE)
        return false;
    wanted.can_generate_garbage_collection_events = there.can_generate_garbage_collection_events;
    wanted.can_get_source_file_name = there.can_get_source_file_name;
    wanted.can_get_line_numbers = there.can_get_line_numbers;
    want_virtual_threads(&wanted, &there);
    return (*ti)->AddCapabilities(ti, &wanted) == JVMTI_ERROR_NONE;
}

static bool enable(jvmtiEnv *ti, jvmtiEvent event) {
    return (*ti)->SetEventNotificationMode(ti, JVMTI_ENABLE, event, NULL) == JVMTI_ERROR_NONE;
}

static bool listen_to(jvmtiEnv *ti, double rate) {
    const int32_t interval = jvm_weigh_interval(rate);
    const jvmtiEventCallbacks callbacks = {.SampledObjectAlloc = on_alloc,
                                           .ObjectFree = on_free,
                                           .GarbageCollectionFinish = on_collected};
    if ((*ti)->SetEventCallbacks(ti, &callbacks, sizeof callbacks) != JVMTI_ERROR_NONE ||
        (*ti)->SetHeapSamplingInterval(ti, interval) != JVMTI_ERROR_NONE)
        return false;
    atomic_store(&agent.interval, interval);
    enable(ti, JVMTI_EVENT_GARBAGE_COLLECTION_FINISH);
    return enable(ti, JVMTI_EVENT_OBJECT_FREE) && enable(ti, JVMTI_EVENT_SAMPLED_OBJECT_ALLOC);
}

/* The first events of this thread are wrong. The rest of its current buffer is not sampled, and the
 * distance to its first sample was drawn with another interval. So it allocates until it has one
 * sample, which does not count. Other threads that exist already have not run the program. */
static void settle(JNIEnv *jni) {
    enum { PIECE = 1 << 14, MOST = 1 << 24 };
    for (size_t done = 0; done < MOST && !atomic_load(&agent.is_settled); done += PIECE) {
        jbyteArray piece = (*jni)->NewByteArray(jni, PIECE);
        if (!piece) {
            (*jni)->ExceptionClear(jni);
            break;
        }
        (*jni)->DeleteLocalRef(jni, piece);
    }
    atomic_store(&agent.is_settled, true);
}

/* Marks the existing threads for first_sample_counts. */
static void mark_old_threads(jvmtiEnv *ti, JNIEnv *jni) {
    jthread *threads = NULL;
    jint n = 0;
    size_t marked = 0;
    if ((*ti)->GetAllThreads(ti, &n, &threads) != JVMTI_ERROR_NONE)
        return;
    for (jint i = 0; i < n; i++) {
        marked += (*ti)->SetThreadLocalStorage(ti, threads[i], agent.objects) == JVMTI_ERROR_NONE;
        (*jni)->DeleteLocalRef(jni, threads[i]);
    }
    drop(threads);
    atomic_store(&agent.n_old, marked);
}

/* Returns false if the JVM has no such interface. */
static bool get_interfaces(JavaVM *vm) {
    return (*vm)->GetEnv(vm, (void **)&agent.objects, JVMTI_VERSION_11) == JNI_OK &&
           (*vm)->GetEnv(vm, (void **)&agent.classes, JVMTI_VERSION_11) == JNI_OK;
}

static bool may_tag_classes(void) {
    const jvmtiCapabilities wanted = {.can_tag_objects = 1};
    return (*agent.classes)->AddCapabilities(agent.classes, &wanted) == JVMTI_ERROR_NONE;
}

/* The environment's memory stays valid while some thread is in an event. */
static void drop_interface(jvmtiEnv *ti) {
    if (ti)
        (*ti)->DisposeEnvironment(ti);
}

/* Threads that are in an event finish it with the environment that they have. */
static void drop_interfaces(void) {
    drop_interface(agent.objects);
    drop_interface(agent.classes);
}

/* Starts sampling. Returns NULL, or the reason why it cannot. */
static const char *begin(JavaVM *vm, JNIEnv *jni, bool is_late, double rate) {
    agent.objects = agent.classes = NULL;
    if (!get_interfaces(vm) || !is_hotspot(agent.objects))
        return "its JVM is no HotSpot of Java 11 or later, so its objects are not recorded";
    if (!add_capabilities(agent.objects) || !may_tag_classes())
        return "its JVM does not let its objects be sampled, or lets another agent, so they are "
               "not recorded";
    atomic_store(&agent.n_old, 0);
    if (is_late)
        mark_old_threads(agent.objects, jni);
    return listen_to(agent.objects, rate)
               ? NULL
               : "its JVM does not sample objects, so they are not recorded";
}

void jvm_agent_start(void *vm, void *env) {
    const struct session *s = recorder_enter();
    if (!s)
        return;
    const int64_t left = recorder_pause();
    agent.creator = env;
    const char *why = begin(vm, env, false, s->rate);
    if (!why)
        settle(env);
    recorder_resume(left);
    if (why)
        refuse(why);
}

/* ---- late ---------------------------------------------------------------------------------- */

bool jvm_agent_may_join(void *vm_) {
    JavaVM *vm = vm_;
    jvmtiEnv *ti;
    jvmtiPhase phase = JVMTI_PHASE_PRIMORDIAL;
    if ((*vm)->GetEnv(vm, (void **)&ti, JVMTI_VERSION_11) != JNI_OK)
        return true; /* unsupported: jvm_agent_join reports it */
    const bool is_known = (*ti)->GetPhase(ti, &phase) == JVMTI_ERROR_NONE;
    (*ti)->DisposeEnvironment(ti);
    return !is_known || phase == JVMTI_PHASE_LIVE;
}

void jvm_agent_join(void *vm, void *env) {
    enum { FIRST = 512 * 1024 /* HotSpot's default */ };
    const struct session *s = recorder_enter();
    if (!s)
        return;
    const int64_t left = recorder_pause();
    const int32_t before = atomic_load(&agent.interval);
    atomic_store(&agent.gap_before, before ? before : FIRST);
    atomic_store(&agent.is_settled, true);
    const char *why = begin(vm, env, true, s->rate);
    agent.has_joined = !why;
    if (why)
        drop_interfaces();
    recorder_resume(left);
    recorder_mark(why ? why : "Java's objects are recorded from here on");
}

void jvm_agent_leave(void) {
    if (agent.has_joined)
        drop_interfaces();
    agent.has_joined = false;
}
