/* displace.c: implements displace.h. x86-64 instructions are measured rather than decoded: the
 * tables give the length of an instruction and whether it contains an address relative to itself.
 * An instruction that is not in the tables is refused. So is a function that jumps back into its
 * first instructions; the whole function is scanned for such jumps. */
#include "platform/displace.h"

#include <string.h>

#include "platform/cpu.h"

#ifdef __x86_64__

/* The parts of an instruction after its opcode. */
enum {
    M = 1,        /* a ModRM byte and the bytes that it implies */
    I8 = 2,       /* an immediate byte */
    IZ = 4,       /* an immediate of 4 bytes, 2 with prefix 66 */
    I16 = 8,      /* an immediate of 2 bytes */
    J8 = 16,      /* a jump distance of 1 byte */
    J32 = 32,     /* a jump distance of 4 bytes */
    IV = 64,      /* an immediate of 4 bytes, 2 with prefix 66, 8 with REX.W */
    UNKNOWN = 128 /* not in the tables */
};

/* The opcodes in [first, last] have these parts. The last row that matches counts. */
struct row {
    uint8_t first, last, parts;
};

/* clang-format off */
static const struct row one_byte[] = {
    {0x00, 0x3F, M}, {0x04, 0x04, I8}, {0x05, 0x05, IZ}, {0x06, 0x07, UNKNOWN},
    {0x0C, 0x0C, I8}, {0x0D, 0x0D, IZ}, {0x0E, 0x0F, UNKNOWN},
    {0x14, 0x14, I8}, {0x15, 0x15, IZ}, {0x16, 0x17, UNKNOWN},
    {0x1C, 0x1C, I8}, {0x1D, 0x1D, IZ}, {0x1E, 0x1F, UNKNOWN},
    {0x24, 0x24, I8}, {0x25, 0x25, IZ}, {0x26, 0x27, UNKNOWN},
    {0x2C, 0x2C, I8}, {0x2D, 0x2D, IZ}, {0x2E, 0x2F, UNKNOWN},
    {0x34, 0x34, I8}, {0x35, 0x35, IZ}, {0x36, 0x37, UNKNOWN},
    {0x3C, 0x3C, I8}, {0x3D, 0x3D, IZ}, {0x3E, 0x3F, UNKNOWN},
    {0x40, 0x4F, UNKNOWN}, {0x50, 0x5F, 0}, {0x60, 0x62, UNKNOWN}, {0x63, 0x63, M},
    {0x64, 0x67, UNKNOWN}, {0x68, 0x68, IZ}, {0x69, 0x69, M | IZ}, {0x6A, 0x6A, I8},
    {0x6B, 0x6B, M | I8}, {0x6C, 0x6F, 0}, {0x70, 0x7F, J8}, {0x80, 0x80, M | I8},
    {0x81, 0x81, M | IZ}, {0x82, 0x82, UNKNOWN}, {0x83, 0x83, M | I8}, {0x84, 0x8F, M},
    {0x90, 0x99, 0}, {0x9A, 0x9A, UNKNOWN}, {0x9B, 0x9F, 0}, {0xA0, 0xA3, UNKNOWN},
    {0xA4, 0xA7, 0}, {0xA8, 0xA8, I8}, {0xA9, 0xA9, IZ}, {0xAA, 0xAF, 0}, {0xB0, 0xB7, I8},
    {0xB8, 0xBF, IV}, {0xC0, 0xC1, M | I8}, {0xC2, 0xC2, I16}, {0xC3, 0xC3, 0},
    {0xC4, 0xC5, UNKNOWN}, {0xC6, 0xC6, M | I8}, {0xC7, 0xC7, M | IZ}, {0xC8, 0xC8, I16 | I8},
    {0xC9, 0xC9, 0}, {0xCA, 0xCB, UNKNOWN}, {0xCC, 0xCC, 0}, {0xCD, 0xCD, I8},
    {0xCE, 0xCF, UNKNOWN}, {0xD0, 0xD3, M}, {0xD4, 0xD7, UNKNOWN}, {0xD8, 0xDF, M},
    {0xE0, 0xE3, J8}, {0xE4, 0xE7, UNKNOWN}, {0xE8, 0xE9, J32}, {0xEA, 0xEA, UNKNOWN},
    {0xEB, 0xEB, J8}, {0xEC, 0xF3, UNKNOWN}, {0xF4, 0xF5, 0}, {0xF6, 0xF7, M},
    {0xF8, 0xFD, 0}, {0xFE, 0xFF, M}};

