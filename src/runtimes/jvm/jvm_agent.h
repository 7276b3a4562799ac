/* jvm_agent.h: the recorder as an agent of the JVM, by its tool interface (JVMTI). A build without
 * a JDK has jvm_agent_none.c instead. */
#ifndef RUNTIMES_JVM_JVM_AGENT_H
#define RUNTIMES_JVM_JVM_AGENT_H

#include <stdbool.h>
#include <stddef.h>

/* Starts sampling in a JVM that the calling thread has just created, before the program runs. `vm`
 * and `env` are the results of JNI_CreateJavaVM. */
void jvm_agent_start(void *vm, void *env);

/* Start sampling in a JVM that is already running the program. The calling thread has attached
 * itself for this, and may wait. jvm_agent_may_join returns whether the JVM is ready, which it is
 * soon after its creation. A failure of jvm_agent_join is reported in the trace only. */
bool jvm_agent_may_join(void *vm);
void jvm_agent_join(void *vm, void *env);

/* Ends sampling, and leaves the JVM as it was. */
void jvm_agent_leave(void);

/* NULL if there is an agent, else the reason. */
extern const char *const jvm_agent_missing __attribute__((visibility("hidden")));

/* `domain_size` and `domain_init` of record/runtime.h. */
size_t jvm_agent_domain_size(size_t depth);
void jvm_agent_domain_init(void *state, size_t depth);

#endif
