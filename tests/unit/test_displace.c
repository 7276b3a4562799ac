/* Tests of platform/displace: instructions that are moved do what they did, what cannot be moved is
 * refused, and functions are found by their names. */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "platform/displace.h"
#include "platform/pages.h"
#include "platform/symbols.h"
#include "unit.h"

#ifdef __x86_64__

/* Code at one end of a range, and room for what is moved at the other. */
static uint8_t *place(void) {
    void *memory =
        mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ck_assert_ptr_ne(memory, MAP_FAILED);
    return memory;
}

enum { ROOM_AT = 1 << 19 };

static const char *try(uint8_t *memory, const void *code, size_t size, struct displaced *out) {
    memset(memory, 0x90, 64);
    memcpy(memory, code, size);
    return displace_copy(memory, size, (size + 15) / 16 * 16, (uintptr_t)memory, memory + ROOM_AT,
                         (uintptr_t)memory + ROOM_AT, out);
}

#define CODE(...) ((const uint8_t[]){__VA_ARGS__}), sizeof((const uint8_t[]){__VA_ARGS__})

typedef long function(long, long);

/* Runs code as it is, then by way of its moved instructions, with the rest overwritten by traps
 * where a jump would stand. */
static void same(const char *what, const uint8_t *code, size_t size, size_t taken) {
    uint8_t *memory = place();
    struct displaced moved;
    const char *why = try(memory, code, size, &moved);
    ck_assert_msg(!why, "%s: %s", what, why);
    ck_assert_msg(moved.taken == taken, "%s: %zu bytes", what, moved.taken);
    function *plain = (function *)(uintptr_t)memory;
    function *by_room = (function *)(uintptr_t)(memory + ROOM_AT);
    static const long values[] = {0, 1, -5, 1000, 1L << 40};
    long wanted[25];
    for (size_t i = 0; i < 25; i++)
        wanted[i] = plain(values[i / 5], values[i % 5]);
    memset(memory + moved.entry, 0xCC, moved.taken);
    for (size_t i = 0; i < 25; i++)
        ck_assert_msg(by_room(values[i / 5], values[i % 5]) == wanted[i], "%s, %zu", what, i);
    munmap(memory, 1 << 20);
}

START_TEST(what_is_moved_does_what_it_did) {
    /* push %rbx; mov %rdi, %rbx; lea (%rbx,%rsi,2), %rax; pop %rbx; ret */
    same("plain", CODE(0x53, 0x48, 0x89, 0xFB, 0x48, 0x8D, 0x04, 0x73, 0x5B, 0xC3), 8);
    /* endbr64; mov %rdi, %rax; add %rsi, %rax; ret */
    same("endbr64", CODE(0xF3, 0x0F, 0x1E, 0xFA, 0x48, 0x89, 0xF8, 0x48, 0x01, 0xF0, 0xC3), 6);
    /* mov 5(%rip), %rax; add %rdi, %rax; ret; nop; and what is read */
    same("relative to itself",
         CODE(0x48, 0x8B, 0x05, 5, 0, 0, 0, 0x48, 0x01, 0xF8, 0xC3, 0x90, 0x90, 0x90, 0x90, 0x90,
              0x90, 0x90, 0x90, 0x90),
         7);
    /* xor %eax, %eax; test %rdi, %rdi; je 1f; mov $7, %eax; 1: ret */
    same("a short jump", CODE(0x31, 0xC0, 0x48, 0x85, 0xFF, 0x74, 5, 0xB8, 7, 0, 0, 0, 0xC3), 5);
    /* test %rdi, %rdi; js 1f; lea (%rdi,%rsi), %rax; ret; 1: mov $9, %eax; ret */
    same("a short jump among the first",
         CODE(0x48, 0x85, 0xFF, 0x78, 5, 0x48, 0x8D, 0x04, 0x37, 0xC3, 0xB8, 9, 0, 0, 0, 0xC3), 5);
    /* jmp 1f; int3 × 3; 1: mov %rsi, %rax; ret */
    same("a jump away", CODE(0xE9, 3, 0, 0, 0, 0xCC, 0xCC, 0xCC, 0x48, 0x89, 0xF0, 0xC3), 5);
    /* call 1f; add $1, %rax; ret; nop; 1: lea (%rdi,%rsi), %rax; ret */
    same("a call",
         CODE(0xE8, 6, 0, 0, 0, 0x48, 0x83, 0xC0, 1, 0xC3, 0x90, 0x48, 0x8D, 0x04, 0x37, 0xC3), 5);
    /* mov %rdi, %rax; ret, and padding */
    same("less than a jump", CODE(0x48, 0x89, 0xF8, 0xC3), 5);
    /* shlx %rdi, %rsi, %rax; nop; ret would ask for a CPU: test $0x1234, %edi; setne %al; ret */
    same("an immediate",
         CODE(0xF7, 0xC7, 0x34, 0x12, 0, 0, 0x0F, 0x95, 0xC0, 0x0F, 0xB6, 0xC0, 0xC3), 6);
}
END_TEST

