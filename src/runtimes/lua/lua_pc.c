/* lua_pc.c: see lua_pc.h. A register or a word is taken for an instruction's address only if it
 * lies in the function's code, and if the instruction there makes the kind of object that is being
 * allocated. */
#include "runtimes/lua/lua_pc.h"

#include "platform/module.h"
#include "platform/unwind_trail.h"
#include "runtimes/lua/lua_names.h"

enum { LUA_SAVES_UNKNOWN = INT16_MAX, WORD = sizeof(uintptr_t), INSTRUCTION = 4 };

/* For x86-64: nothing is noted on other machines. */
static const uint8_t dwarf_numbers[LUA_KEPT] = {3, 6, 12, 13, 14, 15};

static void saves_learn(struct lua_pc *pc, struct lua_saves *s) {
    struct module module;
    struct cfi_function function;
    const bool is_known = module_find(s->key - 1, &module) &&
                          cfi_find(&module, s->key - 1, &function) &&
                          cfi_run(&function, s->key - 1, &pc->machine);
    for (size_t i = 0; i < LUA_KEPT; i++) {
        const struct cfi_rule *const rule = &pc->machine.now.reg[dwarf_numbers[i]];
        const bool is_near = rule->offset < 0 && rule->offset > INT16_MIN;
        s->from_cfa[i] = !is_known || (rule->kind == CFI_OFFSET && !is_near) ? LUA_SAVES_UNKNOWN
                         : rule->kind == CFI_OFFSET                          ? rule->offset
                         : rule->kind == CFI_SAME                            ? 0
                                                                             : LUA_SAVES_UNKNOWN;
    }
}

static const struct lua_saves *saves_of(struct lua_pc *pc, uintptr_t key) {
    struct lua_saves *const s =
        &pc->saves[key * UINT64_C(0x9E3779B97F4A7C15) >> (64 - LUA_SAVES_BITS)];
    if (s->key != key) {
        s->key = key;
        saves_learn(pc, s);
    }
    return s;
}

/* Returns a register's value in luaV_execute: the outermost function inside it that pushed the
 * register has it on the stack. 0: unknown. */
static uintptr_t kept_in(struct lua_pc *pc, const struct unwind_point *points, size_t eval,
                         size_t born, const struct lua_alloc_note *note, size_t i) {
    for (size_t j = eval + 1; j <= born; j++) {
        const int16_t from_cfa = saves_of(pc, points[j].key)->from_cfa[i];
        const uintptr_t cfa = points[j - 1].sp, at = cfa + (uintptr_t)(intptr_t)from_cfa;
        if (from_cfa == LUA_SAVES_UNKNOWN || (from_cfa && (at < points[j].sp || at % WORD)))
            return 0;
        if (from_cfa)
            return *(const uintptr_t *)at;
    }
    return note->kept[i];
}

struct code {
    const struct lua_layout *l;
    uintptr_t proto, start, end;
    bool is_table; /* whether a table is allocated, not its parts */
};

static unsigned opcode_at(const struct code *c, uintptr_t instruction) {
    const struct lua_place place = {c->proto, (instruction - c->start) / INSTRUCTION};
    return instruction >= c->start && instruction < c->end ? lua_names_opcode(c->l, &place)
                                                           : LUA_NO_OPCODE;
}

static bool makes(const struct code *c, uintptr_t instruction) {
    const unsigned opcode = opcode_at(c, instruction);
    return opcode != LUA_NO_OPCODE &&
           (opcode == c->l->op.new_table ||
            (!c->is_table && (opcode == c->l->op.set_list || opcode == c->l->op.closure)));
}

/* Returns the instruction that makes the object, if `address` points just after it
 * (`points_after`), or to it; else 0. */
static uintptr_t made_at(const struct code *c, uintptr_t address, bool points_after) {
    if (address % INSTRUCTION)
        return 0;
    uintptr_t at = points_after ? address - INSTRUCTION : address;
    if (points_after && opcode_at(c, at) == c->l->op.extra)
        at -= INSTRUCTION;
    return makes(c, at) ? at : 0;
}

/* Returns the ways to find the pc that are left for a call in luaV_execute. Each such call belongs
 * to one instruction of Lua, or to a few that are alike, and has the pc in the same register each
 * time. So a way that failed once at a call is dropped: where it seemed to work, it gave a neighbor
 * of the right instruction. */
static uint64_t *ways_of(struct lua_pc *pc, uintptr_t key) {
    struct lua_site *const s =
        &pc->sites[key * UINT64_C(0x9E3779B97F4A7C15) >> (64 - LUA_SITES_BITS)];
    if (s->key != key)
        *s = (struct lua_site){.key = key, .ways = UINT64_MAX};
    return &s->ways;
}

/* Returns the instruction that a way finds in a frame of luaV_execute; 0: none. */
static uintptr_t made_by(struct lua_pc *pc, const struct code *c, const struct unwind_point *points,
                         size_t eval, size_t born, const struct lua_alloc_note *note, size_t way) {
    const size_t registers = (size_t)2 * LUA_KEPT;
    if (way < registers)
        return made_at(c, kept_in(pc, points, eval, born, note, way % LUA_KEPT), way < LUA_KEPT);
    const uintptr_t at = points[eval].sp + (way - registers) * WORD;
    const bool is_there = eval > 0 && at % WORD == 0 && at < points[eval - 1].sp - WORD;
    return is_there ? made_at(c, *(const uintptr_t *)at, true) : 0;
}

/* Returns whether the pc may be wrong. A type that is not an object's may be that of a table's
 * parts; 5.1 passes no types. */
static bool may_be_made(const struct lua_layout *l, const struct lua_alloc_note *note) {
    enum { TAG_TABLE = 5 };
    return l->op.new_table != LUA_NO_OPCODE &&
           (l->minor == 1 || note->type == 0 || note->type == TAG_TABLE);
}

uintptr_t lua_pc_of(struct lua_pc *pc, const struct lua_layout *l,
                    const struct runtime_splice *native, size_t eval, size_t born,
                    const struct lua_alloc_note *note, uintptr_t proto, uintptr_t saved) {
    enum { FAR = 12 };
    const struct unwind_point *const points = native->trail->points;
    if (!may_be_made(l, note) || !native->has_places || born <= eval || born - eval > FAR)
        return saved;
    const uintptr_t start = *(const uintptr_t *)(proto + l->proto_code);
    const struct code code = {.l = l,
                              .proto = proto,
                              .start = start,
                              .end = start + *(const uint32_t *)(proto + l->n_code) * INSTRUCTION,
                              .is_table = l->minor > 1 && note->type};
    uint64_t *const ways = ways_of(pc, points[eval].key);
    uintptr_t made = 0;
    for (size_t i = 0; i < 64 && *ways >> i; i++) {
        const uint64_t way = UINT64_C(1) << i;
        const uintptr_t at = *ways & way ? made_by(pc, &code, points, eval, born, note, i) : 0;
        if (!at)
            *ways &= ~way;
        made = made ? made : at;
    }
    return made ? made + INSTRUCTION : saved;
}