static const struct row two_bytes[] = { /* after the byte 0F */
    {0x00, 0xFF, UNKNOWN}, {0x00, 0x01, M}, {0x05, 0x05, 0}, {0x0B, 0x0B, 0}, {0x0D, 0x0D, M},
    {0x10, 0x1F, M}, {0x28, 0x2F, M}, {0x31, 0x31, 0}, {0x40, 0x6F, M}, {0x70, 0x73, M | I8},
    {0x74, 0x76, M}, {0x77, 0x77, 0}, {0x7C, 0x7F, M}, {0x80, 0x8F, J32}, {0x90, 0x9F, M},
    {0xA2, 0xA2, 0}, {0xA3, 0xA3, M}, {0xA4, 0xA4, M | I8}, {0xA5, 0xA5, M}, {0xAB, 0xAB, M},
    {0xAC, 0xAC, M | I8}, {0xAD, 0xB1, M}, {0xB3, 0xB3, M}, {0xB6, 0xB9, M},
    {0xBA, 0xBA, M | I8}, {0xBB, 0xC1, M}, {0xC2, 0xC2, M | I8}, {0xC3, 0xC3, M},
    {0xC4, 0xC6, M | I8}, {0xC7, 0xC7, M}, {0xC8, 0xCF, 0}, {0xD0, 0xFE, M}};
/* clang-format on */

static unsigned parts_in(const struct row *rows, size_t n, uint8_t opcode) {
    unsigned parts = UNKNOWN;
    for (size_t i = 0; i < n; i++)
        if (opcode >= rows[i].first && opcode <= rows[i].last)
            parts = rows[i].parts;
    return parts;
}
#define PARTS_IN(rows, opcode) parts_in(rows, sizeof(rows) / sizeof *(rows), opcode)

/* With a VEX or EVEX prefix, every instruction but vzeroupper has a ModRM byte. */
static unsigned parts_of_map(unsigned map, uint8_t opcode) {
    const unsigned parts = map == 1 ? PARTS_IN(two_bytes, opcode) : M;
    return map == 0 || map > 3 ? UNKNOWN
           : map == 1          ? parts & (M | I8 | UNKNOWN)
           : map == 3          ? M | I8
                               : M;
}

struct instruction {
    size_t size;        /* bytes; 0: unknown */
    size_t relative;    /* offset of the distance from the next instruction; 0: there is none */
    unsigned jump;      /* J8, J32: the distance is a jump target; 0: it is an operand's */
    uint8_t opcode;     /* last byte of the opcode */
    bool is_two_bytes;  /* the opcode follows 0F or an equivalent prefix */
    bool has_no_branch; /* there is no form with a distance of 4 bytes */
};

/* Returns the size in bytes of the ModRM operand at `at`. Returns 0 if the code ends before it. */
static size_t operand_size(const uint8_t *at, size_t size, struct instruction *i, size_t offset) {
    if (size == 0)
        return 0;
    const unsigned mod = at[0] >> 6, rm = at[0] & 7;
    const bool indexed = mod != 3 && rm == 4;
    if (mod == 3)
        return 1;
    if (indexed && size == 1)
        return 0;
    if (mod == 0 && rm == 5)
        i->relative = offset + 1;
    const bool has_base = !(rm == 5 || (indexed && (at[1] & 7) == 5));
    return 1u + indexed + (mod == 1 ? 1 : mod == 2 || !has_base ? 4 : 0);
}

