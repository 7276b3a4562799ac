/* jvm_agent.h: the recorder as a user of the JVM's tool interface (JVMTI). Where allotrace was
 * built without a JDK there is none: jvm_agent_none.c. */
#ifndef RUNTIMES_JVM_JVM_AGENT_H
#define RUNTIMES_JVM_JVM_AGENT_H

#include <stdbool.h>
#include <stddef.h>

/* A JVM has been created, by the calling thread, and is about to run the program. `vm` and `env`
 * are what JNI_CreateJavaVM gave. */
void jvm_agent_start(void *vm, void *env);

/* The same of a JVM that has long been running the program, by a thread that has joined it for this
 * and may wait: whether the time has come, which it does soon after the JVM is there; and the
 * start, of which is said in the trace alone why it fails. */
bool jvm_agent_may_join(void *vm);
void jvm_agent_join(void *vm, void *env);

/* Nothing more is asked of the JVM, which is as it was. */
void jvm_agent_leave(void);

/* NULL: it is there. Else why not. */
extern const char *const jvm_agent_missing __attribute__((visibility("hidden")));

/* runtime.domain_size and domain_init. */
size_t jvm_agent_domain_size(size_t depth);
void jvm_agent_domain_init(void *state, size_t depth);

#endif
