/* lua_names.c: reads the constants, locals and instructions by which a caller names the function
 * that it calls. They all belong to a Proto that is alive, and cannot be freed before it. Indices
 * into them are checked against the sizes in the Proto. */
#include "runtimes/lua/lua_names.h"

#include <stdatomic.h>
#include <string.h>

#include "base/hash.h"
#include "platform/pages.h"

enum { MAX_LINE = (1 << LUA_LINE_BITS) - 1, INSTRUCTION = 4, VALUE = 16 };

/* The same in all versions, in bytes: the tag of a collectable object and of a value, and the text
 * in a string. */
enum { OBJECT_TAG = 8, VALUE_TAG = 8, TAG_MASK = 15, TAG_STRING = 4, STRING_TEXT = 24 };

/* Size and offsets of a LocVar, in bytes. */
enum { LOCAL_SIZE = 16, LOCAL_FROM = 8, LOCAL_TO = 12 };

static uintptr_t word_at(uintptr_t address) {
    return *(const uintptr_t *)address;
}

static uint32_t half_at(uintptr_t address) {
    return *(const uint32_t *)address;
}

/* Returns the text of a string; NULL: it is not one. */
static const char *text_of(uintptr_t string) {
    return string && (*(const uint8_t *)(string + OBJECT_TAG) & TAG_MASK) == TAG_STRING
               ? (const char *)(string + STRING_TEXT)
               : NULL;
}

/* ---- instructions -------------------------------------------------------------------------- */

struct operands {
    unsigned opcode, a, b, c, bx;
    bool c_is_constant;
};

static struct operands operands_of(const struct lua_layout *l, uintptr_t proto, size_t pc) {
    const uint32_t i = half_at(word_at(proto + l->proto_code) + pc * INSTRUCTION);
    if (l->minor >= 4)
        return (struct operands){.opcode = i & 127,
                                 .a = i >> 7 & 255,
                                 .b = i >> 16 & 255,
                                 .c = i >> 24,
                                 .bx = i >> 15,
                                 .c_is_constant = i >> 15 & 1};
    return (struct operands){.opcode = i & 63,
                             .a = i >> 6 & 255,
                             .b = i >> 23,
                             .c = i >> 14 & 255,
                             .bx = i >> 14,
                             .c_is_constant = i >> 22 & 1};
}

struct lua_place lua_names_place(const struct lua_layout *l, uintptr_t proto, uintptr_t saved) {
    const uintptr_t after = (saved - word_at(proto + l->proto_code)) / INSTRUCTION;
    const size_t n = half_at(proto + l->n_code);
    return (struct lua_place){.proto = proto, .pc = after > 0 && after <= n ? after - 1 : 0};
}

unsigned lua_names_opcode(const struct lua_layout *l, const struct lua_place *place) {
    return operands_of(l, place->proto, place->pc).opcode;
}

/* ---- lines --------------------------------------------------------------------------------- */

/* From 5.4 on, lines are increments from one instruction to the next, with some absolute lines. */
static int64_t line_by_steps(const struct lua_layout *l, uintptr_t proto, size_t pc) {
    const int8_t *const steps = (const int8_t *)word_at(proto + l->proto_lines);
    const uintptr_t bases = word_at(proto + l->proto_line_bases);
    size_t n = half_at(proto + l->n_line_bases), at = 0;
    int64_t line = half_at(proto + l->proto_line);
    while (n > 0 && half_at(bases + (n - 1) * 8) > pc)
        n--;
    if (n > 0) {
        at = half_at(bases + (n - 1) * 8) + 1;
        line = half_at(bases + (n - 1) * 8 + 4);
    }
    for (; at <= pc; at++)
        line += steps[at];
    return line;
}

static uintptr_t line_of(const struct lua_layout *l, const struct lua_place *place) {
    if (place->pc >= half_at(place->proto + l->n_lines))
        return 0; /* the line information is stripped */
    const int64_t line =
        l->proto_line_bases
            ? line_by_steps(l, place->proto, place->pc)
            : (int64_t)half_at(word_at(place->proto + l->proto_lines) + place->pc * 4);
    return line < 0 ? 0 : line < MAX_LINE ? (uintptr_t)line : MAX_LINE;
}

/* ---- what a caller calls a function -------------------------------------------------------- */

static const char *constant(const struct lua_layout *l, uintptr_t proto, size_t k) {
    const uintptr_t value = word_at(proto + l->proto_constants) + k * VALUE;
    return k < half_at(proto + l->n_constants) &&
                   (*(const uint8_t *)(value + VALUE_TAG) & TAG_MASK) == TAG_STRING
               ? text_of(word_at(value))
               : NULL;
}

