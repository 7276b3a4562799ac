/* parallel.c: starts a thread only for some hundred thousand rows or more. Below that, starting
 * costs too much. */
#include "profile/parallel.h"

#include <pthread.h>
#include <stdbool.h>
#include <unistd.h>

enum { ROWS_A_THREAD = 1 << 18 }; /* work for some 100 µs; a start takes some 10 */

typedef struct task {
    void (*work)(void *context, size_t part);
    void *context;
    size_t part;
    pthread_t thread;
    bool has_thread;
} task;

size_t parallel_parts(size_t rows) {
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    size_t most = processors > PARALLEL_MAX ? PARALLEL_MAX
                  : processors > 1          ? (size_t)processors
                                            : 1;
    size_t worth = rows / ROWS_A_THREAD;
    return worth < 1 ? 1 : worth < most ? worth : most;
}

size_t parallel_same_parts(size_t rows) {
    const size_t worth = rows / ROWS_A_THREAD;
    return worth < 1 ? 1 : worth < PARALLEL_MAX ? worth : PARALLEL_MAX;
}

static void *run(void *context) {
    const task *t = context;
    t->work(t->context, t->part);
    return NULL;
}

void parallel_run(size_t n, void (*work)(void *context, size_t part), void *context) {
    task tasks[PARALLEL_MAX];
    for (size_t i = 1; i < n; i++) {
        tasks[i] = (task){.work = work, .context = context, .part = i};
        tasks[i].has_thread = pthread_create(&tasks[i].thread, NULL, run, &tasks[i]) == 0;
    }
    work(context, 0);
    for (size_t i = 1; i < n; i++)
        if (tasks[i].has_thread)
            pthread_join(tasks[i].thread, NULL);
        else
            work(context, i);
}
