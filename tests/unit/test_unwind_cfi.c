/* Tests of src/platform/cfi: programs and expressions written here byte by byte, with the results
 * that the DWARF standard demands, and real tables damaged at random. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>

#include "platform/cfi.h"
#include "platform/module.h"
#include "platform/pages.h"
#include "platform/patch.h"
#include "unit.h"

/* --- expressions --- */

struct expression_case {
    const char *what;
    unsigned char bytes[24];
    uint32_t size;
    bool valid;
    struct cfi_value value;
};

#define BYTES(...)  .bytes = {__VA_ARGS__}, .size = sizeof((unsigned char[]){__VA_ARGS__})
#define CONSTANT(n) .valid = true, .value = {.kind = CFI_CONSTANT, .offset = (uint64_t)(n)}

/* Register 3 is 1000 and register 4 points to `memory`; the others are unknown. */
static const uintptr_t memory[2] = {0x1122334455667788, 77};

static const struct expression_case numbers[] = {
    {"literals and plus", BYTES(0x32, 0x4F, 0x22), CONSTANT(2 + 31)},
    {"minus", BYTES(0x33, 0x35, 0x1C), CONSTANT(-2)},
    {"const1u", BYTES(0x08, 0xFF), CONSTANT(255)},
    {"const1s", BYTES(0x09, 0xFF), CONSTANT(-1)},
    {"const2u", BYTES(0x0A, 0xFE, 0xFF), CONSTANT(0xFFFE)},
    {"const2s", BYTES(0x0B, 0xFE, 0xFF), CONSTANT(-2)},
    {"const4u", BYTES(0x0C, 0xFE, 0xFF, 0xFF, 0xFF), CONSTANT(0xFFFFFFFE)},
    {"const4s", BYTES(0x0D, 0xFE, 0xFF, 0xFF, 0xFF), CONSTANT(-2)},
    {"const8u", BYTES(0x0E, 1, 2, 0, 0, 0, 0, 0, 0x80), CONSTANT(0x8000000000000201)},
    {"constu", BYTES(0x10, 0xE5, 0x8E, 0x26), CONSTANT(624485)},
    {"consts", BYTES(0x11, 0x80, 0x7F), CONSTANT(-128)},
    {"dup, mul", BYTES(0x37, 0x12, 0x1E), CONSTANT(49)},
    {"over, pick", BYTES(0x31, 0x32, 0x14, 0x15, 2, 0x22), CONSTANT(2)},
    {"swap", BYTES(0x31, 0x35, 0x16, 0x1C), CONSTANT(4)},
    {"rot", BYTES(0x31, 0x32, 0x33, 0x17, 0x1C), CONSTANT(1 - 2)},
    {"drop", BYTES(0x31, 0x32, 0x13), CONSTANT(1)},
    {"div is signed", BYTES(0x09, 0xF8, 0x32, 0x1B), CONSTANT(-4)},
    {"mod", BYTES(0x37, 0x34, 0x1D), CONSTANT(3)},
    {"neg, abs, not", BYTES(0x35, 0x1F, 0x19, 0x20), CONSTANT(~5)},
    {"and, or, xor", BYTES(0x3C, 0x3A, 0x1A, 0x31, 0x21, 0x3F, 0x27),
     CONSTANT(((12 & 10) | 1) ^ 15)},
    {"shifts", BYTES(0x09, 0xF0, 0x32, 0x26, 0x32, 0x24), CONSTANT(-16)},
    {"shr is unsigned", BYTES(0x09, 0xFF, 0x08, 60, 0x25), CONSTANT(15)},
    {"a shift too far", BYTES(0x31, 0x08, 64, 0x24), CONSTANT(0)},
    {"comparisons are signed", BYTES(0x09, 0xFF, 0x31, 0x2D, 0x31, 0x31, 0x29, 0x22), CONSTANT(2)},
    {"ge, gt, le, ne", BYTES(0x31, 0x31, 0x2A, 0x31, 0x31, 0x2B, 0x22, 0x31, 0x2C, 0x30, 0x2E),
     CONSTANT(1)},
    {"plus_uconst", BYTES(0x31, 0x23, 0x80, 0x01), CONSTANT(129)},
    {"breg", BYTES(0x73, 0x7F), CONSTANT(999)},
    {"bregx", BYTES(0x92, 3, 8), CONSTANT(1008)},
    {"deref", BYTES(0x74, 8, 0x06), CONSTANT(77)},
    {"deref_size within a word", BYTES(0x74, 2, 0x94, 2), CONSTANT(0x5566)},
    {"skip", BYTES(0x31, 0x2F, 1, 0, 0x32, 0x33, 0x22), CONSTANT(4)},
    {"bra taken", BYTES(0x37, 0x31, 0x28, 1, 0, 0x13), CONSTANT(7)},
    {"a loop that ends", BYTES(0x34, 0x31, 0x1C, 0x12, 0x28, 0xFA, 0xFF), CONSTANT(0)},
    {"an unknown register", BYTES(0x75, 0)},
    {"a register out of range", BYTES(0x92, 0xFF, 0x7F, 0)},
    {"nothing", .size = 0},
    {"an empty stack", BYTES(0x22)},
    {"one operand missing", BYTES(0x31, 0x22)},
    {"swap of one", BYTES(0x31, 0x16)},
    {"division by zero", BYTES(0x31, 0x30, 0x1B)},
    {"an endless loop", BYTES(0x2F, 0xFD, 0xFF)},
    {"a jump out", BYTES(0x31, 0x2F, 0x00, 0x10)},
    {"a jump before", BYTES(0x31, 0x2F, 0x00, 0x80)},
    {"an overflow", BYTES(0x31, 0x12, 0x2F, 0xFC, 0xFF)},
    {"a cut operand", BYTES(0x0E, 1, 2)},
    {"an unknown opcode", BYTES(0xF7)},
    {"an address that is not mapped", BYTES(0x38, 0x06)},
};

