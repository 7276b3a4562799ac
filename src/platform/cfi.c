/* cfi.c: finds the entry for an address and runs its CFA program. The formats are those of the
 * Linux Standard Base (.eh_frame, .eh_frame_hdr) and of DWARF 5, section 6.4. */
#include "platform/cfi.h"

#include "platform/dwarf_reader.h"

/* Pointer encodings: the low four bits give the format, the next three what the pointer is relative
 * to. */
enum {
    PE_ABSPTR = 0x00,
    PE_ULEB128 = 0x01,
    PE_UDATA2 = 0x02,
    PE_UDATA4 = 0x03,
    PE_UDATA8 = 0x04,
    PE_SLEB128 = 0x09,
    PE_SDATA2 = 0x0A,
    PE_SDATA4 = 0x0B,
    PE_SDATA8 = 0x0C,
    PE_FORMAT = 0x0F,
    PE_PCREL = 0x10,
    PE_DATAREL = 0x30,
    PE_FUNCREL = 0x40,
    PE_ALIGNED = 0x50,
    PE_RELATION = 0x70,
    PE_INDIRECT = 0x80,
    PE_OMIT = 0xFF
};

struct pointer_bases {
    uintptr_t data, function;
};

static uint64_t pointer_raw(struct dwarf_reader *r, uint8_t encoding) {
    switch (encoding & PE_FORMAT) {
    case PE_ABSPTR:
    case PE_UDATA8:
    case PE_SDATA8:
        return dwarf_u64(r);
    case PE_ULEB128:
        return dwarf_uleb(r);
    case PE_UDATA2:
        return dwarf_u16(r);
    case PE_UDATA4:
        return dwarf_u32(r);
    case PE_SLEB128:
        return (uint64_t)dwarf_sleb(r);
    case PE_SDATA2:
        return (uint64_t)dwarf_s16(r);
    case PE_SDATA4:
        return (uint64_t)dwarf_s32(r);
    default:
        r->bad = true;
        return 0;
    }
}

/* Reads an encoded pointer. Indirect pointers (personality routines) are only skipped: for them the
 * result is the address of the pointer. */
static uintptr_t pointer_read(struct dwarf_reader *r, uint8_t encoding,
                              struct pointer_bases bases) {
    if (encoding == PE_OMIT)
        return 0;
    if ((encoding & PE_RELATION) == PE_ALIGNED)
        dwarf_block(r, -(uintptr_t)r->at % sizeof(uintptr_t));
    uintptr_t base = 0;
    switch (encoding & PE_RELATION) {
    case PE_ABSPTR:
    case PE_ALIGNED:
        break;
    case PE_PCREL:
        base = (uintptr_t)r->at;
        break;
    case PE_DATAREL:
        base = bases.data;
        break;
    case PE_FUNCREL:
        base = bases.function;
        break;
    default: /* "textrel" was never used on Linux's 64-bit CPUs */
        r->bad = true;
    }
    return base + pointer_raw(r, encoding);
}

/* Returns the body of the CIE or FDE at r->at, without its length. The body of the terminator is
 * empty. */
static struct dwarf_reader entry_body(struct dwarf_reader *r) {
    enum { LENGTH_IS_64_BIT = 0xFFFFFFFF };
    uint64_t length = dwarf_u32(r);
    if (length == LENGTH_IS_64_BIT)
        length = dwarf_u64(r);
    return dwarf_block(r, length);
}

/* Reads the augmentation data as the letters of the augmentation string describe them. */
static bool cie_augmentation(struct dwarf_reader *r, const uint8_t *letter,
                             struct cfi_function *out) {
    if (!*letter)
        return true;
    if (*letter++ != 'z')
        return false;
    out->has_augmentation_data = true;
    struct dwarf_reader data = dwarf_block(r, dwarf_uleb(r));
    for (; *letter; letter++) {
        switch (*letter) {
        case 'R':
            out->pointer_encoding = dwarf_u8(&data);
            break;
        case 'S':
            out->signal_frame = true;
            break;
        case 'L':
            dwarf_u8(&data);
            break;
        case 'P': {
            uint8_t encoding = dwarf_u8(&data);
            pointer_read(&data, encoding, (struct pointer_bases){0});
            break;
        }
        case 'B': /* arm64: return addresses are signed with key B; we strip any signature */
        case 'G': /* arm64: the stack is tagged */
            break;
        default: /* unknown letter: its data can't be skipped, but unwinding needs nothing more */
            return !data.bad;
        }
    }
    return !data.bad;
}

