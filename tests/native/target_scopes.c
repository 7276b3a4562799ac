/* Allocates in scopes: ROUNDS times, in two threads beside each other, each of SIZE bytes:
 *
 *   handle 1 block, in it parse 2 and handle again 1, then 4 in no scope; the other thread 8 in
 *   "job", and all that it keeps.
 *
 * With "fork", a child does the same in a scope that its parent began. With "many", goes through
 * more names than there may be. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "allotrace/mark.h"

enum { SIZE = 10000 };

static _Thread_local void *volatile kept;
static long rounds;

__attribute__((noinline)) static void allocate_some(int n) {
    for (int i = 0; i < n; i++) {
        kept = malloc(SIZE);
        free(kept);
    }
}

static void serve(void) {
    const unsigned outer = allotrace_scope_begin("handle");
    allocate_some(1);
    const unsigned inner = allotrace_scope_begin("parse");
    allocate_some(2);
    allotrace_scope_end(inner);
    allocate_some(1);
    allotrace_scope_end(outer);
    allocate_some(4);
}

static void *work(void *unused) {
    const unsigned outer = allotrace_scope_begin("job");
    for (long i = 0; i < rounds; i++)
        allocate_some(8);
    for (long i = 0; i < rounds; i++)
        kept = malloc(SIZE);
    allotrace_scope_end(outer);
    return unused;
}

static void use_many(void) {
    char name[100];
    for (int i = 0; i < 2000; i++) {
        snprintf(name, sizeof name, "scope %04d %s", i, "äöüäöüäöüäöüäöüäöüäöüäöüäöüäöü");
        allotrace_scope_end(allotrace_scope_begin(name)); /* leaves nothing */
        const unsigned outer = allotrace_scope_begin(name);
        allocate_some(1);
        allotrace_scope_end(outer);
    }
}

int main(int argc, char **argv) {
    pthread_t other;
    rounds = argc > 1 ? strtol(argv[1], NULL, 10) : 1;
    const char *how = argc > 2 ? argv[2] : "";
    if (strcmp(how, "many") == 0) {
        use_many();
        return 0;
    }
    if (strcmp(how, "fork") == 0) {
        const unsigned outer = allotrace_scope_begin("parent");
        const pid_t child = fork();
        if (child == 0) {
            allocate_some(3);
            _exit(0);
        }
        waitpid(child, NULL, 0);
        allotrace_scope_end(outer);
        return 0;
    }
    if (strcmp(how, "wait") == 0)
        getchar(); /* until somebody has attached */
    pthread_create(&other, NULL, work, NULL);
    for (long i = 0; i < rounds; i++)
        serve();
    pthread_join(other, NULL);
    return 0;
}
