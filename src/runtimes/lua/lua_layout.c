/* lua_layout.c: a table of the offsets in each version, from its headers. lua_ident tells the
 * version. The offsets are checked again before the first stack is read (lua_frames.h).
 *
 * Calls of the evaluator, luaV_execute, must be recognized on native stacks. Few programs have its
 * symbol. But it is by far the largest function of Lua, in each version and however it was
 * compiled, and the unwind tables tell where functions begin and end. */
#include "runtimes/lua/lua_layout.h"

#include <dlfcn.h>
#include <limits.h>
#include <string.h>

#include "base/hot.h"
#include "base/path.h"
#include "platform/cfi.h"
#include "platform/displace.h"
#include "platform/loader.h"
#include "platform/module.h"
#include "runtimes/lua/lua_phases.h"

/* The phase of each gcstate. */
static const uint8_t phases_51[] = {LUA_RESTS, LUA_MARKS, LUA_SWEEPS, LUA_SWEEPS, LUA_FINALIZES};
static const uint8_t phases_52[] = {LUA_MARKS,  LUA_MARKS,  LUA_SWEEPS,
                                    LUA_SWEEPS, LUA_SWEEPS, LUA_RESTS};
static const uint8_t phases_53[] = {LUA_MARKS,  LUA_MARKS,  LUA_SWEEPS,    LUA_SWEEPS,
                                    LUA_SWEEPS, LUA_SWEEPS, LUA_FINALIZES, LUA_RESTS};
static const uint8_t phases_54[] = {LUA_MARKS,  LUA_MARKS,  LUA_MARKS,     LUA_SWEEPS, LUA_SWEEPS,
                                    LUA_SWEEPS, LUA_SWEEPS, LUA_FINALIZES, LUA_RESTS};