static bool cie_read(struct dwarf_reader r, struct cfi_function *out) {
    enum { ID_OF_CIE = 0 };
    uint32_t id = dwarf_u32(&r);
    uint8_t version = dwarf_u8(&r);
    const uint8_t *augmentation = r.at;
    while (dwarf_u8(&r))
        continue;
    if (r.bad || id != ID_OF_CIE || (version != 1 && version != 3 && version != 4))
        return false;
    if (version == 4) { /* sizes of addresses and of segment selectors */
        dwarf_u8(&r);
        dwarf_u8(&r);
    }
    out->code_align = dwarf_uleb(&r);
    out->data_align = dwarf_sleb(&r);
    out->ra_reg = version == 1 ? dwarf_u8(&r) : (uint32_t)dwarf_uleb(&r);
    if (!cie_augmentation(&r, augmentation, out))
        return false;
    out->initial = r.at;
    out->initial_end = r.end;
    return !r.bad && out->ra_reg < UNWIND_REGISTERS;
}

/* Reads the FDE whose body is `r`, in the segment that starts at `low`. Returns false for a CIE,
 * too. */
static bool fde_read(struct dwarf_reader r, uintptr_t low, uintptr_t data_base,
                     struct cfi_function *out) {
    uintptr_t here = (uintptr_t)r.at;
    uint32_t distance = dwarf_u32(&r);
    if (r.bad || distance == 0 || distance > here - low)
        return false;
    struct dwarf_reader cie = {.at = r.at - sizeof distance - distance, .end = r.end};
    *out = (struct cfi_function){.data_base = data_base};
    if (!cie_read(entry_body(&cie), out))
        return false;
    out->start = pointer_read(&r, out->pointer_encoding, (struct pointer_bases){.data = data_base});
    out->end = out->start + pointer_raw(&r, out->pointer_encoding);
    if (out->has_augmentation_data)
        dwarf_block(&r, dwarf_uleb(&r));
    out->program = r.at;
    out->program_end = r.end;
    return !r.bad;
}

static bool fde_holds(const struct cfi_function *function, uintptr_t pc) {
    return pc >= function->start && pc < function->end;
}

/* A row of the search table in .eh_frame_hdr. Both fields are relative to the header. */
struct hdr_row {
    int32_t start, fde;
};

struct hdr_table {
    const uint8_t *rows;
    size_t count;
    intptr_t wanted; /* the pc relative to the header */
};

static struct hdr_row hdr_row_at(const struct hdr_table *table, size_t i) {
    struct hdr_row row;
    memcpy(&row, table->rows + i * sizeof row, sizeof row);
    return row;
}

/* Returns the last row that starts at or before the wanted pc. The caller has checked that the
 * first row does. Functions are spread evenly enough for interpolation to come close with few cache
 * misses. Bisection does the rest, and bounds the search where functions are not spread evenly. */
static struct hdr_row hdr_search(const struct hdr_table *table) {
    enum { INTERPOLATIONS = 6, NEAR = 8 };
    size_t low = 0, high = table->count;
    intptr_t low_start = hdr_row_at(table, 0).start;
    intptr_t high_start = hdr_row_at(table, table->count - 1).start;
    if (table->wanted >= high_start)
        return hdr_row_at(table, table->count - 1);
    for (int step = 0; high - low > 1; step++) {
        size_t middle = low + (high - low) / 2;
        if (step < INTERPOLATIONS && high - low > NEAR && high_start > low_start) {
            double share = (double)(table->wanted - low_start) / (double)(high_start - low_start);
            size_t guess = low + (size_t)(share * (double)(high - low));
            middle = guess <= low ? low + 1 : guess >= high ? high - 1 : guess;
        }
        intptr_t start = hdr_row_at(table, middle).start;
        if (start <= table->wanted) {
            low = middle;
            low_start = start;
        } else {
            high = middle;
            high_start = start;
        }
    }
    return hdr_row_at(table, low);
}