static size_t immediate_size(unsigned parts, bool is_short, bool is_wide) {
    size_t n = 0;
    if (parts & (I8 | J8))
        n += 1;
    if (parts & I16)
        n += 2;
    if (parts & J32)
        n += 4;
    if (parts & (IZ | IV))
        n += (parts & IV) && is_wide ? 8 : is_short ? 2 : 4;
    return n;
}

static bool is_prefix(uint8_t byte) {
    switch (byte) {
    case 0x26:
    case 0x2E:
    case 0x36:
    case 0x3E:
    case 0x64:
    case 0x65:
    case 0x66:
    case 0xF0:
    case 0xF2:
    case 0xF3:
        return true;
    default:
        return false;
    }
}

static struct instruction measure(const uint8_t *code, size_t size) {
    struct instruction i = {0};
    const struct instruction none = {0};
    bool is_short = false, is_wide = false;
    size_t at = 0;
    unsigned parts;
    for (; at < size && is_prefix(code[at]); at++)
        is_short |= code[at] == 0x66;
    if (at < size && (code[at] & 0xF0) == 0x40)
        is_wide = code[at++] & 8;
    if (at >= size)
        return none;
    const size_t left = size - at;
    if (left >= 3 && (code[at] == 0xC5 || code[at] == 0xC4 || code[at] == 0x62)) {
        const size_t head = code[at] == 0xC5 ? 2 : code[at] == 0xC4 ? 3 : 4;
        const unsigned map = head == 2 ? 1 : code[at + 1] & (head == 3 ? 31 : 7);
        if (left <= head)
            return none;
        at += head;
        i.is_two_bytes = true;
        parts = parts_of_map(map, code[at]);
        if (map == 1 && code[at] == 0x77)
            parts = 0;
    } else if (code[at] == 0x0F && left >= 2) {
        const uint8_t second = code[++at];
        i.is_two_bytes = true;
        parts = PARTS_IN(two_bytes, second);
        if (second == 0x38 || second == 0x3A) {
            at++;
            parts = second == 0x38 ? M : M | I8;
        }
    } else {
        parts = PARTS_IN(one_byte, code[at]);
    }
    if (at >= size || parts == UNKNOWN)
        return none;
    i.opcode = code[at++];
    if (!i.is_two_bytes && (i.opcode & 0xFE) == 0xF6 && at < size && (parts & M) &&
        (code[at] >> 3 & 7) < 2)
        parts |= i.opcode & 1 ? IZ : I8; /* test with an immediate */
    if (parts & M) {
        const size_t operand = operand_size(code + at, size - at, &i, at);
        if (operand == 0)
            return none;
        at += operand;
    }
    i.jump = parts & (J8 | J32);
    i.has_no_branch = !i.is_two_bytes && i.opcode >= 0xE0 && i.opcode <= 0xE3;
    if (i.jump)
        i.relative = at;
    at += immediate_size(parts, is_short, is_wide);
    i.size = at <= size ? at : 0;
    return i;
}

static uintptr_t goes_to(const uint8_t *code, const struct instruction *i, uintptr_t at) {
    int32_t distance;
    if (i->jump == J8)
        return at + i->size + (uintptr_t)(intptr_t)(int8_t)code[i->relative];
    memcpy(&distance, code + i->relative, sizeof distance);
    return at + i->size + (uintptr_t)(intptr_t)distance;
}

static bool put_distance(uint8_t *to, uintptr_t end, uintptr_t target) {
    const int64_t distance = (int64_t)(target - end);
    const int32_t fits = (int32_t)distance;
    memcpy(to, &fits, sizeof fits);
    return fits == distance;
}

bool displace_jump(uint8_t jump[DISPLACE_JUMP], uintptr_t at, uintptr_t target) {
    jump[0] = 0xE9;
    return put_distance(jump + 1, at + DISPLACE_JUMP, target);
}

size_t displace_entry(uint8_t code[DISPLACE_ENTRY], uintptr_t argument, uintptr_t target) {
    static const uint8_t put[] = {0x49, 0xB8}; /* movabs $…, %r8 */
    memcpy(code, put, sizeof put);
    memcpy(code + sizeof put, &argument, sizeof argument);
    cpu_jump(code + sizeof put + sizeof argument, target);
    return sizeof put + sizeof argument + CPU_JUMP_SIZE;
}