static const struct lua_layout layouts[] = {
    {.minor = 1,
     .first = 0,
     .last = 9,
     .state_global = 32,
     .global_allocator = 16,
     .global_phase = 33,
     .phases = phases_51,
     .n_phases = sizeof phases_51,
     .whites = {0x21, 0x22}, /* with the bit of fixed objects */
     .state_call = 40,
     .state_calls = 80,
     .state_saved = 48,
     .state_stack = 64,
     .state_stack_last = 56,
     .call_size = 40,
     .call_function = 8,
     .call_saved = 24,
     .call_flags = 36,
     .closure_proto = 32,
     .proto_tag = 9,
     .proto_constants = 16,
     .n_constants = 76,
     .proto_code = 24,
     .n_code = 80,
     .proto_lines = 40,
     .n_lines = 84,
     .proto_locals = 48,
     .n_locals = 92,
     .proto_upvalues = 56,
     .n_upvalues = 72,
     .upvalue_size = 8,
     .proto_source = 64,
     .proto_line = 96,
     .op = {.move = 0,
            .get_upvalue = 4,
            .get_global = 5,
            .get_upvalue_field = LUA_NO_OPCODE,
            .get_table = 6,
            .get_integer = LUA_NO_OPCODE,
            .get_field = LUA_NO_OPCODE,
            .self = 11,
            .call = 28,
            .tail_call = 29,
            .for_call = 33,
            .new_table = 10,
            .set_list = 34,
            .closure = 36,
            .extra = LUA_NO_OPCODE}},
    {.minor = 2,
     .first = 1,
     .last = 4,
     .state_global = 24,
     .global_allocator = 0,
     .global_phase = 85,
     .phases = phases_52,
     .n_phases = sizeof phases_52,
     .whites = {0x21, 0x22},
     .generational_kind = 2,
     .state_call = 32,
     .state_stack = 56,
     .state_stack_last = 48,
     .call_function = 0,
     .call_outer = 16,
     .call_saved = 56,
     .call_flags = 34,
     .is_lua = {1, 1},
     .is_fresh = {4, 0}, /* CIST_REENTRY is not set */
     .is_tail = {64, 64},
     .closure_proto = 24,
     .proto_tag = 9,
     .proto_constants = 16,
     .n_constants = 84,
     .proto_code = 24,
     .n_code = 88,
     .proto_lines = 40,
     .n_lines = 92,
     .proto_locals = 48,
     .n_locals = 100,
     .proto_upvalues = 56,
     .n_upvalues = 80,
     .upvalue_size = 16,
     .proto_source = 72,
     .proto_line = 104,
     .op = {.move = 0,
            .get_upvalue = 5,
            .get_global = LUA_NO_OPCODE,
            .get_upvalue_field = 6,
            .get_table = 7,
            .get_integer = LUA_NO_OPCODE,
            .get_field = LUA_NO_OPCODE,
            .self = 12,
            .call = 29,
            .tail_call = 30,
            .for_call = 34,
            .new_table = LUA_NO_OPCODE,
            .set_list = LUA_NO_OPCODE,
            .closure = LUA_NO_OPCODE,
            .extra = LUA_NO_OPCODE}},
    {.minor = 3,
     .first = 3,
     .last = 6,
     .state_global = 24,
     .global_allocator = 0,
     .global_phase = 85,
     .phases = phases_53,
     .n_phases = sizeof phases_53,
     .whites = {1, 2},
     .state_call = 32,
     .state_stack = 56,
     .state_stack_last = 48,
     .call_function = 0,
     .call_outer = 16,
     .call_saved = 40,
     .call_flags = 66,
     .is_lua = {2, 2},
     .is_fresh = {8, 8},
     .is_tail = {32, 32},
     .closure_proto = 24,
     .proto_tag = 9,
     .proto_constants = 48,
     .n_constants = 20,
     .proto_code = 56,
     .n_code = 24,
     .proto_lines = 72,
     .n_lines = 28,
     .proto_locals = 80,
     .n_locals = 36,
     .proto_upvalues = 88,
     .n_upvalues = 16,
     .upvalue_size = 16,
     .proto_source = 104,
     .proto_line = 40,
     .op = {.move = 0,
            .get_upvalue = 5,
            .get_global = LUA_NO_OPCODE,
            .get_upvalue_field = 6,
            .get_table = 7,
            .get_integer = LUA_NO_OPCODE,
            .get_field = LUA_NO_OPCODE,
            .self = 12,
            .call = 36,
            .tail_call = 37,
            .for_call = 41,
            .new_table = LUA_NO_OPCODE,
            .set_list = LUA_NO_OPCODE,
            .closure = LUA_NO_OPCODE,
            .extra = LUA_NO_OPCODE}},
    {.minor = 4,
     .first = 2,
     .last = 8,
     .state_global = 24,
     .global_allocator = 0,
     .global_phase = 101,
     .phases = phases_54,
     .n_phases = sizeof phases_54,
     .whites = {8, 16},
     .generational_kind = 1,
     .state_call = 32,
     .state_stack = 48,
     .state_stack_last = 40,
     .call_function = 0,
     .call_outer = 16,
     .call_saved = 32,
     .call_flags = 62,
     .is_lua = {2, 0}, /* CIST_C is not set */
     .is_fresh = {4, 4},
     .is_tail = {32, 32},
     .closure_proto = 24,
     .proto_tag = 10,
     .proto_constants = 56,
     .n_constants = 20,
     .proto_code = 64,
     .n_code = 24,
     .proto_lines = 88,
     .n_lines = 28,
     .proto_line_bases = 96,
     .n_line_bases = 40,
     .proto_locals = 104,
     .n_locals = 36,
     .proto_upvalues = 80,
     .n_upvalues = 16,
     .upvalue_size = 16,
     .proto_source = 112,
     .proto_line = 44,
     .op = {.move = 0,
            .get_upvalue = 9,
            .get_global = LUA_NO_OPCODE,
            .get_upvalue_field = 11,
            .get_table = 12,
            .get_integer = 13,
            .get_field = 14,
            .self = 20,
            .call = 68,
            .tail_call = 69,
            .for_call = 76,
            .new_table = 19,
            .set_list = 78,
            .closure = LUA_NO_OPCODE,
            .extra = 82}},
};

/* Defined in few programs. As a weak reference it is resolved with all other symbols. */
extern void *lua_newstate(void *allocator, void *context) __attribute__((weak));

