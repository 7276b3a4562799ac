/* python_tasks.h: which asyncio task the calling thread runs, so that each task is a scope
 * (record/scope.h) without changes to the program.
 *
 * From 3.14 on, the thread's state contains the running task. Up to 3.13 the task is in a dict of
 * the module `_asyncio`. No symbol has the address of that dict, but it can be reached from the
 * thread: thread, interpreter, sys.modules, `_asyncio`, dict. The key is the loop that the thread
 * runs, so a thread without a loop costs only a look at one word.
 *
 * A task's scope has the task's name or, if that is only a number, its coroutine's name. Names are
 * read at each event, because nothing tells whether the task at an address is still the same one.
 *
 * Dicts and names are read only with the interpreter's lock held, as other threads change them. A
 * thread without the lock is taken to be in the task that it was in before, if the frame of that
 * task's coroutine is still among the frames that it runs. */
#ifndef PYTHON_TASKS_H
#define PYTHON_TASKS_H

#include "runtimes/python/python_layout.h"

/* A domain's cache; valid when zeroed. */
typedef struct python_tasks python_tasks;
size_t python_tasks_size(void);

/* A thread with a Python thread state, and whether it holds the lock. */
struct python_thread {
    char *state;
    bool has_lock;
};

/* Returns the number of the scope that the thread is in, or `of_thread` if it runs no task. */
uint16_t python_tasks_scope(python_tasks *t, const python_runtime *r, struct python_thread thread,
                            uint16_t of_thread);

/* `enter_scope` of record/runtime.h. `t` may be NULL. */
bool python_tasks_enter(python_tasks *t, const python_runtime *r, struct python_thread thread,
                        uint16_t scope, uint16_t *before);

/* `lacks` of record/runtime.h. */
const char *python_tasks_lack(const python_runtime *r);

#endif
