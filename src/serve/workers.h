/* workers.h: threads that answer requests, so that requests do not wait for each other. There is
 * always one more thread for the next job, up to a limit that bounds the memory in use. */
#ifndef SERVE_WORKERS_H
#define SERVE_WORKERS_H

#include <stdbool.h>

#define WORKERS_MAX 32

typedef struct workers workers;

/* A job, to be embedded in a larger struct. */
typedef struct job {
    struct job *next;
    void (*run)(struct job *j);
} job;

workers *workers_new(void); /* NULL when there is no memory */

/* Returns false if no thread could be started to run it. */
bool workers_submit(workers *w, job *j);

/* Runs all submitted jobs, then frees. No job may be submitted from then on. */
void workers_free(workers *w);

#endif