/* Finds the entry without a search table, by reading all entries of .eh_frame in turn. */
static bool cfi_scan(struct dwarf_reader r, uintptr_t low, uintptr_t data_base, uintptr_t pc,
                     struct cfi_function *out) {
    while (dwarf_more(&r)) {
        const uint8_t *const entry = r.at;
        struct dwarf_reader body = entry_body(&r);
        if (body.at == body.end)
            return false;
        if (fde_read(body, low, data_base, out) && fde_holds(out, pc)) {
            out->entry = entry;
            return true;
        }
    }
    return false;
}

static struct dwarf_reader reader_of_segment(const struct module *module, uintptr_t address,
                                             uintptr_t *low) {
    uintptr_t high;
    if (!module_segment(module, address, low, &high))
        return (struct dwarf_reader){.bad = true};
    return (struct dwarf_reader){.at = (const uint8_t *)address, .end = (const uint8_t *)high};
}

static struct dwarf_reader reader_of_header(const struct module *module, uintptr_t hdr) {
    uintptr_t low;
    if (module->eh_frame_hdr_is_made)
        return (struct dwarf_reader){.at = (const uint8_t *)hdr,
                                     .end = (const uint8_t *)module->eh_frame_hdr_end};
    return reader_of_segment(module, hdr, &low);
}

bool cfi_find(const struct module *module, uintptr_t pc, struct cfi_function *out) {
    enum { HDR_VERSION = 1 };
    uintptr_t hdr = module->eh_frame_hdr, low;
    struct dwarf_reader r = reader_of_header(module, hdr);
    struct pointer_bases bases = {.data = hdr};
    uint8_t version = dwarf_u8(&r), frame_encoding = dwarf_u8(&r);
    uint8_t count_encoding = dwarf_u8(&r), table_encoding = dwarf_u8(&r);
    uintptr_t eh_frame = pointer_read(&r, frame_encoding, bases);
    uint64_t count = pointer_read(&r, count_encoding, bases);
    if (r.bad || version != HDR_VERSION)
        return false;
    if (count_encoding == PE_OMIT || table_encoding != (PE_DATAREL | PE_SDATA4)) {
        r = reader_of_segment(module, eh_frame, &low);
        return cfi_scan(r, low, hdr, pc, out);
    }
    struct hdr_table table = {.rows = r.at, .count = count, .wanted = (intptr_t)(pc - hdr)};
    if (count == 0 || count > (size_t)(r.end - r.at) / sizeof(struct hdr_row) ||
        table.wanted < hdr_row_at(&table, 0).start)
        return false;
    uintptr_t fde = hdr + (uintptr_t)(intptr_t)hdr_search(&table).fde;
    r = reader_of_segment(module, fde, &low);
    const bool found = fde_read(entry_body(&r), low, hdr, out) && fde_holds(out, pc);
    out->entry = (const uint8_t *)fde;
    return found;
}

/* ---- making a search table where there is none --------------------------------------------- */

struct made_head {
    uint8_t version, frame_encoding, count_encoding, table_encoding;
    uint32_t count;
};

static void row_put(uint8_t *rows, size_t i, struct hdr_row row) {
    memcpy(rows + i * sizeof row, &row, sizeof row);
}

/* Sifts the row at `i` down in the max-heap of `n` rows. */
static void row_sink(uint8_t *rows, size_t i, size_t n) {
    const struct hdr_table table = {.rows = rows};
    const struct hdr_row row = hdr_row_at(&table, i);
    for (size_t child; (child = 2 * i + 1) < n; i = child) {
        if (child + 1 < n && hdr_row_at(&table, child + 1).start > hdr_row_at(&table, child).start)
            child++;
        if (hdr_row_at(&table, child).start <= row.start)
            break;
        row_put(rows, i, hdr_row_at(&table, child));
    }
    row_put(rows, i, row);
}

