/* import_go_code.c: finds the runtime's variables in a stripped program. Its functions still have
 * names, and the code of a few of them shows the variables they use, in x86-64 instructions with
 * addresses relative to the instruction. Results are verified before they are used: here, that they
 * lie among the variables; in go_program_enable and go_heap_read, what they contain. */
#include <string.h>

#include "base/file.h"
#include "import/import_go.h"

enum { MOST_CODE = 1 << 16, DISTANCE = 4 /* bytes of a relative address in an instruction */ };

/* The code of a function. */
typedef struct code {
    go_names *names;
    uint64_t at; /* its address */
    size_t size;
    unsigned char bytes[MOST_CODE];
} code;

static bool read_code(code *c, int memory, const char *symbol) {
    uint64_t start, end;
    if (!go_names_function(c->names, symbol, &start, &end) || end <= start)
        return false;
    c->at = start;
    c->size = end - start < MOST_CODE ? (size_t)(end - start) : MOST_CODE;
    return file_read_at(memory, c->bytes, c->size, start) == 0;
}

/* Patterns besides plain bytes. ANY: any byte. TO: a ModRM byte for an operand relative to the
 * instruction pointer, with any register. R: a ModRM byte for shifting a 32-bit register. */
enum { ANY = 0x100, TO = 0x200, R = 0x300 };

static bool is_byte(unsigned char byte, unsigned wanted) {
    switch (wanted) {
    case ANY:
        return true;
    case TO:
        return (byte & 0xc7) == 0x05;
    case R:
        return (byte & 0xf8) == 0xe8;
    default:
        return byte == wanted;
    }
}

static bool is_at(const code *c, size_t i, const unsigned short *wanted, size_t n) {
    if (n > c->size || i > c->size - n)
        return false;
    for (size_t k = 0; k < n; k++)
        if (!is_byte(c->bytes[i + k], wanted[k]))
            return false;
    return true;
}

/* Returns the variable that an instruction addresses, or 0 if it is none. The relative address is
 * at `i`, followed by `more` bytes of the same instruction. */
static uint64_t variable(const code *c, size_t i, size_t more) {
    int32_t distance;
    memcpy(&distance, c->bytes + i, sizeof distance);
    const uint64_t to = c->at + i + DISTANCE + more + (uint64_t)(int64_t)distance;
    return to >= c->names->data && to < c->names->data_end ? to : 0;
}

#define LENGTH(array) (sizeof(array) / sizeof *(array))

/* Returns the first position from `i` on that matches the pattern; c->size: none. */
static size_t find(const code *c, size_t i, const unsigned short *wanted, size_t n) {
    while (i < c->size && !is_at(c, i, wanted, n))
        i++;
    return i;
}

/* Returns the first variable that is loaded as a whole word or, with the other `opcode`, whose
 * address is taken. */
static uint64_t first_word(const code *c, unsigned short opcode) {
    const unsigned short wanted[] = {0x48, opcode, TO, ANY, ANY, ANY, ANY};
    for (size_t i = 0; (i = find(c, i, wanted, LENGTH(wanted))) < c->size; i++) {
        const uint64_t found = variable(c, i + 3, 0);
        if (found)
            return found;
    }
    return 0;
}

/* Returns the variable of 32 bits that is loaded and then shifted by one: the cycle. */
static uint64_t shifted(const code *c) {
    static const unsigned short wanted[] = {0x8b, TO, ANY, ANY, ANY, ANY}, shift[] = {0xd1, R};
    enum { NEAR = 16 };
    for (size_t i = 0; (i = find(c, i, wanted, LENGTH(wanted))) < c->size; i++) {
        const size_t behind = i + LENGTH(wanted);
        const uint64_t found = variable(c, i + 2, 0);
        if (found && find(c, behind, shift, LENGTH(shift)) < behind + NEAR)
            return found;
    }
    return 0;
}

/* Since Go 1.20, in schedinit: if (disabled) rate = 0. */
static bool find_switch(go_program *p, const code *c) {
    static const unsigned short wanted[] = {0x80, 0x3d, ANY, ANY, ANY, ANY, 0, 0x74, ANY, 0x48,
                                            0xc7, 0x05, ANY, ANY, ANY, ANY, 0, 0,    0,   0};
    const size_t i = find(c, 0, wanted, LENGTH(wanted));
    if (i == c->size)
        return false;
    p->at[GO_DISABLED] = variable(c, i + 2, 1);
    p->at[GO_RATE] = variable(c, i + 12, 4);
    return p->at[GO_DISABLED] && p->at[GO_RATE];
}

/* Before Go 1.20, where variables are initialized: rate = disabled ? 0 : 512 KiB. */
static bool find_initial(go_program *p, const code *c) {
    static const unsigned short wanted[] = {0x0f, 0xb6, 0x05, ANY, ANY, ANY,  ANY, 0x48,
                                            0x85, 0xc0, 0xb8, 0,   0,   0x08, 0},
                                store[] = {0x48, 0x89, 0x05, ANY, ANY, ANY, ANY};
    const size_t i = find(c, 0, wanted, LENGTH(wanted));
    const size_t then = find(c, i, store, LENGTH(store));
    if (i == c->size || then == c->size)
        return false;
    p->at[GO_DISABLED] = variable(c, i + 3, 0);
    p->at[GO_RATE] = variable(c, then + 3, 0);
    return p->at[GO_DISABLED] && p->at[GO_RATE];
}

static bool find_all(go_program *p, code *c, int memory) {
    enum { LOAD = 0x8b, ADDRESS = 0x8d };
    if (!read_code(c, memory, "runtime.mProf_FlushLocked"))
        return false;
    p->at[GO_BUCKETS] = first_word(c, LOAD);
    if (!read_code(c, memory, "runtime.mProf_Malloc"))
        return false;
    p->at[GO_CYCLE] = shifted(c);
    p->at[GO_FUTURE_LOCKS] = first_word(c, ADDRESS);
    return p->at[GO_BUCKETS] && p->at[GO_CYCLE] && p->at[GO_FUTURE_LOCKS] &&
           ((read_code(c, memory, "runtime.schedinit") && find_switch(p, c)) ||
            (read_code(c, memory, "runtime.init") && find_initial(p, c)));
}

bool go_program_locate(go_program *p, int memory, import_error *error) {
    go_names names;
    if (!p->is_stripped)
        return true;
    code *c = malloc(sizeof *c);
    bool found = go_names_open(&names, p, memory, error);
    if (found && c) {
        c->names = &names;
        found = find_all(p, c, memory);
        import_fail(error, 0, "it is stripped, and the variables of its runtime cannot be found");
    }
    go_names_close(&names);
    free(c);
    return found && c;
}
