/* gone.c: threads that make states and close them, some of which end with theirs, until there is
 * nothing more to read; for each line it says when there were more states. The memory of a state is
 * gone for good when it is closed: whoever looks at one then ends the program. */
#include <lauxlib.h>
#include <lua.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* What each state takes its blocks from, and where the next one's is: at addresses that no other
 * ever has. */
enum { ROOM = 1 << 20, ALIGNED = 16 };
static atomic_uintptr_t next_room;
static atomic_bool goes_on = true;
static atomic_uint n_gone;

struct room {
    size_t used;
    _Alignas(ALIGNED) char bytes[];
};

static struct room *room_make(void) {
    void *const at = (void *)atomic_fetch_add(&next_room, 2 * ROOM);
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE;
    if (mmap(at, ROOM, PROT_READ | PROT_WRITE, flags, -1, 0) != at)
        abort();
    return at;
}

static void *allocator(void *context, void *block, size_t old_size, size_t size) {
    struct room *const room = context;
    const size_t bytes = (size + ALIGNED - 1) / ALIGNED * ALIGNED;
    if (size == 0 || sizeof *room + room->used + bytes > ROOM)
        return NULL;
    void *const moved = room->bytes + room->used;
    room->used += bytes;
    if (block)
        memcpy(moved, block, old_size < size ? old_size : size);
    return moved;
}

/* What is recorded. */
static int work(lua_State *L) {
    for (int i = 0; i < 20; i++)
        free(malloc(1000));
    lua_pushboolean(L, 1);
    return 1;
}

static void run(void) {
    static const char code[] = "local function works() local done = work() return done end\n"
                               "for i = 1, 10 do local done = works() end";
    struct room *const room = room_make();
    lua_State *L = lua_newstate(allocator, room);
    if (!L)
        exit(2);
    lua_pushcfunction(L, work);
    lua_setglobal(L, "work");
    if (luaL_loadbuffer(L, code, sizeof code - 1, "=code.lua") || lua_pcall(L, 0, 0, 0))
        exit(3);
    lua_close(L);
    munmap(room, ROOM);
    n_gone++;
}

static void await_more(void) {
    enum { MORE = 100 };
    for (const unsigned enough = n_gone + MORE; n_gone < enough;)
        usleep(1000);
    puts("more");
    fflush(stdout);
}

static void *once(void *unused) {
    run();
    return unused;
}

static void *again(void *unused) {
    while (goes_on)
        run();
    return unused;
}

static void *start_others(void *unused) {
    while (goes_on) {
        pthread_t other;
        if (pthread_create(&other, NULL, once, NULL) != 0)
            exit(4);
        pthread_join(other, NULL);
    }
    return unused;
}

int main(void) {
    enum { THREADS = 3 };
    pthread_t threads[THREADS];
    next_room = (uintptr_t)1 << 44;
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, i ? again : start_others, NULL) != 0)
            return 1;
    while (getchar() != EOF)
        await_more();
    goes_on = false;
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    puts("done");
    return 0;
}
