/* cfi_expression.c: evaluates DWARF expressions (DWARF 5, section 2.5) as they occur in call frame
 * information. One evaluator serves two purposes. With all registers and memory at hand it computes
 * numbers. Without them it keeps values symbolic, so that the few expressions that compilers and
 * linkers really emit (PLT stubs, realigned stacks) become plain row entries that can be cached. */
#include "platform/cfi.h"
#include "platform/dwarf_reader.h"

enum {
    OP_ADDR = 0x03,
    OP_DEREF = 0x06,
    OP_CONST1U = 0x08,
    OP_CONST1S = 0x09,
    OP_CONST2U = 0x0A,
    OP_CONST2S = 0x0B,
    OP_CONST4U = 0x0C,
    OP_CONST4S = 0x0D,
    OP_CONST8U = 0x0E,
    OP_CONST8S = 0x0F,
    OP_CONSTU = 0x10,
    OP_CONSTS = 0x11,
    OP_DUP = 0x12,
    OP_DROP = 0x13,
    OP_OVER = 0x14,
    OP_PICK = 0x15,
    OP_SWAP = 0x16,
    OP_ROT = 0x17,
    OP_ABS = 0x19,
    OP_AND = 0x1A,
    OP_DIV = 0x1B,
    OP_MINUS = 0x1C,
    OP_MOD = 0x1D,
    OP_MUL = 0x1E,
    OP_NEG = 0x1F,
    OP_NOT = 0x20,
    OP_OR = 0x21,
    OP_PLUS = 0x22,
    OP_PLUS_UCONST = 0x23,
    OP_SHL = 0x24,
    OP_SHR = 0x25,
    OP_SHRA = 0x26,
    OP_XOR = 0x27,
    OP_BRA = 0x28,
    OP_EQ = 0x29,
    OP_GE = 0x2A,
    OP_GT = 0x2B,
    OP_LE = 0x2C,
    OP_LT = 0x2D,
    OP_NE = 0x2E,
    OP_SKIP = 0x2F,
    OP_LIT0 = 0x30,
    OP_BREG0 = 0x70,
    OP_BREGX = 0x92,
    OP_DEREF_SIZE = 0x94,
    OP_NOP = 0x96,
    REGISTERS_WITH_OPCODE = 32
};

enum { STACK_MAX = 16, STEPS_MAX = 256 };

struct evaluation {
    struct dwarf_reader r;
    const uint8_t *start; /* start of the expression; branches must stay within it */
    const struct cfi_context *context;
    struct cfi_value stack[STACK_MAX];
    unsigned depth;
};

static bool push(struct evaluation *e, struct cfi_value value) {
    if (e->depth == STACK_MAX)
        return false;
    e->stack[e->depth++] = value;
    return true;
}

static bool push_constant(struct evaluation *e, uint64_t number) {
    return push(e, (struct cfi_value){.kind = CFI_CONSTANT, .offset = number});
}

static bool push_register(struct evaluation *e, uint64_t reg, int64_t offset) {
    if (reg >= UNWIND_REGISTERS)
        return false;
    if (e->context->known & UNWIND_BIT(reg))
        return push_constant(e, e->context->reg[reg] + (uint64_t)offset);
    if (e->context->view)
        return false;
    return push(e, (struct cfi_value){
                       .kind = CFI_RELATIVE, .base = (uint8_t)reg, .offset = (uint64_t)offset});
}

static bool pick(struct evaluation *e, unsigned below_top) {
    return below_top < e->depth && push(e, e->stack[e->depth - 1 - below_top]);
}

/* Replaces the address on top of the stack by the value at that address. */
static bool load(struct evaluation *e, unsigned size) {
    if (e->depth == 0 || size == 0 || size > sizeof(uintptr_t))
        return false;
    struct cfi_value *top = &e->stack[e->depth - 1];
    if (top->kind == CFI_RELATIVE && size == sizeof(uintptr_t)) {
        *top = (struct cfi_value){
            .kind = CFI_LOADED, .base = top->base, .inner = (int64_t)top->offset};
        return true;
    }
    uintptr_t word, address = top->offset, within = address % sizeof word;
    if (top->kind != CFI_CONSTANT || !e->context->view || within + size > sizeof word ||
        !stack_read(e->context->view, address - within, &word))
        return false;
    word >>= 8 * within;
    top->offset = size == sizeof word ? word : word & ((UINT64_C(1) << 8 * size) - 1);
    return true;
}

/* Binary operators. Comparisons, division and shra are signed. */
#define OPERATORS(X)                                                                               \
    X(AND, a &b)                                                                                   \
    X(OR, a | b)                                                                                   \
    X(XOR, a ^ b)                                                                                  \
    X(PLUS, a + b)                                                                                 \
    X(MINUS, a - b)                                                                                \
    X(MUL, a *b)                                                                                   \
    X(SHL, b < 64 ? a << b : 0)                                                                    \
    X(SHR, b < 64 ? a >> b : 0)                                                                    \
    X(SHRA, (uint64_t)((int64_t)a >> (b < 64 ? b : 63)))                                           \
    X(EQ, a == b)                                                                                  \
    X(NE, a != b)                                                                                  \
    X(GE, (int64_t)a >= (int64_t)b)                                                                \
    X(GT, (int64_t)a > (int64_t)b)                                                                 \
    X(LE, (int64_t)a <= (int64_t)b)                                                                \
    X(LT, (int64_t)a < (int64_t)b)

static uint64_t quotient(uint64_t a, uint64_t b) {
    return b == UINT64_MAX ? -a : (uint64_t)((int64_t)a / (int64_t)b);
}

