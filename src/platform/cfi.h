/* cfi.h: reads DWARF call frame information in memory. Finds the entry of .eh_frame that describes
 * an instruction, and says where the registers of that instruction's caller are. This module owns
 * the formats (.eh_frame_hdr, CIE, FDE, CFA programs, expressions). unwind.c applies the rules and
 * caches them. Reads nothing outside the segments of the module. No malloc, no state. */
#ifndef PLATFORM_CFI_H
#define PLATFORM_CFI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "platform/module.h"
#include "platform/stack.h"
#include "platform/unwind_cpu.h"

/* Where to find the caller's value of a register. */
enum cfi_kind {
    CFI_SAME = 0,      /* unchanged; also the default for a register without a rule */
    CFI_UNDEFINED,     /* lost; for the return address: there is no caller */
    CFI_OFFSET,        /* in memory at CFA + offset */
    CFI_VAL_OFFSET,    /* the value is CFA + offset */
    CFI_REGISTER,      /* in the register with number `offset` */
    CFI_EXPRESSION,    /* in memory at the value of the expression, computed with the CFA pushed */
    CFI_VAL_EXPRESSION /* the value is that of the expression */
};

struct cfi_rule {
    union {
        int64_t offset;
        const uint8_t *expression;
    };
    uint32_t size; /* size of the expression, bytes */
    uint8_t kind;
};

/* The canonical frame address: on x86-64, the sp of the caller after the return. */
struct cfi_cfa {
    struct cfi_rule rule; /* CFI_VAL_OFFSET: from `reg`; CFI_VAL_EXPRESSION; CFI_UNDEFINED */
    uint32_t reg;
};

struct cfi_rules {
    struct cfi_cfa cfa;
    struct cfi_rule reg[UNWIND_REGISTERS];
};

/* The entry of a function: its FDE together with the content of its CIE. */
struct cfi_function {
    const uint8_t *entry;                 /* the FDE, beginning with its length */
    uintptr_t start, end;                 /* the instructions that the entry describes */
    const uint8_t *initial, *initial_end; /* the CIE's program */
    const uint8_t *program, *program_end; /* the FDE's program */
    uint64_t code_align;
    int64_t data_align;
    uintptr_t data_base; /* base of "datarel" pointers */
    uint32_t ra_reg;     /* the column of the return address */
    uint8_t pointer_encoding;
    bool has_augmentation_data;
    bool signal_frame; /* the frame below was interrupted; it made no call */
};

/* Memory to run a CFA program. It is too large for a small signal stack, so the caller keeps it
 * elsewhere. */
enum { CFI_REMEMBER_MAX = 16 };
struct cfi_machine {
    struct cfi_rules now; /* the result */
    struct cfi_rules initial;
    struct cfi_rules remembered[CFI_REMEMBER_MAX];
    unsigned depth;
};

/* Finds the entry for the instruction at `pc`. Returns false if there is none or if it can't be
 * understood. */
bool cfi_find(const struct module *module, uintptr_t pc, struct cfi_function *out);

/* Makes the search table that linkers put into .eh_frame_hdr, for an .eh_frame that has none.
 * Writes it to `room` and returns its size. Every address in .eh_frame and in the table must be
 * within 2 GB. Returns 0 if the table needs more than `size` bytes or if there are no entries. With
 * `room` NULL, only returns the size that the table needs at most. */
size_t cfi_make_table(const uint8_t *eh_frame, const uint8_t *end, uint8_t *room, size_t size);

/* Runs the programs up to `pc` and leaves the result in `machine->now`. */
bool cfi_run(const struct cfi_function *function, uintptr_t pc, struct cfi_machine *machine);

/* A value that may depend on an unknown register: a constant, base + offset, or *(base + inner) +
 * offset. */
enum cfi_value_kind { CFI_CONSTANT, CFI_RELATIVE, CFI_LOADED };
struct cfi_value {
    uint64_t offset; /* the value itself for CFI_CONSTANT */
    int64_t inner;
    uint8_t kind;
    uint8_t base; /* number of a register */
};

/* What an expression may read. With `view` NULL, nothing is loaded from memory and unknown
 * registers stay symbolic. Otherwise every value becomes a constant. */
struct cfi_context {
    const uintptr_t *reg;
    uint64_t known; /* bit i: reg[i] is valid */
    struct stack_view *view;
};

/* Evaluates an expression, with `*first` on the stack unless `first` is NULL. Returns false if the
 * expression is invalid, too long, or needs what the context does not have. */
bool cfi_evaluate(const struct cfi_rule *rule, const struct cfi_context *context,
                  const uint64_t *first, struct cfi_value *out);

#endif