/* Writes a call that returns to the original place, so that no frame ever returns into the moved
 * code. */
static size_t move_call(uint8_t *to, uintptr_t to_at, uintptr_t target, uintptr_t returns) {
    static const uint8_t make_room[] = {0x48, 0x8D, 0x64, 0x24, 0xF8}; /* lea -8(%rsp), %rsp */
    static const uint8_t put_low[] = {0xC7, 0x04, 0x24};               /* movl $…, (%rsp) */
    static const uint8_t put_high[] = {0xC7, 0x44, 0x24, 0x04};        /* movl $…, 4(%rsp) */
    const uint32_t halves[] = {(uint32_t)returns, (uint32_t)(returns >> 32)};
    uint8_t *at = to;
#define PUT(bytes, size) (memcpy(at, bytes, size), at += (size))
    PUT(make_room, sizeof make_room);
    PUT(put_low, sizeof put_low);
    PUT(&halves[0], sizeof halves[0]);
    PUT(put_high, sizeof put_high);
    PUT(&halves[1], sizeof halves[1]);
#undef PUT
    const size_t before = (size_t)(at - to);
    return displace_jump(at, to_at + before, target) ? before + DISPLACE_JUMP : 0;
}

/* Writes one instruction so that it has the same effect at `to_at`. Returns its size there, or 0 if
 * it cannot be moved. */
static size_t move(const uint8_t *code, const struct instruction *i, uintptr_t at, uint8_t *to,
                   uintptr_t to_at) {
    if (!i->relative) {
        memcpy(to, code, i->size);
        return i->size;
    }
    const uintptr_t target = goes_to(code, i, at);
    if (!i->jump) {
        memcpy(to, code, i->size);
        return put_distance(to + i->relative, to_at + i->size, target) ? i->size : 0;
    }
    if (i->has_no_branch)
        return 0;
    if (!i->is_two_bytes && i->opcode == 0xE8)
        return move_call(to, to_at, target, at + i->size);
    if (!i->is_two_bytes && (i->opcode == 0xE9 || i->opcode == 0xEB))
        return displace_jump(to, to_at, target) ? DISPLACE_JUMP : 0;
    to[0] = 0x0F; /* jcc */
    to[1] = (uint8_t)(0x80 | (i->opcode & 15));
    return put_distance(to + 2, to_at + 6, target) ? 6 : 0;
}

/* Returns whether execution never falls through this instruction to the next one. */
static bool ends(const struct instruction *i) {
    return !i->is_two_bytes && (i->opcode == 0xC3 || i->opcode == 0xE9 || i->opcode == 0xEB);
}

/* Returns an error text if the code jumps to the inside of [from, to), or cannot be measured; NULL
 * otherwise. */
static const char *look_for_jumps(const uint8_t *code, size_t size, uintptr_t at, uintptr_t from,
                                  uintptr_t to) {
    for (size_t offset = 0; offset < size;) {
        const struct instruction i = measure(code + offset, size - offset);
        if (i.size == 0)
            return "has instructions that allotrace does not know";
        const uintptr_t target = i.jump ? goes_to(code + offset, &i, at + offset) : 0;
        if (target > from && target < to)
            return "jumps back to its first instructions";
        offset += i.size;
    }
    return NULL;
}

bool displace_calls(const uint8_t *code, size_t size, uintptr_t at, const uintptr_t *functions,
                    size_t n) {
    for (size_t offset = 0; offset < size;) {
        const struct instruction i = measure(code + offset, size - offset);
        if (i.size == 0)
            return false;
        for (size_t k = 0; i.jump && k < n; k++)
            if (goes_to(code + offset, &i, at + offset) == functions[k])
                return true;
        offset += i.size;
    }
    return false;
}

