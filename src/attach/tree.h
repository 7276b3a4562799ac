/* tree.h: follows a process with all its threads, where follow.h follows only the first. It also
 * traces each process that any of the threads starts, up to that process's exec. This is for
 * programs that start others without the C library, where no interposed function sees it.
 * Independent of the CPU.
 * A started process is traced from system call to system call until it is about to exec. It can be
 * released before the exec, and must be if its program is setuid or the like: the kernel gives no
 * such rights to a traced process. One thread must make all calls; it waits for everything that it
 * traces (waitpid of -1, __WALL). */
#ifndef ATTACH_TREE_H
#define ATTACH_TREE_H

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

#include "base/vec.h"

typedef struct tree {
    VEC(pid_t) starting; /* processes that have not reached their exec */
} tree;

typedef enum tree_event {
    TREE_NONE,   /* it continues */
    TREE_STARTS, /* a process is about to exec; it waits for tree_go_on or tree_let_go */
    TREE_STANDS, /* a process stands at its exec, as after enter_await_exec */
    TREE_EXITS,  /* a thread is about to end; it waits for tree_go_on or follow_let_go */
    TREE_GONE,   /* a thread or process has ended */
} tree_event;

/* Starts and follows a process that stands at its exec. Returns false if it is gone. */
bool tree_begin(pid_t pid);

/* Handles a stop or an end. `is_process`: the thread is the first one of a followed process. */
tree_event tree_take(tree *t, pid_t thread, int status, bool is_process);

/* Writes the path, as seen from here, of the file that a process is about to exec (TREE_STARTS).
 * Returns false if it is not known. */
bool tree_path(pid_t pid, char path[PATH_MAX]);

void tree_go_on(const tree *t, pid_t thread);
void tree_let_go(tree *t, pid_t pid);

void tree_free(tree *t);

#endif
