/* scope.h: what a program says it is doing, such as a request or a phase. A scope is a name that
 * applies to a thread until the program sets another one (allotrace/mark.h).
 * A thread stores the number of its scope's name whether or not anything is recorded. So a scope in
 * which nothing is sampled costs a table lookup and leaves nothing in the trace. The recorder
 * writes a thread's scope before an event if it differs from the scope at the previous event. Names
 * belong to the process, because scopes may outlive a recording.
 * A language runtime may know more, namely that the thread is running a task with a name. The task
 * is then the scope, within that of the thread. Scopes that the program enters in a task belong to
 * the task, however often the thread runs other tasks meanwhile (`scope` in runtime.h). */
#ifndef RECORD_SCOPE_H
#define RECORD_SCOPE_H

#include "record/names.h"

enum {
    SCOPE_NAMES = NAMES_MOST,                  /* most names; later ones share one number */
    SCOPE_NAMES_OF_TASKS = NAMES_MOST / 2,     /* limits of scope_number_found: single tasks, */
    SCOPE_NAMES_OF_KINDS = NAMES_MOST / 4 * 3, /* and what runs in tasks */
    SCOPE_NAME_SIZE = NAMES_SIZE
};

#define SCOPE_NONE 0u

/* Returns the number of a name, from 1 on, and copies the name. Any thread may call, also in a
 * signal handler. */
uint16_t scope_number(const char *name);

/* Returns the number of a name that a runtime has found. Programs may name each of their tasks, so
 * the limit `most` leaves room for other names. Returns SCOPE_NAMES if the name is new and `most`
 * names are known. */
uint16_t scope_number_found(const char *name, uint32_t most);

/* Returns the name of a scope by its number, which may be that of no scope. */
const char *scope_text(uint16_t number);

#endif