uintptr_t displace_leaves(const uint8_t *code, size_t size, uintptr_t at) {
    uintptr_t lowest = 0;
    for (size_t offset = 0; offset < size;) {
        const struct instruction i = measure(code + offset, size - offset);
        if (i.size == 0)
            return lowest;
        const bool is_condition = i.is_two_bytes && i.jump == J32;
        const uintptr_t target = is_condition ? goes_to(code + offset, &i, at + offset) : at;
        if (target - at >= size && (!lowest || target < lowest))
            lowest = target;
        offset += i.size;
    }
    return lowest;
}

/* FF /2 and FF /3 are calls, too, whose target is an operand. */
static bool is_call(const uint8_t *code, const struct instruction *i) {
    if (i->is_two_bytes)
        return false;
    size_t at = 0;
    while (is_prefix(code[at]))
        at++;
    at += (code[at] & 0xF0) == 0x40;
    return i->opcode == 0xE8 || (i->opcode == 0xFF && ((code[at + 1] >> 3 & 7) | 1) == 3);
}

static const uint8_t landing[] = {0xF3, 0x0F, 0x1E, 0xFA}; /* endbr64, which must stay in place */

/* Returns whether the instruction is padding between functions. */
static bool is_padding(const uint8_t *code, const struct instruction *i) {
    return i->size > 0 && (i->is_two_bytes ? i->opcode == 0x1F && code[i->size - 1] == 0
                                           : i->opcode == 0x90 || i->opcode == 0xCC);
}

const char *displace_copy(const uint8_t *code, size_t size, size_t most, uintptr_t at,
                          uint8_t *room, uintptr_t room_at, struct displaced *out) {
    enum { LONGEST = 32 };
    *out = (struct displaced){0};
    if (size > sizeof landing && memcmp(code, landing, sizeof landing) == 0)
        out->entry = sizeof landing;
    const uintptr_t from = at + out->entry;
    bool ended = false;
    while (out->taken < DISPLACE_JUMP) {
        const size_t offset = out->entry + out->taken;
        const bool is_behind = offset >= size;
        const struct instruction i = measure(code + offset, (is_behind ? most : size) - offset);
        if (is_behind && ended && is_padding(code + offset, &i)) {
            out->taken += i.size;
            continue;
        }
        if (is_behind || ended)
            return "is too short for a jump";
        if (i.size == 0)
            return "begins with an instruction that allotrace does not know";
        if (out->size + LONGEST + DISPLACE_JUMP > DISPLACE_ROOM)
            return "begins with too many instructions";
        const size_t moved =
            move(code + offset, &i, at + offset, room + out->size, room_at + out->size);
        if (moved == 0)
            return "begins with an instruction that cannot be moved";
        out->size += moved;
        out->taken += i.size;
        out->returns |= is_call(code + offset, &i) && out->taken < DISPLACE_JUMP;
        ended = ends(&i);
    }
    if (!displace_jump(room + out->size, room_at + out->size, from + out->taken))
        return "is too far from free memory";
    out->size += DISPLACE_JUMP;
    return look_for_jumps(code, size, at, from, from + out->taken);
}

#else

const char *displace_copy(const uint8_t *code, size_t size, size_t most, uintptr_t at,
                          uint8_t *room, uintptr_t room_at, struct displaced *out) {
    (void)code, (void)size, (void)most, (void)at, (void)room, (void)room_at;
    *out = (struct displaced){0};
    return "is for a processor on which allotrace cannot change functions";
}

bool displace_jump(uint8_t jump[DISPLACE_JUMP], uintptr_t at, uintptr_t target) {
    (void)jump, (void)at, (void)target;
    return false;
}

bool displace_calls(const uint8_t *code, size_t size, uintptr_t at, const uintptr_t *functions,
                    size_t n) {
    (void)code, (void)size, (void)at, (void)functions, (void)n;
    return false;
}

uintptr_t displace_leaves(const uint8_t *code, size_t size, uintptr_t at) {
    (void)code, (void)size, (void)at;
    return 0;
}

size_t displace_entry(uint8_t code[DISPLACE_ENTRY], uintptr_t argument, uintptr_t target) {
    (void)code, (void)argument, (void)target;
    return 0;
}

#endif
