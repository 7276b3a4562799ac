/* tree.h: follows a process with all its threads, as follow.h does with its first, and looks at
 * what it starts, in whichever thread that is, up to its exec. For programs that start others
 * without the C library, so that nobody in them sees that. Needs nothing of the CPU.
 *
 * What is started is traced, call by call, until it is about to exec: by then it can be let go, as
 * it must if its program has rights of its own, which the kernel gives to none that is traced. All
 * calls come from one thread, which waits for all that it traces (waitpid of -1, __WALL). */
#ifndef ATTACH_TREE_H
#define ATTACH_TREE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/vec.h"

typedef struct tree {
    VEC(pid_t) starting; /* processes that have not come to their exec */
} tree;

typedef enum tree_event {
    TREE_NONE,   /* it goes on */
    TREE_STARTS, /* a process is about to exec: waits for tree_go_on, or tree_let_go */
    TREE_STANDS, /* a process is at its exec, as after enter_await_exec */
    TREE_EXITS,  /* a thread is about to end: waits for tree_go_on, or follow_let_go */
    TREE_GONE,   /* it has ended */
} tree_event;

/* A process at its exec begins, and is followed. False: it has gone. */
bool tree_begin(pid_t pid);

/* What a stop or an end means. `is_process`: the thread is the first of a process that is followed.
 */
tree_event tree_take(tree *t, pid_t thread, int status, bool is_process);

/* The file that a process is about to exec (TREE_STARTS), as seen from here. False: it is not
 * known. */
bool tree_path(pid_t pid, char path[PATH_MAX]);

void tree_go_on(const tree *t, pid_t thread);
void tree_let_go(tree *t, pid_t pid);

void tree_free(tree *t);

#endif