static void *newstate_that_came; /* else its address, if the program has loaded it since */

static void *symbol(const char *name) {
    return loader_symbol(RTLD_DEFAULT, name);
}

static void *newstate(void) {
    return lua_newstate ? (void *)lua_newstate : newstate_that_came;
}

/* ---- which Lua is it? ---------------------------------------------------------------------- */

/* Returns the layout for an ident such as "$Lua: Lua 5.1.5 Copyright" or "$LuaVersion: Lua 5.4.4
 * Copyright". Releases have one digit. */
static const struct lua_layout *layout_of(const char *ident) {
    static const char before[] = "Lua 5.";
    const char *at = ident ? strstr(ident, before) : NULL;
    if (!at)
        return NULL;
    at += sizeof before - 1;
    const unsigned minor = (unsigned)(at[0] - '0');
    const unsigned release = at[1] == '.' ? (unsigned)(at[2] - '0') : 0;
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++)
        if (layouts[i].minor == minor && release >= layouts[i].first && release <= layouts[i].last)
            return &layouts[i];
    return NULL;
}

/* ---- its code ------------------------------------------------------------------------------ */

/* Some of these functions are in the first and in the last of Lua's object files that a linker may
 * put into a program. */
static const char *const api[] = {
    "lua_absindex",     "lua_checkstack",  "lua_newstate",   "lua_close",     "lua_resume",
    "lua_yieldk",       "lua_yield",       "lua_sethook",    "lua_dump",      "lua_load",
    "lua_newthread",    "luaL_newstate",   "luaL_ref",       "luaL_gsub",     "luaL_openlibs",
    "luaopen_base",     "luaopen_bit32",   "luaopen_debug",  "luaopen_io",    "luaopen_math",
    "luaopen_os",       "luaopen_package", "luaopen_string", "luaopen_table", "luaopen_utf8",
    "luaopen_coroutine"};

/* Returns the range of Lua's code in a program that it is linked into, where linkers place its
 * object files next to each other. */
static struct lua_range api_range(const struct module *module) {
    struct lua_range range = {UINTPTR_MAX, 0};
    for (size_t i = 0; i < sizeof api / sizeof *api; i++) {
        const uintptr_t at = (uintptr_t)symbol(api[i]);
        struct cfi_function function;
        if (at < module->text_low || at >= module->text_high || !cfi_find(module, at, &function))
            continue;
        range.low = function.start < range.low ? function.start : range.low;
        range.high = function.end > range.high ? function.end : range.high;
    }
    return range;
}

static struct lua_range largest_function(const struct module *module,
                                         const struct lua_range *code) {
    struct lua_range largest = {0, 0};
    for (uintptr_t pc = code->low; pc < code->high;) {
        struct cfi_function function;
        if (!cfi_find(module, pc, &function) || function.end <= pc) {
            pc++;
            continue;
        }
        if (function.end - function.start > largest.high - largest.low)
            largest = (struct lua_range){function.start, function.end};
        pc = function.end;
    }
    return largest;
}

/* Compilers move the rarely run parts of a function elsewhere, such as errors, which allocate their
 * messages. */
static struct lua_range cold_part(const struct module *module, const struct lua_range *function) {
    struct cfi_function part;
    const uintptr_t at = displace_leaves((const uint8_t *)function->low,
                                         function->high - function->low, function->low);
    if (!at || !cfi_find(module, at, &part))
        return (struct lua_range){0, 0};
    return (struct lua_range){part.start, part.end};
}

static bool is_executable(const struct module *module) {
    return !*module->name;
}

/* Lua's own interpreter is called lua, lua5.4 and the like. */
static bool is_interpreter(const struct module *module) {
    static const char name[] = "lua"; /* also matches luajit */
    char path[PATH_MAX];
    if (!is_executable(module))
        return false;
    module_path(module, path, sizeof path);
    return strncmp(path_base(path), name, sizeof name - 1) == 0;
}

/* Returns a larger range, for linkers that were given Lua's object files in another order: the
 * evaluator may then be outside the range of the API. */