static void sort_rows(uint8_t *rows, size_t n) {
    const struct hdr_table table = {.rows = rows};
    for (size_t i = n / 2; i > 0; i--)
        row_sink(rows, i - 1, n);
    for (size_t last = n; last > 1; last--) {
        const struct hdr_row greatest = hdr_row_at(&table, 0);
        row_put(rows, 0, hdr_row_at(&table, last - 1));
        row_put(rows, last - 1, greatest);
        row_sink(rows, 0, last - 1);
    }
}

size_t cfi_make_table(const uint8_t *eh_frame, const uint8_t *end, uint8_t *room, size_t size) {
    struct dwarf_reader r = {.at = eh_frame, .end = end};
    struct made_head head = {1, PE_OMIT, PE_UDATA4, PE_DATAREL | PE_SDATA4, 0};
    uint8_t *const rows = room ? room + sizeof head : NULL;
    const uintptr_t hdr = (uintptr_t)room;
    while (dwarf_more(&r)) {
        const uint8_t *const at = r.at;
        const struct dwarf_reader body = entry_body(&r);
        struct cfi_function f;
        if (body.at == body.end)
            break;
        if (!fde_read(body, (uintptr_t)eh_frame, 0, &f) || f.start >= f.end)
            continue;
        if (room && (size_t)(rows - room) + (head.count + 1) * sizeof(struct hdr_row) > size)
            return 0;
        if (room)
            row_put(rows, head.count,
                    (struct hdr_row){(int32_t)(f.start - hdr), (int32_t)((uintptr_t)at - hdr)});
        head.count++;
    }
    if (room && head.count > 0) {
        sort_rows(rows, head.count);
        memcpy(room, &head, sizeof head);
    }
    return head.count ? sizeof head + head.count * sizeof(struct hdr_row) : 0;
}

/* Opcodes with an operand in their low six bits, then opcodes without. */
enum {
    CFA_ADVANCE_LOC = 0x40,
    CFA_OFFSET = 0x80,
    CFA_RESTORE = 0xC0,
    CFA_HIGH_BITS = 0xC0,
    CFA_NOP = 0x00,
    CFA_SET_LOC = 0x01,
    CFA_ADVANCE_LOC1 = 0x02,
    CFA_ADVANCE_LOC2 = 0x03,
    CFA_ADVANCE_LOC4 = 0x04,
    CFA_OFFSET_EXTENDED = 0x05,
    CFA_RESTORE_EXTENDED = 0x06,
    CFA_UNDEFINED = 0x07,
    CFA_SAME_VALUE = 0x08,
    CFA_REGISTER = 0x09,
    CFA_REMEMBER_STATE = 0x0A,
    CFA_RESTORE_STATE = 0x0B,
    CFA_DEF_CFA = 0x0C,
    CFA_DEF_CFA_REGISTER = 0x0D,
    CFA_DEF_CFA_OFFSET = 0x0E,
    CFA_DEF_CFA_EXPRESSION = 0x0F,
    CFA_EXPRESSION = 0x10,
    CFA_OFFSET_EXTENDED_SF = 0x11,
    CFA_DEF_CFA_SF = 0x12,
    CFA_DEF_CFA_OFFSET_SF = 0x13,
    CFA_VAL_OFFSET = 0x14,
    CFA_VAL_OFFSET_SF = 0x15,
    CFA_VAL_EXPRESSION = 0x16,
    CFA_NEGATE_RA_STATE = 0x2D, /* arm64; on SPARC it saves the register window */
    CFA_GNU_ARGS_SIZE = 0x2E,
    CFA_GNU_NEGATIVE_OFFSET_EXTENDED = 0x2F
};

/* The state while the programs of one function run. */
struct cfi_run {
    const struct cfi_function *function;
    struct cfi_machine *machine;
    struct dwarf_reader r;
    uintptr_t pc;   /* the rules that are in force here are wanted */
    uintptr_t here; /* the current rules hold from here on */
};

/* Rules for registers that we don't track (vectors, flags) are dropped. */
static void rule_set(struct cfi_run *run, uint64_t reg, struct cfi_rule rule) {
    if (reg < UNWIND_REGISTERS)
        run->machine->now.reg[reg] = rule;
}

