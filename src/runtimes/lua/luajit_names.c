/* luajit_names.c: reads the constants, names of locals and upvalues, and lines of a GCproto that is
 * alive. Indices are checked against the sizes in the GCproto. */
#include "runtimes/lua/luajit_names.h"

enum { INSTRUCTION = 4, NO_SLOT = UINT32_MAX };

/* Opcodes, and the ends of ranges of opcodes. LuaJIT 2.1. */
enum {
    OP_MOV = 18,
    OP_KNIL = 44,
    OP_UGET = 45,
    OP_GGET = 54,
    OP_TGETS = 57,
    OP_TSETM = 63,
    OP_CALLM = 65,
    OP_CALLT = 68,
    OP_ITERC = 69,
    OP_ISNEXT = 72
};

struct ins {
    unsigned op, a, c, d;
};

static struct ins ins_at(uintptr_t address) {
    const uint32_t i = luajit_half(address);
    return (struct ins){.op = i & 255, .a = i >> 8 & 255, .c = i >> 16 & 255, .d = i >> 16};
}

/* Returns whether an instruction changes the slot A and some slots after it. */
static bool changes_slots_from(unsigned op) {
    return op == OP_KNIL || op == OP_TSETM || (op >= OP_CALLM && op <= OP_ISNEXT);
}

static bool sets_slot(unsigned op) {
    enum { ISTC = 12, ISFC = 13, LAST_CONSTANT = 43, FNEW = 51, FIRST_TABLE = 52, TGETR = 59 };
    enum { GSET = 55 };
    return op == ISTC || op == ISFC || (op >= OP_MOV && op <= LAST_CONSTANT) || op == OP_UGET ||
           op == FNEW || (op >= FIRST_TABLE && op <= TGETR && op != GSET);
}

/* Returns the index of an instruction in its GCproto. Index 0 is the function header. NO_SLOT: it
 * is outside. */
static uint32_t position(uintptr_t proto, uintptr_t instruction) {
    const uintptr_t at = (instruction - (proto + PROTO_CODE)) / INSTRUCTION;
    return at < luajit_half(proto + PROTO_N_CODE) ? (uint32_t)at : NO_SLOT;
}

uintptr_t luajit_names_line(uintptr_t proto, uintptr_t instruction) {
    const uint32_t first = luajit_half(proto + PROTO_LINE), n = luajit_half(proto + PROTO_N_LINES);
    const uintptr_t lines = luajit_word(proto + PROTO_LINES);
    const uint32_t at = position(proto, instruction);
    if (at == NO_SLOT || !lines)
        return 0;
    if (at == 0)
        return first;
    return first + (n < 256     ? luajit_byte(lines + at - 1)
                    : n < 65536 ? *(const uint16_t *)(lines + 2 * (uintptr_t)(at - 1))
                                : luajit_half(lines + 4 * (uintptr_t)(at - 1)));
}

/* ---- what a caller calls a function -------------------------------------------------------- */

static const char *text_of(uintptr_t string) {
    return string && luajit_byte(string + JIT_TAG) == JIT_STRING
               ? (const char *)(string + STRING_AT)
               : NULL;
}

/* Returns a constant that is a string. Objects are stored below the address of the constants. */
static const char *constant(uintptr_t proto, unsigned k) {
    return k < luajit_half(proto + PROTO_N_CONSTANTS)
               ? text_of(luajit_word(luajit_word(proto + PROTO_CONSTANTS) - 8 * ((uintptr_t)k + 1)))
               : NULL;
}

static const char *upvalue(uintptr_t proto, unsigned u) {
    const char *name = (const char *)luajit_word(proto + PROTO_UPVALUES);
    if (!name || u >= luajit_byte(proto + PROTO_N_UPVALUES))
        return NULL;
    for (; u > 0; u--)
        name += strlen(name) + 1;
    return name;
}

static uint32_t number_at(const uint8_t **p) {
    uint32_t n = 0;
    for (unsigned shift = 0; shift < 32; shift += 7) {
        const uint8_t byte = *(*p)++;
        n |= (uint32_t)(byte & 127) << shift;
        if (byte < 128)
            break;
    }
    return n;
}

