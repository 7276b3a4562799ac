/* Tests of src/attach/image: what is no such library is refused, whatever it says of itself. */
#include "attach/image.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "unit.h"

enum { SIZE = 8192, DYNAMIC_AT = 512, RELA_AT = 1024, SYMBOLS_AT = 2048, WORDS_AT = 4096 };

/* A library of one segment, with variables of threads and a table of relocations. */
struct library {
    Elf64_Ehdr head;
    Elf64_Phdr headers[3];
    unsigned char rest[SIZE - sizeof(Elf64_Ehdr) - 3 * sizeof(Elf64_Phdr)];
};

static void put(struct library *l, size_t at, const void *bytes, size_t size) {
    memcpy((unsigned char *)l + at, bytes, size);
}

static struct library *make_library(const Elf64_Rela *relocations, size_t n) {
    struct library *l = calloc(1, sizeof *l);
    l->head = (Elf64_Ehdr){.e_type = ET_DYN,
                           .e_phoff = sizeof l->head,
                           .e_phentsize = sizeof *l->headers,
                           .e_phnum = 3,
                           .e_entry = 8};
    memcpy(l->head.e_ident, ELFMAG, SELFMAG);
    l->head.e_ident[EI_CLASS] = ELFCLASS64;
    l->headers[0] = (Elf64_Phdr){.p_type = PT_LOAD, .p_filesz = SIZE, .p_memsz = 2 * SIZE};
    l->headers[1] =
        (Elf64_Phdr){.p_type = PT_DYNAMIC, .p_vaddr = DYNAMIC_AT, .p_memsz = 4 * sizeof(Elf64_Dyn)};
    l->headers[2] = (Elf64_Phdr){.p_type = PT_TLS,
                                 .p_offset = WORDS_AT,
                                 .p_vaddr = WORDS_AT,
                                 .p_filesz = 8,
                                 .p_memsz = 32,
                                 .p_align = 8};
    const Elf64_Dyn dynamic[] = {{.d_tag = DT_RELA, .d_un.d_val = RELA_AT},
                                 {.d_tag = DT_RELASZ, .d_un.d_val = n * sizeof *relocations},
                                 {.d_tag = DT_SYMTAB, .d_un.d_val = SYMBOLS_AT}};
    const Elf64_Sym symbols[] = {{0},
                                 {.st_shndx = 1, .st_value = 0x123},
                                 {.st_info = ELF64_ST_INFO(STB_WEAK, STT_FUNC)},
                                 {.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC)},
                                 {.st_shndx = 1, .st_info = STT_TLS, .st_value = 16}};
    put(l, DYNAMIC_AT, dynamic, sizeof dynamic);
    put(l, SYMBOLS_AT, symbols, sizeof symbols);
    put(l, RELA_AT, relocations, n * sizeof *relocations);
    return l;
}

static bool read_library(image *i, const struct library *l, size_t size) {
    char path[] = "/tmp/test-image.XXXXXX";
    const int fd = mkstemp(path);
    ck_assert(fd >= 0 && write(fd, l, size) == (ssize_t)size);
    close(fd);
    const bool done = image_read(i, path);
    unlink(path);
    return done;
}

static uint64_t word_at(const image *i, size_t at) {
    uint64_t word;
    memcpy(&word, image_bytes(i, at, sizeof word), sizeof word);
    return word;
}

#define RELOCATION(n, symbol, type, addend)                                                        \
    { WORDS_AT + 8 * (n), ELF64_R_INFO(symbol, type), addend }

static const Elf64_Rela good[] = {
    RELOCATION(0, 0, R_X86_64_RELATIVE, 0x40), RELOCATION(1, 1, R_X86_64_GLOB_DAT, 0),
    RELOCATION(2, 1, R_X86_64_64, 4),          RELOCATION(3, 2, R_X86_64_GLOB_DAT, 0),
    RELOCATION(4, 4, R_X86_64_TPOFF64, 0),     RELOCATION(5, 0, R_X86_64_TPOFF64, 24)};
enum { N_GOOD = sizeof good / sizeof *good };

START_TEST(a_library_is_relocated) {
    image i;
    struct library *l = make_library(good, N_GOOD);
    ck_assert(read_library(&i, l, sizeof *l));
    ck_assert_uint_eq(i.size, 2 * SIZE);
    ck_assert_uint_eq(i.tls.p_memsz, 32);
    ck_assert(image_relocate(&i, 0x10000, -128));
    const uint64_t expected[N_GOOD] = {0x10040, 0x10123,        0x10127,
                                       0,       (uint64_t)-112, (uint64_t)-104};
    for (size_t n = 0; n < N_GOOD; n++)
        ck_assert_uint_eq(word_at(&i, WORDS_AT + 8 * n), expected[n]);
    ck_assert_ptr_null(image_bytes(&i, 2 * SIZE - 4, 8));
    image_free(&i);
    free(l);
}
END_TEST

START_TEST(one_that_needs_others_is_refused) {
    const Elf64_Rela outside[] = {RELOCATION(0, 3, R_X86_64_GLOB_DAT, 0)};
    const Elf64_Rela unknown[] = {RELOCATION(0, 1, R_X86_64_COPY, 0)};
    const Elf64_Rela beyond[] = {{2 * SIZE - 4, R_X86_64_RELATIVE, 0}};
    const Elf64_Rela *const all[] = {outside, unknown, beyond};
    for (size_t n = 0; n < 3; n++) {
        image i;
        struct library *l = make_library(all[n], 1);
        ck_assert(read_library(&i, l, sizeof *l));
        ck_assert(!image_relocate(&i, 0x10000, -128));
        image_free(&i);
        free(l);
    }
}
END_TEST

START_TEST(what_is_cut_or_damaged_does_no_harm) {
    image i;
    uint64_t random = 88172645463325252;
    ck_assert(!image_read(&i, "/nowhere"));
    for (int n = 0; n < 3000; n++) {
        struct library *l = make_library(good, N_GOOD);
        for (int k = 0; k < 3; k++) {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            ((unsigned char *)l)[random % (n % 2 ? 240 : 2400)] = (unsigned char)(random >> 32);
        }
        if (read_library(&i, l, n % 5 ? sizeof *l : random % sizeof *l)) {
            (void)image_relocate(&i, 0x10000, -128);
            image_free(&i);
        }
        free(l);
    }
}
END_TEST

static Suite *suite(void) {
    Suite *s = suite_create("image");
    TCase *c = tcase_create("image");
    tcase_set_timeout(c, 60);
    tcase_add_test(c, a_library_is_relocated);
    tcase_add_test(c, one_that_needs_others_is_refused);
    tcase_add_test(c, what_is_cut_or_damaged_does_no_harm);
    suite_add_tcase(s, c);
    return s;
}

UNIT_MAIN(suite)