static void check_case(const struct expression_case *c, const struct cfi_context *context) {
    struct cfi_rule rule = {.kind = CFI_VAL_EXPRESSION, .expression = c->bytes, .size = c->size};
    struct cfi_value v = {.kind = 99};
    bool valid = cfi_evaluate(&rule, context, NULL, &v);
    ck_assert_msg(valid == c->valid, "%s: %d", c->what, valid);
    if (valid)
        ck_assert_msg(v.kind == c->value.kind && v.offset == c->value.offset &&
                          v.base == c->value.base && v.inner == c->value.inner,
                      "%s: kind %d offset %#llx", c->what, v.kind, (unsigned long long)v.offset);
}

START_TEST(expressions_with_all_values) {
    struct stack_view view;
    uintptr_t reg[UNWIND_REGISTERS] = {[3] = 1000, [4] = (uintptr_t)memory};
    struct cfi_context context = {
        .reg = reg, .known = UNWIND_BIT(3) | UNWIND_BIT(4), .view = &view};
    stack_view_init(&view, 0, 0, 0);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        check_case(&numbers[i], &context);
}
END_TEST

START_TEST(expressions_stay_symbolic) {
    static const struct expression_case symbols[] = {
        {"register and offset", BYTES(0x77, 8), .valid = true,
         .value = {.kind = CFI_RELATIVE, .base = 7, .offset = 8}},
        {"constant plus register", BYTES(0x38, 0x76, 0x78, 0x22), .valid = true,
         .value = {.kind = CFI_RELATIVE, .base = 6, .offset = 0}},
        {"memory", BYTES(0x76, 0x78, 0x06), .valid = true,
         .value = {.kind = CFI_LOADED, .base = 6, .inner = -8}},
        {"memory and offset", BYTES(0x77, 16, 0x06, 0x23, 8), .valid = true,
         .value = {.kind = CFI_LOADED, .base = 7, .inner = 16, .offset = 8}},
        {"the sum of two registers", BYTES(0x76, 0, 0x77, 0, 0x22)},
        {"a register masked", BYTES(0x76, 0, 0x31, 0x1A)},
        {"memory of memory", BYTES(0x76, 0, 0x06, 0x06)},
        {"a branch on a register", BYTES(0x31, 0x76, 0, 0x28, 0, 0)},
    };
    struct cfi_context nothing = {.known = 0};
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++)
        check_case(&symbols[i], &nothing);
}
END_TEST

/* --- programs --- */

enum { CODE_START = 0x1000, CODE_SIZE = 0x100 };

/* An entry as cfi_find would give it. */
static struct cfi_function function_of(const unsigned char *initial, size_t initial_size,
                                       const unsigned char *program, size_t size) {
    return (struct cfi_function){.start = CODE_START,
                                 .end = CODE_START + CODE_SIZE,
                                 .initial = initial,
                                 .initial_end = initial + initial_size,
                                 .program = program,
                                 .program_end = program + size,
                                 .code_align = 1,
                                 .data_align = -8,
                                 .ra_reg = UNWIND_RA};
}

static struct cfi_machine machine;

static bool run_at(const struct cfi_function *function, uintptr_t offset) {
    return cfi_run(function, CODE_START + offset, &machine);
}

