/* A tracing library: the variable, in whichever model of thread-local storage it is compiled. */
#include "span_library.h"

__attribute__((visibility("default"))) __thread struct span_record *volatile otel_thread_ctx_v1;

__attribute__((visibility("default"))) void span_publish(struct span_record *record) {
    otel_thread_ctx_v1 = record;
}