static void rule_set_offset(struct cfi_run *run, uint64_t reg, enum cfi_kind kind, int64_t offset) {
    rule_set(run, reg, (struct cfi_rule){.kind = kind, .offset = offset});
}

static void rule_restore(struct cfi_run *run, uint64_t reg) {
    if (reg < UNWIND_REGISTERS)
        run->machine->now.reg[reg] = run->machine->initial.reg[reg];
}

static struct cfi_rule rule_of_expression(struct cfi_run *run, enum cfi_kind kind) {
    struct dwarf_reader block = dwarf_block(&run->r, dwarf_uleb(&run->r));
    return (struct cfi_rule){
        .kind = kind, .expression = block.at, .size = (uint32_t)(block.end - block.at)};
}

static int64_t factored(const struct cfi_run *run, int64_t offset) {
    return (int64_t)((uint64_t)offset * (uint64_t)run->function->data_align);
}

static void advance(struct cfi_run *run, uint64_t delta) {
    run->here += delta * run->function->code_align;
}

static void cfa_set(struct cfi_run *run, uint64_t reg, int64_t offset) {
    struct cfi_cfa *cfa = &run->machine->now.cfa;
    cfa->reg = reg < UNWIND_REGISTERS ? (uint32_t)reg : UNWIND_REGISTERS;
    cfa->rule = (struct cfi_rule){.kind = CFI_VAL_OFFSET, .offset = offset};
}

static bool remember(struct cfi_machine *machine) {
    if (machine->depth == CFI_REMEMBER_MAX)
        return false;
    machine->remembered[machine->depth++] = machine->now;
    return true;
}

static bool restore(struct cfi_machine *machine) {
    if (machine->depth == 0)
        return false;
    machine->now = machine->remembered[--machine->depth];
    return true;
}

/* Runs an opcode that says where the CFA is. Returns false if the opcode is none of these. */
static bool run_cfa_opcode(struct cfi_run *run, uint8_t opcode) {
    struct cfi_cfa *cfa = &run->machine->now.cfa;
    uint64_t reg;
    switch (opcode) {
    case CFA_DEF_CFA:
        reg = dwarf_uleb(&run->r);
        cfa_set(run, reg, (int64_t)dwarf_uleb(&run->r));
        return true;
    case CFA_DEF_CFA_SF:
        reg = dwarf_uleb(&run->r);
        cfa_set(run, reg, factored(run, dwarf_sleb(&run->r)));
        return true;
    case CFA_DEF_CFA_REGISTER:
        cfa_set(run, dwarf_uleb(&run->r), cfa->rule.kind == CFI_VAL_OFFSET ? cfa->rule.offset : 0);
        return true;
    case CFA_DEF_CFA_OFFSET:
        cfa_set(run, cfa->reg, (int64_t)dwarf_uleb(&run->r));
        return true;
    case CFA_DEF_CFA_OFFSET_SF:
        cfa_set(run, cfa->reg, factored(run, dwarf_sleb(&run->r)));
        return true;
    case CFA_DEF_CFA_EXPRESSION:
        cfa->rule = rule_of_expression(run, CFI_VAL_EXPRESSION);
        return true;
    default:
        return false;
    }
}

