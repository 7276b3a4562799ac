/* workers.h: threads that answer requests, so that none waits for another: there is always one more
 * for the next job, up to a limit that bounds the memory in use. */
#ifndef SERVE_WORKERS_H
#define SERVE_WORKERS_H

#include <stdbool.h>

#define WORKERS_MAX 32

typedef struct workers workers;

/* A job, embedded in what it is about. */
typedef struct job {
    struct job *next;
    void (*run)(struct job *j);
} job;

workers *workers_new(void); /* NULL when there is no memory */

/* False if there is no thread for it, nor will be. */
bool workers_submit(workers *w, job *j);

/* Runs what was submitted to its end, and frees. Nobody may submit any more. */
void workers_free(workers *w);

#endif
