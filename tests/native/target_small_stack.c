/* target_small_stack BYTES [first|child]: handles signals on alternate stacks that hold so many
 * bytes beside what the kernel puts there, above a page that must not be touched. In the handlers
 * it allocates 24,000 bytes, and frees them, twice in each of its two threads. first: nothing was
 * allocated before. child: all of that happens in the child of a fork, but for what it resizes
 * first. It is linked so that all calls are bound from the start. */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static size_t bytes;
static void *kept; /* for the handler to resize; NULL: nothing */

static void handle(int signal) {
    (void)signal;
    void *volatile block = kept ? kept : malloc(8000);
    kept = NULL;
    block = realloc(block, 24000);
    free(block);
}

static char *above_a_page(size_t size) {
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *area =
        mmap(NULL, page + size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (area == MAP_FAILED || mprotect(area, page, PROT_NONE) != 0)
        abort();
    return area + page;
}

static char *volatile reached;

static void note_where(int signal) {
    (void)signal;
    reached = __builtin_frame_address(0);
}

/* What AT_MINSIGSTKSZ says may be much more: it has room for registers that no thread uses yet. */
static size_t taken_by_the_kernel(void) {
    enum { PLENTY = 1 << 17 };
    const struct sigaction action = {.sa_handler = note_where, .sa_flags = SA_ONSTACK};
    const stack_t stack = {.ss_sp = above_a_page(PLENTY), .ss_size = PLENTY};
    if (sigaction(SIGUSR2, &action, NULL) != 0 || sigaltstack(&stack, NULL) != 0)
        abort();
    raise(SIGUSR2);
    return (size_t)((char *)stack.ss_sp + PLENTY - reached);
}

static void *take_signals(void *unused) {
    const size_t least = taken_by_the_kernel();
    const stack_t stack = {.ss_sp = above_a_page(least + bytes), .ss_size = least + bytes};
    if (sigaltstack(&stack, NULL) != 0)
        abort();
    raise(SIGUSR1);
    free(malloc(4000));
    raise(SIGUSR1);
    return unused;
}

int main(int argc, char **argv) {
    const struct sigaction action = {.sa_handler = handle, .sa_flags = SA_ONSTACK};
    pthread_t thread;
    bytes = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
    const char *scene = argc > 2 ? argv[2] : "";
    if (strcmp(scene, "first") != 0)
        handle(0);
    if (strcmp(scene, "child") == 0) {
        kept = malloc(8000);
        const pid_t child = fork();
        int status;
        if (child > 0)
            return waitpid(child, &status, 0) != child || status != 0;
    }
    sigaction(SIGUSR1, &action, NULL);
    take_signals(NULL);
    if (pthread_create(&thread, NULL, take_signals, NULL) != 0 || pthread_join(thread, NULL) != 0)
        abort();
    puts("done");
    return 0;
}