static const char *upvalue(const struct lua_layout *l, uintptr_t proto, size_t u) {
    const uintptr_t upvalues = word_at(proto + l->proto_upvalues);
    return u < half_at(proto + l->n_upvalues) ? text_of(word_at(upvalues + u * l->upvalue_size))
                                              : NULL;
}

/* Locals are listed in the order in which their scopes begin, so the n-th live one is in register
 * n. */
static const char *local(const struct lua_layout *l, uintptr_t proto, unsigned reg, size_t pc) {
    const uintptr_t locals = word_at(proto + l->proto_locals);
    const size_t n = half_at(proto + l->n_locals);
    for (size_t i = 0; i < n; i++) {
        const uintptr_t at = locals + i * LOCAL_SIZE;
        if (half_at(at + LOCAL_FROM) > pc)
            break;
        if (pc < half_at(at + LOCAL_TO) && reg-- == 0)
            return text_of(word_at(at));
    }
    return NULL;
}

static const char *key(const struct lua_layout *l, uintptr_t proto, const struct operands *o) {
    return l->minor >= 4 || o->c_is_constant ? constant(l, proto, o->c) : NULL;
}

/* Returns the name of what an instruction loads, or NULL. If it moves a register, sets `*reg` to
 * the source. */
static const char *name_loaded(const struct lua_layout *l, uintptr_t proto,
                               const struct operands *o, unsigned *reg) {
    const struct lua_opcodes *const op = &l->op;
    if (o->opcode == op->get_global)
        return constant(l, proto, o->bx);
    if (o->opcode == op->get_upvalue)
        return upvalue(l, proto, o->b);
    if (o->opcode == op->get_upvalue_field || o->opcode == op->get_field || o->opcode == op->self)
        return key(l, proto, o);
    if (o->opcode == op->get_table && l->minor < 4)
        return key(l, proto, o);
    if (o->opcode == op->move)
        *reg = o->b;
    return NULL;
}

/* Whether an instruction loads a value by a key, which need not be a name. */
static bool loads_by_key(const struct lua_opcodes *op, unsigned opcode) {
    return opcode == op->get_table || opcode == op->get_integer || opcode == op->get_field ||
           opcode == op->get_upvalue_field;
}

/* Returns the name of what is in a register before an instruction. A function is loaded just before
 * the arguments of its call, so a long search would find nothing. */
static const char *name_in_register(const struct lua_layout *l, uintptr_t proto, unsigned reg,
                                    size_t pc) {
    enum { FAR = 300 };
    const char *name = local(l, proto, reg, pc);
    for (size_t i = pc; !name && i > 0 && pc - i < FAR; i--) {
        const struct operands o = operands_of(l, proto, i - 1);
        unsigned from = reg;
        if ((o.opcode == l->op.call || o.opcode == l->op.tail_call) && o.a <= reg)
            return NULL;
        if (o.a != reg)
            continue;
        name = name_loaded(l, proto, &o, &from);
        if (!name && from < reg)
            return local(l, proto, from, i - 1);
        if (!name && loads_by_key(&l->op, o.opcode))
            return NULL; /* an earlier instruction may have loaded the table into the register */
    }
    return name;
}

static const char *name_of_called(const struct lua_layout *l, const struct lua_place *caller) {
    if (!caller->proto)
        return NULL;
    const struct operands o = operands_of(l, caller->proto, caller->pc);
    const char *name = o.opcode == l->op.call || o.opcode == l->op.tail_call
                           ? name_in_register(l, caller->proto, o.a, caller->pc)
                           : NULL;
    return name && *name && *name != '(' ? name : NULL;
}

/* ---- texts --------------------------------------------------------------------------------- */

static size_t put(char *to, size_t at, const char *text, size_t length) {
    const size_t room = NAMES_TEXT - 1 - at;
    length = length < room ? length : room;
    memcpy(to + at, text, length);
    return at + length;
}

static size_t put_text(char *to, size_t at, const char *text) {
    return put(to, at, text, strlen(text));
}

static size_t put_number(char *to, size_t at, unsigned n) {
    char digits[10], *first = digits + sizeof digits;
    do
        *--first = (char)('0' + n % 10);
    while (n /= 10);
    return put(to, at, first, (size_t)(digits + sizeof digits - first));
}

/* Puts the name of a chunk: what follows @ or =, or its first line. Returns the length. */
static size_t put_file(char *to, const char *source) {
    enum { MOST = 40 };
    if (!source)
        return put_text(to, 0, "?");
    if (*source == '@' || *source == '=')
        return put_text(to, 0, source + 1);
    const size_t length = strnlen(source, MOST);
    const char *end = strchr(source, '\n');
    end = end && end < source + length ? end : NULL;
    size_t n = put_text(to, 0, "[string \"");
    n = put(to, n, source, end ? (size_t)(end - source) : length);
    return put_text(to, n, end || length == MOST ? "...\"]" : "\"]");
}