static void assert_cfa(uint32_t reg, int64_t offset) {
    ck_assert_int_eq(machine.now.cfa.rule.kind, CFI_VAL_OFFSET);
    ck_assert_uint_eq(machine.now.cfa.reg, reg);
    ck_assert_int_eq(machine.now.cfa.rule.offset, offset);
}

static void assert_rule(unsigned reg, enum cfi_kind kind, int64_t offset) {
    ck_assert_int_eq(machine.now.reg[reg].kind, kind);
    ck_assert_int_eq(machine.now.reg[reg].offset, offset);
}

/* CFA = r7 + 8, r16 at CFA - 8 */
static const unsigned char initial[] = {0x0C, 7, 8, 0x90, 1};

START_TEST(rules_change_along_the_code) {
    static const unsigned char program[] = {
        0x41, 0x0E, 16,   0x86, 2,    /* +1: CFA offset 16, r6 at CFA - 16 */
        0x43, 0x0D, 6,                /* +3: CFA from r6 */
        0x0A, 0x02, 0x10,             /* remember; +16 */
        0xC6, 0x0C, 7,    8,          /* r6 as at first, CFA = r7 + 8 */
        0x03, 0x01, 0x00, 0x0B,       /* +1: as remembered */
        0x04, 0x02, 0x00, 0x00, 0x00, /* +2 */
        0x08, 6,                      /* r6 same value */
    };
    struct cfi_function f = function_of(initial, sizeof initial, program, sizeof program);
    ck_assert(run_at(&f, 0));
    assert_cfa(7, 8);
    assert_rule(16, CFI_OFFSET, -8);
    assert_rule(6, CFI_SAME, 0);
    ck_assert(run_at(&f, 1));
    assert_cfa(7, 16);
    assert_rule(6, CFI_OFFSET, -16);
    ck_assert(run_at(&f, 19));
    assert_cfa(6, 16);
    ck_assert(run_at(&f, 20));
    assert_cfa(7, 8);
    assert_rule(6, CFI_SAME, 0);
    ck_assert(run_at(&f, 21));
    assert_cfa(6, 16);
    assert_rule(6, CFI_OFFSET, -16);
    ck_assert(run_at(&f, 23));
    assert_rule(6, CFI_SAME, 0);
}
END_TEST

START_TEST(every_kind_of_rule) {
    static const unsigned char program[] = {
        0x05, 3,  4,             /* offset_extended: r3 at CFA - 32 */
        0x11, 12, 0x7F,          /* offset_extended_sf: r12 at CFA + 8 */
        0x2F, 13, 1,             /* GNU_negative_offset_extended: r13 at CFA + 8 */
        0x14, 14, 2,             /* val_offset: r14 = CFA - 16 */
        0x15, 15, 0x7E,          /* val_offset_sf: r15 = CFA + 16 */
        0x09, 5,  3,             /* register: r5 in r3 */
        0x07, 4,                 /* undefined: r4 */
        0x10, 1,  2,    0x77, 0, /* expression: r1 */
        0x16, 2,  1,    0x35,    /* val_expression: r2 */
        0x2E, 16, 0x2D, 0x00,    /* GNU_args_size, negate_ra_state, nop */
        0x05, 99, 1,             /* a register that we don't track */
        0x12, 6,  0x7E,          /* def_cfa_sf: r6 + 16 */
    };
    struct cfi_function f = function_of(initial, sizeof initial, program, sizeof program);
    ck_assert(run_at(&f, 0));
    assert_cfa(6, 16);
    assert_rule(3, CFI_OFFSET, -32);
    assert_rule(12, CFI_OFFSET, 8);
    assert_rule(13, CFI_OFFSET, 8);
    assert_rule(14, CFI_VAL_OFFSET, -16);
    assert_rule(15, CFI_VAL_OFFSET, 16);
    assert_rule(5, CFI_REGISTER, 3);
    assert_rule(4, CFI_UNDEFINED, 0);
    ck_assert_int_eq(machine.now.reg[1].kind, CFI_EXPRESSION);
    ck_assert_uint_eq(machine.now.reg[1].size, 2);
    ck_assert_int_eq(machine.now.reg[2].kind, CFI_VAL_EXPRESSION);
    ck_assert_int_eq(machine.now.reg[2].expression[0], 0x35);
}
END_TEST

static void assert_refused(const unsigned char *program, size_t size) {
    struct cfi_function f = function_of(initial, sizeof initial, program, size);
    ck_assert(!run_at(&f, 0));
}