/* Runs an opcode that says where a register is. Returns false if the opcode is none of these. */
static bool run_register_opcode(struct cfi_run *run, uint8_t opcode) {
    struct dwarf_reader *r = &run->r;
    if (opcode == CFA_NOP || opcode < CFA_OFFSET_EXTENDED ||
        opcode > CFA_GNU_NEGATIVE_OFFSET_EXTENDED)
        return false;
    struct dwarf_reader before = *r;
    uint64_t reg = dwarf_uleb(r);
    switch (opcode) {
    case CFA_OFFSET_EXTENDED:
        rule_set_offset(run, reg, CFI_OFFSET, factored(run, (int64_t)dwarf_uleb(r)));
        return true;
    case CFA_OFFSET_EXTENDED_SF:
        rule_set_offset(run, reg, CFI_OFFSET, factored(run, dwarf_sleb(r)));
        return true;
    case CFA_GNU_NEGATIVE_OFFSET_EXTENDED:
        rule_set_offset(run, reg, CFI_OFFSET, factored(run, (int64_t)-dwarf_uleb(r)));
        return true;
    case CFA_VAL_OFFSET:
        rule_set_offset(run, reg, CFI_VAL_OFFSET, factored(run, (int64_t)dwarf_uleb(r)));
        return true;
    case CFA_VAL_OFFSET_SF:
        rule_set_offset(run, reg, CFI_VAL_OFFSET, factored(run, dwarf_sleb(r)));
        return true;
    case CFA_RESTORE_EXTENDED:
        rule_restore(run, reg);
        return true;
    case CFA_UNDEFINED:
        rule_set_offset(run, reg, CFI_UNDEFINED, 0);
        return true;
    case CFA_SAME_VALUE:
        rule_set_offset(run, reg, CFI_SAME, 0);
        return true;
    case CFA_REGISTER:
        rule_set_offset(run, reg, CFI_REGISTER, (int64_t)dwarf_uleb(r));
        return true;
    case CFA_EXPRESSION:
        rule_set(run, reg, rule_of_expression(run, CFI_EXPRESSION));
        return true;
    case CFA_VAL_EXPRESSION:
        rule_set(run, reg, rule_of_expression(run, CFI_VAL_EXPRESSION));
        return true;
    default:
        *r = before;
        return false;
    }
}

/* Runs the other opcodes: those that set the location and those that use the stack of states. */
static bool run_other_opcode(struct cfi_run *run, uint8_t opcode) {
    switch (opcode) {
    case CFA_NOP:
        return true;
    case CFA_SET_LOC:
        run->here = pointer_read(&run->r, run->function->pointer_encoding,
                                 (struct pointer_bases){.data = run->function->data_base,
                                                        .function = run->function->start});
        return true;
    case CFA_ADVANCE_LOC1:
        advance(run, dwarf_u8(&run->r));
        return true;
    case CFA_ADVANCE_LOC2:
        advance(run, dwarf_u16(&run->r));
        return true;
    case CFA_ADVANCE_LOC4:
        advance(run, dwarf_u32(&run->r));
        return true;
    case CFA_REMEMBER_STATE:
        return remember(run->machine);
    case CFA_RESTORE_STATE:
        return restore(run->machine);
    case CFA_GNU_ARGS_SIZE: /* needed to land in the frame (exceptions), not to walk across it */
        dwarf_uleb(&run->r);
        return true;
    case CFA_NEGATE_RA_STATE: /* return addresses are stripped of signatures in any case */
        return true;
    default:
        return false;
    }
}

static bool run_opcode(struct cfi_run *run) {
    uint8_t opcode = dwarf_u8(&run->r);
    uint8_t operand = opcode & (uint8_t)~CFA_HIGH_BITS;
    switch (opcode & CFA_HIGH_BITS) {
    case CFA_ADVANCE_LOC:
        advance(run, operand);
        return true;
    case CFA_OFFSET:
        rule_set_offset(run, operand, CFI_OFFSET, factored(run, (int64_t)dwarf_uleb(&run->r)));
        return true;
    case CFA_RESTORE:
        rule_restore(run, operand);
        return true;
    default:
        return run_cfa_opcode(run, opcode) || run_register_opcode(run, opcode) ||
               run_other_opcode(run, opcode);
    }
}

static bool run_program(struct cfi_run *run, const uint8_t *program, const uint8_t *end) {
    run->r = (struct dwarf_reader){.at = program, .end = end};
    while (dwarf_more(&run->r) && run->here <= run->pc)
        if (!run_opcode(run))
            return false;
    return !run->r.bad;
}

bool cfi_run(const struct cfi_function *function, uintptr_t pc, struct cfi_machine *machine) {
    struct cfi_run run = {
        .function = function, .machine = machine, .pc = pc, .here = function->start};
    machine->depth = 0;
    machine->now = (struct cfi_rules){.cfa = {.rule = {.kind = CFI_UNDEFINED}}};
    if (!run_program(&run, function->initial, function->initial_end))
        return false;
    machine->initial = machine->now;
    return run_program(&run, function->program, function->program_end);
}
