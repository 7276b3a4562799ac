/* jvm_agent_none.c: replaces jvm_agent.c and jvm_late.c in a build without jvmti.h. */
#include "runtimes/jvm/jvm_agent.h"
#include "runtimes/jvm/jvm_late.h"

const char *const jvm_agent_missing =
    "allotrace was built without a JDK, so only the malloc of its JVM is recorded, not its objects";

void jvm_agent_start(void *vm, void *env) {
    (void)vm;
    (void)env;
}

void jvm_late_begin(void *created) {
    (void)created;
}

void jvm_late_end(void) {}

size_t jvm_agent_domain_size(size_t depth) {
    (void)depth;
    return 1;
}

void jvm_agent_domain_init(void *state, size_t depth) {
    (void)state;
    (void)depth;
}
