/* cfi.h: DWARF call frame information in memory: finds the entry of .eh_frame that describes an
 * instruction and says where that instruction's caller has its registers. Owns the formats
 * (.eh_frame_hdr, CIE, FDE, CFA programs, expressions); what to do with the rules, and remembering
 * them, is unwind.c's. Reads nothing outside the segments of the module. No malloc, no state. */
#ifndef PLATFORM_CFI_H
#define PLATFORM_CFI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "platform/module.h"
#include "platform/stack.h"
#include "platform/unwind_cpu.h"

/* Where the caller's value of a register is. */
enum cfi_kind {
    CFI_SAME = 0,      /* not touched; also what holds if nothing is said */
    CFI_UNDEFINED,     /* lost; for the return address: there is no caller */
    CFI_OFFSET,        /* in memory at CFA + offset */
    CFI_VAL_OFFSET,    /* is CFA + offset */
    CFI_REGISTER,      /* in the register with number `offset` */
    CFI_EXPRESSION,    /* in memory at the value of the expression, computed with the CFA pushed */
    CFI_VAL_EXPRESSION /* is the value of the expression */
};

struct cfi_rule {
    union {
        int64_t offset;
        const uint8_t *expression;
    };
    uint32_t size; /* of the expression, bytes */
    uint8_t kind;
};

/* The canonical frame address: on x86-64 the sp of the caller after the return. */
struct cfi_cfa {
    struct cfi_rule rule; /* CFI_VAL_OFFSET: from `reg`; CFI_VAL_EXPRESSION; CFI_UNDEFINED */
    uint32_t reg;
};

struct cfi_rules {
    struct cfi_cfa cfa;
    struct cfi_rule reg[UNWIND_REGISTERS];
};

/* A function's entry: its FDE with what its CIE says. */
struct cfi_function {
    const uint8_t *entry;                 /* the FDE, from its length on */
    uintptr_t start, end;                 /* the instructions that it describes */
    const uint8_t *initial, *initial_end; /* the CIE's program */
    const uint8_t *program, *program_end; /* the FDE's */
    uint64_t code_align;
    int64_t data_align;
    uintptr_t data_base; /* what "datarel" pointers count from */
    uint32_t ra_reg;     /* the column of the return address */
    uint8_t pointer_encoding;
    bool has_augmentation_data;
    bool signal_frame; /* the frame below was interrupted, it did not call */
};

/* Room to run a CFA program, too much for a small signal stack: the caller has it elsewhere. */
enum { CFI_REMEMBER_MAX = 16 };
struct cfi_machine {
    struct cfi_rules now; /* the result */
    struct cfi_rules initial;
    struct cfi_rules remembered[CFI_REMEMBER_MAX];
    unsigned depth;
};

/* The entry for the instruction at `pc`; false if there is none or it can't be understood. */
bool cfi_find(const struct module *module, uintptr_t pc, struct cfi_function *out);

/* Writes to `room` the search table that linkers put into .eh_frame_hdr, for an .eh_frame without
 * one, and gives its size; all that stands in either is within 2 GB. 0: it takes more than `size`,
 * or there are no entries. With `room` NULL it only tells how much it takes at most. */
size_t cfi_make_table(const uint8_t *eh_frame, const uint8_t *end, uint8_t *room, size_t size);

/* Runs the programs up to `pc`: `machine->now` is the result. */
bool cfi_run(const struct cfi_function *function, uintptr_t pc, struct cfi_machine *machine);

/* A value that may not be known yet: base + offset, or *(base + inner) + offset. */
enum cfi_value_kind { CFI_CONSTANT, CFI_RELATIVE, CFI_LOADED };
struct cfi_value {
    uint64_t offset; /* the value itself if constant */
    int64_t inner;
    uint8_t kind;
    uint8_t base; /* a register */
};

/* What an expression may look at. With `view` NULL nothing is loaded, and registers that are not
 * known stay symbolic; else every value becomes a constant. */
struct cfi_context {
    const uintptr_t *reg;
    uint64_t known; /* bit i: reg[i] is valid */
    struct stack_view *view;
};

/* Evaluates an expression with `*first` on the stack, if not NULL. False if it is wrong, too
 * long, or needs what the context does not have. */
bool cfi_evaluate(const struct cfi_rule *rule, const struct cfi_context *context,
                  const uint64_t *first, struct cfi_value *out);

#endif
