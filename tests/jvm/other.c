/* other.c: an agent that has the JVM's sampler for itself. */
#include <jvmti.h>

JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *vm, char *options, void *reserved) {
    const jvmtiCapabilities wanted = {.can_generate_sampled_object_alloc_events = 1};
    jvmtiEnv *ti;
    (void)options;
    (void)reserved;
    if ((*vm)->GetEnv(vm, (void **)&ti, JVMTI_VERSION_11) != JNI_OK)
        return JNI_ERR;
    return (*ti)->AddCapabilities(ti, &wanted) == JVMTI_ERROR_NONE ? JNI_OK : JNI_ERR;
}
