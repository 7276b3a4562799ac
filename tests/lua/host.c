/* host.c: a program that embeds Lua: an allocator of its own, functions of C that Lua calls and
 * that call Lua, states one inside another, threads, and a stack of Lua's that grows while it is
 * deep. With a second argument, threads go on with it: for each line that there is to read it says
 * when all have run the file some times more, and then waits for the next. */
#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void *host_allocator(void *context, void *block, size_t old_size, size_t size) {
    (void)context, (void)old_size;
    if (size == 0) {
        free(block);
        return NULL;
    }
    return realloc(block, size);
}

static void check(lua_State *L, int status) {
    if (status == 0)
        return;
    fprintf(stderr, "%s\n", lua_tostring(L, -1));
    exit(2);
}

/* Calls its argument. */
static int host_calls(lua_State *L) {
    lua_pushvalue(L, 1);
    lua_call(L, 0, 1);
    return 1;
}

/* Allocates what Lua does not know. */
static int host_allocates(lua_State *L) {
    lua_pushlightuserdata(L, malloc(30000));
    return 1;
}

/* Another state, inside of a call of this one. */
static int host_nests(lua_State *L) {
    lua_State *other = luaL_newstate();
    luaL_openlibs(other);
    static const char code[] =
        "local function nested()\n local s = ('x'):rep(40000)\n return s\nend\nnested()\n";
    check(other, luaL_loadbuffer(other, code, sizeof code - 1, "=nested.lua"));
    check(other, lua_pcall(other, 0, 0, 0));
    lua_close(other);
    lua_pushinteger(L, 1);
    return 1;
}

static void run(const char *file) {
    lua_State *L = lua_newstate(host_allocator, NULL);
    luaL_openlibs(L);
    lua_register(L, "host_calls", host_calls);
    lua_register(L, "host_allocates", host_allocates);
    lua_register(L, "host_nests", host_nests);
    check(L, luaL_loadfile(L, file));
    check(L, lua_pcall(L, 0, 0, 0));
    lua_close(L);
}

enum { THREADS = 3, MORE = 20 };
static atomic_bool goes_on;
static atomic_uint times[THREADS];
static const char *file;

static void *thread(void *own_times) {
    do {
        run(file);
        ++*(atomic_uint *)own_times;
    } while (goes_on);
    return NULL;
}

static void await_more(void) {
    for (int i = 0; i < THREADS; i++)
        for (const unsigned enough = times[i] + MORE; times[i] < enough;)
            usleep(1000);
    puts("more");
    fflush(stdout);
}

int main(int argc, char **argv) {
    pthread_t threads[THREADS];
    if (argc < 2)
        return 1;
    file = argv[1];
    run(file);
    goes_on = argc > 2;
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, thread, &times[i]);
    while (goes_on && getchar() != EOF)
        await_more();
    goes_on = false;
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    puts("done");
    return 0;
}
