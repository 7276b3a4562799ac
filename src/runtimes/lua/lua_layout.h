/* lua_layout.h: the Lua that is in this process, found by its symbols: is it one whose stacks can
 * be read, where do its structures keep what is read, and which code is its own. */
#ifndef LUA_LAYOUT_H
#define LUA_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "record/runtime.h"

/* A part of a word that has a value. */
struct lua_bits {
    uint16_t mask, value;
};

enum { LUA_NO_OPCODE = 255 };

/* Instructions by which names of functions, and lines, are found out. */
struct lua_opcodes {
    uint8_t op_bits; /* of an instruction's lowest */
    uint8_t move, get_upvalue, get_global, get_upvalue_field, get_table, get_field, self;
    uint8_t call, tail_call, for_call;
    uint8_t new_table, set_list, closure; /* what allocates while the pc is in a register alone */
    uint8_t extra;                        /* stands behind an instruction that it is part of */
};

/* What differs from version to version; offsets in bytes. */
struct lua_layout {
    unsigned minor;            /* of 5.minor */
    unsigned first, last;      /* releases of it */
    uint16_t state_global;     /* in lua_State: its global_State */
    uint16_t global_allocator; /* in there: lua_Alloc */
    uint8_t global_phase;      /* and which phase its collector is in, */
    const uint8_t *phases;     /* each of which is an enum lua_phase */
    uint8_t n_phases;
    uint8_t whites[2];         /* what may stand in front of the phase */
    uint8_t kind_of_young;     /* what stands behind it in generational mode; 0: there is none */
    uint8_t phase_of_young;    /* in which the collector then rests */
    uint16_t state_call;       /* in lua_State: the innermost CallInfo */
    uint16_t state_calls;      /* the array of all of them, in 5.1; later they are a list */
    uint16_t state_saved;      /* the instruction behind the one at work, in 5.1 */
    uint16_t state_stack;      /* where the stack begins */
    uint16_t state_stack_last; /* and where it ends, nearly */
    uint16_t call_size;        /* of CallInfo, in 5.1 */
    uint16_t call_function;    /* in CallInfo: where its function is on the stack */
    uint16_t call_outer;       /* the caller's, from 5.2 on */
    uint16_t call_saved;       /* the instruction behind the one at work, of a function of Lua */
    uint16_t call_flags;       /* or in 5.1 how many calls were replaced by the last one */
    struct lua_bits is_lua;    /* flags: it is a function of Lua, */
    struct lua_bits is_fresh;  /* by a call of the evaluator of its own; neither in 5.1 */
    struct lua_bits is_tail;   /* and its caller is not who called it */
    uint16_t closure_proto;    /* in LClosure and, of a C function, CClosure */
    uint16_t proto_tag;        /* the tag of Proto; 0: it has several */
    uint16_t proto_constants, n_constants;
    uint16_t proto_code, n_code;
    uint16_t proto_lines, n_lines;
    uint16_t proto_line_bases, n_line_bases; /* 0: lines are numbers, not steps */
    uint16_t proto_locals, n_locals;
    uint16_t proto_upvalues, n_upvalues;
    uint16_t upvalue_size;
    uint16_t proto_source;
    uint16_t proto_line; /* where its text begins */
    struct lua_opcodes op;
};

struct lua_range {
    uintptr_t low, high;
};

static inline bool lua_range_has(const struct lua_range *range, uintptr_t address) {
    return address - range->low < range->high - range->low;
}

typedef struct lua_runtime {
    const struct lua_layout *layout;
    struct lua_range module;     /* from its lowest segment to the end of its highest */
    struct lua_range code;       /* Lua's own */
    struct lua_range eval, cold; /* luaV_execute, and what is seldom run of it */
    bool is_program;             /* the program is Lua's own interpreter */
    bool is_jit;                 /* it is LuaJIT; then there is no layout */
} lua_runtime;

/* See record/runtime.h. The first calls the loader. */
bool lua_layout_has_come(void);
enum runtime_kind lua_layout_find(lua_runtime *r, const char **why);

#endif
