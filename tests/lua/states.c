/* states.c: threads that make states with LuaJIT's own allocator, use them and close them. */
#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static void *work(void *unused) {
    static const char code[] =
        "local t = {} for i = 1, 1000 do t[i] = {i, ('x'):rep(i % 50) .. i} end return t";
    for (int i = 0; i < 20; i++) {
        lua_State *L = luaL_newstate();
        luaL_openlibs(L);
        if (luaL_loadbuffer(L, code, sizeof code - 1, "=code.lua") || lua_pcall(L, 0, 1, 0))
            exit(2);
        lua_close(L);
    }
    return unused;
}

int main(void) {
    enum { THREADS = 3 };
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    puts("done");
    return 0;
}