/* Puts the name of a function for which its caller has no name. */
static size_t put_unnamed(char *to, const char *file, unsigned line) {
    if (line == 0)
        return put_text(to, 0, "main chunk");
    const char *const slash = *file == '[' ? NULL : strrchr(file, '/');
    size_t n = put_text(to, 0, "function <");
    n = put_text(to, n, slash ? slash + 1 : file);
    n = put_text(to, n, ":");
    return put_text(to, put_number(to, n, line), ">");
}

/* ---- functions that have been met ---------------------------------------------------------- */

/* The entry that has a function's names, keyed by its file and first line. A function without a
 * name gets one when a later caller has a name for it. */
struct known {
    uint64_t hash;
    uint32_t entry;
    bool is_named;
};
enum { MAX_KNOWN = 1 << 17 };
static struct known *known; /* protected by names_lock */
static size_t n_known;

static struct known *known_find(uint64_t hash) {
    if (!known && !(known = pages_alloc(MAX_KNOWN * sizeof *known)))
        return NULL;
    for (;; hash++) {
        struct known *const k = &known[hash % MAX_KNOWN];
        if (!k->entry)
            return n_known < MAX_KNOWN / 2 ? k : NULL;
        if (k->hash == hash)
            return k;
    }
}

static uint32_t known_add(struct known *k, uint64_t hash, uint32_t entry, bool is_named) {
    if (k && entry) {
        n_known += !k->entry;
        *k = (struct known){hash, entry, is_named};
    }
    return entry;
}

static uint32_t entry_of_locked(const struct lua_named *f) {
    char *const file = names_room();
    if (!file)
        return 0;
    const unsigned line = f->line;
    const size_t size = put_file(file, f->source) + 1;
    file[size - 1] = '\0';
    const uint64_t hash = hash_u64(hash_bytes(file, size) + line + (uintptr_t)f->remark);
    struct known *const k = known_find(hash);
    const bool is_done = k && k->entry && (k->is_named || !line);
    const char *const name = is_done || !line ? NULL : f->name(f);
    if (is_done || (k && k->entry && !name))
        return k->entry;
    char *const function = file + size;
    size_t length = name ? put_text(function, 0, name) : put_unnamed(function, file, line);
    if (f->remark)
        length = put_text(function, length, f->remark);
    function[length++] = '\0';
    return known_add(k, hash, names_entry(file, function, size + length), name);
}

uintptr_t lua_names_slot_of(const struct lua_named *f, uintptr_t line) {
    if (!names_lock())
        return LUA_SLOT_FULL;
    const uint32_t entry = entry_of_locked(f);
    names_unlock();
    return entry ? (uintptr_t)entry << LUA_LINE_BITS | (line < MAX_LINE ? line : MAX_LINE)
                 : LUA_SLOT_FULL;
}

uintptr_t lua_names_slot_called(const char *name) {
    if (!names_lock())
        return LUA_SLOT_FULL;
    const uint32_t entry = names_entry_of("[C]", name);
    names_unlock();
    return entry ? (uintptr_t)entry << LUA_LINE_BITS : LUA_SLOT_FULL;
}

struct called {
    struct lua_named named;
    const struct lua_layout *l;
    const struct lua_place *caller;
};

static const char *name_by_caller(const struct lua_named *f) {
    const struct called *const c = (const struct called *)f;
    return name_of_called(c->l, c->caller);
}

/* ---- slots --------------------------------------------------------------------------------- */

uintptr_t lua_names_slot(const struct lua_layout *l, const struct lua_place *place,
                         const struct lua_place *caller) {
    const struct called c = {.named = {.source = text_of(word_at(place->proto + l->proto_source)),
                                       .line = half_at(place->proto + l->proto_line),
                                       .name = name_by_caller},
                             .l = l,
                             .caller = caller};
    return lua_names_slot_of(&c.named, line_of(l, place));
}

uintptr_t lua_names_slot_of_c(const struct lua_layout *l, const struct lua_place *caller) {
    const char *name = name_of_called(l, caller);
    if (!name && caller->proto && lua_names_opcode(l, caller) == l->op.for_call)
        name = "for iterator";
    return name ? lua_names_slot_called(name) : 0;
}

size_t lua_names_locate(code_table *codes, uintptr_t slot, memtrace_location *locations,
                        size_t max) {
    (void)codes;
    const uint32_t entry = (uint32_t)(slot >> LUA_LINE_BITS);
    if (max == 0)
        return 0;
    locations[0] = (memtrace_location){.file = names_file(entry),
                                       .function = names_function(entry),
                                       .line = entry ? (uint32_t)(slot & MAX_LINE) : 0};
    return 1;
}
