/* luajit_layout.h: the offsets, in bytes, of what is read of LuaJIT 2.1 on 64-bit machines
 * (LJ_GC64): its objects, the frames on Lua's stack and on the native stack, and the offsets that
 * differ between releases. */
#ifndef LUAJIT_LAYOUT_H
#define LUAJIT_LAYOUT_H

#include <string.h>

#include "runtimes/lua/lua_layout.h"

/* Tags of objects. Each object begins with a pointer to the next one. */
enum {
    JIT_TAG = 9,
    JIT_STRING = 4,
    JIT_THREAD = 6,
    JIT_PROTO = 7,
    JIT_FUNCTION = 8,
    JIT_TRACE = 9
};
enum { JIT_UPVALUE = 5, JIT_CDATA = 10, JIT_TABLE = 11, JIT_USERDATA = 12 };

/* lua_State, and global_State. */
enum { STATE_GLOBAL = 16, STATE_BASE = 32, STATE_TOP = 40, STATE_LAST = 48, STATE_STACK = 56 };
enum { STATE_C_FRAME = 80, STATE_SIZE = 96, STATE_MORE = 16 /* OpenResty's, at the end */ };
enum { GLOBAL_ALLOCATOR = 0, GLOBAL_CONTEXT = 8, GLOBAL_PHASE = 33 };
enum { GLOBAL_SEGMENTS = 112, GLOBAL_MAIN = 192 };

/* Functions. FUNCTION_KIND is 0 for a Lua function, whose code follows its GCproto. */
enum { FUNCTION_KIND = 10, FUNCTION_UPVALUES = 11, FUNCTION_CODE = 32, FUNCTION_C = 40 };
enum { PROTO_N_CODE = 12, PROTO_CONSTANTS = 32, PROTO_N_CONSTANTS = 48, PROTO_SIZE = 56 };
enum { PROTO_N_UPVALUES = 60, PROTO_SOURCE = 64, PROTO_LINE = 72, PROTO_N_LINES = 76 };
enum { PROTO_LINES = 80, PROTO_UPVALUES = 88, PROTO_LOCALS = 96, PROTO_CODE = 104 };
enum { STRING_LENGTH = 20, STRING_AT = 24, TABLE_PARTS = 11, TABLE_BYTES = 64, DATA_LENGTH = 24 };
enum { DATA_BYTES = 48, UPVALUE_BYTES = 48, FUNCTION_BYTES = 40, FUNCTION_C_BYTES = 48 };

/* jit_State, and GCtrace. */
enum { JIT_TRACES = 384, JIT_N_TRACES = 396 };
enum { TRACE_PROTO = 64, TRACE_PC = 72, TRACE_SIZE = 84, TRACE_CODE = 88 };
enum { TRACE_BYTES = 120 };

/* The interpreter's frame on the native stack. */
enum {
    C_FRAME_ABOVE = 8,
    C_FRAME_L = 16,
    C_FRAME_PC = 24,
    C_FRAME_OUTER = 32,
    C_FRAME_RETURN = 72,
    C_FRAME_END = 80
};
#define C_FRAME_ADDRESS (~UINT64_C(3))

/* A value is an object's address with a tag in the upper bits. */
#define JIT_ADDRESS UINT64_C(0x7fffffffffff)

struct luajit_layout {
    /* In global_State: the running lua_State, followed by compiled code's base pointer. */
    uint16_t current;
    /* In global_State: the offsets at which jit_State may be. Only compiled code tells which one it
     * is. */
    uint16_t jit[3];
};
enum {
    CURRENT_BASE = 8 /* after `current`: base of the function where compiled code began, or 0 */
};

static inline uintptr_t luajit_word(uintptr_t address) {
    return *(const uintptr_t *)address;
}
static inline uint32_t luajit_half(uintptr_t address) {
    return *(const uint32_t *)address;
}
static inline uint8_t luajit_byte(uintptr_t address) {
    return *(const uint8_t *)address;
}

/* Returns the layout of the LuaJIT that this lua_State belongs to; NULL: unknown. It trusts no
 * address. */
const struct luajit_layout *luajit_layout_of(uintptr_t state);

#endif
