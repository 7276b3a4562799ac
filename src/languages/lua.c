/* lua.c: Lua; see language.h. */
#include "languages/language.h"

const language lua_language = {
    .name = "Lua",
    .source = ".lua",
    .rough = " (compiled)",
    .rough_hint = "much of it is in code that LuaJIT compiled, which hides lines and functions; "
                  "`luajit -joff` records all of them",
};