static void refused(const char *why, const uint8_t *code, size_t size) {
    uint8_t *memory = place();
    struct displaced moved;
    const char *got = try(memory, code, size, &moved);
    ck_assert_msg(got && strcmp(got, why) == 0, "%s: got %s", why, got ? got : "nothing");
    munmap(memory, 1 << 20);
}

START_TEST(what_cannot_be_moved_is_refused) {
    refused("begins with an instruction that cannot be moved",
            CODE(0xE3, 0, 0x48, 0x89, 0xF8, 0xC3));
    refused("begins with an instruction that allotrace does not know",
            CODE(0x06, 0x90, 0x90, 0x90, 0xC3));
    refused("begins with an instruction that allotrace does not know", CODE(0x48, 0x89));
    /* mov %rdi, %rax; 1: dec %rdi; jne 1b; ret */
    refused("jumps back to its first instructions",
            CODE(0x48, 0x89, 0xF8, 0x48, 0xFF, 0xCF, 0x75, 0xFB, 0xC3));
    refused("has instructions that allotrace does not know",
            CODE(0x48, 0x89, 0xF8, 0x48, 0x01, 0xF0, 0x06, 0xC3));
    /* 16 bytes, without padding: push, ret, and another function */
    uint8_t full[16];
    memset(full, 0x55, sizeof full);
    full[1] = 0xC3;
    refused("is too short for a jump", full, sizeof full);
}
END_TEST

START_TEST(no_bytes_are_read_beyond_the_code) {
    uint8_t *memory = place(), room[DISPLACE_ROOM];
    const size_t unit = pages_unit();
    mprotect(memory + unit, unit, PROT_NONE);
    for (unsigned first = 0; first < 256; first++)
        for (unsigned second = 0; second < 256; second += 5)
            for (size_t size = 1; size < 12; size++) {
                struct displaced moved;
                uint8_t *code = memory + unit - size;
                memset(code, (int)second, size);
                code[0] = (uint8_t)first;
                const char *why = displace_copy(code, size, size, (uintptr_t)code, room,
                                                (uintptr_t)memory + ROOM_AT, &moved);
                ck_assert(why || (moved.taken >= DISPLACE_JUMP && moved.taken <= size));
            }
}
END_TEST

START_TEST(calls_of_others_are_seen) {
    uint8_t *memory = place();
    memcpy(memory, CODE(0x48, 0x89, 0xF8, 0xE9, 0xF8, 0, 0, 0));
    const uintptr_t at = (uintptr_t)memory, others[] = {at + 0x200, at + 0x100};
    ck_assert(displace_calls(memory, 8, at, others, 2));
    ck_assert(!displace_calls(memory, 8, at, others, 1));
}
END_TEST

START_TEST(calls_that_return_to_the_jump_are_seen) {
    uint8_t *memory = place();
    struct displaced moved;
    /* call *%rax; nops. rex call *8(%r8); nops. push; call *(%rip). inc (%rax); nops. */
    ck_assert(!try(memory, CODE(0xFF, 0xD0, 0x90, 0x90, 0x90, 0xC3), &moved) && moved.returns);
    ck_assert(!try(memory, CODE(0x41, 0xFF, 0x50, 0x08, 0x90, 0x90, 0xC3), &moved) &&
              moved.returns);
    ck_assert(!try(memory, CODE(0x53, 0xFF, 0x15, 0, 0, 0, 0, 0xC3), &moved) && !moved.returns);
    ck_assert(!try(memory, CODE(0xFF, 0x00, 0x90, 0x90, 0x90, 0xC3), &moved) && !moved.returns);
}
END_TEST

START_TEST(the_part_elsewhere_is_seen) {
    uint8_t *memory = place();
    const uintptr_t at = (uintptr_t)memory;
    /* jne within; jne to 0x300; je to 0x200; ret */
    memcpy(memory, CODE(0x75, 0, 0x0F, 0x85, 0xF8, 0x02, 0, 0, 0x0F, 0x84, 0xF2, 0x01, 0, 0, 0xC3));
    ck_assert_uint_eq(displace_leaves(memory, 15, at), at + 0x200);
    ck_assert_uint_eq(displace_leaves(memory, 2, at), 0);
}
END_TEST

