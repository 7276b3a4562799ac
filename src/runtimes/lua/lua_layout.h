/* lua_layout.h: finds the Lua in this process by its symbols, and says whether its stacks can be
 * read, at which offsets its structures keep what is read, and which code is its own. */
#ifndef LUA_LAYOUT_H
#define LUA_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "record/runtime.h"

/* A value of some bits of a word. */
struct lua_bits {
    uint16_t mask, value;
};

enum { LUA_NO_OPCODE = 255 };

/* The opcodes from which the names and lines of functions are found. */
struct lua_opcodes {
    uint8_t move, get_upvalue, get_global, get_upvalue_field, get_field, self;
    uint8_t get_table, get_integer; /* by any key; by a number alone */
    uint8_t call, tail_call, for_call;
    uint8_t new_table, set_list, closure; /* allocate while the pc is in a register only */
    uint8_t extra;                        /* follows an instruction and belongs to it */
};

/* The facts that differ between versions of Lua. Offsets are in bytes. */
struct lua_layout {
    unsigned minor;            /* N of version 5.N */
    unsigned first, last;      /* releases of that version, inclusive */
    uint16_t state_global;     /* in lua_State: its global_State */
    uint16_t global_allocator; /* in global_State: the lua_Alloc */
    uint8_t global_phase;      /* in global_State: the collector's phase (gcstate) */
    const uint8_t *phases;     /* the enum lua_phase of each gcstate */
    uint8_t n_phases;
    uint8_t whites[2];         /* values that the byte before the phase may have */
    uint8_t generational_kind; /* the byte after the phase in generational mode; 0: no such mode */
    uint8_t generational_rest; /* gcstate in which the generational collector rests */
    uint16_t state_call;       /* in lua_State: the innermost CallInfo */
    uint16_t state_calls;      /* 5.1: the array of all CallInfo; later versions link them */
    uint16_t state_saved;      /* 5.1: the address after the current instruction */
    uint16_t state_stack;      /* bottom of the value stack */
    uint16_t state_stack_last; /* end of the value stack without its reserve */
    uint16_t call_size;        /* 5.1: bytes of a CallInfo; else 0 */
    uint16_t call_function;    /* in CallInfo: its function on the value stack */
    uint16_t call_outer;       /* from 5.2 on: the caller's CallInfo */
    uint16_t call_saved;       /* of a Lua function: the address after the current instruction */
    uint16_t call_flags;       /* flags; in 5.1, the number of frames that tail calls replaced */
    struct lua_bits is_lua;    /* flags, unused in 5.1: the frame is of a Lua function */
    struct lua_bits is_fresh;  /* a call of the evaluator of its own runs it */
    struct lua_bits is_tail;   /* it was tail-called: the frame below is not its caller */
    uint16_t closure_proto;    /* in LClosure: its Proto; in CClosure: its C function */
    uint16_t proto_tag;        /* type tag of a Proto */
    uint16_t proto_constants, n_constants;
    uint16_t proto_code, n_code;
    uint16_t proto_lines, n_lines;
    uint16_t proto_line_bases, n_line_bases; /* 0: line information is numbers, not steps */
    uint16_t proto_locals, n_locals;
    uint16_t proto_upvalues, n_upvalues;
    uint16_t upvalue_size;
    uint16_t proto_source;
    uint16_t proto_line; /* the line where its text begins */
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
    struct lua_range code;       /* functions of Lua's own */
    struct lua_range eval, cold; /* luaV_execute, and its rarely run part */
    bool is_program;             /* the program is Lua's own interpreter */
    bool is_jit;                 /* it is LuaJIT; then there is no layout */
} lua_runtime;

/* `has_come` and `find` of record/runtime.h. Both look symbols up in the loader. */
bool lua_layout_has_come(void);
enum runtime_kind lua_layout_find(lua_runtime *r, const char **why);

#endif
