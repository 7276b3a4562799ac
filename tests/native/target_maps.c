/* target_maps: maps memory in known amounts; `target_maps SCENE`. Sizes are odd numbers of pages,
 * so that each can be told from the others. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static size_t page;

static void check(int right, const char *what) {
    if (!right) {
        fprintf(stderr, "target_maps: %s\n", what);
        exit(99);
    }
}

static char *map(size_t pages, int protection, int flags) {
    char *at = mmap(NULL, pages * page, protection, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
    check(at != MAP_FAILED, "mmap");
    if (protection & PROT_WRITE)
        at[0] = at[pages * page - 1] = 1;
    return at;
}

static char *usable(size_t pages) {
    return map(pages, PROT_READ | PROT_WRITE, 0);
}

static void unmap(char *at, size_t pages) {
    check(munmap(at, pages * page) == 0, "munmap");
}

static void whole(void) {
    for (int i = 0; i < 10; i++)
        unmap(usable(101), 101);
    usable(103);
}

/* The middle, then the left, then the right. */
static void parts(void) {
    char *at = usable(211);
    unmap(at + 100 * page, 10);
    unmap(at, 100);
    unmap(at + 110 * page, 1);
}

static void fixed(void) {
    char *at = usable(301);
    check(mmap(at + page, 99 * page, PROT_READ | PROT_WRITE,
               MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == at + page,
          "fixed");
    unmap(at, 301);
    /* One call over many mappings. */
    char *space = map(1000, PROT_NONE, 0);
    for (int i = 0; i < 100; i++)
        check(mmap(space + 10 * i * page, 5 * page, PROT_READ,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != MAP_FAILED,
              "islands");
    unmap(space, 1000);
}

static void reserved(void) {
    char *space = map(100003, PROT_NONE, MAP_NORESERVE);
    check(mprotect(space + 10 * page, 401 * page, PROT_READ | PROT_WRITE) == 0, "mprotect");
    space[11 * page] = 1;
    check(mprotect(space + 10 * page, 402 * page, PROT_READ) == 0, "mprotect again");
    unmap(space, 100003);
}

static void moved(void) {
    char *at = usable(501);
    at = mremap(at, 501 * page, 503 * page, MREMAP_MAYMOVE);
    check(at != MAP_FAILED && at[0] == 1, "grow");
    at = mremap(at, 503 * page, 499 * page, 0);
    check(at != MAP_FAILED && at[0] == 1, "shrink");
    errno = 0;
    check(mremap(at, 499 * page, (size_t)1 << 46, 0) == MAP_FAILED && errno == ENOMEM, "too large");
    char *place = usable(509);
    check(mremap(at, 499 * page, 505 * page, MREMAP_MAYMOVE | MREMAP_FIXED, place) == place &&
              place[0] == 1,
          "to a place");
    unmap(place, 509);
}

static void of_file(const char *name) {
    int fd = open(name, O_RDONLY);
    char *at = mmap(NULL, page, PROT_READ, MAP_PRIVATE, fd, 0);
    check(at != MAP_FAILED && at[1] == 'E', "file");
    unmap(at, 1);
    close(fd);
}

static void breaks(void) {
    char *before = sbrk(0);
    check(sbrk(601 * (long)page) == before, "sbrk");
    before[600 * page] = 1;
    check(sbrk(-(long)page) == before + 601 * page, "sbrk back");
    check(brk(before) == 0 && sbrk(0) == before, "brk");
}

static void failing(void) {
    errno = 0;
    check(mmap(NULL, 0, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED &&
              errno == EINVAL,
          "nothing");
    char *at = usable(701);
    check(munmap(at + 1, page) < 0 && munmap(at, 0) < 0 && errno == EINVAL, "odd");
    check(mprotect(NULL, page, PROT_READ) < 0 && errno == ENOMEM, "mprotect");
    errno = 77;
    unmap(at, 701);
    check(errno == 77, "errno");
}

/* What the C library maps for malloc is that, and no mapping. */
static void library(void) {
    free(malloc(32 << 20));
}

static volatile int handled;
static void on_signal(int sig) {
    (void)sig;
    unmap(usable(3), 3);
    handled++;
}

static void *churn(void *argument) {
    char *kept[16] = {0};
    size_t pages[16];
    for (int i = 0; i < 3000; i++) {
        int k = i * 7 % 16;
        if (kept[k])
            unmap(kept[k], pages[k]);
        kept[k] = usable(pages[k] = (size_t)(1 + i % 5));
        free(malloc((size_t)(i % 100 * 50)));
    }
    for (int k = 0; k < 16; k++)
        if (kept[k])
            unmap(kept[k], pages[k]);
    return argument;
}

static void threads(void) {
    pthread_t thread[4];
    struct sigaction action = {.sa_handler = on_signal};
    sigaction(SIGUSR1, &action, NULL);
    for (int i = 0; i < 4; i++)
        pthread_create(&thread[i], NULL, churn, NULL);
    for (int i = 0; i < 200; i++)
        pthread_kill(thread[i % 4], SIGUSR1);
    for (int i = 0; i < 20; i++) {
        pid_t child = fork();
        if (child == 0) {
            churn(NULL);
            _exit(7);
        }
        int status;
        check(waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 7, "child");
    }
    for (int i = 0; i < 4; i++)
        pthread_join(thread[i], NULL);
}

/* Before the program or the C library has called malloc. */
static void first(void) {
    const size_t size = (size_t)64 << 20;
    void *kept = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    void *gone = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (kept == MAP_FAILED || gone == MAP_FAILED || munmap(gone, size) != 0)
        _exit(97);
}

int main(int argc, char **argv) {
    const char *scene = argc > 1 ? argv[1] : "";
    page = (size_t)sysconf(_SC_PAGESIZE);
    if (strcmp(scene, "all") == 0) {
        whole();
        parts();
        fixed();
        reserved();
        moved();
        of_file(argv[0]);
        breaks();
        failing();
        library();
    } else if (strcmp(scene, "first") == 0) {
        first();
    } else if (strcmp(scene, "threads") == 0) {
        threads();
    } else {
        return 98;
    }
    puts("maps done");
}