START_TEST(a_jump_has_a_reach) {
    uint8_t jump[DISPLACE_JUMP];
    ck_assert(displace_jump(jump, 0x10000, (uintptr_t)0x10000 + 0x7FFFFFFF));
    ck_assert(!displace_jump(jump, 0x10000, 0x10000 + (uintptr_t)0x90000000));
}
END_TEST

#endif

/* ---- symbols ------------------------------------------------------------------------------- */

int test_displace_found(int n);
__attribute__((noinline, used)) int test_displace_found(int n) {
    return n + 1;
}

struct search {
    size_t n, found, size;
};

static void look(const struct symbol *s, void *context) {
    struct search *search = context;
    search->n++;
    if (strcmp(s->name, "test_displace_found") == 0 && !s->is_local) {
        search->found++;
        search->size = s->size;
    }
}

START_TEST(functions_are_found_by_name) {
    struct search s = {0};
    ck_assert(symbols_each("/proc/self/exe", NULL, 0, look, &s));
    ck_assert_uint_eq(s.found, 1);
    ck_assert_uint_gt(s.size, 0);
    ck_assert(!symbols_each("/nowhere", NULL, 0, look, &s));
    ck_assert(!symbols_each("/proc/self/maps", NULL, 0, look, &s));
}
END_TEST

static uintptr_t value_of_found;

static void note_value(const struct symbol *s, void *context) {
    (void)context;
    if (strcmp(s->name, "test_displace_found") == 0)
        value_of_found = s->value;
}

START_TEST(code_is_compared_with_the_files) {
    const uint8_t *code = (const uint8_t *)(uintptr_t)test_displace_found;
    uint8_t other[4];
    ck_assert(symbols_each("/proc/self/exe", NULL, 0, note_value, NULL));
    ck_assert(symbols_have_code("/proc/self/exe", value_of_found, code, sizeof other));
    memcpy(other, code, sizeof other);
    other[3] ^= 1;
    ck_assert(!symbols_have_code("/proc/self/exe", value_of_found, other, sizeof other));
    ck_assert(!symbols_have_code("/proc/self/exe", value_of_found, code, (size_t)1 << 40));
    ck_assert(!symbols_have_code("/proc/self/exe", UINTPTR_MAX, code, sizeof other));
    ck_assert(!symbols_have_code("/nowhere", value_of_found, code, sizeof other));
}
END_TEST

/* Each byte of the head and the section headers, changed: nothing is read that is not there. */
START_TEST(damaged_files_do_no_harm) {
    static unsigned char file[1 << 20];
    FILE *self = fopen("/proc/self/exe", "rb");
    ck_assert_ptr_nonnull(self);
    const size_t size = fread(file, 1, sizeof file, self);
    fclose(self);
    for (size_t i = 0; i < 400; i++) {
        const size_t at = i < 64 ? i : size - 2 * (i - 63) < size ? size - 2 * (i - 63) : 0;
        const unsigned char before = file[at];
        FILE *damaged = fopen("damaged", "wb");
        file[at] = (unsigned char)(before ^ 0xFF);
        fwrite(file, 1, i % 7 == 6 ? size / 2 : size, damaged);
        fclose(damaged);
        file[at] = before;
        struct search s = {0};
        (void)symbols_each("damaged", NULL, 0, look, &s);
        (void)symbols_have_code("damaged", value_of_found, file, 64);
    }
    remove("damaged");
}
END_TEST

static Suite *suite(void) {
    Suite *s = suite_create("displace");
    TCase *t = tcase_create("displace");
#ifdef __x86_64__
    tcase_add_test(t, what_is_moved_does_what_it_did);
    tcase_add_test(t, what_cannot_be_moved_is_refused);
    tcase_add_test(t, no_bytes_are_read_beyond_the_code);
    tcase_add_test(t, calls_of_others_are_seen);
    tcase_add_test(t, calls_that_return_to_the_jump_are_seen);
    tcase_add_test(t, the_part_elsewhere_is_seen);
    tcase_add_test(t, a_jump_has_a_reach);
#endif
    tcase_add_test(t, functions_are_found_by_name);
    tcase_add_test(t, code_is_compared_with_the_files);
    tcase_add_test(t, damaged_files_do_no_harm);
    suite_add_tcase(s, t);
    return s;
}

UNIT_MAIN(suite)