/* Returns the name of the local in a slot. Internal variables of loops have a number instead of a
 * name. */
static const char *local(uintptr_t proto, unsigned slot, uint32_t at) {
    enum { END = 0, NO_NAMES = 7 };
    const uint8_t *p = (const uint8_t *)luajit_word(proto + PROTO_LOCALS);
    uint32_t from = 0;
    while (p && *p != END) {
        const char *const name = *p < NO_NAMES ? "(" : (const char *)p;
        p += *p < NO_NAMES ? 1 : strlen(name) + 1;
        from += number_at(&p);
        const uint32_t to = from + number_at(&p);
        if (from > at)
            break;
        if (at < to && slot-- == 0)
            return name;
    }
    return NULL;
}

/* Returns the name of what an instruction loads; NULL: none. */
static const char *name_loaded(uintptr_t proto, const struct ins *i) {
    return i->op == OP_GGET    ? constant(proto, i->d)
           : i->op == OP_TGETS ? constant(proto, i->c)
           : i->op == OP_UGET  ? upvalue(proto, i->d)
                               : NULL;
}

static const char *name_in_slot(uintptr_t proto, uint32_t at, unsigned slot) {
    enum { FAR = 300 };
    const uintptr_t code = proto + PROTO_CODE;
    const char *name = local(proto, slot, at);
    for (uint32_t k = at; !name && k > 1 && at - k < FAR; k--) {
        const struct ins i = ins_at(code + (uintptr_t)(k - 1) * INSTRUCTION);
        if (changes_slots_from(i.op) && slot >= i.a && (i.op != OP_KNIL || slot <= i.d))
            return NULL;
        if (!sets_slot(i.op) || i.a != slot)
            continue;
        if (i.op != OP_MOV)
            return name_loaded(proto, &i);
        slot = i.d;
        name = local(proto, slot, k - 1);
    }
    return name;
}

static const char *name_of_called(const struct luajit_place *caller) {
    const uint32_t at = caller->proto && caller->saved
                            ? position(caller->proto, caller->saved - INSTRUCTION)
                            : NO_SLOT;
    if (at == NO_SLOT)
        return NULL;
    const struct ins i = ins_at(caller->proto + PROTO_CODE + (uintptr_t)at * INSTRUCTION);
    if (i.op == OP_ITERC || i.op == OP_ITERC + 1)
        return "for iterator";
    const char *const name =
        i.op >= OP_CALLM && i.op <= OP_CALLT ? name_in_slot(caller->proto, at, i.a) : NULL;
    return name && *name && *name != '(' ? name : NULL;
}

/* ---- slots --------------------------------------------------------------------------------- */

struct called {
    struct lua_named named;
    const struct luajit_place *caller;
};

static const char *name_by_caller(const struct lua_named *f) {
    return name_of_called(((const struct called *)f)->caller);
}

static uintptr_t slot_of(uintptr_t proto, const struct luajit_place *caller, const char *remark,
                         uintptr_t line) {
    const struct called c = {.named = {.source = text_of(luajit_word(proto + PROTO_SOURCE)),
                                       .line = luajit_half(proto + PROTO_LINE),
                                       .name = name_by_caller,
                                       .remark = remark},
                             .caller = caller};
    return lua_names_slot_of(&c.named, line);
}

uintptr_t luajit_names_slot(const struct luajit_place *place, const struct luajit_place *caller) {
    return slot_of(place->proto, caller, NULL,
                   place->saved ? luajit_names_line(place->proto, place->saved - INSTRUCTION) : 0);
}

uintptr_t luajit_names_slot_compiled(uintptr_t proto, const struct luajit_place *caller,
                                     uintptr_t line) {
    static const char remark[] = " (compiled)";
    return slot_of(proto, caller, remark, line);
}

uintptr_t luajit_names_slot_of_c(const struct luajit_place *caller) {
    const char *const name = name_of_called(caller);
    return name ? lua_names_slot_called(name) : 0;
}
