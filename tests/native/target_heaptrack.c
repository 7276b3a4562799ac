/* Tells of its blocks as programs tell heaptrack: by weak functions, or with "dlsym" by those that
 * are found. ROUNDS times: a block of 100 bytes that grows to 200 and, every second time, is given
 * back; the last one moves to where it is. target_heaptrack ROUNDS [dlsym] */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__attribute__((weak)) void heaptrack_malloc(void *block, size_t size);
__attribute__((weak)) void heaptrack_realloc(void *before, size_t size, void *block);
__attribute__((weak)) void heaptrack_free(void *block);

static struct {
    void (*malloc)(void *block, size_t size);
    void (*realloc)(void *before, size_t size, void *block);
    void (*free)(void *block);
} api;

static void find_api(int by_name) {
    if (by_name) {
        *(void **)&api.malloc = dlsym(RTLD_NEXT, "heaptrack_malloc");
        *(void **)&api.realloc = dlsym(RTLD_NEXT, "heaptrack_realloc");
        *(void **)&api.free = dlsym(RTLD_NEXT, "heaptrack_free");
    } else if (heaptrack_malloc && heaptrack_realloc && heaptrack_free) {
        api.malloc = heaptrack_malloc;
        api.realloc = heaptrack_realloc;
        api.free = heaptrack_free;
    }
}

static char *next;

__attribute__((noinline)) static char *give(size_t size) {
    char *block = next;
    next += size;
    if (api.malloc)
        api.malloc(block, size);
    return block;
}

__attribute__((noinline)) static char *grow(char *before, size_t size) {
    char *block = next;
    next += size;
    if (api.realloc)
        api.realloc(before, size, block);
    return block;
}

int main(int argc, char **argv) {
    const long rounds = argc > 1 ? strtol(argv[1], NULL, 10) : 1;
    char *all = malloc((size_t)rounds * 300), *last = NULL;
    next = all;
    find_api(argc > 2 && strcmp(argv[2], "dlsym") == 0);
    for (long i = 0; i < rounds; i++) {
        last = grow(give(100), 200);
        if (i % 2 && api.free)
            api.free(last);
    }
    if (api.realloc)
        api.realloc(last, 300, last);
    printf("%ld\n", (long)(next - all));
    return 0;
}