START_TEST(wrong_programs_are_refused) {
    unsigned char many[CFI_REMEMBER_MAX + 1];
    memset(many, 0x0A, sizeof many);
    assert_refused(many, sizeof many);
    assert_refused((const unsigned char[]){0x0B}, 1);          /* nothing remembered */
    assert_refused((const unsigned char[]){0x3F}, 1);          /* no such opcode */
    assert_refused((const unsigned char[]){0x0C, 7}, 2);       /* operand missing */
    assert_refused((const unsigned char[]){0x0F, 9, 0x30}, 3); /* expression too long */
    assert_refused((const unsigned char[]){0x0E, 0x80, 0x80}, 3);
}
END_TEST

/* --- tables --- */

/* A module that consists of a copy of another one's segment with tables, between pages that can't
 * be touched. */
struct copy {
    struct module module;
    ElfW(Phdr) header;
    unsigned char *bytes;
    size_t size;
    uintptr_t delta; /* from the original to the copy */
};

static struct module original;

/* A segment of a sanitized program holds bytes that its own code must not touch. */
__attribute__((no_sanitize("address"))) static void copy_segment(unsigned char *to, uintptr_t low,
                                                                 size_t size) {
    const volatile unsigned char *from = (const volatile unsigned char *)low;
    for (size_t i = 0; i < size; i++)
        to[i] = from[i];
}

static void copy_tables(struct copy *copy, uintptr_t pc) {
    uintptr_t low, high, unit = pages_unit();
    ck_assert(module_find(pc, &original));
    ck_assert(module_segment(&original, original.eh_frame_hdr, &low, &high));
    copy->size = high - low;
    size_t room = (copy->size + unit - 1) / unit * unit;
    unsigned char *pages = pages_alloc(room + 2 * unit);
    mprotect(pages, unit, PROT_NONE);
    mprotect(pages + unit + room, unit, PROT_NONE);
    copy->bytes = pages + unit + room - copy->size;
    copy_segment(copy->bytes, low, copy->size);
    copy->delta = (uintptr_t)copy->bytes - low;
    copy->header = (ElfW(Phdr)){.p_type = PT_LOAD,
                                .p_flags = PF_R,
                                .p_vaddr = (uintptr_t)copy->bytes,
                                .p_memsz = copy->size};
    copy->module = (struct module){.eh_frame_hdr = original.eh_frame_hdr + copy->delta,
                                   .headers = &copy->header,
                                   .header_count = 1};
}

static uint64_t random_state = 88172645463325252;
static uint64_t random_below(uint64_t n) {
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state % n;
}

static uintptr_t random_pc(void) {
    return original.text_low + random_below(original.text_high - original.text_low);
}

START_TEST(search_and_scan_agree) {
    struct copy copy;
    struct cfi_function here, there;
    enum { COUNT_ENCODING = 2, OMIT = 0xFF };
    copy_tables(&copy, (uintptr_t)getauxval);
    copy.bytes[copy.module.eh_frame_hdr - (uintptr_t)copy.bytes + COUNT_ENCODING] = OMIT;
    int found = 0;
    for (int i = 0; i < 3000; i++) {
        uintptr_t pc = random_pc();
        bool searched = cfi_find(&original, pc, &here);
        ck_assert(searched == cfi_find(&copy.module, pc + copy.delta, &there));
        if (!searched)
            continue;
        found++;
        ck_assert_uint_eq(here.start + copy.delta, there.start);
        ck_assert_uint_eq(here.end + copy.delta, there.end);
        ck_assert_uint_eq((uintptr_t)here.program + copy.delta, (uintptr_t)there.program);
    }
    ck_assert_int_gt(found, 1000);
}
END_TEST

/* As most linkers say it: the address of .eh_frame behind four bytes, relative to there. */
static const uint8_t *eh_frame_of(uintptr_t hdr) {
    int32_t away;
    memcpy(&away, (const void *)(hdr + 4), sizeof away);
    return (const uint8_t *)hdr + 4 + away;
}