static struct lua_range extended(const struct lua_range *code, const struct lua_range *text) {
    enum { MORE = 1 << 16 };
    return (struct lua_range){code->low - text->low > MORE ? code->low - MORE : text->low,
                              text->high - code->high > MORE ? code->high + MORE : text->high};
}

enum { SMALLEST = 4000 }; /* least size of luaV_execute in bytes */

static bool is_evaluator(const struct lua_range *function) {
    return function->high - function->low > SMALLEST;
}

/* LuaJIT's evaluator is written in assembler and has one unwind range, but other functions may be
 * larger. It is found as the function that lua_pcall calls. */
static struct lua_range jit_evaluator(const struct module *module, const struct lua_range *text) {
    enum { CALL = 0xE8, CALL_SIZE = 5 }; /* opcode of a call, whose offset counts from its end */
    struct cfi_function caller, called;
    const uintptr_t start = (uintptr_t)symbol("lua_pcall");
    if (!lua_range_has(text, start) || !cfi_find(module, start, &caller))
        return (struct lua_range){0, 0};
    for (uintptr_t pc = caller.start; pc + CALL_SIZE <= caller.end; pc++) {
        int32_t distance;
        memcpy(&distance, (const void *)(pc + 1), sizeof distance);
        const uintptr_t to = pc + CALL_SIZE + (uintptr_t)(intptr_t)distance;
        if (*(const uint8_t *)pc != CALL || !lua_range_has(text, to) ||
            !cfi_find(module, to, &called))
            continue;
        const struct lua_range function = {called.start, called.end};
        if (is_evaluator(&function))
            return function;
    }
    return (struct lua_range){0, 0};
}

static bool code_find(lua_runtime *r) {
    struct module module;
    if (!module_find((uintptr_t)newstate(), &module))
        return false;
    const struct lua_range text = {module.text_low, module.text_high};
    const struct lua_range code = api_range(&module);
    if (code.low >= code.high)
        return false;
    r->is_program = is_interpreter(&module);
    r->module = (struct lua_range){module.low, module.high};
    r->code = r->is_program || !is_executable(&module) ? text : code;
    r->eval = r->is_jit ? jit_evaluator(&module, &text) : largest_function(&module, &r->code);
    if (!r->is_jit && !is_evaluator(&r->eval)) {
        r->code = extended(&code, &text);
        r->eval = largest_function(&module, &r->code);
    }
    r->cold = cold_part(&module, &r->eval);
    return is_evaluator(&r->eval);
}

/* ---- can it be recorded? ------------------------------------------------------------------- */

/* Returns NULL if stacks of this Lua can be read, else the reason. */
static const char *why_not(lua_runtime *r) {
    r->is_jit = symbol("luaJIT_setmode");
    r->layout = layout_of(symbol("lua_ident"));
    if (!r->layout && !r->is_jit)
        return "this version of Lua is not supported (5.1, and the latest releases of 5.2 to 5.4 "
               "are): only malloc is recorded, without Lua's frames";
    if (!code_find(r))
        return "its Lua has an unknown layout: only malloc is recorded, without Lua's frames";
    return NULL;
}

/* If no module has "lua" in its name, no symbol need be looked up. */
static void look_at_name(const struct module *module, void *is_named) {
    *(bool *)is_named |= strstr(path_base(module->name), "lua") != NULL;
}

bool lua_layout_has_come(void) {
    bool is_named = false;
    module_each(look_at_name, &is_named);
    if (lua_newstate || !is_named)
        return false;
    newstate_that_came = symbol("lua_newstate");
    (void)symbol("malloc"); /* forgets missing symbols: see ocaml_runtime_find */
    return newstate_that_came;
}

HOT_CODE enum runtime_kind lua_layout_find(lua_runtime *r, const char **why) {
    if (!newstate())
        return RUNTIME_ABSENT;
    *why = why_not(r);
    (void)symbol("malloc"); /* forgets missing symbols: see ocaml_runtime_find */
    return *why ? RUNTIME_UNFIT : RUNTIME_RECORDABLE;
}
