/* forks.c: loads Lua's library, which its argument names, makes a state, and forks two processes
 * that run code in it, one behind the other; in between, it has loaded something else. */
#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct lua_State lua_State;

static lua_State *(*new_state)(void);
static void (*open_libs)(lua_State *);
static int (*load_file)(lua_State *, const char *, const char *);
static int (*load_file_51)(lua_State *, const char *);
static int (*pcallk)(lua_State *, int, int, int, ptrdiff_t, void *);
static int (*pcall)(lua_State *, int, int, int);
static void (*close_state)(lua_State *);

static int run(lua_State *l, const char *file) {
    if (load_file ? load_file(l, file, NULL) : load_file_51(l, file))
        return 1;
    return pcallk ? pcallk(l, 0, 0, 0, 0, NULL) : pcall(l, 0, 0, 0);
}

static int work(lua_State *l, const char *file) {
    const pid_t child = fork();
    int status;
    if (child == 0) {
        const int failed = run(l, file);
        close_state(l);
        printf("%s\n", failed ? "failed" : "done");
        exit(failed);
    }
    return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

int main(int argc, char **argv) {
    void *const lua = argc == 3 ? dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL) : NULL;
    if (!lua)
        return 2;
    *(void **)&new_state = dlsym(lua, "luaL_newstate");
    *(void **)&open_libs = dlsym(lua, "luaL_openlibs");
    *(void **)&load_file = dlsym(lua, "luaL_loadfilex");
    *(void **)&load_file_51 = dlsym(lua, "luaL_loadfile");
    *(void **)&pcallk = dlsym(lua, "lua_pcallk");
    *(void **)&pcall = dlsym(lua, "lua_pcall");
    *(void **)&close_state = dlsym(lua, "lua_close");
    lua_State *const l = new_state();
    open_libs(l);
    const int failed = work(l, argv[2]);
    void *const other = dlopen("libm.so.6", RTLD_NOW);
    const int failed_again = work(l, argv[2]);
    close_state(l);
    if (other)
        dlclose(other);
    return failed || failed_again;
}
