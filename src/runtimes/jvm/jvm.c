/* jvm.c: records the heap of a Java program that knows nothing of it.
 *
 * The JVM has an interface for tools (JVMTI), which samples allocations, gives stacks, and tells
 * when objects are gone. We are such a tool without being loaded as one: the recorder is in the
 * process already, and stands where the JVM is created. When JNI_CreateJavaVM has done its work,
 * and before the program runs, the creating thread asks the JVM for the interface (jvm_agent.c).
 *
 * How that function is met. The launcher `java`, and each other tool of a JDK, looks it up in
 * libjvm.so by dlsym: of libjli.so, which launches, the one entry for dlsym is replaced. A program
 * that is linked with libjvm.so calls it by name: these entries are replaced. No other dlsym is
 * touched, since what that gives depends on who calls it.
 *
 * A JVM that runs already, when the recorder is attached, is joined by a thread (jvm_late.h).
 *
 * Objects, malloc's blocks and their stacks go into one trace by one recorder: runtime_events.h.
 * Java's stacks have Java's frames alone; in those of malloc, Java's code is what was made at run
 * time. Each byte counts once, as the JVM maps its heap.
 *
 * Why not otherwise. An agent of its own, by -agentpath in JAVA_TOOL_OPTIONS, makes each JVM print
 * that it picked these up, and JDK_JAVA_OPTIONS does so, too; it would stand among the JVM's
 * arguments, which programs read, and be a second recorder with a trace of its own. An option put
 * into the arguments of JNI_CreateJavaVM is seen by the program as well, and gains nothing: what
 * we need the JVM gives at any time. The price of coming when the JVM is there: what it and agents
 * in Java (-javaagent) allocate before is not recorded; and an agent of the user's that samples
 * objects itself has come first, as it should, for the JVM has one sampler.
 *
 * What must hold. The JVM calls us where it may be called back: outside its locks, the thread in
 * native code. What we ask of it may wait for a collection, so no lock of ours is held meanwhile,
 * nor is the thread inside its domain; it may call malloc, which is then ours and not recorded
 * (recorder_pause). */
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "platform/entries.h"
#include "platform/loader.h"
#include "record/runtime.h"
#include "runtimes/jvm/jvm_agent.h"
#include "runtimes/jvm/jvm_late.h"
#include "runtimes/jvm/jvm_names.h"

#define LAUNCHER "JLI_Launch"
#define CREATE   "JNI_CreateJavaVM"
#define CREATED  "JNI_GetCreatedJavaVMs"

typedef int32_t create_vm(void **vm, void **env, void *arguments);

static struct {
    create_vm *create;            /* what ours stands before */
    uintptr_t launcher;           /* in libjli.so; 0: there is none */
    struct entries_sealed sealed; /* of the module that is looked at */
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

/* For the launcher, which names the library. */
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
    int32_t (*ask)(void **vms, int32_t room, int32_t *n), n = 0;
    void *vm;
    memcpy(&ask, &created, sizeof ask);
    return created && ask(&vm, 1, &n) == 0 && n > 0;
}

/* Attached, we find the JVM there, as a rule. */
static void jvm_begin(void) {
    void *const created = loader_symbol(RTLD_DEFAULT, CREATED);
    if (is_running(created)) {
        jvm_late_begin(created);
        return;
    }
    jvm.launcher = (uintptr_t)loader_symbol(RTLD_DEFAULT, LAUNCHER);
    module_each(replace_in, loader_symbol(RTLD_DEFAULT, CREATE));
}

/* ---- for the recorder ---------------------------------------------------------------------- */

static enum runtime_kind jvm_find(const char **why) {
    if (!loader_symbol(RTLD_DEFAULT, LAUNCHER) && !loader_symbol(RTLD_DEFAULT, CREATE))
        return RUNTIME_ABSENT;
    *why = jvm_agent_missing;
    return jvm_agent_missing ? RUNTIME_UNFIT : RUNTIME_RECORDABLE;
}

static const char *jvm_parameters(void) {
    return NULL;
}

static void jvm_domain_forget(void *state) {
    (void)state; /* it remembers nothing of the last stack */
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