START_TEST(made_tables_are_like_linkers) {
    struct cfi_function here, there;
    uintptr_t low, high;
    ck_assert(module_find((uintptr_t)getauxval, &original));
    const uint8_t *const from = eh_frame_of(original.eh_frame_hdr);
    ck_assert(module_segment(&original, (uintptr_t)from, &low, &high));
    const size_t size = cfi_make_table(from, (const uint8_t *)high, NULL, 0);
    uint8_t *const room = patch_room(original.low, size);
    ck_assert(room);
    ck_assert_uint_eq(cfi_make_table(from, (const uint8_t *)high, room, size - 1), 0);
    ck_assert_uint_eq(cfi_make_table(from, (const uint8_t *)high, room, size), size);
    struct module made = original;
    made.eh_frame_hdr = (uintptr_t)room;
    made.eh_frame_hdr_end = (uintptr_t)room + size;
    made.eh_frame_hdr_is_made = true;
    int found = 0;
    for (int i = 0; i < 3000; i++) {
        const uintptr_t pc = random_pc();
        const bool is_known = cfi_find(&original, pc, &here);
        ck_assert(is_known == cfi_find(&made, pc, &there));
        found += is_known;
        if (is_known)
            ck_assert_ptr_eq(here.entry, there.entry);
    }
    ck_assert_int_gt(found, 1000);
    pages_free(room, size);
}
END_TEST

START_TEST(tables_are_made_of_damaged_entries_as_well) {
    struct copy copy;
    copy_tables(&copy, (uintptr_t)getauxval);
    const uint8_t *const end = copy.bytes + copy.size;
    size_t at = (size_t)(eh_frame_of(copy.module.eh_frame_hdr) - copy.bytes);
    for (int i = 0; i < 300; i++) {
        copy.bytes[at + random_below(i % 2 ? 4096 : copy.size - at)] = (uint8_t)random_below(256);
        const size_t size = cfi_make_table(copy.bytes + at, end, NULL, 0);
        uint8_t *room = size ? pages_alloc(size) : NULL;
        ck_assert_uint_eq(room ? cfi_make_table(copy.bytes + at, end, room, size) : 0, size);
        pages_free(room, size);
    }
}
END_TEST

/* All that is asked for is that nothing outside of the segment is touched, and an end. */
START_TEST(damaged_tables_do_no_harm) {
    struct copy copy;
    struct cfi_function function;
    int runs = 0;
    copy_tables(&copy, (uintptr_t)getauxval);
    uintptr_t hdr = copy.module.eh_frame_hdr - (uintptr_t)copy.bytes;
    for (int i = 0; i < 60000; i++) {
        if (i % 8192 == 0)
            copy_segment(copy.bytes, (uintptr_t)copy.bytes - copy.delta, copy.size);
        size_t at = i % 64 ? hdr + random_below(copy.size - hdr) : hdr + random_below(12);
        unsigned char before = copy.bytes[at];
        copy.bytes[at] = (unsigned char)random_below(256);
        for (int j = 0; j < 3; j++) {
            uintptr_t pc = random_pc() + copy.delta;
            if (cfi_find(&copy.module, pc, &function))
                runs += cfi_run(&function, pc, &machine);
        }
        if (at < hdr + 12)
            copy.bytes[at] = before; /* the others stay for a while: the damage grows */
    }
    printf("# %d rows found\n", runs);
    ck_assert_int_gt(runs, 5000);
}
END_TEST

START_TEST(cut_tables_do_no_harm) {
    struct copy copy;
    struct cfi_function function;
    copy_tables(&copy, (uintptr_t)getauxval);
    size_t hdr = copy.module.eh_frame_hdr - (uintptr_t)copy.bytes;
    int runs = 0;
    for (int i = 0; i < 3000; i++) {
        copy.header.p_memsz = i < 64 ? hdr + (size_t)i : hdr + random_below(copy.size - hdr);
        uintptr_t end = (uintptr_t)copy.bytes + copy.header.p_memsz, pc = random_pc() + copy.delta;
        if (!cfi_find(&copy.module, pc, &function))
            continue;
        ck_assert_uint_le((uintptr_t)function.program_end, end);
        ck_assert_uint_le((uintptr_t)function.initial_end, end);
        runs += cfi_run(&function, pc, &machine);
    }
    ck_assert_int_gt(runs, 100);
}
END_TEST

static Suite *suite(void) {
    Suite *s = suite_create("unwind_cfi");
    TCase *c = tcase_create("cfi");
    tcase_set_timeout(c, 100);
    tcase_add_test(c, expressions_with_all_values);
    tcase_add_test(c, expressions_stay_symbolic);
    tcase_add_test(c, rules_change_along_the_code);
    tcase_add_test(c, every_kind_of_rule);
    tcase_add_test(c, wrong_programs_are_refused);
    tcase_add_test(c, search_and_scan_agree);
    tcase_add_test(c, made_tables_are_like_linkers);
    tcase_add_test(c, tables_are_made_of_damaged_entries_as_well);
    tcase_add_test(c, damaged_tables_do_no_harm);
    tcase_add_test(c, cut_tables_do_no_harm);
    suite_add_tcase(s, c);
    return s;
}

UNIT_MAIN(suite)
