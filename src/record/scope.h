/* scope.h: what a program says it is doing, as a request or a phase: a name that holds for a thread
 * until it says otherwise (allotrace/mark.h).
 *
 * A thread remembers the number of its scope's name, whether anything is recorded or not, so that
 * scopes which nothing is sampled in cost a look into a table and leave nothing in the trace: the
 * recorder writes down a thread's scope before an event, if it is another one than at the event
 * before. Names are the process's, as scopes may last longer than a recording.
 *
 * A language runtime may know more: that the thread runs a task now, which has a name. The task is
 * then the scope, within that of the thread, and scopes that the program enters in a task belong to
 * the task, however often the thread runs others meanwhile (`scope` in runtime.h). */
#ifndef RECORD_SCOPE_H
#define RECORD_SCOPE_H

#include "record/names.h"

enum {
    SCOPE_NAMES = NAMES_MOST,                  /* at most; all later ones are one */
    SCOPE_NAMES_OF_TASKS = NAMES_MOST / 2,     /* see scope_number_found: of single tasks, */
    SCOPE_NAMES_OF_KINDS = NAMES_MOST / 4 * 3, /* and of what runs in tasks */
    SCOPE_NAME_SIZE = NAMES_SIZE
};

#define SCOPE_NONE 0u

/* The number of a name, from 1 on; the name is copied. Any thread may call, also in a signal
 * handler. */
uint16_t scope_number(const char *name);

/* The same of a name that a runtime has found. Programs may name each of their tasks: such names
 * leave room for others; SCOPE_NAMES: it is new, and `most` are known. */
uint16_t scope_number_found(const char *name, uint32_t most);

/* Of the number of a scope, or of none. */
const char *scope_text(uint16_t number);

#endif
