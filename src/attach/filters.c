/* filters.c: reads filters with PTRACE_SECCOMP_GET_FILTER, one at a time. That requires
 * CAP_SYS_ADMIN, and this process must have no filter itself. contract/seccomp computes what a
 * filter does to recording; this file puts it into words. */
#include "attach/filters.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <unistd.h>

#include "attach/process.h"

bool filters_may_read(void) {
    return process_may_see_all() && process_status(getpid(), "Seccomp", 0) == 0;
}

/* Returns the number of instructions, or -errno. */
static long read_code(pid_t tid, size_t index, struct sock_filter *code) {
    long n = ptrace(PTRACE_SECCOMP_GET_FILTER, tid, (void *)index, code);
    return n < 0 ? -errno : n;
}

/* Returns 0 or -errno. ENOENT means that there are no more filters. */
static int read_next(pid_t tid, filters *f) {
    long n = read_code(tid, f->count, NULL);
    if (n < 0)
        return (int)n;
    struct sock_filter *code = malloc((size_t)n * sizeof *code);
    n = code ? read_code(tid, f->count, code) : -ENOMEM;
    if (n >= 0 && vec_push(f, ((struct sock_fprog){.len = (unsigned short)n, .filter = code})))
        return 0;
    free(code);
    return n < 0 ? (int)n : -ENOMEM;
}

int filters_read(pid_t tid, filters *f) {
    int error = 0;
    *f = (filters){0};
    while (error == 0)
        error = read_next(tid, f);
    if (error == -ENOENT)
        return 0;
    filters_free(f);
    return -error;
}

void filters_free(filters *f) {
    for (size_t i = 0; i < f->count; i++)
        free(f->items[i].filter);
    vec_free(f);
}

const char *filters_say(const seccomp_harm *harm) {
    switch (harm->answer) {
    case SECCOMP_ENDS:
        return "may end it for";
    case SECCOMP_SIGNALS:
        return "may send it a signal for";
    case SECCOMP_FAKES:
        return "may only pretend to do";
    case SECCOMP_ASKS:
        return "may have another process decide on";
    default:
        return "may refuse";
    }
}
