/* free_threaded.c: a program with the symbols by which a free-threaded build of CPython 3.13 is
 * known, and nothing behind them: whoever looks further reads what is not there. */
#include <stdio.h>
#include <stdlib.h>

unsigned long Py_Version = 0x030d00f0;
struct {
    char cookie[8];
    unsigned long version, free_threaded;
} _PyRuntime = {"xdebugpy", 0x030d00f0, 1};

void PyMem_SetAllocator(int domain, void *allocator) {
    (void)domain;
    (void)allocator;
    abort();
}

/* With an argument, it waits for a line before and after. */
int main(int count, char **arguments) {
    (void)arguments;
    if (count > 1) {
        puts("begun");
        fflush(stdout);
        getchar();
    }
    char *volatile block = malloc(12345);
    free(block);
    puts("done");
    fflush(stdout);
    if (count > 1)
        getchar();
    return 3;
}
