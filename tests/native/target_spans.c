/* Allocates in spans of distributed tracing, which it publishes as tracing libraries do
 * (OpenTelemetry's OTEP 4947): target_spans LIBRARY ROUNDS [HOW]
 *
 * LIBRARY has the variable (span_library.c) and is opened, unless this program was built to have it
 * itself, or to link the library. Each of THREADS threads makes, ROUNDS times, a trace with two
 * spans, and in each of them one block of the size that belongs to it, with one in no span before
 * and behind both. What was in which span stands in the output: SIZE TRACE SPAN. HOW:
 *
 *     update  records are changed in place, which is the other way to publish
 *     keep    what is allocated in spans is kept
 *     early   the threads are there before the library is opened
 *     wait    for a line of input
 *     fork    a child goes on in its parent's span
 *     broken  what is published is no record */
#include <dlfcn.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "span_library.h"

enum { THREADS = 3, LEAST = 5000, BETWEEN = 4000 };

#ifdef WITH_VARIABLE
__attribute__((visibility("default"))) __thread struct span_record *volatile otel_thread_ctx_v1;
static void publish_own(struct span_record *record) {
    otel_thread_ctx_v1 = record;
}
#endif

static void (*publish)(struct span_record *);
static long rounds;
static int update, keep;
static pthread_barrier_t opening;
static pthread_mutex_t printing = PTHREAD_MUTEX_INITIALIZER;
static _Thread_local void *volatile kept;

__attribute__((noinline)) static void allocate_one(size_t size) {
    kept = malloc(size);
    if (!keep || size == BETWEEN)
        free(kept);
}

static void tell(size_t size, const struct span_record *r) {
    pthread_mutex_lock(&printing);
    printf("%zu ", size);
    for (size_t i = 0; i < sizeof r->trace; i++)
        printf("%02x", r->trace[i]);
    printf(" ");
    for (size_t i = 0; i < sizeof r->span; i++)
        printf("%02x", r->span[i]);
    printf("\n");
    pthread_mutex_unlock(&printing);
}

/* Sizes tell blocks apart; ids have all kinds of bytes, also zeros in front. */
static void fill(struct span_record *r, uint64_t trace, uint64_t span) {
    const uint64_t high = trace % 3 == 0 ? 0 : trace * UINT64_C(0x9E3779B97F4A7C15);
    const uint64_t low = trace + 1, own = span * UINT64_C(0xD1B54A32D192ED03);
    for (int i = 0; i < 8; i++) {
        r->trace[i] = (uint8_t)(high >> 8 * (7 - i));
        r->trace[8 + i] = (uint8_t)(low >> 8 * (7 - i));
        r->span[i] = (uint8_t)(own >> 8 * (7 - i));
    }
}

/* Either the pointer changes, or the record: the two ways that there are. */
static void enter(struct span_record *r, uint64_t trace, uint64_t span) {
    r->valid = 0;
    if (update)
        allocate_one(BETWEEN); /* while nothing is valid */
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    fill(r, trace, span);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    r->valid = 1;
    publish(r);
}

static void leave(struct span_record *r) {
    if (update)
        r->valid = 0;
    else
        publish(NULL);
}

static void *work(void *number_) {
    const uint64_t number = (uintptr_t)number_;
    static _Thread_local struct span_record records[2];
    pthread_barrier_wait(&opening);
    for (uint64_t i = 0; i < (uint64_t)rounds; i++) {
        const uint64_t trace = number * (uint64_t)rounds + i;
        allocate_one(BETWEEN);
        for (uint64_t span = 0; span < 2; span++) {
            const size_t size = LEAST + 8 * (2 * trace + span);
            struct span_record *r = &records[update ? 0 : span];
            enter(r, trace, 2 * trace + span + 1);
            allocate_one(size);
            tell(size, r);
        }
        leave(&records[0]);
        allocate_one(BETWEEN);
    }
    return NULL;
}

static pthread_t threads[THREADS];

static void start_all(void) {
    pthread_barrier_init(&opening, NULL, THREADS + 1);
    for (uintptr_t i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, work, (void *)i);
}

static void run_all(void) {
    pthread_barrier_wait(&opening);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

static void run_child(void) {
    struct span_record r;
    enter(&r, 7, 8);
    const pid_t child = fork();
    if (child == 0) {
        allocate_one(LEAST);
        tell(LEAST, &r);
        fflush(stdout);
        _exit(0);
    }
    waitpid(child, NULL, 0);
}

/* A record that is gone, one that ends with its page, and what is no record at all. */
static void run_broken(void) {
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    munmap(pages + page, page);
    void *const wrong[] = {pages + page, pages + page - 24, (void *)1,
                           (void *)-2,   (void *)16,        pages + 1};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        publish(wrong[i]);
        allocate_one(LEAST);
    }
    munmap(pages, page);
    allocate_one(LEAST);
    publish(NULL);
    puts("done");
}

static void (*opened(const char *library))(struct span_record *) {
    void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
        fprintf(stderr, "%s\n", dlerror());
        exit(1);
    }
    usleep(5000); /* who looks for the variable finds it a little later */
    return (void (*)(struct span_record *))(uintptr_t)dlsym(handle, "span_publish");
}

int main(int argc, char **argv) {
    const char *where = argc > 1 ? argv[1] : "own", *how = argc > 3 ? argv[3] : "";
    rounds = argc > 2 ? strtol(argv[2], NULL, 10) : 1;
    update = strcmp(how, "update") == 0;
    keep = strcmp(how, "keep") == 0;
    setvbuf(stdout, NULL, _IOFBF, 1 << 16);
    if (strcmp(how, "early") == 0)
        start_all();
#ifdef WITH_VARIABLE
    publish = publish_own;
#elif defined WITH_LIBRARY
    publish = span_publish;
#else
    publish = opened(where);
#endif
    (void)where;
    if (strcmp(how, "wait") == 0)
        getchar(); /* until somebody has attached */
    if (strcmp(how, "fork") == 0 || strcmp(how, "broken") == 0) {
        strcmp(how, "fork") == 0 ? run_child() : run_broken();
        return 0;
    }
    if (strcmp(how, "early") != 0)
        start_all();
    run_all();
    return 0;
}
