/* jvm.c: records the heap of an unmodified Java program.
 *
 * The JVM has an interface for tools (JVMTI). It samples allocations, takes stacks, and reports
 * when objects are freed. We are such a tool, but need not be loaded as an agent, because the
 * recorder is in the process already. It intercepts JNI_CreateJavaVM. When that has returned, and
 * before the program runs, the creating thread requests the interface (jvm_agent.c).
 *
 * How that function is intercepted. The launcher `java`, like each other tool of a JDK, looks it up
 * in libjvm.so by dlsym: in libjli.so, which launches, the import entry for dlsym is replaced. A
 * program that is linked with libjvm.so calls the function by name: its import entries are
 * replaced. No other dlsym is touched, since the result of dlsym depends on its caller.
 *
 * A JVM that is already running when the recorder is attached is joined by a thread of ours
 * (jvm_late.h).
 *
 * Objects, malloc's blocks and their stacks go into one trace by one recorder: runtime_events.h.
 * The stacks of objects have Java frames only. In the stacks of malloc, Java code shows as code
 * made at run time. Each byte counts once, as the JVM takes its heap from mmap, not from malloc.
 *
 * Why not otherwise. An agent set by -agentpath in JAVA_TOOL_OPTIONS or JDK_JAVA_OPTIONS makes each
 * JVM print that it picked up these options. The agent would show among the JVM's arguments, which
 * programs read, and would be a second recorder with a trace of its own. An option added to the
 * arguments of JNI_CreateJavaVM is also seen by the program, and has no benefit: the JVM grants
 * what we need at any time. The price of starting after the JVM: what the JVM and agents in Java
 * (-javaagent) allocate before is not recorded. And as the JVM has only one sampler, an agent of
 * the user that samples objects gets it first, as it should.
 *
 * What must hold. The JVM calls us only where calls back into it are allowed: outside its locks,
 * with the thread in native code. Our requests may wait for a collection. So we hold no lock
 * meanwhile, and the thread is not inside its domain. The JVM may call malloc for them, which is
 * then not recorded (recorder_pause). */
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "platform/entries.h"
#include "platform/loader.h"
#include "record/recorder.h"
#include "record/runtime.h"
#include "runtimes/jvm/jvm_agent.h"
#include "runtimes/jvm/jvm_late.h"
#include "runtimes/jvm/jvm_names.h"

#define CREATE "JNI_CreateJavaVM"

typedef int32_t create_vm(void **vm, void **env, void *arguments);
typedef int32_t created_vms(void **vms, int32_t room, int32_t *n);

/* Defined in few programs. As weak references they are resolved with all other symbols, while dlsym
 * would call the program's malloc for a missing symbol, before the program has begun. */
extern int JLI_Launch(int n, char **arguments, ...) __attribute__((weak));
extern create_vm JNI_CreateJavaVM __attribute__((weak));
extern created_vms JNI_GetCreatedJavaVMs __attribute__((weak));

/* A recorder that stays from an earlier recording may be older than the JVM. */
#define FIND(name)                                                                                 \
    (recorder_is_late() ? loader_symbol(RTLD_DEFAULT, #name) : (void *)(uintptr_t)name)

static struct {
    create_vm *create;            /* the JVM's function, which ours calls */
    uintptr_t launcher;           /* an address in libjli.so; 0: not loaded */
    struct entries_sealed sealed; /* of the module that is being changed */
} jvm;

/* ---- the JVM is created -------------------------------------------------------------------- */

static int32_t jvm_create(void **vm, void **env, void *arguments) {
    const int32_t status = jvm.create(vm, env, arguments);
    if (status == 0)
        jvm_agent_start(*vm, *env);
    return status;
}

static void *create_in_front_of(void *found) {
    memcpy(&jvm.create, &found, sizeof found);
    return (void *)(uintptr_t)jvm_create;
}

/* Replaces dlsym in the launcher, which passes libjvm.so's handle. */
static void *jvm_look_up(void *handle, const char *name) {
    void *found = loader_symbol(handle, name);
    return found && strcmp(name, CREATE) == 0 ? create_in_front_of(found) : found;
}

static void replace_lookup(const char *name, void **slot, void *context) {
    (void)context;
    if (strcmp(name, "dlsym") == 0)
        entries_write(&jvm.sealed, slot, (void *)(uintptr_t)jvm_look_up);
}

static void replace_create(const char *name, void **slot, void *context) {
    if (strcmp(name, CREATE) == 0)
        entries_write(&jvm.sealed, slot, create_in_front_of(context));
}

static void replace_in(const struct module *m, void *created) {
    struct entries entries;
    if (!entries_read(m, &entries))
        return;
    jvm.sealed = entries.sealed;
    if (jvm.launcher - m->low < m->high - m->low)
        entries_each(&entries, true, replace_lookup, NULL);
    if (created)
        entries_each(&entries, true, replace_create, created);
}

static bool is_running(void *created) {
    created_vms *ask;
    int32_t n = 0;
    void *vm;
    memcpy(&ask, &created, sizeof ask);
    return ask && ask(&vm, 1, &n) == 0 && n > 0;
}

/* If we were attached, the JVM is usually running. */
static void jvm_begin(void) {
    void *const created = FIND(JNI_GetCreatedJavaVMs);
    if (is_running(created)) {
        jvm_late_begin(created);
        return;
    }
    jvm.launcher = (uintptr_t)FIND(JLI_Launch);
    module_each(replace_in, FIND(JNI_CreateJavaVM));
}

/* ---- for the recorder ---------------------------------------------------------------------- */

static enum runtime_kind jvm_find(const char **why) {
    if (!FIND(JLI_Launch) && !FIND(JNI_CreateJavaVM))
        return RUNTIME_ABSENT;
    *why = jvm_agent_missing;
    return jvm_agent_missing ? RUNTIME_UNFIT : RUNTIME_RECORDABLE;
}

static const char *jvm_parameters(void) {
    return NULL;
}

static void jvm_domain_forget(void *state) {
    (void)state; /* nothing is kept of the last stack */
}

static size_t jvm_locate(code_table *codes, uintptr_t slot, memtrace_location *locations,
                         size_t max) {
    (void)codes;
    return jvm_names_locate(slot, locations, max);
}

const struct runtime jvm_runtime_row = {
    .find = jvm_find,
    .begin = jvm_begin,
    .end = jvm_late_end,
    .parameters = jvm_parameters,
    .domain_size = jvm_agent_domain_size,
    .domain_init = jvm_agent_domain_init,
    .domain_forget = jvm_domain_forget,
    .locate = jvm_locate,
};