static bool compute(uint8_t opcode, uint64_t a, uint64_t b, uint64_t *result) {
#define CASE(name, value)                                                                          \
    case OP_##name:                                                                                \
        *result = (value);                                                                         \
        return true;
    switch (opcode) {
        OPERATORS(CASE)
    case OP_DIV:
        *result = b ? quotient(a, b) : 0;
        return b != 0;
    case OP_MOD:
        *result = b ? a % b : 0;
        return b != 0;
    default:
        return false;
    }
#undef CASE
}

/* Applies a binary operator. An operand may be symbolic only where a constant is added or
 * subtracted. */
static bool binary(struct evaluation *e, uint8_t opcode) {
    if (e->depth < 2)
        return false;
    struct cfi_value b = e->stack[--e->depth], *a = &e->stack[e->depth - 1];
    if (opcode == OP_PLUS && a->kind == CFI_CONSTANT) {
        struct cfi_value swapped = *a;
        *a = b;
        b = swapped;
    }
    bool sum = opcode == OP_PLUS || opcode == OP_MINUS;
    if (b.kind != CFI_CONSTANT || (a->kind != CFI_CONSTANT && !sum))
        return false;
    return compute(opcode, a->offset, b.offset, &a->offset);
}

static bool unary(struct evaluation *e, uint8_t opcode) {
    if (e->depth == 0 || e->stack[e->depth - 1].kind != CFI_CONSTANT)
        return false;
    uint64_t *top = &e->stack[e->depth - 1].offset;
    switch (opcode) {
    case OP_ABS:
        *top = (int64_t)*top < 0 ? -*top : *top;
        return true;
    case OP_NEG:
        *top = -*top;
        return true;
    case OP_NOT:
        *top = ~*top;
        return true;
    default:
        return false;
    }
}

static bool jump(struct evaluation *e, int16_t distance) {
    ptrdiff_t target = e->r.at - e->start + distance;
    if (target < 0 || target > e->r.end - e->start)
        return false;
    e->r.at = e->start + target;
    return true;
}

static bool branch(struct evaluation *e) {
    int16_t distance = dwarf_s16(&e->r);
    if (e->depth == 0 || e->stack[--e->depth].kind != CFI_CONSTANT)
        return false;
    return e->stack[e->depth].offset == 0 || jump(e, distance);
}

/* Moves the top value below the next `n` - 1 values. */
static bool rotate(struct evaluation *e, unsigned n) {
    if (e->depth < n)
        return false;
    struct cfi_value *top = &e->stack[e->depth - 1], moved = *top;
    memmove(top - n + 2, top - n + 1, (n - 1) * sizeof *top);
    top[1 - (int)n] = moved;
    return true;
}

/* Opcodes that push a constant, and the type of the constant. */
#define CONSTANTS(X)                                                                               \
    X(ADDR, u64)                                                                                   \
    X(CONST1U, u8)                                                                                 \
    X(CONST1S, s8)                                                                                 \
    X(CONST2U, u16)                                                                                \
    X(CONST2S, s16)                                                                                \
    X(CONST4U, u32)                                                                                \
    X(CONST4S, s32)                                                                                \
    X(CONST8U, u64)                                                                                \
    X(CONST8S, s64)                                                                                \
    X(CONSTU, uleb)                                                                                \
    X(CONSTS, sleb)

static bool step(struct evaluation *e, uint8_t opcode) {
    if (opcode >= OP_LIT0 && opcode < OP_LIT0 + REGISTERS_WITH_OPCODE)
        return push_constant(e, opcode - OP_LIT0);
    if (opcode >= OP_BREG0 && opcode < OP_BREG0 + REGISTERS_WITH_OPCODE)
        return push_register(e, opcode - OP_BREG0, dwarf_sleb(&e->r));
#define CASE(name, type)                                                                           \
    case OP_##name:                                                                                \
        return push_constant(e, (uint64_t)dwarf_##type(&e->r));
    switch (opcode) {
        CONSTANTS(CASE)
    case OP_NOP:
        return true;
    case OP_BREGX: {
        uint64_t reg = dwarf_uleb(&e->r);
        return push_register(e, reg, dwarf_sleb(&e->r));
    }
    case OP_DEREF:
        return load(e, sizeof(uintptr_t));
    case OP_DEREF_SIZE:
        return load(e, dwarf_u8(&e->r));
    case OP_DUP:
        return pick(e, 0);
    case OP_OVER:
        return pick(e, 1);
    case OP_PICK:
        return pick(e, dwarf_u8(&e->r));
    case OP_DROP:
        return e->depth && e->depth--;
    case OP_SWAP:
        return rotate(e, 2);
    case OP_ROT:
        return rotate(e, 3);
    case OP_PLUS_UCONST:
        return push_constant(e, dwarf_uleb(&e->r)) && binary(e, OP_PLUS);
    case OP_SKIP:
        return jump(e, dwarf_s16(&e->r));
    case OP_BRA:
        return branch(e);
    case OP_ABS:
    case OP_NEG:
    case OP_NOT:
        return unary(e, opcode);
    default:
        return binary(e, opcode);
    }
#undef CASE
}

bool cfi_evaluate(const struct cfi_rule *rule, const struct cfi_context *context,
                  const uint64_t *first, struct cfi_value *out) {
    struct evaluation e = {.start = rule->expression, .context = context};
    e.r = (struct dwarf_reader){.at = e.start, .end = e.start + rule->size};
    if (first)
        push_constant(&e, *first);
    for (unsigned steps = 0; dwarf_more(&e.r); steps++)
        if (steps == STEPS_MAX || !step(&e, dwarf_u8(&e.r)))
            return false;
    if (e.r.bad || e.depth == 0)
        return false;
    *out = e.stack[e.depth - 1];
    return !context->view || out->kind == CFI_CONSTANT;
}
