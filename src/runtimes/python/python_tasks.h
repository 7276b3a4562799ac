/* python_tasks.h: which task of asyncio the calling thread runs, so that a task is a scope
 * (record/scope.h) without a change of the program.
 *
 * From 3.14 on, a thread's state says which task it runs. Up to 3.13 it is in a dict of the module
 * `_asyncio`, whose address no symbol has, but which can be reached from the thread: its
 * interpreter has sys.modules, that has the module, and the module the dict. The key is the loop
 * that the thread runs, so threads without a loop cost a look at one word.
 *
 * A task's scope has its name, or, where that is only a number, its coroutine's. Names are read at
 * each event: nothing says that a task at an address is still the one that was there before.
 *
 * Dicts and names are read only with the interpreter's lock held, as others change them. A thread
 * that has given it up is in the task that it was in before, if the frame of that task's coroutine
 * is still among those that it runs. */
#ifndef PYTHON_TASKS_H
#define PYTHON_TASKS_H

#include "runtimes/python/python_layout.h"

/* What a domain remembers; legal when zeroed. */
typedef struct python_tasks python_tasks;
size_t python_tasks_size(void);

/* A thread that has a state of Python, and whether it has the lock. */
struct python_thread {
    char *state;
    bool has_lock;
};

/* The number of the scope that the thread is in: `of_thread` if it runs no task. */
uint16_t python_tasks_scope(python_tasks *t, const python_runtime *r, struct python_thread thread,
                            uint16_t of_thread);

/* See record/runtime.h, `enter_scope`. `t` may be NULL. */
bool python_tasks_enter(python_tasks *t, const python_runtime *r, struct python_thread thread,
                        uint16_t scope, uint16_t *before);

/* See record/runtime.h, `lacks`. */
const char *python_tasks_lack(const python_runtime *r);

#endif
